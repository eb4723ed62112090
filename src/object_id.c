/*
 * object_id.c
 *	  MongoDB's ObjectId, a 96-bit identifier, as text.
 *
 * An ObjectId consists of a 32-bit Unix time in seconds, 40 random bits that a
 * process draws once, and a 24-bit counter with a random start.  The text
 * consists of 24 hexadecimal digits.  In collation "C", the text forms sort
 * like the bytes.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "utils/builtins.h"

#include "arguments.h"
#include "entropy.h"
#include "id_text.h"

#define OBJECT_ID_DIGITS	24

#define COUNTER_BITS		24
#define COUNTER_MASK		((UINT64CONST(1) << COUNTER_BITS) - 1)

/* Return the text of an ObjectId, given its seconds and its other 64 bits. */
static Datum
make_object_id(uint32 seconds, uint64 low)
{
	pg_uuid_t	number;
	char		digits[RADIX_MAX_WIDTH];

	uuid_set_half(&number, 0, seconds);
	uuid_set_half(&number, 1, low);
	/* take the last 24 of the 32 digits of a 128-bit number */
	radix_encode(&radix_16, &number, digits);
	PG_RETURN_TEXT_P(cstring_to_text_with_len(digits + RADIX_MAX_WIDTH - OBJECT_ID_DIGITS,
											  OBJECT_ID_DIGITS));
}

/*
 * object_id(clock timestamptz DEFAULT NULL) returns text
 *	With a clock, everything except the time is random.  Without a clock, the
 *	result is greater than all results that this process has returned without a
 *	clock.  In a new second, the counter continues from its last value, and
 *	wraps around at its maximum.  Within a second, or if the system clock has
 *	gone back, an overflow of the counter increments the seconds.
 */
PG_FUNCTION_INFO_V1(idgen_object_id);
Datum
idgen_object_id(PG_FUNCTION_ARGS)
{
	static uint64 process = 0;	/* 40 random bits, then 24 zeros */
	static uint64 last = 0;		/* seconds and counter of the last result */
	int64		now;
	uint64		next;

	if (!PG_ARGISNULL(0))
		return make_object_id(clock_unix_seconds32(PG_GETARG_TIMESTAMPTZ(0)), entropy_uint64());

	now = clock_wall_unix_seconds();
	if (unlikely(last == 0))
	{
		uint64		random = entropy_uint64();

		process = random & ~COUNTER_MASK;
		last = random & COUNTER_MASK;
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

/* is_object_id(id text) returns boolean: whether the text is 24 lower-case hexadecimal digits */
PG_FUNCTION_INFO_V1(idgen_is_object_id);
Datum
idgen_is_object_id(PG_FUNCTION_ARGS)
{
	return BoolGetDatum(id_text_is_canonical(fcinfo, &radix_16, OBJECT_ID_DIGITS));
}

/* object_id_timestamp(id text) returns timestamptz */
PG_FUNCTION_INFO_V1(idgen_object_id_timestamp);
Datum
idgen_object_id_timestamp(PG_FUNCTION_ARGS)
{
	IdText		id = id_text_argument(fcinfo, "ObjectId", OBJECT_ID_DIGITS);
	const pg_uuid_t *number;
	int			characters = pg_mbstrlen_with_len(id.bytes, id.length);

	if (characters != OBJECT_ID_DIGITS)
		id_text_refuse(&id, psprintf("Exactly %d characters are required, but the text has %d.",
									 OBJECT_ID_DIGITS, characters));
	number = id_text_number(&id, 0, &radix_16, false);
	PG_RETURN_TIMESTAMPTZ(clock_from_unix_ms48(uuid_half(number, 0) * MS_PER_SECOND));
}

/* object_id_floor(instant timestamptz) returns text: the smallest ObjectId of the second */
PG_FUNCTION_INFO_V1(idgen_object_id_floor);
Datum
idgen_object_id_floor(PG_FUNCTION_ARGS)
{
	int64		seconds = clock_unix_seconds(PG_GETARG_TIMESTAMPTZ(0));

	if (seconds > UNIX_SECONDS32_MAX)
		return make_object_id(PG_UINT32_MAX, PG_UINT64_MAX);
	return make_object_id(Max(seconds, 0), 0);
}
