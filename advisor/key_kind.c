/*-------------------------------------------------------------------------
 *
 * key_kind.c
 *	  What kind of identifiers a sample of keys is.
 *
 * One identifier tells its version at most; a COMB has the version of a
 * random UUID.  What tells them apart is how the keys go on from row to row:
 * so there are two samples, both in the order of the rows in the heap.  One is
 * of the newest rows, next to each other; the other is spread over the whole
 * table.
 *
 * A byte that goes on with the rows is told from a random one by its steps,
 * which are alike: mostly small, or as far as the rows are apart.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "clock.h"
#include "key_kind.h"
#include "object_id.h"
#include "radix.h"
#include "short_prefix.h"
#include "int_ids.h"
#include "uuid_bits.h"

/* Where this share of the keys is alike, all are. */
#define NEARLY_ALL			0.95

/* Another kind is told of from this share on. */
#define SHARE_TOLD			0.01

/*
 * A byte's steps from a row to the next are alike where half of them are in
 * one range of so many values of 255; a little backward counts as well, as
 * where sessions insert side by side.  That so many random steps are alike is
 * less probable than 1 in 10,000.
 */
#define STEP_RANGE			40
#define MIN_STEPS			40
#define ALIKE_SHARE			0.5

/* Of random times, half are later than the one before. */
#define IN_ORDER_SHARE		0.7

/* Times before this are no creation times. */
#define EARLIEST_MS			INT64CONST(631152000000)	/* 1990-01-01 */

/*
 * Where the clock does not help, numbers with a time have this many different
 * ones, and not more nodes than that.
 */
#define MIN_TICKS			30
#define MAX_NODES			8

/* Steps of a sequence, with gaps, from a row to the next. */
#define SEQUENTIAL_STEP		1000
#define SEQUENTIAL_SHARE	0.9

/*
 * A short COMB's period is found by the clock: a prefix that the newest row
 * may have, having come up to so many periods ago.  All candidates together
 * fit a foreign prefix of two bytes in 1 of 300 cases.
 */
#define PERIODS_BACK		3
#define NEWEST_FOR_PERIOD	5

static const int period_seconds[] =
{60, 1, 2, 5, 10, 15, 20, 30, 120, 300, 600, 900, 1200, 1800,
3600, 7200, 14400, 21600, 43200, 86400, 604800};

/* Who has a prefix narrower than this cannot tell its period by the clock. */
#define MIN_BYTES_FOR_PERIOD	2

/* A new sequence's first blocks are found in so many rows. */
#define OLDEST_KEYS			30

#define FIRST_BYTE_OF_PREFIX	0
#define FIRST_BYTE_OF_SUFFIX	10

#define MAX_READ_TEXT			100 /* no identifier is longer */

/* Keys that are alike in form and version. */
#define NO_VERSION			16	/* another variant */
#define VERSIONS			17

/* ------------------------------------------------------------------------
 * Reading keys
 * ------------------------------------------------------------------------
 */

/* How to read a type's values; a domain's are those of its base. */
KeyType
key_type_of(Oid type)
{
	switch (getBaseType(type))
	{
		case UUIDOID:
			return KEY_TYPE_UUID;
		case INT2OID:
			return KEY_TYPE_SMALLINT;
		case INT4OID:
			return KEY_TYPE_INTEGER;
		case INT8OID:
			return KEY_TYPE_BIGINT;
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
			return KEY_TYPE_TEXT;
	}
	return KEY_TYPE_NONE;
}

/* Read exactly the digits that 128 bits take. */
static bool
read_digits(const Radix *radix, const char *digits, int length, pg_uuid_t *id)
{
	uint64		high;
	uint64		low;
	char	   *problem;

	if (length != radix_width(radix))
		return false;
	if (!radix_decode(radix, digits, length, 1, &high, &low, &problem))
	{
		pfree(problem);
		return false;
	}
	uuid_set_half(id, 0, high);
	uuid_set_half(id, 1, low);
	return true;
}

