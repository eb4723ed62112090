/*-------------------------------------------------------------------------
 *
 * comb.c
 *	  COMBs: version 4 UUIDs whose first bytes follow the time.
 *
 * A COMB begins with the whole time in milliseconds; a short COMB with a few
 * bytes that stay the same for a period and begin again after a cycle.  Both
 * keep a B-tree's new entries together; the short one does it without telling
 * when a row was made.  The suffix forms have the time where SQL Server's
 * order begins, and a sequence COMB has a sequence's blocks in place of time.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"

#include "clock.h"
#include "entropy.h"
#include "short_prefix.h"
#include "uuid_bits.h"

#define TAG_BITS	32

/*
 * SQL Server compares a uniqueidentifier's last six bytes first.  In "low"
 * they follow 14 bits, and a short suffix is the first two of them.
 */
#define SUFFIX_BITS			48
#define SHORT_SUFFIX_BITS	16
#define SHORT_SUFFIX_SHIFT	(SUFFIX_BITS - SHORT_SUFFIX_BITS)

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

	uuid_pack_ms(id, 4, ms, entropy_uint64() & UUID_CUSTOM_B_MASK,
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

	uuid_pack_ms(id, 4, ms, 0, 0);
	PG_RETURN_UUID_P(id);
}

PG_FUNCTION_INFO_V1(idgen_comb_ceil);
Datum
idgen_comb_ceil(PG_FUNCTION_ARGS)
{
	pg_uuid_t  *id = palloc(sizeof(pg_uuid_t));
	uint64		ms = clock_unix_ms48(PG_GETARG_TIMESTAMPTZ(0));

	uuid_pack_ms(id, 4, ms, UUID_CUSTOM_B_MASK, UUID_LOW_MAX);
	PG_RETURN_UUID_P(id);
}

/* "high" that begins with a prefix of some bits and is random behind it. */
static inline uint64
random_high_behind(uint64 prefix_value, int prefix_bits)
{
	return prefix_value << (UUID_HIGH_BITS - prefix_bits) |
		entropy_uint64() >> (64 - UUID_HIGH_BITS + prefix_bits);
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
	high = random_high_behind(prefix_value, prefix.bits);
	low = entropy_uint64() >> (64 - UUID_LOW_BITS);

	if (run_length > 1)
		put_tag(next_tag(&prefix, run_length, prefix_value),
				prefix.bits, &high, &low);

	id = palloc(sizeof(pg_uuid_t));
	uuid_pack(id, 4, high, low);
	PG_RETURN_UUID_P(id);
}

/*
 * suffix_comb(clock timestamptz DEFAULT NULL) returns uuid
 *
 * J. Nilsson's COMB of 2002: the last 48 bits are Unix milliseconds, the rest
 * random, marked as version 4.
 */
PG_FUNCTION_INFO_V1(idgen_suffix_comb);
Datum
idgen_suffix_comb(PG_FUNCTION_ARGS)
{
	pg_uuid_t  *id = palloc(sizeof(pg_uuid_t));
	uint64		ms = clock_unix_ms48(clock_argument(fcinfo, 0));
	uint64		low = entropy_uint64() >> (64 - UUID_LOW_BITS);

	uuid_pack(id, 4, entropy_uint64() >> (64 - UUID_HIGH_BITS),
			  (low >> SUFFIX_BITS) << SUFFIX_BITS | ms);
	PG_RETURN_UUID_P(id);
}

/*
 * short_suffix_comb(period interval DEFAULT '1 minute',
 *					 clock timestamptz DEFAULT NULL) returns uuid
 *
 * short_comb() with its 16-bit prefix at bytes 10 and 11.
 */
PG_FUNCTION_INFO_V1(idgen_short_suffix_comb);
Datum
idgen_short_suffix_comb(PG_FUNCTION_ARGS)
{
	ShortPrefix prefix = short_prefix_make(PG_ARGISNULL(0) ? NULL : PG_GETARG_INTERVAL_P(0),
										   SHORT_SUFFIX_BITS / BITS_PER_BYTE);
	TimestampTz clock = clock_argument(fcinfo, 1);
	pg_uuid_t  *id = palloc(sizeof(pg_uuid_t));
	uint64		suffix;
	uint64		low;

	suffix = short_prefix_of_period(&prefix,
									short_prefix_period_number(&prefix, clock));
	low = entropy_uint64() >> (64 - UUID_LOW_BITS);
	low &= ~(((UINT64CONST(1) << SHORT_SUFFIX_BITS) - 1) << SHORT_SUFFIX_SHIFT);

	uuid_pack(id, 4, entropy_uint64() >> (64 - UUID_HIGH_BITS),
			  low | suffix << SHORT_SUFFIX_SHIFT);
	PG_RETURN_UUID_P(id);
}

/*
 * sequence_comb(sequence regclass, block_size int DEFAULT 65536,
 *				 block_count int DEFAULT 65536) returns uuid
 *
 * T. Vondra's sequential UUID: a prefix that goes up by one every block_size
 * values of a sequence, and begins again after block_count blocks.  It has as
 * many whole bytes as block_count needs; where that is not a power of 256,
 * the blocks are made smaller so that the cycle keeps its length.
 */
PG_FUNCTION_INFO_V1(idgen_sequence_comb);
Datum
idgen_sequence_comb(PG_FUNCTION_ARGS)
{
	int64		block_size;
	int64		block_count;
	int			prefix_bits = 0;
	int64		value;
	int64		block;
	pg_uuid_t  *id;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	block_size = PG_ARGISNULL(1) ? 65536 : PG_GETARG_INT32(1);
	block_count = PG_ARGISNULL(2) ? 65536 : PG_GETARG_INT32(2);

	if (block_size < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("block_size must be at least 1"),
				 errdetail("The value is %d.", (int) block_size)));
	if (block_count < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("block_count must be at least 1"),
				 errdetail("The value is %d.", (int) block_count)));

	while (block_count - 1 >= INT64CONST(1) << prefix_bits)
		prefix_bits += BITS_PER_BYTE;
	block_size = Max(block_size * block_count >> prefix_bits, 1);

	/* checks the caller's rights and refuses a read-only transaction */
	value = DatumGetInt64(DirectFunctionCall1(nextval_oid, PG_GETARG_DATUM(0)));
	block = (value - 1) / block_size - ((value - 1) % block_size < 0);

	id = palloc(sizeof(pg_uuid_t));
	uuid_pack(id, 4,
			  random_high_behind((uint64) block & ((UINT64CONST(1) << prefix_bits) - 1),
								 prefix_bits),
			  entropy_uint64() >> (64 - UUID_LOW_BITS));
	PG_RETURN_UUID_P(id);
}
