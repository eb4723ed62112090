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
 * The most periods in the window of a check, so that it computes few hashes: with
 * periods of an hour, a tolerance of a day is a window of 48.
 */
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

/* The hashes of recent periods, by number modulo: a window can touch one more than it is wide. */
#define HASHED_PERIODS		(MAX_CHECKED_PERIODS + 1)

/* The twelfth of a generator's last key, in Unix ms, and its prefix. */
typedef struct PresentTwelfth
{
	int64		begin_ms;
	int64		end_ms;
	uint64		prefix;
} PresentTwelfth;

/* The keys that keyed_comb.c has made in the present twelfth; all zero at its start. */
typedef struct KeyedRun
{
	uint64		made;
	uint64		shared;			/* the bits that the present run shares */
} KeyedRun;

/* What a backend keeps of a key, an area and a period, which identify it. */
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