static void
read_text(Datum value, SampledKey *key)
{
	text	   *copy;
	const char *bytes;
	int			length;
	int			body;
	uint32		seconds;

	key->form = FORM_TEXT;
	if (toast_raw_datum_size(value) > VARHDRSZ + MAX_READ_TEXT)
		return;

	copy = DatumGetTextPP(value);
	bytes = VARDATA_ANY(copy);
	length = VARSIZE_ANY_EXHDR(copy);
	while (length > 0 && bytes[length - 1] == ' ')
		length--;				/* character(n) */

	for (body = length; body > 0 && bytes[body - 1] != '_'; body--)
		;

	if (length == UUID_TEXT_LENGTH && uuid_read_text(bytes, &key->id))
		key->form = FORM_UUID_TEXT;
	else if (body > 0)
	{
		if (read_digits(radix_36, bytes + body, length - body, &key->id))
			key->form = FORM_PREFIXED_ID;
		else if (read_digits(radix_typeid, bytes + body, length - body, &key->id))
			key->form = FORM_TYPEID;
	}
	else if (read_digits(radix_typeid, bytes, length, &key->id) &&
			 uuid_is_version(&key->id, 7))
		key->form = FORM_TYPEID;	/* of no prefix */
	else if (read_digits(radix_crockford, bytes, length, &key->id))
		key->form = FORM_ULID;
	else if (length == OBJECT_ID_DIGITS && object_id_read(bytes, &seconds))
	{
		key->form = FORM_OBJECT_ID;
		key->number = seconds;
	}
}

/* Read a value; false where it is none of a known type. */
bool
key_read(KeyType type, Datum value, SampledKey *key)
{
	switch (type)
	{
		case KEY_TYPE_UUID:
			key->form = FORM_UUID;
			key->id = *DatumGetUUIDP(value);
			return true;
		case KEY_TYPE_SMALLINT:
			key->form = FORM_NUMBER;
			key->number = DatumGetInt16(value);
			return true;
		case KEY_TYPE_INTEGER:
			key->form = FORM_NUMBER;
			key->number = DatumGetInt32(value);
			return true;
		case KEY_TYPE_BIGINT:
			key->form = FORM_NUMBER;
			key->number = DatumGetInt64(value);
			return true;
		case KEY_TYPE_TEXT:
			read_text(value, key);
			return true;
		case KEY_TYPE_NONE:
			break;
	}
	return false;
}

/* ------------------------------------------------------------------------
 * How keys go on from row to row
 * ------------------------------------------------------------------------
 */

/* A key's time or number, in its own unit. */
typedef int64 (*KeyMeasure) (const SampledKey *key);

static int64
first_48_bits(const SampledKey *key)
{
	return uuid_first_48_bits(&key->id);
}

static int64
last_48_bits(const SampledKey *key)
{
	return uuid_last_48_bits(&key->id);
}

static int64
gregorian_ticks(const SampledKey *key)
{
	return uuid_high(&key->id);
}

static int64
gregorian_ticks_of_v1(const SampledKey *key)
{
	return uuid_v1_ticks(uuid_high(&key->id));
}

static int64
object_id_ms(const SampledKey *key)
{
	return key->number * MS_PER_SECOND;
}

static int64
number_of(const SampledKey *key)
{
	return key->number;
}

static int64
trace_tick_of(const SampledKey *key)
{
	return int_id_tick(&trace_id_layout, key->number);
}

static bool
reaches(int part, int whole, double share)
{
	return whole > 0 && part >= whole * share;
}

/* Which of the samples to ask about what new rows are like. */
static const KeySample *
newest_or_spread(const KeySample *newest, const KeySample *spread)
{
	return newest->count >= KEY_KIND_MIN_KEYS ? newest : spread;
}

/* Is a row's time mostly not before that of the row in front of it? */
static bool
in_order(const KeySample *sample, KeyMeasure measure)
{
	int			forward = 0;

	for (int i = 1; i < sample->count; i++)
	{
		if (measure(&sample->keys[i]) >= measure(&sample->keys[i - 1]))
			forward++;
	}
	return reaches(forward, sample->count - 1, IN_ORDER_SHARE);
}

/* Are nearly all measures in a range? */
static bool
in_range(const KeySample *sample, KeyMeasure measure, int64 low, int64 high)
{
	int			inside = 0;

	for (int i = 0; i < sample->count; i++)
	{
		int64		value = measure(&sample->keys[i]);

		if (value >= low && value <= high)
			inside++;
	}
	return reaches(inside, sample->count, NEARLY_ALL);
}

