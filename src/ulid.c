/*
 * ulid.c
 *	  ULID: a 48-bit Unix time in milliseconds and 80 random bits, as text.
 *
 * The text consists of 26 digits of Crockford's base 32.  In collation "C",
 * the text forms sort like the bits.
 */
#include "postgres.h"

#include "arguments.h"
#include "entropy.h"
#include "id_text.h"

/* the random bits in the first half of a ULID, after the 48 bits of time */
#define RANDOM_HIGH_BITS	16

/* Return the text of a ULID, given its two halves. */
static Datum
make_ulid(uint64 high, uint64 low)
{
	pg_uuid_t	id;

	uuid_set_half(&id, 0, high);
	uuid_set_half(&id, 1, low);
	return id_text_make(NULL, &id, &radix_crockford);
}

/* Return the first half of a ULID for this time, with random bits. */
static uint64
random_high(uint64 ms)
{
	return ms << RANDOM_HIGH_BITS | entropy_bits(RANDOM_HIGH_BITS);
}

/*
 * ulid(clock timestamptz DEFAULT NULL) returns text
 *	Without a clock, this is the monotonic mode of the specification: if the
 *	millisecond has not changed, or the wall clock has gone back, the result is
 *	the last ULID of this backend plus one.  If that overflows the 80 random
 *	bits, the milliseconds are incremented, whereas the specification requires
 *	an error.  With a clock, results for the same millisecond are in no
 *	particular order.
 */
PG_FUNCTION_INFO_V1(idgen_ulid);
Datum
idgen_ulid(PG_FUNCTION_ARGS)
{
	static uint64 high = 0;
	static uint64 low = 0;
	uint64		now;

	if (!PG_ARGISNULL(0))
		return make_ulid(random_high(clock_unix_ms48(PG_GETARG_TIMESTAMPTZ(0))), entropy_uint64());

	now = clock_wall_unix_ms();
	if (now > high >> RANDOM_HIGH_BITS)
	{
		uint64		next = random_high(now);

		low = entropy_uint64();
		high = next;
	}
	else if (++low == 0)
		high++;

	return make_ulid(high, low);
}

/* Parse argument 0, which must have all 26 digits. */
static pg_uuid_t *
read_ulid(FunctionCallInfo fcinfo)
{
	IdText		id = id_text_argument(fcinfo, "ULID", radix_width(&radix_crockford));

	return id_text_number(&id, 0, &radix_crockford, true);
}

/* ulid_to_uuid(id text) returns uuid: the 128 bits of the ULID */
PG_FUNCTION_INFO_V1(idgen_ulid_to_uuid);
Datum
idgen_ulid_to_uuid(PG_FUNCTION_ARGS)
{
	return UUIDPGetDatum(read_ulid(fcinfo));
}

/* ulid_from_uuid(id uuid) returns text */
PG_FUNCTION_INFO_V1(idgen_ulid_from_uuid);
Datum
idgen_ulid_from_uuid(PG_FUNCTION_ARGS)
{
	return id_text_make(NULL, PG_GETARG_UUID_P(0), &radix_crockford);
}

/* ulid_timestamp(id text) returns timestamptz */
PG_FUNCTION_INFO_V1(idgen_ulid_timestamp);
Datum
idgen_ulid_timestamp(PG_FUNCTION_ARGS)
{
	return TimestampTzGetDatum(clock_from_unix_ms48(uuid_first_48_bits(read_ulid(fcinfo))));
}

/* ulid_floor(instant timestamptz) returns text: the smallest ULID of the millisecond */
PG_FUNCTION_INFO_V1(idgen_ulid_floor);
Datum
idgen_ulid_floor(PG_FUNCTION_ARGS)
{
	int64		ms = clock_unix_ms(PG_GETARG_TIMESTAMPTZ(0));

	if (ms > UNIX_MS48_MAX)
		return make_ulid(PG_UINT64_MAX, PG_UINT64_MAX);
	return make_ulid((uint64) Max(ms, 0) << RANDOM_HIGH_BITS, 0);
}

/* is_ulid(id text) returns boolean: whether ulid_from_uuid() can return the text */
PG_FUNCTION_INFO_V1(idgen_is_ulid);
Datum
idgen_is_ulid(PG_FUNCTION_ARGS)
{
	return BoolGetDatum(id_text_is_canonical(fcinfo, &radix_crockford,
											 radix_width(&radix_crockford)));
}
