/*-------------------------------------------------------------------------
 *
 * uuid_time.c
 *	  UUIDs that begin with the time: version 7 and its range bounds.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/timestamp.h"

#include "clock.h"
#include "entropy.h"
#include "uuid_bits.h"

/*
 * The 60 bits of timestamp and fraction that make this backend's version 7
 * strictly increasing: those of the wall clock, or one more than the last
 * where the clock stands still, steps back, or is asked for more than 4096
 * identifiers in a millisecond (RFC 9562 section 6.2, method 3).
 */
static uint64
next_v7_submillis(void)
{
	static uint64 last = 0;
	uint64		now = clock_wall_submillis();

	last = Max(now, last + 1);
	if (unlikely(last > UUID_HIGH_MAX))
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("timestamp is out of range for 48 bits of Unix milliseconds")));
	return last;
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

	uuid_pack(id, 7, ms << SUBMS_BITS, 0);
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

	uuid_pack(id, 7, ms << SUBMS_BITS | UUID_CUSTOM_B_MASK, UUID_LOW_MAX);
	PG_RETURN_UUID_P(id);
}