/* Could these be Unix milliseconds of the time up to the clock? */
static bool
are_creation_ms(const KeySample *sample, KeyMeasure measure, TimestampTz clock)
{
	return in_range(sample, measure, EARLIEST_MS,
					clock_unix_ms(clock) + MS_PER_DAY);
}

/* How many leading bytes stay or go on, before the first random one. */
typedef struct Progress
{
	int			bytes;
	bool		ended;			/* the next byte is random */
} Progress;

/* Are half of the steps, counted by their size, in one circular range? */
static bool
steps_are_alike(const int *counts, int steps)
{
	int			inside = 0;

	for (int i = 0; i < STEP_RANGE; i++)
		inside += counts[i];
	for (int first = 0; first < 256; first++)
	{
		if (inside >= steps * ALIKE_SHARE)
			return true;
		inside += counts[(first + STEP_RANGE) % 256] - counts[first];
	}
	return false;
}

/*
 * Each byte is looked at where those before it are the same in two rows that
 * follow one another.  One that seldom changes, as in a run of rows made at
 * the same time, counts as going on; where there are too few such rows, it is
 * not known where the prefix ends.
 */
static Progress
measure_progress(const KeySample *sample, int first_byte)
{
	Progress	progress = {0, false};

	while (progress.bytes < MAX_PREFIX_BYTES)
	{
		int			counts[256] = {0};
		int			pairs = 0;
		int			steps = 0;

		for (int i = 1; i < sample->count; i++)
		{
			const uint8 *one = sample->keys[i - 1].id.data + first_byte;
			const uint8 *next = sample->keys[i].id.data + first_byte;
			uint8		step = next[progress.bytes] - one[progress.bytes];

			if (memcmp(one, next, progress.bytes) != 0)
				continue;
			pairs++;
			if (step == 0)
				continue;
			steps++;
			counts[step]++;
		}

		if (pairs < MIN_STEPS)
			break;
		if (steps >= MIN_STEPS && !steps_are_alike(counts, steps))
		{
			progress.ended = true;
			break;
		}
		progress.bytes++;
	}
	return progress;
}

/* The same by both samples: the newest rows know best, if they know. */
static Progress
progress_of(const KeySample *newest, const KeySample *spread, int first_byte)
{
	Progress	of_newest = measure_progress(newest, first_byte);
	Progress	of_spread = measure_progress(spread, first_byte);

	if (newest->count < KEY_KIND_MIN_KEYS)
		return of_spread;
	if (!of_newest.ended && of_spread.ended && of_spread.bytes > 0)
		return of_spread;
	return of_newest;
}

/*
 * A table that was put in the order of its keys: the rows begin with the
 * lowest ones that there can be, and go up to the highest.
 */
static bool
is_sorted_by_key(const KeySample *spread)
{
	uint64		range = UINT64CONST(1) << 48;
	uint64		margin = range / Max(spread->count, 1) * 20;

	for (int i = 1; i < spread->count; i++)
	{
		if (first_48_bits(&spread->keys[i]) < first_48_bits(&spread->keys[i - 1]))
			return false;
	}
	return spread->count > 0 &&
		(uint64) first_48_bits(&spread->keys[0]) < margin &&
		(uint64) first_48_bits(&spread->keys[spread->count - 1]) > range - margin;
}

/* ------------------------------------------------------------------------
 * Version 4: random, COMB, short COMB, as prefix or suffix
 * ------------------------------------------------------------------------
 */

/* A prefix of so many bits, wherever it stands. */
static uint64
prefix_of_key(const SampledKey *key, const ShortPrefix *prefix, int first_byte)
{
	uint64		bits = first_byte == FIRST_BYTE_OF_PREFIX ?
		first_48_bits(key) : last_48_bits(key);

	return bits >> (48 - prefix->bits);
}

/* The period whose prefixes have come to those of the newest rows; 0: none. */
static int64
find_period(const KeySample *newest, int bytes, int first_byte, TimestampTz clock)
{
	int64		found = 0;
	uint64		best = PERIODS_BACK + 1;

	if (bytes < MIN_BYTES_FOR_PERIOD)
		return 0;

	for (int i = 0; i < (int) lengthof(period_seconds); i++)
	{
		ShortPrefix prefix = {period_seconds[i] * MS_PER_SECOND, bytes * BITS_PER_BYTE};
		int64		now = short_prefix_period_number(&prefix, clock);

		for (int k = Max(newest->count - NEWEST_FOR_PERIOD, 0); k < newest->count; k++)
		{
			uint64		back = short_prefix_of_period(&prefix, now -
													  (int64) prefix_of_key(&newest->keys[k],
																			&prefix, first_byte));

			if (back < best)
			{
				best = back;
				found = prefix.period_ms;
			}
		}
	}
	return found;
}

