/*-------------------------------------------------------------------------
 *
 * key_kind.c
 *	  Recognizes the kind of identifiers in a sample of keys.
 *
 * A single identifier reveals its version at most, and a COMB has the version
 * of a random UUID.  Kinds of one version differ in how keys change from row
 * to row.  Therefore, there are two samples, both in the order of the rows in
 * the heap: the newest rows, which are neighbors, and rows spread over the
 * whole table.
 *
 * A byte of a time or a counter differs from a random byte in its steps from
 * row to row, which are similar: mostly small, or as large as the distance of
 * the sampled rows.
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
#include "decimal_id.h"
#include "int_ids.h"
#include "key_kind.h"
#include "object_id.h"
#include "radix.h"
#include "short_prefix.h"
#include "uuid_bits.h"

/* Above this share, a sample is treated as homogeneous. */
#define NEARLY_ALL			0.95

/* The smallest share of a kind that is reported among several. */
#define MIN_REPORTED_SHARE	0.01

/*
 * The steps of a byte are similar if half of them are in one range of 40 of
 * the 255 values.  The range may include small negative steps, because
 * concurrent sessions do not insert exactly in order.  Random bytes pass with
 * a probability below 1 in 10,000.
 */
#define STEP_RANGE			40
#define MIN_STEPS			40
#define SIMILAR_SHARE		0.5

/* Rows are in order if this share follows in time; of random times, half do. */
#define IN_ORDER_SHARE		0.7

/* Earlier times are not regarded as creation times. */
#define EARLIEST_MS			INT64CONST(631152000000)	/* 1990-01-01 */

/*
 * Numbers whose time is not near the clock must have at least this many
 * different ticks, and at most this many different nodes.
 */
#define MIN_TICKS			30
#define MAX_NODES			8

/* Steps of a sequence, which may have gaps, from row to row. */
#define SEQUENTIAL_STEP		1000
#define SEQUENTIAL_SHARE	0.9

/*
 * The period of a short COMB is the one with which the prefix of one of the
 * newest rows was current at most PERIODS_BACK periods before the clock.  Of
 * NEWEST_FOR_PERIOD random prefixes of two bytes, one fits one of the periods
 * below with a probability of about 1 in 150.
 */
#define PERIODS_BACK		3
#define NEWEST_FOR_PERIOD	5

static const int period_seconds[] =
{60, 1, 2, 5, 10, 15, 20, 30, 120, 300, 600, 900, 1200, 1800,
3600, 7200, 14400, 21600, 43200, 86400, 604800};

/* A shorter prefix fits too many periods. */
#define MIN_BYTES_FOR_PERIOD	2

/* The number of oldest rows that show the first blocks of a new sequence. */
#define OLDEST_KEYS			30

#define FIRST_BYTE_OF_PREFIX	0
#define FIRST_BYTE_OF_SUFFIX	10

/* Longer texts are not read; identifiers are shorter. */
#define MAX_READ_TEXT			100

/* Keys are grouped by form and, if they are UUIDs, by version. */
#define NO_VERSION			16	/* another variant */
#define VERSIONS			17

/* ------------------------------------------------------------------------
 * Reading keys
 * ------------------------------------------------------------------------
 */

/* The key type of a type or, for a domain, of its base type. */
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

/* Read digits as a 128-bit number. */
static bool
read_number(const Radix *radix, const char *digits, int length,
			uint64 *high, uint64 *low)
{
	char	   *problem;

	if (radix_decode(radix, digits, length, 1, high, low, &problem))
		return true;
	pfree(problem);
	return false;
}

/* The same for a UUID, whose leading zeros cannot be omitted. */
static bool
read_uuid(const Radix *radix, const char *digits, int length, pg_uuid_t *id)
{
	uint64		high;
	uint64		low;

	if (length != radix_width(radix) ||
		!read_number(radix, digits, length, &high, &low))
		return false;
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
	uint64		high;
	uint64		low;

	key->form = FORM_TEXT;
	if (toast_raw_datum_size(value) > VARHDRSZ + MAX_READ_TEXT)
		return;

	copy = DatumGetTextPP(value);
	bytes = VARDATA_ANY(copy);
	length = VARSIZE_ANY_EXHDR(copy);
	while (length > 0 && bytes[length - 1] == ' ')
		length--;				/* the padding of character(n) */

	for (body = length; body > 0 && bytes[body - 1] != '_'; body--)
		;

	if (length == UUID_TEXT_LENGTH && uuid_read_text(bytes, &key->id))
		key->form = FORM_UUID_TEXT;
	else if (body > 0)
	{
		if (read_uuid(radix_36, bytes + body, length - body, &key->id))
			key->form = FORM_PREFIXED_ID;
		else if (read_uuid(radix_typeid, bytes + body, length - body, &key->id))
			key->form = FORM_TYPEID;
	}
	else if (read_uuid(radix_typeid, bytes, length, &key->id) &&
			 uuid_is_version(&key->id, 7))
		key->form = FORM_TYPEID;	/* without a prefix */
	else if (read_uuid(radix_crockford, bytes, length, &key->id))
		key->form = FORM_ULID;
	else if (length == OBJECT_ID_DIGITS &&
			 read_number(radix_of_base(16), bytes, length, &high, &low))
	{
		key->form = FORM_OBJECT_ID;
		key->number = high;		/* the first 32 of the 96 bits */
	}
}

