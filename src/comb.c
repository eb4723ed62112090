/*
 * comb.c
 *	  Version 4 UUIDs: random UUIDs and COMBs.
 *
 * A COMB begins with the time in milliseconds.  A short COMB begins with a few
 * bytes that stay the same during a period and repeat after a cycle of
 * periods.  With both kinds, new entries are close together in a B-tree.  A
 * short COMB reveals the time of its creation only modulo the cycle.  The
 * suffix forms contain the time in the bytes that SQL Server compares first.
 * A sequence COMB begins with a block number: the values of a sequence are
 * divided into blocks.
 */
#include "postgres.h"

#include "common/int.h"
#include "storage/proc.h"

#include "arguments.h"
#include "entropy.h"
#include "short_prefix.h"

/*
 * SQL Server compares the last six bytes of a uniqueidentifier first.  They
 * are the low 48 bits of "low".  A short suffix is the first two of these
 * bytes.
 */
#define SUFFIX_BITS			48
#define SHORT_SUFFIX_BITS	16

#define TAG_BITS			32

/*
 * A run is a series of identifiers that share a random tag after their prefix.
 *
 * Random keys with the same prefix are inserted into all index pages of that
 * prefix, and the first insert into each page after a checkpoint logs an image
 * of the page.  The keys of a run fill one page after another, but they reveal
 * that one session generated them.  Therefore, the keys of single inserts have
 * no tag.
 *
 * With the default run_length, ADAPTIVE, a backend begins its first run after
 * ADAPTIVE_UNTAGGED identifiers with the same prefix.  Such a run ends after
 * ADAPTIVE_RUN_LENGTH identifiers, or at the end of the transaction.  Both
 * numbers are based on measurements of a 50,000-row INSERT into a table with
 * 500,000 rows of the same minute (docs/performance.md).
 *
 * keyed_comb.c implements its own runs.  There, a prefix stands for five
 * minutes of one area, and its keys are on fewer pages, so runs begin later.
 * Because that prefix is longer, the tag has only 16 bits.  Both tags leave 74
 * random bits (here, with the default prefix).
 *
 * A backend caches up to MAX_RUNS runs, one for each combination of arguments.
 * When it needs another run, it evicts the oldest.
 */
typedef struct Run
{
	ShortPrefix prefix;
	int32		run_length;
	uint64		prefix_value;	/* shared by the run's identifiers */
	LocalTransactionId transaction; /* of an adaptive run */
	uint32		tag;
	int32		untagged;		/* identifiers left before the first run */
	int32		left;			/* identifiers left in the run */
} Run;

#define ADAPTIVE				0
#define ADAPTIVE_UNTAGGED		128
#define ADAPTIVE_RUN_LENGTH		4096

#define MAX_RUNS	8

/* uuid_v4() returns uuid: 122 random bits (RFC 9562 section 5.4) */
PG_FUNCTION_INFO_V1(idgen_uuid_v4);
Datum
idgen_uuid_v4(PG_FUNCTION_ARGS pg_attribute_unused())
{
	return uuid_datum(4, entropy_bits(UUID_HIGH_BITS), entropy_bits(UUID_LOW_BITS));
}

/* comb(clock timestamptz DEFAULT NULL) returns uuid: 48-bit Unix milliseconds and 74 random bits */
PG_FUNCTION_INFO_V1(idgen_comb);
Datum
idgen_comb(PG_FUNCTION_ARGS)
{
	return uuid_datum(4, uuid_high_of_ms(clock_unix_ms48(clock_argument(fcinfo, 0)),
										 entropy_bits(UUID_CUSTOM_B_BITS)),
					  entropy_bits(UUID_LOW_BITS));
}

/* Make a "high" that consists of a prefix and random bits. */
static inline uint64
random_high(uint64 prefix_value, int prefix_bits)
{
	int			random_bits = UUID_HIGH_BITS - prefix_bits;

	Assert(prefix_value >> prefix_bits == 0);
	return prefix_value << random_bits | entropy_bits(random_bits);
}

/* Find this backend's run for these arguments, or make a new one with no identifiers left. */
static Run *
find_run(const ShortPrefix *prefix, int32 run_length)
{
	static Run	runs[MAX_RUNS];
	static int	oldest = 0;
	Run		   *run;

	for (int i = 0; i < MAX_RUNS; i++)
	{
		run = &runs[i];
		if (run->run_length == run_length &&
			run->prefix.period_ms == prefix->period_ms &&
			run->prefix.bits == prefix->bits)
			return run;
	}

	run = &runs[oldest];
	oldest = (oldest + 1) % MAX_RUNS;
	*run = (Run)
	{
		.prefix = *prefix,.run_length = run_length
	};
	run->prefix_value = short_prefix_cycle(prefix); /* not a prefix */
	return run;
}