/* Did the prefixes begin with 0, as a new sequence's blocks do? */
static bool
begins_with_zero(const KeySample *spread, int bytes, int first_byte)
{
	ShortPrefix prefix = {0, bytes * BITS_PER_BYTE};
	int			oldest = Min(spread->count, OLDEST_KEYS);
	int			zeros = 0;

	for (int i = 0; i < oldest; i++)
	{
		if (prefix_of_key(&spread->keys[i], &prefix, first_byte) == 0)
			zeros++;
	}
	return reaches(zeros, oldest, NEARLY_ALL);
}

static const char *
with_bytes(const char *name, int bytes)
{
	return bytes == 2 ? name : psprintf("%s of %d byte%s", name, bytes, bytes == 1 ? "" : "s");
}

static void
classify_v4(KeyKind *kind, const KeySample *newest, const KeySample *spread,
			TimestampTz clock)
{
	const KeySample *sample = newest_or_spread(newest, spread);
	Progress	prefix = progress_of(newest, spread, FIRST_BYTE_OF_PREFIX);
	Progress	suffix = progress_of(newest, spread, FIRST_BYTE_OF_SUFFIX);
	bool		is_suffix = prefix.bytes == 0 && suffix.bytes > 0;
	int			first_byte = is_suffix ? FIRST_BYTE_OF_SUFFIX : FIRST_BYTE_OF_PREFIX;
	Progress	progress = is_suffix ? suffix : prefix;
	int			bytes;

	if (progress.bytes == 0 || is_sorted_by_key(spread))
	{
		kind->name = "random (UUID v4)";
		kind->placement = PLACEMENT_RANDOM;
		return;
	}

	/* in a COMB the time goes on behind its first two bytes, too */
	if (are_creation_ms(sample, is_suffix ? last_48_bits : first_48_bits, clock) &&
		!(progress.ended && progress.bytes <= 2))
	{
		kind->name = is_suffix ? "suffix COMB" : "COMB";
		kind->placement = is_suffix ? PLACEMENT_SUFFIX : PLACEMENT_ORDERED;
		return;
	}

	bytes = progress.ended ? progress.bytes : Min(progress.bytes, 2);
	kind->placement = is_suffix ? PLACEMENT_SUFFIX : PLACEMENT_BY_PREFIX;
	kind->period_ms = find_period(sample, bytes, first_byte, clock);
	if (is_suffix)
		kind->name = with_bytes("short suffix COMB", bytes);
	else if (kind->period_ms != 0)
		kind->name = with_bytes("short COMB", bytes);
	else if (begins_with_zero(spread, bytes, first_byte))
		kind->name = with_bytes("sequence COMB", bytes);
	else
		kind->name = with_bytes("short COMB or sequence COMB", bytes);
}

/* ------------------------------------------------------------------------
 * UUIDs
 * ------------------------------------------------------------------------
 */

/* A kind whose keys begin with the time, if the rows keep to it. */
static void
set_time_ordered(KeyKind *kind, const char *name, const KeySample *sample,
				 KeyMeasure measure)
{
	if (in_order(sample, measure))
	{
		kind->name = name;
		kind->placement = PLACEMENT_ORDERED;
	}
	else
	{
		kind->name = psprintf("%s, not in order of the rows", name);
		kind->placement = PLACEMENT_UNKNOWN;
	}
}

static void
classify_uuid(KeyKind *kind, int version, const KeySample *newest,
			  const KeySample *spread, TimestampTz clock)
{
	const KeySample *sample = newest_or_spread(newest, spread);

	switch (version)
	{
		case 1:
			kind->name = "UUID v1";
			kind->placement = PLACEMENT_LAPS;
			if (!in_order(sample, gregorian_ticks_of_v1))
				kind->name = "UUID v1, not in order of the rows";
			break;
		case 4:
			classify_v4(kind, newest, spread, clock);
			break;
		case 6:
			set_time_ordered(kind, "UUID v6", sample, gregorian_ticks);
			break;
		case 7:
			set_time_ordered(kind, "UUID v7", sample, first_48_bits);
			break;
		case UUID_VERSION_LAMBERT:
			set_time_ordered(kind, "Lambert COMB", sample, gregorian_ticks);
			break;
		case 3:
		case 5:
			kind->name = psprintf("UUID v%d", version);
			kind->placement = PLACEMENT_RANDOM;	/* a hash */
			break;
		case NO_VERSION:
			kind->name = "UUID of another variant";
			break;
		default:
			kind->name = psprintf("UUID v%d", version);
			break;
	}
}