/* Read a value; false if its type is not supported. */
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
 * Changes of keys from row to row
 * ------------------------------------------------------------------------
 */

/* A function that returns the time or number of a key, in the unit of its kind. */
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

/* The sample that represents new rows. */
static const KeySample *
newest_or_spread(const KeySample *newest, const KeySample *spread)
{
	return newest->count >= KEY_KIND_MIN_KEYS ? newest : spread;
}

/* Are the keys of most rows not less than that of the previous row? */
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

/* Are nearly all measures in the range from low to high? */
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

/* Can these be Unix milliseconds of creation times, up to the clock? */
static bool
are_creation_ms(const KeySample *sample, KeyMeasure measure, TimestampTz clock)
{
	return in_range(sample, measure, EARLIEST_MS,
					clock_unix_ms(clock) + MS_PER_DAY);
}

/* The leading bytes that are constant or progress, before a random byte. */
typedef struct Progress
{
	int			bytes;
	bool		ended;			/* is the next byte random? */
} Progress;

/*
 * Given the number of steps of each size, is half of them in one circular
 * range?
 */
static bool
steps_are_similar(const int *counts, int steps)
{
	int			inside = 0;

	for (int i = 0; i < STEP_RANGE; i++)
		inside += counts[i];
	for (int first = 0; first < 256; first++)
	{
		if (inside >= steps * SIMILAR_SHARE)
			return true;
		inside += counts[(first + STEP_RANGE) % 256] - counts[first];
	}
	return false;
}

/*
 * Find the bytes that progress.  A byte is compared in two consecutive rows
 * whose bytes before it are equal.  A byte that seldom changes, as in rows of
 * the same time, counts as progressing.  If there are too few such rows, the
 * end of the prefix is not known.
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
		if (steps >= MIN_STEPS && !steps_are_similar(counts, steps))
		{
			progress.ended = true;
			break;
		}
		progress.bytes++;
	}
	return progress;
}

/* The bytes that progress in both samples; the newest rows take precedence. */
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
 * Were the rows sorted by random keys?  Then the keys are in the order of the
 * rows, and the first and the last ones are close to the ends of the range.
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

/* The prefix of a key, or the suffix in its place. */
static uint64
prefix_of_key(const SampledKey *key, const ShortPrefix *prefix, int first_byte)
{
	return first_byte == FIRST_BYTE_OF_PREFIX ?
		short_prefix_of_uuid(prefix, &key->id) :
		uuid_last_48_bits(&key->id) >> (48 - prefix->bits);
}

/* The period in ms with which the prefixes of the newest rows are current; 0 if none. */
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

/* The rows per period of short COMBs; 0 if they are of one period, or not in order. */
static double
rows_per_period(const KeySample *newest, int bytes)
{
	ShortPrefix prefix = {0, bytes * BITS_PER_BYTE};
	uint64		periods;

	if (newest->count == 0)
		return 0;
	periods = short_prefix_of_period(&prefix,
									 (int64) short_prefix_of_uuid(&prefix, &newest->keys[newest->count - 1].id) -
									 (int64) short_prefix_of_uuid(&prefix, &newest->keys[0].id));
	if (periods == 0 || periods > short_prefix_cycle(&prefix) / 2)
		return 0;
	return (double) newest->count / periods;
}

/* Do the prefixes of the oldest rows begin with 0, like the blocks of a sequence? */
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

	/* the time of a COMB also progresses after its first two bytes */
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
	{
		kind->name = with_bytes("short COMB", bytes);
		kind->period_rows = rows_per_period(newest, bytes);
	}
	else if (begins_with_zero(spread, bytes, first_byte))
		kind->name = with_bytes("sequence COMB", bytes);
	else
		kind->name = with_bytes("short COMB or sequence COMB", bytes);
}

/* ------------------------------------------------------------------------
 * UUIDs
 * ------------------------------------------------------------------------
 */

/* Set a kind whose keys begin with a time; it is ordered if most rows are. */
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
			kind->placement = PLACEMENT_CYCLIC;
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
 * Are these the bytes of ULIDs in type uuid?  They begin with a time, like
 * UUIDs of version 7, and have random bits in place of the variant.
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

