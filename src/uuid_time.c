/*
 * uuid_time.c
 *	  UUIDs that contain the time: versions 7, 1 and 6, and M. Lambert's COMB; the
 *	  bounds of version 7 and of COMBs.
 */
#include "postgres.h"

#include "arguments.h"
#include "entropy.h"
#include "ticker.h"

static const TickerLayout uuid_v7_ordered_layout = {
	.name = "uuid_v7_ordered",.number = TICKER_UUID_V7_ORDERED,.counter_bits = SUBMS_BITS,.ms_per_tick = 1,
	.counter_is_fraction = true
};

/*
 * The next reading of a clock that must increase strictly: "now", or the last
 * reading plus one, whichever is greater.  An overflow of 60 bits is an error
 * (22008).
 */
static inline uint64
next_reading(uint64 *last, uint64 now)
{
	uint64		next = Max(now, *last + 1);

	if (unlikely(next > UUID_HIGH_MAX))
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("timestamp is out of range for the identifier")));
	*last = next;
	return next;
}

/* The ticks of argument 0, or of the clock that versions 1 and 6 share. */
static uint64
gregorian_ticks(FunctionCallInfo fcinfo)
{
	static uint64 last = 0;

	return PG_ARGISNULL(0) ? next_reading(&last, clock_wall_gregorian_ticks()) :
		clock_gregorian_ticks(PG_GETARG_TIMESTAMPTZ(0));
}

/*
 * uuid_v7(clock timestamptz DEFAULT NULL) returns uuid
 *	RFC 9562 section 5.7, with a fraction of the millisecond (section 6.2, method
 *	3).  Without a clock, the result is greater than all that this backend
 *	generated without one before, even if the server's clock is set back.
 */
PG_FUNCTION_INFO_V1(idgen_uuid_v7);
Datum
idgen_uuid_v7(PG_FUNCTION_ARGS)
{
	static uint64 last = 0;
	uint64		submillis = PG_ARGISNULL(0) ? next_reading(&last, clock_wall_submillis()) :
		clock_unix_submillis(PG_GETARG_TIMESTAMPTZ(0));

	return uuid_datum(7, submillis, entropy_bits(UUID_LOW_BITS));
}

/* uuid_v7_ordered() returns uuid: its timestamp and fraction are values of a ticker */
PG_FUNCTION_INFO_V1(idgen_uuid_v7_ordered);
Datum
idgen_uuid_v7_ordered(PG_FUNCTION_ARGS pg_attribute_unused())
{
	return uuid_datum(7, ticker_next(&uuid_v7_ordered_layout), entropy_bits(UUID_LOW_BITS));
}

/*
 * The smallest UUID of this version in the millisecond of a timestamp.  For a
 * timestamp before the first millisecond, such as -infinity, it is that of the
 * first millisecond.  For one after the last millisecond, it is the greatest
 * uuid (RFC 9562 section 5.10).
 */
static Datum
floor_of_version(int version, TimestampTz instant)
{
	int64		ms = clock_unix_ms(instant);
	pg_uuid_t  *id;

	if (ms <= UNIX_MS48_MAX)
		return uuid_datum(version, uuid_high_of_ms(Max(ms, 0), 0), 0);

	id = palloc(sizeof(pg_uuid_t));
	memset(id, 0xFF, sizeof(*id));
	return UUIDPGetDatum(id);
}

/* comb_floor(instant timestamptz) returns uuid: the smallest COMB of the millisecond */
PG_FUNCTION_INFO_V1(idgen_comb_floor);
Datum
idgen_comb_floor(PG_FUNCTION_ARGS)
{
	return floor_of_version(4, PG_GETARG_TIMESTAMPTZ(0));
}

/*
 * uuid_v7_floor(instant timestamptz) returns uuid
 *	The smallest UUID of version 7 of the millisecond.  It has no fraction, because
 *	other generators fill rand_a with random bits.
 */
PG_FUNCTION_INFO_V1(idgen_uuid_v7_floor);
Datum
idgen_uuid_v7_floor(PG_FUNCTION_ARGS)
{
	return floor_of_version(7, PG_GETARG_TIMESTAMPTZ(0));
}

/*
 * A UUID with a Gregorian timestamp in "high".  Clock sequence and node are
 * random in each identifier, so that it does not reveal the machine or the
 * session (RFC 9562 sections 5.6 and 6.10).
 */
static Datum
gregorian_uuid(int version, uint64 high)
{
	return uuid_datum(version, high, entropy_bits(UUID_LOW_BITS) | UUID_NODE_MULTICAST);
}

/* uuid_v1(clock timestamptz DEFAULT NULL) returns uuid: the low ticks first, RFC 9562 section 5.1 */
PG_FUNCTION_INFO_V1(idgen_uuid_v1);
Datum
idgen_uuid_v1(PG_FUNCTION_ARGS)
{
	return gregorian_uuid(1, uuid_v1_high(gregorian_ticks(fcinfo)));
}

/* uuid_v6(clock) returns uuid: version 1 with the high ticks first, RFC 9562 section 5.6 */
PG_FUNCTION_INFO_V1(idgen_uuid_v6);
Datum
idgen_uuid_v6(PG_FUNCTION_ARGS)
{
	return gregorian_uuid(6, gregorian_ticks(fcinfo));
}

/* lambert_comb(clock) returns uuid: M. Lambert's of 2012, like version 6, but with version 13 */
PG_FUNCTION_INFO_V1(idgen_lambert_comb);
Datum
idgen_lambert_comb(PG_FUNCTION_ARGS)
{
	return gregorian_uuid(UUID_VERSION_LAMBERT, gregorian_ticks(fcinfo));
}
