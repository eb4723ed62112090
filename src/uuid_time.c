/*-------------------------------------------------------------------------
 *
 * uuid_time.c
 *	  UUIDs that tell the time: versions 7, 1 and 6, and M. Lambert's COMB.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/timestamp.h"

#include "clock.h"
#include "entropy.h"
#include "uuid_bits.h"
#include "uuid_time.h"

static const TickerLayout uuid_v7_layout = {
	.name = "uuid_v7_ordered",
	.counter_bits = SUBMS_BITS,
	.ms_per_tick = 1,
	.counter_is_fraction = true,
	.max_value = (UINT64CONST(1) << (48 + SUBMS_BITS)) - 1
};

Ticker		uuid_v7_ticker = {.layout = &uuid_v7_layout};

/*
 * The next reading of a clock that must not stand still or step back: the
 * wall clock's, or one more than the last where that is not greater.
 */
static inline uint64
next_reading(uint64 *last, uint64 now)
{
	*last = Max(now, *last + 1);
	if (unlikely(*last > UUID_HIGH_MAX))
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("timestamp is out of range for the identifier")));
	return *last;
}

/*
 * The 60 bits of timestamp and fraction that make this backend's version 7
 * strictly increasing, also where the clock steps back or is asked for more
 * than 4096 identifiers in a millisecond (RFC 9562 section 6.2, method 3).
 */
static uint64
next_v7_submillis(void)
{
	static uint64 last = 0;

	return next_reading(&last, clock_wall_submillis());
}

/* The same for the ticks of versions 1 and 6, which have one clock. */
static uint64
next_gregorian_ticks(void)
{
	static uint64 last = 0;

	return next_reading(&last, clock_wall_gregorian_ticks());
}

/*
 * uuid_v7(clock timestamptz DEFAULT NULL) returns uuid
 *
 * RFC 9562 section 5.7: 48 bits of Unix milliseconds, 12 bits for the
 * fraction of the millisecond, 62 random bits.  Without a clock, greater than
 * every one that this backend made before; with one, of that instant, without
 * a promise of order.
 */
PG_FUNCTION_INFO_V1(idgen_uuid_v7);
Datum
idgen_uuid_v7(PG_FUNCTION_ARGS)
{
	pg_uuid_t  *id = palloc(sizeof(pg_uuid_t));
	uint64		submillis;

	if (PG_ARGISNULL(0))
		submillis = next_v7_submillis();
	else
		submillis = clock_unix_submillis(PG_GETARG_TIMESTAMPTZ(0));

	uuid_pack(id, 7, submillis, entropy_uint64() >> (64 - UUID_LOW_BITS));
	PG_RETURN_UUID_P(id);
}

/*
 * uuid_v7_ordered() returns uuid
 *
 * Version 7 whose timestamp and fraction come from a ticker: greater than
 * every one that any session of the database made before.
 */
PG_FUNCTION_INFO_V1(idgen_uuid_v7_ordered);
Datum
idgen_uuid_v7_ordered(PG_FUNCTION_ARGS)
{
	pg_uuid_t  *id = palloc(sizeof(pg_uuid_t));

	(void) fcinfo;

	uuid_pack(id, 7, ticker_next(&uuid_v7_ticker),
			  entropy_uint64() >> (64 - UUID_LOW_BITS));
	PG_RETURN_UUID_P(id);
}

/*
 * uuid_v7_floor(instant timestamptz) returns uuid
 *
 * The smallest version 7 of the instant's millisecond.  Bounds go by whole
 * milliseconds, because other generators fill rand_a with random bits.
 */
PG_FUNCTION_INFO_V1(idgen_uuid_v7_floor);
Datum
idgen_uuid_v7_floor(PG_FUNCTION_ARGS)
{
	pg_uuid_t  *id = palloc(sizeof(pg_uuid_t));
	uint64		ms = clock_unix_ms48(PG_GETARG_TIMESTAMPTZ(0));

	uuid_pack_ms(id, 7, ms, 0, 0);
	PG_RETURN_UUID_P(id);
}

/*
 * uuid_v7_ceil(instant timestamptz) returns uuid
 *
 * The greatest version 7 of the instant's millisecond.
 */
PG_FUNCTION_INFO_V1(idgen_uuid_v7_ceil);
Datum
idgen_uuid_v7_ceil(PG_FUNCTION_ARGS)
{
	pg_uuid_t  *id = palloc(sizeof(pg_uuid_t));
	uint64		ms = clock_unix_ms48(PG_GETARG_TIMESTAMPTZ(0));

	uuid_pack_ms(id, 7, ms, UUID_CUSTOM_B_MASK, UUID_LOW_MAX);
	PG_RETURN_UUID_P(id);
}

/*
 * A UUID with a Gregorian timestamp laid out in "high".  Clock sequence and
 * node are random for each identifier, so that nothing in it tells the
 * machine or the session (RFC 9562 sections 5.6 and 6.10).
 */
static Datum
gregorian_uuid(int version, uint64 high)
{
	pg_uuid_t  *id = palloc(sizeof(pg_uuid_t));

	uuid_pack(id, version, high,
			  entropy_uint64() >> (64 - UUID_LOW_BITS) | UUID_NODE_MULTICAST);
	PG_RETURN_UUID_P(id);
}

/*
 * uuid_v1() returns uuid
 *
 * RFC 9562 section 5.1: 60 bits of 100 ns ticks, the low ones first.
 */
PG_FUNCTION_INFO_V1(idgen_uuid_v1);
Datum
idgen_uuid_v1(PG_FUNCTION_ARGS)
{
	(void) fcinfo;
	return gregorian_uuid(1, uuid_v1_high(next_gregorian_ticks()));
}

/*
 * uuid_v6() returns uuid
 *
 * RFC 9562 section 5.6: version 1 with the high ticks first.
 */
PG_FUNCTION_INFO_V1(idgen_uuid_v6);
Datum
idgen_uuid_v6(PG_FUNCTION_ARGS)
{
	(void) fcinfo;
	return gregorian_uuid(6, next_gregorian_ticks());
}

/*
 * lambert_comb() returns uuid
 *
 * M. Lambert's time-ordered UUID of 2012: version 6 but for its number, 13.
 */
PG_FUNCTION_INFO_V1(idgen_lambert_comb);
Datum
idgen_lambert_comb(PG_FUNCTION_ARGS)
{
	(void) fcinfo;
	return gregorian_uuid(UUID_VERSION_LAMBERT, next_gregorian_ticks());
}
