/*
 * keyed_comb.c
 *	  COMBs whose prefix is a keyed hash of the period.
 *
 * The prefix of keyed_comb() is the low 32 bits of SipHash-2-4, under a secret
 * of the server, of five little-endian words: the database, with bit 32 set if
 * a clock is given; SipHash of the area's bytes; the length of the period in
 * milliseconds; its number; and the number of the run.  So the keys of a period
 * lie together in an index, the periods lie anywhere, and a given clock gives
 * no prefix that is in use.  An area contains no zero bytes, so that its message
 * is never one of these words.
 *
 * A run ends after about 2^16 keys, so that the pages of a bulk load or of a
 * fast table stay in memory.  The counts are shared by all sessions.  A count
 * is chosen by a hash of the same words without the run: other areas or periods
 * may share it, which only makes their runs shorter.
 *
 * The secret is drawn anew by the first call after a start of the server.  No
 * function reads a prefix back, so that losing the secret loses nothing.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/atomics.h"

#include "arguments.h"
#include "entropy.h"
#include "shared_memory.h"
#include "short_prefix.h"
#include "siphash.h"

/* The name contains the version of the layout of KeyedSegment. */
#define SEGMENT_NAME		"idgen keyed, layout 1"

#define PREFIX_BITS			32
#define CLOCK_GIVEN			(UINT64CONST(1) << 32)
#define COUNTS				256
#define RUN_BITS			16	/* a run has 2^16 keys */
#define COUNTED_AT_ONCE		32	/* by a session */

/* Small enough for the memory that a server before version 17 has to spare. */
typedef struct KeyedSegment
{
	uint8		secret[SIPHASH_KEY_BYTES];
	pg_atomic_uint64 counts[COUNTS];
} KeyedSegment;

/*
 * The prefix in use with certain arguments.  A backend keeps MAX_PLACES of
 * them; if there are more, it drops the one that it made first.
 */
typedef struct Place
{
	int64		period_ms;		/* 0: no place */
	int64		number;
	pg_atomic_uint64 *count;
	uint64		run;
	SipHash		hash;			/* of the words before the run */
	int			area_length;
	int			uncounted;		/* keys of this session that *count lacks */
	uint32		prefix;
	bool		clock_given;
	char		area[MAX_AREA_BYTES];
} Place;

#define MAX_PLACES	8

static KeyedSegment *keyed = NULL;
static uint8 fresh_secret[SIPHASH_KEY_BYTES];

static void
initialize_segment(INIT_SEGMENT_ARGS)
{
	KeyedSegment *new_segment = segment;

	memcpy(new_segment->secret, fresh_secret, sizeof(fresh_secret));
	for (int i = 0; i < COUNTS; i++)
		pg_atomic_init_u64(&new_segment->counts[i], 0);
}

/*
 * Attach to the segment, or make it.  The secret is drawn before, because an
 * error in initialize_segment() would leave a segment without one on version 15.
 */
static void
attach_segment(void)
{
	bool		found;

	entropy_fill(fresh_secret, sizeof(fresh_secret));
	keyed = get_named_segment(SEGMENT_NAME, sizeof(KeyedSegment), initialize_segment, &found);
	explicit_bzero(fresh_secret, sizeof(fresh_secret));
}

/* Count the keys of a session that are not counted. */
static void
count_keys(Place *place)
{
	if (place->uncounted > 0)
		pg_atomic_fetch_add_u64(place->count, place->uncounted);
	place->uncounted = 0;
}

/* This backend's place with these arguments; a new one has no prefix. */
static Place *
find_place(const char *area, int area_length, int64 period_ms, bool clock_given)
{
	static Place places[MAX_PLACES];
	static int	oldest = 0;
	Place	   *place;

	for (int i = 0; i < MAX_PLACES; i++)
	{
		place = &places[i];
		if (place->period_ms == period_ms && place->clock_given == clock_given &&
			place->area_length == area_length &&
			memcmp(place->area, area, area_length) == 0)
			return place;
	}

	place = &places[oldest];
	oldest = (oldest + 1) % MAX_PLACES;
	count_keys(place);
	place->period_ms = period_ms;
	place->clock_given = clock_given;
	place->area_length = area_length;
	memcpy(place->area, area, area_length);
	place->count = NULL;
	return place;
}

/* Go to another period. */
static void
begin_period(Place *place, int64 number)
{
	SipHash		hash = siphash_start(keyed->secret);

	count_keys(place);
	siphash_absorb(&hash, MyDatabaseId | (place->clock_given ? CLOCK_GIVEN : 0));
	siphash_absorb(&hash, siphash_bytes(keyed->secret, place->area, place->area_length));
	siphash_absorb(&hash, (uint64) place->period_ms);
	siphash_absorb(&hash, (uint64) number);
	place->hash = hash;
	place->number = number;
	siphash_absorb(&hash, siphash_last_word(4 * sizeof(uint64)));
	place->count = &keyed->counts[siphash_finish(hash) % COUNTS];
}

static void
begin_run(Place *place, uint64 run)
{
	SipHash		hash = place->hash;

	siphash_absorb(&hash, run);
	siphash_absorb(&hash, siphash_last_word(5 * sizeof(uint64)));
	place->prefix = (uint32) siphash_finish(hash);
	place->run = run;
}

/* Count a key in its place, and return its prefix. */
static uint32
next_prefix(Place *place, int64 number)
{
	bool		new_period = place->count == NULL || place->number != number;
	uint64		run;

	if (new_period)
		begin_period(place, number);
	if (++place->uncounted == COUNTED_AT_ONCE)
		count_keys(place);
	run = pg_atomic_read_u64(place->count) >> RUN_BITS;
	if (new_period || run != place->run)
		begin_run(place, run);
	return place->prefix;
}

/*
 * keyed_comb(period interval, area text, clock timestamptz) returns uuid
 *	A version 4 UUID of the prefix and 90 random bits.  An area longer than 63
 *	bytes is an error (22023).
 */
PG_FUNCTION_INFO_V1(idgen_keyed_comb);
Datum
idgen_keyed_comb(PG_FUNCTION_ARGS)
{
	ShortPrefix period;
	const text *area;
	int			area_length;
	TimestampTz clock;
	Place	   *place;
	uint64		prefix;

	require_not_null(fcinfo, 0, "period");
	period = short_prefix_make(PG_GETARG_INTERVAL_P(0), DEFAULT_PREFIX_BYTES);
	area = area_argument(fcinfo, 1);
	area_length = VARSIZE_ANY_EXHDR(area);
	clock = clock_argument(fcinfo, 2);

	if (unlikely(keyed == NULL))
		attach_segment();
	place = find_place(VARDATA_ANY(area), area_length, period.period_ms, !PG_ARGISNULL(2));
	prefix = next_prefix(place, short_prefix_period_number(&period, clock));
	return uuid_datum(4,
					  prefix << (UUID_HIGH_BITS - PREFIX_BITS) |
					  entropy_bits(UUID_HIGH_BITS - PREFIX_BITS),
					  entropy_bits(UUID_LOW_BITS));
}
