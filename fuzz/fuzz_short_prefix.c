/*
 * fuzz_short_prefix.c
 *	  The prefix of a short COMB: that of any instant, period and width is the
 *	  number of the period modulo the number of prefixes, also before 1970.
 */
#include "fuzz.h"

#include "short_prefix.h"

void
fuzz_target(Input *input)
{
	ShortPrefix prefix;
	TimestampTz instant;
	pg_uuid_t	id;
	Wide		number;
	Wide		cycle;

	prefix.period_ms = take(input, 6) % (INT64CONST(365250) * 86400000) + 1;
	prefix.bits = 8 * (take(input, 1) % 6 + 1);
	instant = take_instant(input);
	id = take_uuid(input);

	number = wide_floor(wide_unix_ms(instant), prefix.period_ms);
	cycle = (Wide) 1 << prefix.bits;
	CHECK(short_prefix_period_number(&prefix, instant) == number);
	CHECK(short_prefix_cycle(&prefix) == cycle);
	CHECK(short_prefix_of_period(&prefix, number) == wide_modulo(number, cycle));
	CHECK(short_prefix_of_uuid(&prefix, &id) == wide_bytes(&id, 0, prefix.bits / 8));
}
