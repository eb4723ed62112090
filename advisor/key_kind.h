/*-------------------------------------------------------------------------
 *
 * key_kind.h
 *	  What kind of identifiers a sample of keys is.
 *
 *-------------------------------------------------------------------------
 */
#ifndef IDGEN_KEY_KIND_H
#define IDGEN_KEY_KIND_H

#include "datatype/timestamp.h"
#include "utils/uuid.h"

/* Fewer keys than this tell nothing. */
#define KEY_KIND_MIN_KEYS	100

/* What a column's keys can be read as. */
typedef enum KeyType
{
	KEY_TYPE_NONE,				/* nothing that we know */
	KEY_TYPE_UUID,
	KEY_TYPE_SMALLINT,
	KEY_TYPE_INTEGER,
	KEY_TYPE_BIGINT,
	KEY_TYPE_TEXT
} KeyType;

/* How a single key is written. */
typedef enum KeyForm
{
	FORM_UUID,
	FORM_UUID_TEXT,
	FORM_PREFIXED_ID,
	FORM_TYPEID,
	FORM_ULID,
	FORM_ULID_UUID,				/* a ULID's bytes in a uuid */
	FORM_OBJECT_ID,
	FORM_NUMBER,
	FORM_TEXT					/* any other */
} KeyForm;

/* A key, and where its row lies. */
typedef struct SampledKey
{
	uint64		place;			/* grows with the place in the heap */
	KeyForm		form;
	pg_uuid_t	id;				/* but for FORM_NUMBER and FORM_TEXT; of
								 * FORM_OBJECT_ID the last 12 bytes */
	int64		number;			/* of FORM_NUMBER */
} SampledKey;

/* Keys in the order of their places. */
typedef struct KeySample
{
	SampledKey *keys;
	int			count;
} KeySample;

/* Where in the order of keys new ones go. */
typedef enum KeyPlacement
{
	PLACEMENT_UNKNOWN,
	PLACEMENT_ORDERED,			/* to its end */
	PLACEMENT_BY_PREFIX,		/* behind the prefix of the moment */
	PLACEMENT_LAPS,				/* forward, all over it every few minutes */
	PLACEMENT_SUFFIX,			/* anywhere; in SQL Server, to its end */
	PLACEMENT_RANDOM			/* anywhere */
} KeyPlacement;

typedef struct KeyKind
{
	const char *name;
	KeyType		type;
	KeyForm		form;			/* of most keys */
	KeyPlacement placement;		/* of the newest ones */
	bool		mixed;
	int64		period_ms;		/* of a short COMB; 0 where it is not known */
} KeyKind;

extern KeyType key_type_of(Oid type);
extern bool key_read(KeyType type, Datum value, SampledKey *key);
extern KeyKind key_kind_of(KeyType type, const KeySample *newest,
						   const KeySample *spread, TimestampTz clock);

#endif							/* IDGEN_KEY_KIND_H */