/*
 * A ULID's bytes in a uuid have a time where a UUID has one, and random bits
 * where it has its variant.
 */
static bool
are_ulids(const KeySample *sample, TimestampTz clock)
{
	int			rfc_variant = 0;

	for (int i = 0; i < sample->count; i++)
		rfc_variant += uuid_is_rfc_variant(&sample->keys[i].id);
	return !reaches(rfc_variant, sample->count, 0.5) &&
		are_creation_ms(sample, first_48_bits, clock);
}

/* ------------------------------------------------------------------------
 * Numbers
 * ------------------------------------------------------------------------
 */

/* The number that an instant's tick begins with. */
static int64
number_at(const TickerLayout *layout, int64 unix_ms)
{
	int64		tick = (unix_ms - DEFAULT_EPOCH_MS) / layout->ms_per_tick;

	tick = Max(tick, 0);
	tick = Min(tick, max_of_bits(layout->tick_bits));
	return int_id_pack(layout, tick, 0, 0);
}

/* Is the last row's time within a day of the clock? */
static bool
ends_at_clock(const KeySample *sample, const TickerLayout *layout, TimestampTz clock)
{
	int64		ms = clock_unix_ms(clock);
	int64		last = sample->keys[sample->count - 1].number;

	if (layout == &trace_id_layout)
	{
		int64		second = ms / MS_PER_SECOND + SECS_PER_DAY;

		return ((second - int_id_tick(layout, last)) &
				max_of_bits(layout->tick_bits)) <= 2 * SECS_PER_DAY;
	}
	return last >= number_at(layout, ms - MS_PER_DAY) &&
		last <= number_at(layout, ms + MS_PER_DAY);
}

static int
compare_numbers(const void *one, const void *other)
{
	int64		a = *(const int64 *) one;
	int64		b = *(const int64 *) other;

	return (a > b) - (a < b);
}

/* How many different values some bits of the numbers have. */
static int
count_distinct(const KeySample *sample, int shift, int64 mask)
{
	int64	   *values = palloc(sizeof(int64) * Max(sample->count, 1));
	int			distinct = sample->count > 0;

	for (int i = 0; i < sample->count; i++)
		values[i] = sample->keys[i].number >> shift & mask;
	qsort(values, sample->count, sizeof(int64), compare_numbers);
	for (int i = 1; i < sample->count; i++)
		distinct += values[i] != values[i - 1];
	pfree(values);
	return distinct;
}

/* Do the bits of ticks change, while those of nodes have but few values? */
static bool
ticks_change_and_nodes_stay(const KeySample *sample, const TickerLayout *layout)
{
	int			ticks = count_distinct(sample, layout->node_bits + layout->counter_bits,
									   max_of_bits(layout->tick_bits));
	int			nodes = count_distinct(sample, layout->counter_bits,
									   max_of_bits(layout->node_bits));

	return ticks >= MIN_TICKS && nodes <= MAX_NODES;
}

/* Time, node and counter, as in js_id and Snowflake? */
static bool
has_time(const KeySample *sample, const KeySample *spread,
		 const TickerLayout *layout, TimestampTz clock)
{
	/* a number of the epoch's first day could be any */
	int64		low = number_at(layout, DEFAULT_EPOCH_MS + MS_PER_DAY);
	int64		high = number_at(layout, clock_unix_ms(clock) + MS_PER_DAY);

	return in_range(sample, number_of, low, high) &&
		in_order(sample, number_of) &&
		(ends_at_clock(sample, layout, clock) ||
		 ticks_change_and_nodes_stay(spread, layout));
}

