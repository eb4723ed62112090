/*
 * uuid_time.c
 *	  UUIDs that contain the time (versions 1, 6 and 7, and M. Lambert's COMB),
 *	  and the bounds of version 7 and of COMBs.
 */
#include "postgres.h"

#include "arguments.h"
#include "entropy.h"
#include "ticker.h"

static const TickerLayout uuid_v7_ordered_layout = {
	.name = "uuid_v7_ordered",.number = TICKER_UUID_V7_ORDERED,.counter_bits = SUBMS_BITS,.ms_per_tick = 1,
	.counter_is_fraction = true
};

/* Return "now" or the last reading plus one, whichever is greater. */
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

/* Return argument 0 in ticks or, if it is NULL, a clock reading later than all previous ones. */
static uint64
gregorian_ticks(FunctionCallInfo fcinfo)
{
	static uint64 last = 0;

	return PG_ARGISNULL(0) ? next_reading(&last, clock_wall_gregorian_ticks()) :
		clock_gregorian_ticks(PG_GETARG_TIMESTAMPTZ(0));
}

/*
 * uuid_v7(clock timestamptz DEFAULT NULL) returns uuid
 *	RFC 9562 section 5.7, with a fraction of the millisecond (section 6.2,
 *	method 3).  Without a clock, the result is greater than all results that
 *	this backend has returned without a clock, even if the server's clock has
 *	been set back.
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

/* uuid_v7_ordered() returns uuid: its timestamp and fraction are a value of a ticker */
PG_FUNCTION_INFO_V1(idgen_uuid_v7_ordered);
Datum
idgen_uuid_v7_ordered(PG_FUNCTION_ARGS pg_attribute_unused())
{
	return uuid_datum(7, ticker_next(&uuid_v7_ordered_layout), entropy_bits(UUID_LOW_BITS));
}

/*
 * Return the smallest UUID of this version in the millisecond of a timestamp.
 * Before the first millisecond, the result is the smallest UUID of the first;
 * after the last, it is the Max UUID (RFC 9562 section 5.10).
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
 *	Returns the smallest version 7 UUID of the millisecond.  The fraction of
 *	the millisecond is ignored, because other generators fill rand_a with
 *	random bits.
 */
PG_FUNCTION_INFO_V1(idgen_uuid_v7_floor);
Datum
idgen_uuid_v7_floor(PG_FUNCTION_ARGS)
{
	return floor_of_version(7, PG_GETARG_TIMESTAMPTZ(0));
}

/*
 * Make a UUID with a Gregorian timestamp in "high".  The clock sequence and
 * the node are random in each identifier, so that they do not reveal the
 * machine or the session (RFC 9562 sections 5.6 and 6.10).
 */
static Datum
gregorian_uuid(int version, uint64 high)
{
	return uuid_datum(version, high, entropy_bits(UUID_LOW_BITS) | UUID_NODE_MULTICAST);
}

/* uuid_v1(clock timestamptz DEFAULT NULL) returns uuid (RFC 9562 section 5.1) */
PG_FUNCTION_INFO_V1(idgen_uuid_v1);
Datum
idgen_uuid_v1(PG_FUNCTION_ARGS)
{
	return gregorian_uuid(1, uuid_v1_high(gregorian_ticks(fcinfo)));
}

/* uuid_v6(clock timestamptz DEFAULT NULL) returns uuid (RFC 9562 section 5.6) */
PG_FUNCTION_INFO_V1(idgen_uuid_v6);
Datum
idgen_uuid_v6(PG_FUNCTION_ARGS)
{
	return gregorian_uuid(6, gregorian_ticks(fcinfo));
}

/*
 * lambert_comb(clock timestamptz DEFAULT NULL) returns uuid
 *	M. Lambert's COMB of 2012, which is like version 6, but has version 13.
 */
PG_FUNCTION_INFO_V1(idgen_lambert_comb);
Datum
idgen_lambert_comb(PG_FUNCTION_ARGS)
{
	return gregorian_uuid(UUID_VERSION_LAMBERT, gregorian_ticks(fcinfo));
}
