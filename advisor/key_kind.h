/*-------------------------------------------------------------------------
 *
 * key_kind.h
 *	  Recognizes the kind of identifiers in a sample of keys.
 *
 *-------------------------------------------------------------------------
 */
#ifndef IDGEN_KEY_KIND_H
#define IDGEN_KEY_KIND_H

#include "datatype/timestamp.h"
#include "utils/uuid.h"

/* The kind of fewer keys than this is not determined. */
#define KEY_KIND_MIN_KEYS	100

/* The type of an indexed column. */
typedef enum KeyType
{
	KEY_TYPE_NONE,				/* not supported */
	KEY_TYPE_UUID,
	KEY_TYPE_SMALLINT,
	KEY_TYPE_INTEGER,
	KEY_TYPE_BIGINT,
	KEY_TYPE_TEXT
} KeyType;

/* The format of a key. */
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

/* A key and the position of its row. */
typedef struct SampledKey
{
	uint64		position;		/* of the row in the heap */
	KeyForm		form;
	pg_uuid_t	id;				/* if the key has 128 bits */
	int64		number;			/* FORM_NUMBER; the seconds of FORM_OBJECT_ID */
} SampledKey;

/* Keys in the order of their rows in the heap. */
typedef struct KeySample
{
	SampledKey *keys;
	int			count;
} KeySample;

/* The positions of new keys in the order of all keys. */
typedef enum KeyPlacement
{
	PLACEMENT_UNKNOWN,
	PLACEMENT_ORDERED,			/* at the end */
	PLACEMENT_BY_PREFIX,		/* within the current prefix */
	PLACEMENT_CYCLIC,			/* ascending, in a cycle of a few minutes */
	PLACEMENT_SUFFIX,			/* anywhere; in SQL Server's order, at the end */
	PLACEMENT_RANDOM			/* anywhere */
} KeyPlacement;

typedef struct KeyKind
{
	const char *name;
	KeyType		type;
	KeyForm		form;			/* of most keys */
	KeyPlacement placement;		/* of the newest keys */
	bool		mixed;
	int64		period_ms;		/* of a short COMB; 0 if it is not known */
	double		period_rows;	/* its newest rows per period; 0 if not known */
} KeyKind;

extern KeyType key_type_of(Oid type);
extern bool key_read(KeyType type, Datum value, SampledKey *key);
extern KeyKind key_kind_of(KeyType type, const KeySample *newest,
						   const KeySample *spread, TimestampTz clock);

#endif							/* IDGEN_KEY_KIND_H */