/* The same for trace_id, whose time begins again. */
static bool
are_trace_ids(const KeySample *sample, const KeySample *spread, TimestampTz clock)
{
	const TickerLayout *layout = &trace_id_layout;

	/* below its first tick are the sequences */
	return in_range(sample, number_of,
					int_id_pack(layout, 1, 0, 0), PG_INT64_MAX) &&
		in_order(sample, trace_tick_of) &&
		(ends_at_clock(sample, layout, clock) ||
		 ticks_change_and_nodes_stay(spread, layout));
}

/* The places below the counter are the same in nearly all, and it goes on. */
static bool
are_decimal_ids(const KeySample *sample)
{
	const int64 places = (int64) DECIMAL_GENERATORS * DECIMAL_LAUNCHES;
	const SampledKey *last = &sample->keys[sample->count - 1];
	int			alike = 0;

	for (int i = 0; i < sample->count; i++)
	{
		int64		number = sample->keys[i].number;

		alike += number >= places && number % places == last->number % places;
	}
	return reaches(alike, sample->count, NEARLY_ALL) && in_order(sample, number_of);
}

static bool
is_sequential(const KeySample *sample)
{
	int			small = 0;

	for (int i = 1; i < sample->count; i++)
	{
		/* as unsigned numbers, they may be as far apart as they like */
		uint64		step = (uint64) sample->keys[i].number - (uint64) sample->keys[i - 1].number;

		small += step + SEQUENTIAL_STEP <= 2 * SEQUENTIAL_STEP;
	}
	return reaches(small, sample->count - 1, SEQUENTIAL_SHARE);
}

static void
classify_numbers(KeyKind *kind, const KeySample *newest, const KeySample *spread,
				 TimestampTz clock)
{
	const KeySample *sample = newest_or_spread(newest, spread);
	const char *type = kind->type == KEY_TYPE_BIGINT ? "bigint" :
		kind->type == KEY_TYPE_INTEGER ? "integer" : "smallint";
	bool		is_bigint = kind->type == KEY_TYPE_BIGINT;
	bool		is_snowflake;

	kind->placement = PLACEMENT_ORDERED;
	is_snowflake = is_bigint &&
		has_time(sample, spread, &snowflake_layout, clock);

	if (is_bigint && are_decimal_ids(sample))
		kind->name = "decimal_id";
	else if (is_bigint && has_time(sample, spread, &js_id_layout, clock))
		kind->name = "js_id";
	else if (is_snowflake && ends_at_clock(sample, &snowflake_layout, clock))
		kind->name = "Snowflake";
	else if (is_bigint && are_trace_ids(sample, spread, clock))
		kind->name = "trace_id";
	else if (is_snowflake)
		kind->name = "Snowflake";
	else if (is_sequential(sample))
		kind->name = psprintf("%s, sequential", type);
	else if (in_order(sample, number_of))
		kind->name = psprintf("%s, ascending", type);
	else
	{
		kind->name = psprintf("%s, random", type);
		kind->placement = PLACEMENT_RANDOM;
	}
}

/* ------------------------------------------------------------------------
 * The kind
 * ------------------------------------------------------------------------
 */

/* Which group a key belongs to: those of its form and version. */
static int
group_of(const SampledKey *key)
{
	int			version = 0;

	if (key->form <= FORM_TYPEID)
		version = uuid_is_rfc_variant(&key->id) ? uuid_version_nibble(&key->id) : NO_VERSION;
	return key->form * VERSIONS + version;
}

#define GROUPS	((FORM_TEXT + 1) * VERSIONS)

static KeySample
keys_of_group(const KeySample *sample, int group)
{
	KeySample	result = {palloc(sizeof(SampledKey) * Max(sample->count, 1)), 0};

	for (int i = 0; i < sample->count; i++)
	{
		if (group_of(&sample->keys[i]) == group)
			result.keys[result.count++] = sample->keys[i];
	}
	return result;
}

/* Digits with a time, unless too many of the times are impossible. */
static void
classify_text(KeyKind *kind, const char *name, const KeySample *sample,
			  KeyMeasure measure_ms, TimestampTz clock)
{
	if (are_creation_ms(sample, measure_ms, clock))
		set_time_ordered(kind, name, sample, measure_ms);
	else
		kind->name = "text";
}

