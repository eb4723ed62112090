/*
 * fuzz_times.c
 *	  The times in uuids and in other identifiers, and a clock that steps.
 */
#include "fuzz.h"

#include <time.h>

#include "clock.h"
#include "short_prefix.h"

/* --- Any uuid: its fields, its times, and its conversions --- */

/* The units of time in identifiers, and the fields of a uuid. */
static void
check_units(const pg_uuid_t *id, TimestampTz instant)
{
	int			version = id->data[6] >> 4;
	uint64		high = uuid_high(id);
	int64		ms = uuid_half(id, 1);
	TimestampTz start;
	pg_uuid_t	packed;

	CHECK(clock_unix_ms(instant) == wide_unix_ms(instant));
	CHECK(clock_unix_seconds(instant) == wide_floor(wide_unix_ms(instant), 1000));
	CHECK(clock_from_unix_ms(clock_unix_ms(instant), &start));
	CHECK(start == instant - wide_modulo(instant, 1000));
	CHECK(clock_from_unix_ms(ms, &start) == wide_is_instant(wide_instant(ms)));
	CHECK(!wide_is_instant(wide_instant(ms)) || start == wide_instant(ms));
	CHECK(clock_from_unix_seconds32(ms) == wide_instant((Wide) (uint32) ms * 1000));
	CHECK(clock_from_gregorian_ticks(high) == wide_instant_of_ticks(high));

	uuid_pack(&packed, version, high, uuid_low(id));
	CHECK(is_version(&packed, version) && uuid_is_version(&packed, version));
	CHECK(uuid_high(&packed) == high && uuid_low(&packed) == uuid_low(id));
	CHECK(uuid_first_48_bits(id) == high >> 12 && wide_bytes(id, 0, 6) == high >> 12);
	CHECK(uuid_last_48_bits(id) == wide_bytes(id, 10, 6));
	CHECK(uuid_v1_ticks(uuid_v1_high(high)) == high);
}

/* Each time is that of certain versions, with its precision. */
static void
check_times(const pg_uuid_t *id)
{
	bool		is_v4 = is_version(id, 4);
	bool		is_v1 = is_version(id, 1);
	bool		is_v7 = is_version(id, 7);
	bool		has_time = is_v1 || is_version(id, 6) || is_v7 || is_version(id, 13);
	Wide		first = wide_bytes(id, 0, 6);
	Wide		custom_b = wide_bytes(id, 6, 2) & 0x0FFF;
	Wide		v1_ticks = custom_b << 48 | wide_bytes(id, 4, 2) << 32 | wide_bytes(id, 0, 4);
	Wide		ticks = is_v1 ? v1_ticks : first << 12 | custom_b;

	check_instant(CALL(idgen_uuid_timestamp, uuid_arg(id)), has_time,
				  is_v7 ? wide_instant(first) : wide_instant_of_ticks(ticks));
	check_instant(CALL(idgen_comb_timestamp, uuid_arg(id)), is_v4, wide_instant(first));
	check_instant(CALL(idgen_suffix_comb_timestamp, uuid_arg(id)), is_v4,
				  wide_instant(wide_bytes(id, 10, 6)));
}

/* The prefix is that of the latest period that is not after the clock. */
static void
check_short_comb(const pg_uuid_t *id, const Interval *period, int32 prefix_bytes, TimestampTz clock)
{
	Outcome		start = CALL(idgen_short_comb_timestamp, uuid_arg(id), interval_arg(period),
							 int32_arg(prefix_bytes), instant_arg(clock));
	Wide		cycle = (Wide) 1 << 8 * prefix_bytes;
	Wide		own = wide_bytes(id, 0, prefix_bytes);
	ShortPrefix prefix = {.bits = 8 * prefix_bytes};
	Wide		period_ms;
	Wide		now;

	if (!wide_period(period, prefix_bytes, &period_ms))
	{
		CHECK(start.sqlstate == ERRCODE_INVALID_PARAMETER_VALUE);
		return;
	}
	now = wide_floor(wide_unix_ms(clock), period_ms);
	check_instant(start, is_version(id, 4),
				  wide_instant((now - wide_modulo(now - own, cycle)) * period_ms));

	/* also before 1970 */
	prefix.period_ms = period_ms;
	CHECK(short_prefix_period_number(&prefix, clock) == now);
	CHECK(short_prefix_cycle(&prefix) == cycle);
	CHECK(short_prefix_of_period(&prefix, now) == wide_modulo(now, cycle));
	CHECK(short_prefix_of_uuid(&prefix, id) == own);
}