/*
 * Get the tag of the next identifier for these arguments.  Returns false if
 * the identifier has no tag.  A new run, with a new random tag, begins if the
 * current one has no identifiers left, or if the prefix has changed.  An
 * adaptive run also ends when the transaction changes.
 */
static bool
take_tag(const ShortPrefix *prefix, int32 run_length, uint64 prefix_value, uint32 *tag)
{
	bool		adaptive = run_length == ADAPTIVE;
	LocalTransactionId transaction = adaptive ? MY_LOCAL_TRANSACTION_ID : InvalidLocalTransactionId;
	Run		   *run = find_run(prefix, run_length);

	if (run->prefix_value != prefix_value)
	{
		run->prefix_value = prefix_value;
		run->untagged = adaptive ? ADAPTIVE_UNTAGGED : 0;
		run->left = 0;
	}

	if (run->untagged > 0)
	{
		run->untagged--;
		return false;
	}

	if (run->left == 0 || run->transaction != transaction)
	{
		run->tag = entropy_bits(TAG_BITS);
		run->transaction = transaction;
		run->left = adaptive ? ADAPTIVE_RUN_LENGTH : run_length;
	}
	run->left--;
	*tag = run->tag;
	return true;
}

/* Replace the given number of bits of *number, from bit "shift" upward. */
static inline void
put_bits(uint64 *number, int shift, int bits, uint64 value)
{
	uint64		mask = ((UINT64CONST(1) << bits) - 1) << shift;

	*number = (*number & ~mask) | (value << shift & mask);
}

/*
 * Replace the bits after the prefix with the tag.  After a prefix of four
 * bytes or more, "high" has no room for the whole tag.  The rest of the tag is
 * then stored in the first bits of "low", so that the keys of a run are
 * adjacent in the index.
 */
static void
put_tag(uint32 tag, int prefix_bits, uint64 *high, uint64 *low)
{
	int			room = UUID_HIGH_BITS - prefix_bits;
	int			bits_in_high = Min(TAG_BITS, room);
	int			bits_in_low = TAG_BITS - bits_in_high;

	put_bits(high, room - bits_in_high, bits_in_high, tag >> bits_in_low);
	put_bits(low, UUID_LOW_BITS - bits_in_low, bits_in_low, tag);
}

/* short_comb(period interval, prefix_bytes int, run_length int, clock timestamptz) returns uuid */
PG_FUNCTION_INFO_V1(idgen_short_comb);
Datum
idgen_short_comb(PG_FUNCTION_ARGS)
{
	ShortPrefix prefix = short_prefix_arguments(fcinfo, 0, 1);
	int32		run_length = ADAPTIVE;
	TimestampTz clock = clock_argument(fcinfo, 3);
	uint64		prefix_value;
	uint64		high;
	uint64		low;
	uint32		tag;

	if (!PG_ARGISNULL(2))
	{
		run_length = PG_GETARG_INT32(2);
		require_at_least(run_length, 1, "run_length");
	}

	prefix_value = short_prefix_of_instant(&prefix, clock);
	high = random_high(prefix_value, prefix.bits);
	low = entropy_bits(UUID_LOW_BITS);

	if (run_length != 1 && take_tag(&prefix, run_length, prefix_value, &tag))
		put_tag(tag, prefix.bits, &high, &low);

	return uuid_datum(4, high, low);
}

/*
 * suffix_comb(clock timestamptz DEFAULT NULL) returns uuid
 *	Like J. Nilsson's COMB of 2002, except that the last 48 bits are Unix
 *	milliseconds instead of days since 1900 and units of 1/300 second.  The
 *	other bits are random, except for the version and the variant.
 */
PG_FUNCTION_INFO_V1(idgen_suffix_comb);
Datum
idgen_suffix_comb(PG_FUNCTION_ARGS)
{
	return uuid_datum(4, entropy_bits(UUID_HIGH_BITS),
					  entropy_bits(UUID_LOW_BITS - SUFFIX_BITS) << SUFFIX_BITS |
					  clock_unix_ms48(clock_argument(fcinfo, 0)));
}

/*
 * short_suffix_comb(period interval, clock timestamptz) returns uuid
 *	Like short_comb(), but with the 16-bit prefix in bytes 10 and 11.
 */