static void
classify_group(KeyKind *kind, int group, const KeySample *all_newest,
			   const KeySample *all_spread, TimestampTz clock)
{
	KeySample	newest = keys_of_group(all_newest, group);
	KeySample	spread = keys_of_group(all_spread, group);
	const KeySample *sample = newest_or_spread(&newest, &spread);

	kind->form = group / VERSIONS;
	kind->placement = PLACEMENT_UNKNOWN;
	kind->period_ms = 0;

	switch (kind->form)
	{
		case FORM_UUID:
		case FORM_UUID_TEXT:
		case FORM_PREFIXED_ID:
		case FORM_TYPEID:
			classify_uuid(kind, group % VERSIONS, &newest, &spread, clock);
			if (kind->form == FORM_UUID_TEXT)
				kind->name = psprintf("%s as text", kind->name);
			else if (kind->form == FORM_PREFIXED_ID)
				kind->name = psprintf("prefixed id, %s", kind->name);
			else if (kind->form == FORM_TYPEID)
				kind->name = psprintf("TypeID, %s", kind->name);
			break;
		case FORM_ULID:
			classify_text(kind, "ULID", sample, first_48_bits, clock);
			break;
		case FORM_ULID_UUID:
			set_time_ordered(kind, "ULID as uuid", sample, first_48_bits);
			break;
		case FORM_OBJECT_ID:
			classify_text(kind, "ObjectId", sample, object_id_ms, clock);
			break;
		case FORM_NUMBER:
			if (sample->count > 0)
				classify_numbers(kind, &newest, &spread, clock);
			break;
		case FORM_TEXT:
			kind->name = "text";
			break;
	}
	pfree(newest.keys);
	pfree(spread.keys);
}

/* Read the uuids as ULIDs. */
static void
mark_ulids(const KeySample *sample)
{
	for (int i = 0; i < sample->count; i++)
		sample->keys[i].form = FORM_ULID_UUID;
}

static void
count_groups(const KeySample *sample, int *counts)
{
	memset(counts, 0, sizeof(int) * GROUPS);
	for (int i = 0; i < sample->count; i++)
		counts[group_of(&sample->keys[i])]++;
}

static int
greatest_group(const int *counts)
{
	int			greatest = 0;

	for (int group = 1; group < GROUPS; group++)
	{
		if (counts[group] > counts[greatest])
			greatest = group;
	}
	return greatest;
}

/*
 * The kind of all keys, by the sample that is spread over them; where there is
 * more than one, their shares.  The placement is that of the newest.
 */
KeyKind
key_kind_of(KeyType type, const KeySample *newest, const KeySample *spread,
			TimestampTz clock)
{
	KeyKind		kind = {.name = "unknown (too few rows)", .type = type};
	KeyKind		newest_kind;
	int			counts[GROUPS];
	int			group;
	StringInfoData names;

	if (spread->count < KEY_KIND_MIN_KEYS)
		return kind;

	if (type == KEY_TYPE_UUID && are_ulids(spread, clock))
	{
		mark_ulids(newest);
		mark_ulids(spread);
	}

	count_groups(spread, counts);
	group = greatest_group(counts);
	if (reaches(counts[group], spread->count, NEARLY_ALL))
	{
		classify_group(&kind, group, newest, spread, clock);
		return kind;
	}

	kind.mixed = true;
	initStringInfo(&names);
	appendStringInfoString(&names, "mixed:");
	for (; reaches(counts[group], spread->count, SHARE_TOLD); group = greatest_group(counts))
	{
		classify_group(&kind, group, newest, spread, clock);
		appendStringInfo(&names, "%s %.0f %% %s", names.data[names.len - 1] == ':' ? "" : ",",
						 100.0 * counts[group] / spread->count, kind.name);
		counts[group] = 0;
	}

	/* what new rows are like, if they are all alike */
	kind.placement = PLACEMENT_UNKNOWN;
	kind.period_ms = 0;
	count_groups(newest, counts);
	group = greatest_group(counts);
	if (newest->count >= KEY_KIND_MIN_KEYS &&
		reaches(counts[group], newest->count, NEARLY_ALL))
	{
		newest_kind = kind;
		classify_group(&newest_kind, group, newest, spread, clock);
		kind.placement = newest_kind.placement;
		kind.period_ms = newest_kind.period_ms;
		kind.form = newest_kind.form;
		appendStringInfo(&names, "; the newest: %s", newest_kind.name);
	}
	kind.name = names.data;
	return kind;
}
