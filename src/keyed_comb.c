/*
 * keyed_comb.c
 *	  COMBs whose prefix lasts for a number of keys and a time.
 *
 * The prefix of keyed_comb() is the low 32 bits of SipHash-2-4, under a secret
 * of the server, of four little-endian words: the database, with bit 32 set if
 * a clock is given; SipHash of the area's bytes; the length of the period in
 * milliseconds; and the number of the prefix.  So the keys of a prefix lie
 * together in an index, and prefixes lie anywhere.  An area contains no zero
 * bytes, so that its message is never one of these words.
 *
 * A prefix that has few keys when it ends costs full-page images, and so does
 * one that has many pages at a checkpoint.  So it is used for at most a period;
 * after a twelfth of it, it ends as soon as it has about 500 keys; and it never
 * has more than about 65,000, so that the pages of a bulk load stay in memory.
 *
 * All sessions share the slot that counts the keys.  It is chosen by a hash of
 * the first three words: other areas may share it, which only makes prefixes
 * shorter.
 *
 * With a given clock, the number is that of the twelfth of the period which
 * contains it, and nothing is counted.
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
#define SEGMENT_NAME		"idgen keyed, layout 2"

#define PREFIX_BITS			32
#define CLOCK_GIVEN			(UINT64CONST(1) << 32)
#define PARTS_OF_PERIOD		12

/*
 * A slot is one number, which changes in one step.  From high to low, it has
 * the time at which its prefix began, in Unix milliseconds modulo 2^42 (139
 * years); a number that each prefix increments, so that those of a millisecond
 * that the clock shows again differ; and the count.  Time and number together
 * are the number of the prefix.
 */
#define COUNT_BITS			11
#define NUMBER_BITS			11
#define TIME_SHIFT			(COUNT_BITS + NUMBER_BITS)
#define COUNT_MASK			((UINT64CONST(1) << COUNT_BITS) - 1)
#define NUMBER_MASK			((UINT64CONST(1) << TIME_SHIFT) - 1 - COUNT_MASK)
#define TIME_MASK			((UINT64CONST(1) << (64 - TIME_SHIFT)) - 1)

/*
 * A key is counted by chance, one in 32, so that a session keeps no count that
 * is lost at its end.  The random bits that decide are not those of the key.
 */
#define KEYS_IN_COUNT		32
#define ENOUGH				(512 / KEYS_IN_COUNT)
#define FULL				COUNT_MASK	/* 65,504 keys */

/* Small enough for the memory that a server before version 17 has to spare. */
#define SLOTS				1024

typedef struct KeyedSegment
{
	uint8		secret[SIPHASH_KEY_BYTES];
	pg_atomic_uint64 slots[SLOTS];
} KeyedSegment;

/*
 * The prefix in use with certain arguments.  A backend keeps MAX_PLACES of
 * them; if there are more, it drops the one that it made first.
 */
typedef struct Place
{
	int64		period_ms;		/* 0: no place */
	pg_atomic_uint64 *slot;
	SipHash		hash;			/* of the words before the number */
	uint64		number;			/* of the prefix */
	uint32		prefix;
	int			area_length;
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
	for (int i = 0; i < SLOTS; i++)
		pg_atomic_init_u64(&new_segment->slots[i], 0);
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

/* Compute the prefix of this number. */
static void
begin_prefix(Place *place, uint64 number)
{
	SipHash		hash = place->hash;

	siphash_absorb(&hash, number);
	siphash_absorb(&hash, siphash_last_word(4 * sizeof(uint64)));
	place->prefix = (uint32) siphash_finish(hash);
	place->number = number;
}

/* This backend's place with these arguments. */
static Place *
find_place(const char *area, int area_length, int64 period_ms, bool clock_given)
{
	static Place places[MAX_PLACES];
	static int	oldest = 0;
	Place	   *place;
	SipHash		hash;

	for (int i = 0; i < MAX_PLACES; i++)
	{
		place = &places[i];
		if (place->period_ms == period_ms && place->clock_given == clock_given &&
			place->area_length == area_length &&
			memcmp(place->area, area, area_length) == 0)
			return place;
	}

	hash = siphash_start(keyed->secret);
	siphash_absorb(&hash, MyDatabaseId | (clock_given ? CLOCK_GIVEN : 0));
	siphash_absorb(&hash, siphash_bytes(keyed->secret, area, area_length));
	siphash_absorb(&hash, (uint64) period_ms);

	place = &places[oldest];
	oldest = (oldest + 1) % MAX_PLACES;
	place->period_ms = period_ms;
	place->clock_given = clock_given;
	place->area_length = area_length;
	memcpy(place->area, area, area_length);
	place->hash = hash;
	siphash_absorb(&hash, siphash_last_word(3 * sizeof(uint64)));
	place->slot = &keyed->slots[siphash_finish(hash) % SLOTS];
	begin_prefix(place, 0);
	return place;
}

/*
 * Has the prefix of a slot ended?  Its age is a distance, so that it also ends
 * when the clock was set back by a period.
 */
static inline bool
has_ended(uint64 slot, uint64 now_ms, int64 period_ms)
{
	uint64		count = slot & COUNT_MASK;
	uint64		begun_ms = slot >> TIME_SHIFT;
	int64		age_ms = now_ms > begun_ms ? now_ms - begun_ms : begun_ms - now_ms;

	return count == FULL || age_ms >= period_ms ||
		(count >= ENOUGH && age_ms >= period_ms / PARTS_OF_PERIOD);
}

/* Use a slot for a key, which may be one that is counted; return the number of the prefix. */
static uint64
use_slot(pg_atomic_uint64 *slot, int64 unix_ms, int64 period_ms, bool counted)
{
	uint64		now_ms = (uint64) unix_ms & TIME_MASK;
	uint64		old = pg_atomic_read_u64(slot);
	uint64		new;

	do
	{
		new = old;
		if (has_ended(old, now_ms, period_ms))
			new = now_ms << TIME_SHIFT | ((old + COUNT_MASK + 1) & NUMBER_MASK);
		new += counted;
	} while (new != old && !pg_atomic_compare_exchange_u64(slot, &old, new));
	return new >> COUNT_BITS;
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
	int64		period_ms;
	const text *area;
	int64		unix_ms;
	Place	   *place;
	uint64		random;
	uint64		number;

	require_not_null(fcinfo, 0, "period");
	period_ms = short_prefix_make(PG_GETARG_INTERVAL_P(0), DEFAULT_PREFIX_BYTES).period_ms;
	area = area_argument(fcinfo, 1);
	unix_ms = clock_unix_ms(clock_argument(fcinfo, 2));

	if (unlikely(keyed == NULL))
		attach_segment();
	random = entropy_uint64();
	place = find_place(VARDATA_ANY(area), VARSIZE_ANY_EXHDR(area), period_ms, !PG_ARGISNULL(2));
	number = place->clock_given ?
		(uint64) floor_div(unix_ms, Max(period_ms / PARTS_OF_PERIOD, 1)) :
		use_slot(place->slot, unix_ms, period_ms, random % KEYS_IN_COUNT == 0);
	if (number != place->number)
		begin_prefix(place, number);

	/* the lowest bits of "random" are not in the key */
	return uuid_datum(4,
					  (uint64) place->prefix << (UUID_HIGH_BITS - PREFIX_BITS) |
					  random >> (64 - (UUID_HIGH_BITS - PREFIX_BITS)),
					  entropy_bits(UUID_LOW_BITS));
}