/* A conversion loses no bit, keeps the time, and rejects a uuid of another version. */
static void
check_conversion(const pg_uuid_t *id, int from, int to, PGFunction forth, PGFunction back)
{
	Outcome		result = CALL(forth, uuid_arg(id));

	if (!is_version(id, from))
	{
		CHECK(result.sqlstate == ERRCODE_INVALID_PARAMETER_VALUE);
		return;
	}
	CHECK(is_version(DatumGetUUIDP(value_of(result)), to));
	CHECK(memcmp(DatumGetUUIDP(result.value)->data + 8, id->data + 8, 8) == 0);
	CHECK(uuid_is(CALL_VALUE(back, value_arg(result.value)), id));
	CHECK(DatumGetTimestampTz(CALL_VALUE(idgen_uuid_timestamp, value_arg(result.value))) ==
		  DatumGetTimestampTz(CALL_VALUE(idgen_uuid_timestamp, uuid_arg(id))));
}

/* An exchange of bytes is its own inverse; "source" has the byte that becomes each byte. */
static void
check_exchange(const pg_uuid_t *id, PGFunction function, const int *source)
{
	pg_uuid_t  *result = DatumGetUUIDP(CALL_VALUE(function, uuid_arg(id)));

	for (int i = 0; i < UUID_LEN; i++)
		CHECK(result->data[i] == id->data[source[i]]);
	CHECK(uuid_is(CALL_VALUE(function, uuid_arg(result)), id));
}

void
fuzz_uuid(Input *input)
{
	pg_uuid_t	id = take_uuid(input);
	TimestampTz clock = take_instant(input);
	int32		prefix_bytes = take(input, 1) % 8;
	Interval	period = take_interval(input);
	Outcome		version = CALL(idgen_uuid_version, uuid_arg(&id));

	CHECK(version.sqlstate == 0 && version.isnull == (id.data[8] >> 6 != 2));
	CHECK(version.isnull || DatumGetInt32(version.value) == id.data[6] >> 4);
	CHECK(text_length(CALL_VALUE(idgen_uuid_variant, uuid_arg(&id))) >= 3);
	check_units(&id, clock);
	check_times(&id);
	check_short_comb(&id, &period, prefix_bytes, clock);
	check_conversion(&id, 1, 6, idgen_uuid_v1_to_v6, idgen_uuid_v6_to_v1);
	check_conversion(&id, 6, 1, idgen_uuid_v6_to_v1, idgen_uuid_v1_to_v6);
	check_conversion(&id, 1, 13, idgen_uuid_v1_to_lambert_comb, idgen_lambert_comb_to_uuid_v1);
	check_conversion(&id, 13, 1, idgen_lambert_comb_to_uuid_v1, idgen_uuid_v1_to_lambert_comb);
	check_exchange(&id, idgen_swap_guid_bytes,
				   (int[]) {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15});
	check_exchange(&id, idgen_prefix_to_suffix,
				   (int[]) {10, 11, 12, 13, 14, 15, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5});
	check_exchange(&id, idgen_short_prefix_to_suffix,
				   (int[]) {10, 11, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 12, 13, 14, 15});
}

/* --- Bounds of ranges --- */

#define MS48_MAX		(((Wide) 1 << 48) - 1)
#define SECONDS32_MAX	(((Wide) 1 << 32) - 1)

/* The bounds of a kind of identifier; "make" has an argument "clock". */
static const struct Kind
{
	PGFunction	make;
	PGFunction	floor;
	PGFunction	read;
	int			length;			/* of the value; 0: a bigint, with an epoch */
	int			ms_per_tick;
	Wide		max_tick;
}			kinds[] =
{
	{idgen_uuid_v7, idgen_uuid_v7_floor, idgen_uuid_timestamp, 16, 1, MS48_MAX},
	{idgen_comb, idgen_comb_floor, idgen_comb_timestamp, 16, 1, MS48_MAX},
	{NULL, idgen_ulid_floor, idgen_ulid_timestamp, VARHDRSZ + 26, 1, MS48_MAX},
	{NULL, idgen_object_id_floor, idgen_object_id_timestamp, VARHDRSZ + 24, 1000, SECONDS32_MAX},
	{NULL, idgen_snowflake_floor, idgen_snowflake_timestamp, 0, 1, ((Wide) 1 << 41) - 1},
	{NULL, idgen_js_id_floor, idgen_js_id_timestamp, 0, 1000, SECONDS32_MAX}
};

static const struct Kind *kind;
static TimestampTz epoch;

static int
compare(Datum one, Datum other)
{
	if (kind->length > 0)
		return memcmp(DatumGetPointer(one), DatumGetPointer(other), kind->length);
	return Max(Min(DatumGetInt64(one) - DatumGetInt64(other), 1), -1);
}

