/*-------------------------------------------------------------------------
 *
 * object_id.c
 *	  MongoDB's ObjectId, an identifier of 96 bits, as text.
 *
 * From high to low, 32 bits of Unix seconds, 40 bits that are random for each
 * process, and a counter of 24 bits that begins at random.  The text is 24
 * hexadecimal digits, so that text order in collation "C" is the order of the
 * bytes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "clock.h"
#include "entropy.h"
#include "object_id.h"
#include "radix.h"

#define COUNTER_BITS		24
#define COUNTER_MASK		((UINT64CONST(1) << COUNTER_BITS) - 1)

/* Lay one out: the seconds, and the 64 bits behind them. */
static Datum
make_object_id(uint32 seconds, uint64 low)
{
	char		digits[RADIX_MAX_WIDTH];

	/* of the 32 digits of 128 bits, the last 24 */
	radix_encode(radix_of_base(16), seconds, low, digits);
	PG_RETURN_TEXT_P(cstring_to_text_with_len(digits + RADIX_MAX_WIDTH - OBJECT_ID_DIGITS,
											  OBJECT_ID_DIGITS));
}

/* Read one; false where the text is not 24 hexadecimal digits. */
static bool
read_object_id(Datum id, uint32 *seconds)
{
	text	   *digits;
	uint64		high;
	uint64		low;
	char	   *problem;

	if (toast_raw_datum_size(id) != VARHDRSZ + OBJECT_ID_DIGITS)
		return false;

	digits = DatumGetTextPP(id);
	if (!radix_decode(radix_of_base(16), VARDATA_ANY(digits), OBJECT_ID_DIGITS, 1,
					  &high, &low, &problem))
		return false;
	*seconds = (uint32) high;
	return true;
}

/* Raise 22P02 for text that read_object_id() does not read. */
static void
refuse_object_id(Datum id)
{
	text	   *value;
	int			length;
	uint64		high;
	uint64		low;
	char	   *problem;

	if (toast_raw_datum_size(id) > VARHDRSZ + OBJECT_ID_DIGITS * MAX_MULTIBYTE_CHAR_LEN)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid ObjectId"),
				 errdetail("The number of characters is greater than %d.", OBJECT_ID_DIGITS)));

	value = DatumGetTextPP(id);
	length = pg_mbstrlen_with_len(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value));

	/* what is before the first character of more than a byte are digits */
	if (length != OBJECT_ID_DIGITS)
		problem = psprintf("The number of characters is %d, not %d.", length, OBJECT_ID_DIGITS);
	else
		(void) radix_decode(radix_of_base(16), VARDATA_ANY(value), OBJECT_ID_DIGITS, 1,
							&high, &low, &problem);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
			 errmsg("invalid ObjectId: \"%s\"",
					pnstrdup(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value))),
			 errdetail_internal("%s", problem)));
}

/*
 * object_id() returns text
 *
 * Greater than every one that this process made before.  When the clock's
 * second is over, the seconds follow it and the counter continues by one, from
 * its highest value to zero; within the second, and where the clock steps
 * back, the counter's carry goes into the seconds.
 */
PG_FUNCTION_INFO_V1(idgen_object_id);
Datum
idgen_object_id(PG_FUNCTION_ARGS)
{
	static int	owner = 0;		/* process that drew what follows */
	static uint64 process = 0;	/* 40 random bits, above the counter's */
	static uint64 last = 0;		/* seconds and counter */
	int64		now = clock_wall_unix_seconds();
	uint64		next;

	(void) fcinfo;
	if (unlikely(owner != MyProcPid))
	{
		uint64		random = entropy_uint64();

		process = random & ~COUNTER_MASK;
		last = random & COUNTER_MASK;
		owner = MyProcPid;
	}

	next = last + 1;
	if (now > (int64) (last >> COUNTER_BITS))
		next = (uint64) now << COUNTER_BITS | (next & COUNTER_MASK);
	if (unlikely(now < 0 || next >> COUNTER_BITS > UNIX_SECONDS32_MAX))
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("timestamp is out of range for the identifier")));
	last = next;
	return make_object_id(next >> COUNTER_BITS, process | (next & COUNTER_MASK));
}

/*
 * is_object_id(id text) returns boolean
 *
 * Whether it is 24 hexadecimal digits, of either case.
 */
PG_FUNCTION_INFO_V1(idgen_is_object_id);
Datum
idgen_is_object_id(PG_FUNCTION_ARGS)
{
	uint32		seconds;

	PG_RETURN_BOOL(read_object_id(PG_GETARG_DATUM(0), &seconds));
}

/*
 * object_id_timestamp(id text) returns timestamptz
 */
PG_FUNCTION_INFO_V1(idgen_object_id_timestamp);
Datum
idgen_object_id_timestamp(PG_FUNCTION_ARGS)
{
	uint32		seconds = 0;

	if (!read_object_id(PG_GETARG_DATUM(0), &seconds))
		refuse_object_id(PG_GETARG_DATUM(0));
	PG_RETURN_TIMESTAMPTZ(clock_from_unix_seconds32(seconds));
}

/*
 * object_id_floor(instant timestamptz) returns text
 *
 * The smallest ObjectId of the instant's second.
 */
PG_FUNCTION_INFO_V1(idgen_object_id_floor);
Datum
idgen_object_id_floor(PG_FUNCTION_ARGS)
{
	return make_object_id(clock_unix_seconds32(PG_GETARG_TIMESTAMPTZ(0)), 0);
}

/*
 * object_id_ceil(instant timestamptz) returns text
 *
 * The greatest ObjectId of the instant's second.
 */
PG_FUNCTION_INFO_V1(idgen_object_id_ceil);
Datum
idgen_object_id_ceil(PG_FUNCTION_ARGS)
{
	return make_object_id(clock_unix_seconds32(PG_GETARG_TIMESTAMPTZ(0)), PG_UINT64_MAX);
}
