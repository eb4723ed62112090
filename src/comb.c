/*-------------------------------------------------------------------------
 *
 * comb.c
 *	  COMBs: version 4 UUIDs whose first bytes follow the time.
 *
 * A COMB begins with the whole time in milliseconds; a short COMB with a few
 * bytes that stay the same for a period and begin again after a cycle.  Both
 * keep a B-tree's new entries together; the short one does it without telling
 * when a row was made.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/timestamp.h"

#include "clock.h"
#include "entropy.h"
#include "short_prefix.h"
#include "uuid_bits.h"

#define TAG_BITS	32

/*
 * A run: identifiers that share a random tag behind their prefix.
 *
 * A backend may make keys for several tables with arguments of their own, so
 * it keeps a few runs apart; when there are more kinds than slots, the oldest
 * slot is taken over, which only makes runs shorter.
 */
typedef struct Run
{
	ShortPrefix prefix;
	int32		run_length;
	uint64		prefix_value;	/* the prefix that the run began under */
	uint32		tag;
	int32		left;			/* identifiers still to be made under it */
} Run;

#define MAX_RUNS	8

/*
 * comb(clock timestamptz DEFAULT NULL) returns uuid
 *
 * 48 bits of Unix milliseconds and 74 random bits, marked as version 4.
 */
PG_FUNCTION_INFO_V1(idgen_comb);
Datum
idgen_comb(PG_FUNCTION_ARGS)
{
	pg_uuid_t  *id = palloc(sizeof(pg_uuid_t));
	uint64		ms = clock_unix_ms48(clock_argument(fcinfo, 0));

	uuid_pack(id, 4,
			  ms << UUID_CUSTOM_B_BITS | (entropy_uint64() & UUID_CUSTOM_B_MASK),
			  entropy_uint64() >> (64 - UUID_LOW_BITS));
	PG_RETURN_UUID_P(id);
}

/*
 * The smallest and the greatest COMB of an instant's millisecond.
 */
PG_FUNCTION_INFO_V1(idgen_comb_floor);
Datum
idgen_comb_floor(PG_FUNCTION_ARGS)
{
	pg_uuid_t  *id = palloc(sizeof(pg_uuid_t));
	uint64		ms = clock_unix_ms48(PG_GETARG_TIMESTAMPTZ(0));

	uuid_pack(id, 4, ms << UUID_CUSTOM_B_BITS, 0);
	PG_RETURN_UUID_P(id);
}

PG_FUNCTION_INFO_V1(idgen_comb_ceil);
Datum
idgen_comb_ceil(PG_FUNCTION_ARGS)
{
	pg_uuid_t  *id = palloc(sizeof(pg_uuid_t));
	uint64		ms = clock_unix_ms48(PG_GETARG_TIMESTAMPTZ(0));

	uuid_pack(id, 4, ms << UUID_CUSTOM_B_BITS | UUID_CUSTOM_B_MASK, UUID_LOW_MAX);
	PG_RETURN_UUID_P(id);
}

/*
 * The tag for the next identifier with these arguments: the one of the run
 * under way, or a new random one after run_length identifiers and where the
 * prefix has changed.
 */
static uint32
next_tag(const ShortPrefix *prefix, int32 run_length, uint64 prefix_value)
{
	static Run	runs[MAX_RUNS];
	static int	oldest = 0;
	Run		   *run = NULL;

	for (int i = 0; i < MAX_RUNS; i++)
	{
		if (runs[i].run_length == run_length &&
			runs[i].prefix.period_ms == prefix->period_ms &&
			runs[i].prefix.bits == prefix->bits)
		{
			run = &runs[i];
			break;
		}
	}

	if (run == NULL)
	{
		run = &runs[oldest];
		oldest = (oldest + 1) % MAX_RUNS;
		run->prefix = *prefix;
		run->run_length = run_length;
		run->left = 0;
	}

	if (run->left == 0 || run->prefix_value != prefix_value)
	{
		run->tag = entropy_uint64() >> (64 - TAG_BITS);
		run->prefix_value = prefix_value;
		run->left = run_length;
	}
	run->left--;
	return run->tag;
}

/*
 * Put the tag right behind a prefix of some bits; what does not fit before
 * the variant goes behind it.
 */
static void
put_tag(uint32 tag, int prefix_bits, uint64 *high, uint64 *low)
{
	int			room = UUID_HIGH_BITS - prefix_bits;
	int			spill = TAG_BITS - room;	/* bits that go behind the variant */

	if (spill <= 0)
	{
		*high &= ~((uint64) PG_UINT32_MAX << -spill);
		*high |= (uint64) tag << -spill;
	}
	else
	{
		int			shift = UUID_LOW_BITS - spill;

		*high = (*high >> room) << room | tag >> spill;
		*low &= (UINT64CONST(1) << shift) - 1;
		*low |= ((uint64) tag & ((UINT64CONST(1) << spill) - 1)) << shift;
	}
}

/*
 * short_comb(period interval DEFAULT '1 minute', prefix_bytes int DEFAULT 2,
 *			  run_length int DEFAULT 1, clock timestamptz DEFAULT NULL)
 *	returns uuid
 *
 * A version 4 UUID whose first prefix_bytes bytes are the number of the
 * period, modulo 256^prefix_bytes.  With run_length > 1 the 32 bits behind
 * them are the same for so many identifiers in a row.
 */
PG_FUNCTION_INFO_V1(idgen_short_comb);
Datum
idgen_short_comb(PG_FUNCTION_ARGS)
{
	ShortPrefix prefix = short_prefix_arguments(fcinfo, 0, 1);
	int32		run_length = PG_ARGISNULL(2) ? 1 : PG_GETARG_INT32(2);
	TimestampTz clock = clock_argument(fcinfo, 3);
	pg_uuid_t  *id;
	uint64		prefix_value;
	uint64		high;
	uint64		low;

	if (run_length < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("run_length must be at least 1"),
				 errdetail("The value is %d.", run_length)));

	prefix_value = short_prefix_of_period(&prefix,
										  short_prefix_period_number(&prefix, clock));
	high = prefix_value << (UUID_HIGH_BITS - prefix.bits) |
		entropy_uint64() >> (64 - UUID_HIGH_BITS + prefix.bits);
	low = entropy_uint64() >> (64 - UUID_LOW_BITS);

	if (run_length > 1)
		put_tag(next_tag(&prefix, run_length, prefix_value),
				prefix.bits, &high, &low);

	id = palloc(sizeof(pg_uuid_t));
	uuid_pack(id, 4, high, low);
	PG_RETURN_UUID_P(id);
}