/* The smallest number of a millisecond's tick. */
static int64
number_at(const IntIdLayout *layout, int64 unix_ms)
{
	int64		tick = (unix_ms - DEFAULT_EPOCH_MS) / layout->ticker.ms_per_tick;

	tick = Max(tick, 0);
	tick = Min(tick, max_of_bits(layout->tick_bits));
	return int_id_pack(layout, tick, 0, 0);
}

/* Is the time of the last row within a day of the clock? */
static bool
ends_at_clock(const KeySample *sample, const IntIdLayout *layout, TimestampTz clock)
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

/* The number of different values that some bits of the numbers have. */
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

/* Are there many different ticks, but few different nodes? */
static bool
has_many_ticks_and_few_nodes(const KeySample *sample, const IntIdLayout *layout)
{
	int			ticks = count_distinct(sample, layout->node_bits + layout->ticker.counter_bits,
									   max_of_bits(layout->tick_bits));
	int			nodes = count_distinct(sample, layout->ticker.counter_bits,
									   max_of_bits(layout->node_bits));

	return ticks >= MIN_TICKS && nodes <= MAX_NODES;
}

/* Do the numbers have the time, node and counter of js_id or Snowflake? */
static bool
has_time(const KeySample *sample, const KeySample *spread,
		 const IntIdLayout *layout, TimestampTz clock)
{
	/* numbers of the first day are too small to distinguish from other kinds */
	int64		low = number_at(layout, DEFAULT_EPOCH_MS + MS_PER_DAY);
	int64		high = number_at(layout, clock_unix_ms(clock) + MS_PER_DAY);

	return in_range(sample, number_of, low, high) &&
		in_order(sample, number_of) &&
		(ends_at_clock(sample, layout, clock) ||
		 has_many_ticks_and_few_nodes(spread, layout));
}

/* The same for trace_id, whose time is cyclic. */
static bool
are_trace_ids(const KeySample *sample, const KeySample *spread, TimestampTz clock)
{
	const IntIdLayout *layout = &trace_id_layout;

	/* numbers below the first tick are those of sequences */
	return in_range(sample, number_of,
					int_id_pack(layout, 1, 0, 0), PG_INT64_MAX) &&
		in_order(sample, trace_tick_of) &&
		(ends_at_clock(sample, layout, clock) ||
		 has_many_ticks_and_few_nodes(spread, layout));
}

/*
 * Do nearly all numbers have the same generator and launch, and a counter that
 * ascends?
 */
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
		/* the difference of unsigned numbers does not overflow */
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

/* The group of a key: its form and version. */
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

/* Texts that contain a time, unless too many of the times are impossible. */
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

/* Treat UUIDs as ULIDs. */
static void
treat_as_ulids(const KeySample *sample)
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
 * The kind of a mixture.  Its name contains the share of each group; "counts"
 * has the number of keys in each, and is overwritten.  The placement is that of
 * the newest rows if nearly all of them are of one kind.
 */
static void
classify_mixture(KeyKind *kind, int *counts, const KeySample *newest,
				 const KeySample *spread, TimestampTz clock)
{
	const char *separator = "mixed:";
	int			group = greatest_group(counts);
	StringInfoData name;

	initStringInfo(&name);
	for (; reaches(counts[group], spread->count, MIN_REPORTED_SHARE);
		 group = greatest_group(counts))
	{
		classify_group(kind, group, newest, spread, clock);
		appendStringInfo(&name, "%s %.0f %% %s", separator,
						 100.0 * counts[group] / spread->count, kind->name);
		counts[group] = 0;
		separator = ",";
	}

	count_groups(newest, counts);
	group = greatest_group(counts);
	if (newest->count >= KEY_KIND_MIN_KEYS &&
		reaches(counts[group], newest->count, NEARLY_ALL))
	{
		classify_group(kind, group, newest, spread, clock);
		appendStringInfo(&name, "; the newest: %s", kind->name);
	}
	else
	{
		kind->placement = PLACEMENT_UNKNOWN;
		kind->period_ms = 0;
	}
	kind->mixed = true;
	kind->name = name.data;
}

/*
 * The kind of the keys in the sample that is spread over the table, and the
 * placement of the newest ones.
 */
KeyKind
key_kind_of(KeyType type, const KeySample *newest, const KeySample *spread,
			TimestampTz clock)
{
	KeyKind		kind = {.name = "unknown (too few rows)", .type = type};
	int			counts[GROUPS];
	int			group;

	if (spread->count < KEY_KIND_MIN_KEYS)
		return kind;

	if (type == KEY_TYPE_UUID && are_ulids(spread, clock))
	{
		treat_as_ulids(newest);
		treat_as_ulids(spread);
	}

	count_groups(spread, counts);
	group = greatest_group(counts);
	if (reaches(counts[group], spread->count, NEARLY_ALL))
		classify_group(&kind, group, newest, spread, clock);
	else
		classify_mixture(&kind, counts, newest, spread, clock);
	return kind;
}
