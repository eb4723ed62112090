/*-------------------------------------------------------------------------
 *
 * ulid.c
 *	  ULID: 48 bits of Unix milliseconds and 80 random bits, as text.
 *
 * The text is 26 digits of Crockford's base 32.  Text order in collation "C"
 * is the order of the bits.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "arguments.h"
#include "entropy.h"
#include "id_text.h"

/* the random bits in the first half of a ULID, after the 48 bits of time */
#define RANDOM_HIGH_BITS	16

/* The text of a ULID, given its time and its 80 other bits. */
static Datum
make_ulid(uint64 high, uint64 low)
{
	pg_uuid_t	id;

	uuid_set_half(&id, 0, high);
	uuid_set_half(&id, 1, low);
	return id_text_make(NULL, &id, radix_crockford);
}

/*
 * ulid() returns text
 *	Within the millisecond of this backend's last ULID, or if the clock has gone
 *	back, the result is the last ULID plus one: the monotonic mode of the
 *	specification.  If that overflows the 80 random bits, which is an error in
 *	the specification, the milliseconds are incremented.
 */
PG_FUNCTION_INFO_V1(idgen_ulid);
Datum
idgen_ulid(PG_FUNCTION_ARGS pg_attribute_unused())
{
	static uint64 high = 0;
	static uint64 low = 0;
	uint64		now = clock_wall_unix_ms();

	if (now > high >> RANDOM_HIGH_BITS)
	{
		uint64		random = entropy_uint64();

		low = entropy_uint64();
		high = now << RANDOM_HIGH_BITS | random >> (64 - RANDOM_HIGH_BITS);
	}
	else if (++low == 0)
		high++;

	return make_ulid(high, low);
}

/* Read argument 0, which must have all its digits. */
static pg_uuid_t *
read_ulid(FunctionCallInfo fcinfo)
{
	IdText		id = id_text_argument(fcinfo, "ULID", radix_width(radix_crockford));

	return id_text_full_uuid(&id, 0, radix_crockford);
}

/* ulid_to_uuid(id text) returns uuid: the 128 bits of the ULID */
SQL_FUNCTION(idgen_ulid_to_uuid, UUIDPGetDatum(read_ulid(fcinfo)))

/* ulid_from_uuid(id uuid) returns text */
SQL_FUNCTION(idgen_ulid_from_uuid, id_text_make(NULL, PG_GETARG_UUID_P(0), radix_crockford))

/* ulid_timestamp(id text) returns timestamptz */
SQL_FUNCTION(idgen_ulid_timestamp,
			 TimestampTzGetDatum(clock_from_unix_ms48(uuid_first_48_bits(read_ulid(fcinfo)))))

/* ulid_floor(instant timestamptz) returns text: the smallest ULID of the instant's millisecond */
SQL_FUNCTION(idgen_ulid_floor,
			 make_ulid((uint64) clock_unix_ms48(PG_GETARG_TIMESTAMPTZ(0)) << RANDOM_HIGH_BITS, 0))
