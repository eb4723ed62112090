/*
 * fuzz_units.c
 *	  The units of time in identifiers, and the fields of a uuid: conversions
 *	  of any instant, and of any number of 60 and 62 bits.
 */
#include "fuzz.h"

#include "clock.h"
#include "uuid_bits.h"

void
fuzz_target(Input *input)
{
	TimestampTz instant = take_instant(input);
	int64		ms = take(input, 8);
	uint64		high = take(input, 8) & UUID_HIGH_MAX;
	uint64		low = take(input, 8) & UUID_LOW_MAX;
	int			version = take(input, 1) % 16;
	TimestampTz start;
	pg_uuid_t	id;

	CHECK(clock_unix_ms(instant) == wide_unix_ms(instant));
	CHECK(clock_unix_seconds(instant) == wide_floor(wide_unix_ms(instant), 1000));
	CHECK(clock_from_unix_ms(clock_unix_ms(instant), &start));
	CHECK(start == instant - wide_modulo(instant, 1000));
	CHECK(clock_from_unix_ms(ms, &start) == wide_is_instant(wide_instant(ms)));
	CHECK(!wide_is_instant(wide_instant(ms)) || start == wide_instant(ms));
	CHECK(clock_from_unix_seconds32(ms) == wide_instant((Wide) (uint32) ms * 1000));
	CHECK(clock_from_gregorian_ticks(high) == wide_instant_of_ticks(high));

	uuid_pack(&id, version, high, low);
	CHECK(is_version(&id, version) && uuid_is_version(&id, version));
	CHECK(uuid_high(&id) == high && uuid_low(&id) == low);
	CHECK(uuid_first_48_bits(&id) == high >> 12 && wide_bytes(&id, 0, 6) == high >> 12);
	CHECK(uuid_last_48_bits(&id) == wide_bytes(&id, 10, 6));
	CHECK(uuid_v1_ticks(uuid_v1_high(high)) == high);
}
