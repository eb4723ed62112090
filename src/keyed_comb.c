/*
 * keyed_comb.c
 *	  COMBs that begin with a keyed hash of the time (keyed_prefix.c).
 *
 * Random bits follow the prefix.  After a session has generated RUN_KEYS keys
 * in a twelfth of the period, it generates the remaining keys of that twelfth
 * in runs of RUN_KEYS keys.  The keys of a run also share the RUN_BITS bits
 * after the prefix.  comb.c explains the purpose of runs.
 */
#include "postgres.h"

#include "arguments.h"
#include "entropy.h"
#include "keyed_prefix.h"
#include "short_prefix.h"

#define RUN_KEYS			8192
#define RUN_BITS			16

/* the number of random bits in "high", outside a run and in a run */
#define RANDOM_BITS			(UUID_HIGH_BITS - KEYED_PREFIX_BITS)
#define RANDOM_BITS_IN_RUN	(RANDOM_BITS - RUN_BITS)

/* Return the bits of "high" after the prefix, for the next key. */
static uint64
next_random_bits(KeyedRun *run)
{
	if (likely(run->made++ < RUN_KEYS))
		return entropy_bits(RANDOM_BITS);

	if (run->made % RUN_KEYS == 1)
		run->shared = entropy_bits(RUN_BITS);
	return run->shared << RANDOM_BITS_IN_RUN | entropy_bits(RANDOM_BITS_IN_RUN);
}

/* Make a keyed COMB for an instant. */
static Datum
make_keyed_comb(FunctionCallInfo fcinfo, KeySource source, const text *key_name,
				int area_argno, int period_argno, TimestampTz instant)
{
	const text *name = area_argument(fcinfo, area_argno);
	KeyedArea  *area;

	require_not_null(fcinfo, period_argno, "period");
	area = keyed_area(source, key_name, name,
					  short_prefix_period_ms(PG_GETARG_INTERVAL_P(period_argno)));
	if (unlikely(keyed_area_move_to(area, clock_unix_ms(instant))))
		memset(&area->run, 0, sizeof(area->run));

	return uuid_datum(4, area->present.prefix << RANDOM_BITS | next_random_bits(&area->run),
					  entropy_bits(UUID_LOW_BITS));
}

/* keyed_comb(area text, period interval, clock timestamptz) returns uuid: uses the server's key */
PG_FUNCTION_INFO_V1(idgen_keyed_comb);
Datum
idgen_keyed_comb(PG_FUNCTION_ARGS)
{
	return make_keyed_comb(fcinfo, PG_ARGISNULL(2) ? KEY_OF_SERVER : KEY_OF_SERVER_CLOCK, NULL,
						   0, 1, clock_argument(fcinfo, 2));
}

/* Make an hmac_comb().  The arguments key_name and period follow the area. */
static Datum
make_hmac_comb(FunctionCallInfo fcinfo, int area_argno, TimestampTz instant)
{
	require_not_null(fcinfo, area_argno + 1, "key_name");
	return make_keyed_comb(fcinfo, KEY_OF_FILE, PG_GETARG_TEXT_PP(area_argno + 1),
						   area_argno, area_argno + 2, instant);
}

/*
 * hmac_comb(area text, key_name text, period interval) returns uuid
 *	No choice of arguments results in the prefix of a different time, because
 *	the hashed message contains both the period and its number.
 */
PG_FUNCTION_INFO_V1(idgen_hmac_comb);
Datum
idgen_hmac_comb(PG_FUNCTION_ARGS)
{
	return make_hmac_comb(fcinfo, 0, GetCurrentTimestamp());
}

/* hmac_comb_at(instant timestamptz, area text, key_name text, period interval) returns uuid */
PG_FUNCTION_INFO_V1(idgen_hmac_comb_at);
Datum
idgen_hmac_comb_at(PG_FUNCTION_ARGS)
{
	require_not_null(fcinfo, 0, "instant");
	return make_hmac_comb(fcinfo, 1, clock_argument(fcinfo, 0));
}
