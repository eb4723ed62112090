/*
 * keyed_prefix.h
 *	  The prefix of keyed COMBs: a hash of the time under a key.
 */
#ifndef IDGEN_KEYED_PREFIX_H
#define IDGEN_KEYED_PREFIX_H

#include "arguments.h"
#include "key_file.h"
#include "shared_memory.h"

#define KEYED_PREFIX_BITS	32
#define PARTS_OF_PERIOD		12

/*
 * Maximum number of periods in the window of a check, which limits the number
 * of hashes to compute.  With periods of an hour, a tolerance of a day is a
 * window of 48.
 */
#define MAX_CHECKED_PERIODS	64

/* The server's key for the wall clock, its key for a given clock, or one of the key file. */
typedef enum KeySource
{
	KEY_OF_SERVER,
	KEY_OF_SERVER_CLOCK,
	KEY_OF_FILE
} KeySource;

/* The hash of a period, and the hashes of its twelfths that were needed so far */
typedef struct HashedPeriod
{
	int64		number;
	uint32		bits;
	uint16		known;			/* the parts that are set, and PERIOD_KNOWN */
	uint8		parts[PARTS_OF_PERIOD];
} HashedPeriod;

/*
 * The hashes of recent periods, by number modulo HASHED_PERIODS.  A window of
 * n periods can intersect n + 1 of them.
 */
#define HASHED_PERIODS		(MAX_CHECKED_PERIODS + 1)

/* The twelfth of the last generated key, in Unix ms, and its prefix */
typedef struct PresentTwelfth
{
	int64		begin_ms;
	int64		end_ms;
	uint64		prefix;
} PresentTwelfth;

/* The keys that keyed_comb.c has generated in the present twelfth; all zero when it begins */
typedef struct KeyedRun
{
	uint64		made;
	uint64		shared;			/* the bits that the present run shares */
} KeyedRun;

/* Cached state for one key, area and period */
typedef struct KeyedArea
{
	KeySource	source;
	int			key_name_length;
	int			name_length;
	int64		period_ms;
	char		key_name[MAX_KEY_NAME_BYTES];
	char		name[MAX_AREA_BYTES];	/* of the area, in UTF-8 */

	PresentTwelfth present;
	KeyedRun	run;
	HashedPeriod periods[HASHED_PERIODS];
} KeyedArea;

extern SharedSegment keyed_segment;

extern KeyedArea *keyed_area(KeySource source, const text *key_name, const text *name,
							 int64 period_ms);
extern bool keyed_area_move_to(KeyedArea *area, int64 unix_ms);
extern bool keyed_area_has_prefix(KeyedArea *area, uint32 prefix, int64 first_ms, int64 last_ms);

#endif							/* IDGEN_KEYED_PREFIX_H */