/* The bound of an instant's tick, and the tick; false if the tick has none. */
static bool
bound(TimestampTz instant, Wide *tick, Datum *low)
{
	/* functions without an epoch ignore the argument */
	Outcome		floor = CALL(kind->floor, instant_arg(instant), instant_arg(epoch));
	Wide		begin = kind->length > 0 ? 0 : wide_floor(wide_unix_ms(epoch), kind->ms_per_tick);

	*tick = wide_floor(wide_unix_ms(instant), kind->ms_per_tick) - begin;
	if (*tick < 0 || *tick > kind->max_tick)
	{
		CHECK(floor.sqlstate == ERRCODE_DATETIME_VALUE_OUT_OF_RANGE);
		return false;
	}
	*low = value_of(floor);

	/* 0 is a bound, but not an identifier */
	if (kind->length > 0 || DatumGetInt64(*low) > 0)
		check_instant(CALL(kind->read, value_arg(*low), instant_arg(epoch)), true,
					  wide_instant((begin + *tick) * kind->ms_per_tick));
	return true;
}

/*
 * Bounds of any two instants: an error if the identifier has no room for the
 * instant; otherwise an identifier made at an instant is not below its bound,
 * the bound contains the instant's tick, and the order of bounds and identifiers
 * is that of time.
 */
void
fuzz_bounds(Input *input)
{
	uint8		way = take(input, 1);
	TimestampTz one = take_instant(input);
	TimestampTz other = way & 0x80 ? take_instant(input) : one + (int64) take(input, 3);
	TimestampTz begin = way & 0x40 ? take_instant(input) : one - (int64) take(input, 7);
	Wide		one_tick;
	Wide		other_tick;
	Datum		low;
	Datum		made;
	Datum		other_low;

	kind = &kinds[way % lengthof(kinds)];
	epoch = Max(begin, MIN_TIMESTAMP);
	if (!bound(one, &one_tick, &low))
		return;

	made = low;
	if (kind->make != NULL)
	{
		pg_uuid_t  *suffix = DatumGetUUIDP(CALL_VALUE(idgen_suffix_comb, instant_arg(one)));

		made = CALL_VALUE(kind->make, instant_arg(one));
		CHECK(compare(low, made) <= 0);
		CHECK(is_version(suffix, 4) && wide_bytes(suffix, 10, 6) == one_tick);
		check_times(suffix);
	}

	if (!bound(Min(other, END_TIMESTAMP - 1), &other_tick, &other_low))
		return;
	CHECK((compare(low, other_low) == 0) == (one_tick == other_tick));
	CHECK((compare(low, other_low) < 0) == (one_tick < other_tick));
	CHECK(one_tick >= other_tick || compare(made, other_low) < 0);
}

/* --- The clock --- */

#define NS_PER_SECOND	1000000000
#define LAST_SECOND		INT64CONST(4290000000)	/* ObjectId ends in 2106 */

static const struct
{
	PGFunction	function;
	int			version;		/* 0: text */
	int			length;			/* of the part that increases */
}			generators[] =
{
	{idgen_uuid_v7, 7, UUID_LEN},
	{idgen_uuid_v6, 6, 8},
	{idgen_lambert_comb, 13, 8},
	{idgen_uuid_v1, 1, 8},
	{idgen_ulid, 0, 26},
	{idgen_object_id, 0, 24}
};

/*
 * A clock that steps by any amount: identifiers ordered within a session still
 * increase strictly, and have their version.
 */
void
fuzz_clock_steps(Input *input)
{
	/* over all inputs, the last results, and the latest time from 2020 on */
	static uint8 last[lengthof(generators)][32];
	static int64 latest_ns = INT64CONST(1577836800) * NS_PER_SECOND;

	while (input->left > 0)
	{
		uint8		way = take(input, 1);
		int64		step_ns = take(input, 5);
		int64		now_ns;

		/* before or after the latest time, by a millisecond or half a minute */
		step_ns /= way & 0x40 ? 32 : 1000000;
		now_ns = latest_ns + (way & 0x80 ? -step_ns : step_ns);
		server_clock.tv_sec = now_ns / NS_PER_SECOND;
		server_clock.tv_nsec = now_ns % NS_PER_SECOND;
		if (server_clock.tv_sec > LAST_SECOND)
			return;
		latest_ns = Max(latest_ns, now_ns);

		for (int i = 0; i < (int) lengthof(generators); i++)
		{
			int			version = generators[i].version;
			Datum		made;
			const char *bytes;

			if ((way >> i & 1) == 0)
				continue;
			made = CALL_VALUE(generators[i].function, null_arg());
			CHECK(version == 0 || is_version(DatumGetUUIDP(made), version));
			if (version == 1)
				made = CALL_VALUE(idgen_uuid_v1_to_v6, value_arg(made));
			bytes = version == 0 ? text_bytes(made) : DatumGetPointer(made);
			CHECK(memcmp(bytes, last[i], generators[i].length) > 0);
			memcpy(last[i], bytes, generators[i].length);
		}
		CHECK(is_version(DatumGetUUIDP(CALL_VALUE(idgen_uuid_v4, null_arg())), 4));
	}
}