PG_FUNCTION_INFO_V1(idgen_short_suffix_comb);
Datum
idgen_short_suffix_comb(PG_FUNCTION_ARGS)
{
	ShortPrefix prefix;
	TimestampTz clock = clock_argument(fcinfo, 1);
	uint64		suffix;
	uint64		low;

	require_not_null(fcinfo, 0, "period");
	prefix = short_prefix_make(PG_GETARG_INTERVAL_P(0),
							   SHORT_SUFFIX_BITS / BITS_PER_BYTE);
	suffix = short_prefix_of_instant(&prefix, clock);
	low = entropy_bits(UUID_LOW_BITS);
	put_bits(&low, SUFFIX_BITS - SHORT_SUFFIX_BITS, SHORT_SUFFIX_BITS, suffix);

	return uuid_datum(4, entropy_bits(UUID_HIGH_BITS), low);
}

/*
 * Return the Unix milliseconds in a version 4 UUID as timestamptz.  The result
 * is meaningless for a random UUID, which cannot be distinguished from a COMB.
 */
static Datum
comb_reading(FunctionCallInfo fcinfo, uint64 (*unix_ms) (const pg_uuid_t *))
{
	const pg_uuid_t *id = PG_GETARG_UUID_P(0);

	if (!uuid_is_version(id, 4))
		PG_RETURN_NULL();
	PG_RETURN_TIMESTAMPTZ(clock_from_unix_ms48(unix_ms(id)));
}

/* comb_timestamp(id uuid), suffix_comb_timestamp(id uuid) return timestamptz */
PG_FUNCTION_INFO_V1(idgen_comb_timestamp);
Datum
idgen_comb_timestamp(PG_FUNCTION_ARGS)
{
	return comb_reading(fcinfo, uuid_first_48_bits);
}

PG_FUNCTION_INFO_V1(idgen_suffix_comb_timestamp);
Datum
idgen_suffix_comb_timestamp(PG_FUNCTION_ARGS)
{
	return comb_reading(fcinfo, uuid_last_48_bits);
}

/*
 * short_comb_timestamp(id uuid, period interval, prefix_bytes int, clock timestamptz) returns timestamptz
 *	Returns the start of the latest period that has this prefix and does not
 *	begin after the clock, or NULL if that is out of range for timestamptz.
 */
PG_FUNCTION_INFO_V1(idgen_short_comb_timestamp);
Datum
idgen_short_comb_timestamp(PG_FUNCTION_ARGS)
{
	pg_uuid_t  *id;
	TimestampTz clock;
	ShortPrefix prefix;
	int64		period_number;
	int64		unix_ms;
	TimestampTz instant;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();

	id = PG_GETARG_UUID_P(0);
	prefix = short_prefix_arguments(fcinfo, 1, 2);
	clock = clock_argument_stable(fcinfo, 3);

	if (!uuid_is_version(id, 4))
		PG_RETURN_NULL();

	period_number = short_prefix_period_number(&prefix, clock);
	period_number -= short_prefix_of_period(&prefix,
											period_number - short_prefix_of_uuid(&prefix, id));

	if (pg_mul_s64_overflow(period_number, prefix.period_ms, &unix_ms) ||
		!clock_from_unix_ms(unix_ms, &instant))
		PG_RETURN_NULL();
	PG_RETURN_TIMESTAMPTZ(instant);
}

/*
 * sequence_comb(sequence regclass, block_size int, block_count int) returns uuid
 *	T. Vondra's sequential UUID: its prefix increases by one every block_size
 *	values of a sequence, and repeats after block_count blocks.  The prefix has
 *	as many whole bytes as block_count requires.  If block_count is not a power
 *	of 256, there are more than block_count blocks, each smaller than
 *	block_size, so that the length of the cycle stays the same.
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

	require_not_null(fcinfo, 0, "sequence");
	require_not_null(fcinfo, 1, "block_size");
	require_not_null(fcinfo, 2, "block_count");
	block_size = PG_GETARG_INT32(1);
	block_count = PG_GETARG_INT32(2);

	require_at_least(block_size, 1, "block_size");
	require_at_least(block_count, 1, "block_count");

	while (block_count - 1 >= INT64CONST(1) << prefix_bits)
		prefix_bits += BITS_PER_BYTE;
	block_size = Max(block_size * block_count >> prefix_bits, 1);

	/* nextval() checks privileges and rejects a read-only transaction */
	value = DatumGetInt64(DirectFunctionCall1(nextval_oid, PG_GETARG_DATUM(0)));
	block = floor_div(value - 1, block_size);

	return uuid_datum(4, random_high((uint64) block & ((UINT64CONST(1) << prefix_bits) - 1),
									 prefix_bits),
					  entropy_bits(UUID_LOW_BITS));
}
