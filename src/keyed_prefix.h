/*
 * keyed_prefix.h
 *	  The prefix of keyed COMBs: a hash of the time under a key.
 */
#ifndef IDGEN_KEYED_PREFIX_H
#define IDGEN_KEYED_PREFIX_H

#include "common/sha2.h"

#include "arguments.h"
#include "key_file.h"
#include "shared_memory.h"

#define KEYED_PREFIX_BITS	32
#define PARTS_OF_PERIOD		12

/* The most periods in the window of a check; a tolerance of a day is a window of 48 hours. */
#define MAX_CHECKED_PERIODS	64

/* The server's key for the wall clock, its key for a given clock, or one of the key file. */
typedef enum KeySource
{
	KEY_OF_SERVER,
	KEY_OF_SERVER_CLOCK,
	KEY_OF_FILE
} KeySource;

/* The hash of a period, and of each of its twelfths that was needed. */
typedef struct HashedPeriod
{
	int64		number;
	uint32		bits;
	uint16		known;			/* which parts are set, and PERIOD_KNOWN */
	uint8		parts[PARTS_OF_PERIOD];
} HashedPeriod;

/* What a backend keeps of a key, an area and a period. */
typedef struct KeyedArea
{
	KeySource	source;
	int			key_length;
	int			key_name_length;
	int			name_length;
	int64		period_ms;
	uint8		key[PG_SHA256_DIGEST_LENGTH];
	char		key_name[MAX_KEY_NAME_BYTES];
	char		name[MAX_AREA_BYTES];	/* of the area, in UTF-8 */

	int64		begin_ms;		/* of the twelfth in use, in Unix ms */
	int64		end_ms;
	uint64		prefix;
	uint64		made;			/* this session's keys in it */
	uint64		run;			/* the bits that its present run shares */

	/* a window of that many periods can touch one more; by number modulo */
	HashedPeriod periods[MAX_CHECKED_PERIODS + 1];
} KeyedArea;

extern SharedSegment keyed_segment;

extern KeyedArea *keyed_area(KeySource source, const text *key_name, const text *name,
							 int64 period_ms);
extern void keyed_area_move_to(KeyedArea *area, int64 unix_ms);
extern bool keyed_area_has_prefix(KeyedArea *area, uint32 prefix, int64 first_ms, int64 last_ms);

#endif							/* IDGEN_KEYED_PREFIX_H */
