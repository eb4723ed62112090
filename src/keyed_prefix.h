/*
 * keyed_prefix.h
 *	  The prefix of keyed COMBs: a keyed hash of the time.
 */
#ifndef IDGEN_KEYED_PREFIX_H
#define IDGEN_KEYED_PREFIX_H

#include "arguments.h"
#include "key_file.h"
#include "shared_memory.h"

#define KEYED_PREFIX_BITS	32
#define PARTS_OF_PERIOD		12

/* Maximum width of a check's window, in periods, to limit the check's cost */
#define MAX_CHECKED_PERIODS	64

/* The source of a key */
typedef enum KeySource
{
	KEY_OF_SERVER,				/* for the current time */
	KEY_OF_SERVER_CLOCK,		/* for a given clock */
	KEY_OF_FILE
} KeySource;

/* The known hashes of a period and of its twelfths */
typedef struct HashedPeriod
{
	int64		number;
	uint32		bits;
	uint16		known;			/* a bit for each hash that is set */
	uint8		parts[PARTS_OF_PERIOD];
} HashedPeriod;

/* Number of cached periods: a window of n periods can intersect n + 1 */
#define HASHED_PERIODS		(MAX_CHECKED_PERIODS + 1)

/* The twelfth in which the last key was generated, with its bounds in Unix ms */
typedef struct PresentTwelfth
{
	int64		begin_ms;
	int64		end_ms;
	uint64		prefix;
} PresentTwelfth;

/* Run state in the present twelfth; all zero when the twelfth begins */
typedef struct KeyedRun
{
	uint64		made;
	uint64		shared;			/* bits that the keys of the run share */
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
