/*
 * fuzz_reading.c
 *	  The times that are read from a uuid: each for its versions only, and with
 *	  its precision; and the period of a short COMB's prefix, which is the
 *	  latest one not after the clock.
 */
#include "server.h"

/* Check that a reading is this instant, or NULL if it does not apply. */
static void
check_reading(PGFunction function, const pg_uuid_t *id, bool applies, Wide instant)
{
	Outcome		reading = CALL(function, uuid_arg(id));

	CHECK(reading.sqlstate == 0);
	CHECK(reading.isnull == !applies);
	CHECK(reading.isnull || DatumGetTimestampTz(reading.value) == instant);
}

void
fuzz_target(Input *input)
{
	pg_uuid_t	id = take_uuid(input);
	TimestampTz clock = take_instant(input);
	int32		prefix_bytes = take(input, 1) % 8;
	Interval	period = take_interval(input);
	bool		is_rfc = id.data[8] >> 6 == 2;
	Wide		period_ms;
	Wide		instant = 0;
	Outcome		start;

	switch (id.data[6] >> 4)
	{
		case 1:
			instant = wide_instant_of_ticks((wide_bytes(&id, 6, 2) & 0x0FFF) << 48 | wide_bytes(&id, 4, 2) << 32 | wide_bytes(&id, 0, 4));
			break;
		case 6:
		case 13:
			instant = wide_instant_of_ticks(wide_bytes(&id, 0, 6) << 12 | (wide_bytes(&id, 6, 2) & 0x0FFF));
			break;
		case 7:
			instant = wide_instant(wide_bytes(&id, 0, 6));
			break;
		default:
			is_rfc = false;
	}
	check_reading(idgen_uuid_timestamp, &id, is_rfc, instant);
	check_reading(idgen_comb_timestamp, &id, is_version(&id, 4), wide_instant(wide_bytes(&id, 0, 6)));
	check_reading(idgen_suffix_comb_timestamp, &id, is_version(&id, 4), wide_instant(wide_bytes(&id, 10, 6)));

	start = CALL(idgen_short_comb_timestamp, uuid_arg(&id), interval_arg(&period), int32_arg(prefix_bytes), instant_arg(clock));
	if (!wide_period(&period, prefix_bytes, &period_ms))
		CHECK(start.sqlstate == ERRCODE_INVALID_PARAMETER_VALUE);
	else if (!is_version(&id, 4))
		CHECK(start.sqlstate == 0 && start.isnull);
	else
	{
		Wide		cycle = (Wide) 1 << 8 * prefix_bytes;
		Wide		now = wide_floor(wide_unix_ms(clock), period_ms);
		Wide		number = now - wide_modulo(now - wide_bytes(&id, 0, prefix_bytes), cycle);

		instant = wide_instant(number * period_ms);
		CHECK(wide_modulo(number, cycle) == wide_bytes(&id, 0, prefix_bytes));
		CHECK(instant <= clock && instant > clock - (cycle + 1) * period_ms * 1000);
		CHECK(start.sqlstate == 0 && start.isnull == !wide_is_instant(instant));
		CHECK(start.isnull || DatumGetTimestampTz(start.value) == instant);
	}
}
