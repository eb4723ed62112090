/*
 * fuzz_short_comb.c
 *	  short_comb() with any arguments: the documented errors and no others;
 *	  otherwise the prefix of the clock's period, which the check accepts and
 *	  the reading returns, and one tag in a run.
 */
#include "server.h"

#define TAG_BITS	32

/* The 32 bits after the prefix, without the version and the variant. */
static uint32
tag_of(const pg_uuid_t *id, int prefix_bytes)
{
	uint32		tag = 0;
	int			bits = 0;

	for (int bit = 8 * prefix_bytes; bits < TAG_BITS; bit++)
	{
		if ((bit >= 48 && bit < 52) || bit == 64 || bit == 65)
			continue;
		tag = tag << 1 | (id->data[bit / 8] >> (7 - bit % 8) & 1);
		bits++;
	}
	return tag;
}

void
fuzz_target(Input *input)
{
	Interval	period = take_interval(input);
	uint8		way = take(input, 1);
	int32		prefix_bytes = way & 8 ? way % 8 : (int8) take(input, 1);
	int32		run_length = way & 16 ? 3 : (int16) take(input, 2);
	NullableDatum run_length_arg = way & 32 ? null_arg() : int32_arg(run_length);
	TimestampTz clock = take_instant(input);
	Interval	no_time = {0};
	Wide		period_ms;
	Wide		number;
	bool		valid;
	pg_uuid_t	ids[3];
	Outcome		suffix;

	valid = wide_period(&period, prefix_bytes, &period_ms);
	for (int i = 0; i < (int) lengthof(ids); i++)
	{
		Outcome		made = CALL(idgen_short_comb, interval_arg(&period), int32_arg(prefix_bytes),
								run_length_arg, instant_arg(clock));

		if (!valid || (!run_length_arg.isnull && run_length < 1))
		{
			CHECK(made.sqlstate == ERRCODE_INVALID_PARAMETER_VALUE);
			return;
		}
		ids[i] = *DatumGetUUIDP(value_of(made));
	}

	/* one of them may begin a new run */
	if (!run_length_arg.isnull && run_length >= 3)
		CHECK(tag_of(&ids[0], prefix_bytes) == tag_of(&ids[1], prefix_bytes) ||
			  tag_of(&ids[1], prefix_bytes) == tag_of(&ids[2], prefix_bytes));

	number = wide_floor(wide_unix_ms(clock), period_ms);
	for (int i = 0; i < (int) lengthof(ids); i++)
	{
		Outcome		start = CALL(idgen_short_comb_timestamp, uuid_arg(&ids[i]),
								 interval_arg(&period), int32_arg(prefix_bytes), instant_arg(clock));

		CHECK(is_version(&ids[i], 4));
		CHECK(wide_bytes(&ids[i], 0, prefix_bytes) == wide_modulo(number, (Wide) 1 << 8 * prefix_bytes));
		CHECK(DatumGetBool(CALL_VALUE(idgen_is_recent_short_comb, uuid_arg(&ids[i]), interval_arg(&no_time),
									  interval_arg(&period), int32_arg(prefix_bytes), null_arg(), null_arg(), instant_arg(clock))));
		CHECK(start.sqlstate == 0);
		CHECK(start.isnull == !wide_is_instant(wide_instant(number * period_ms)));
		CHECK(start.isnull || DatumGetTimestampTz(start.value) == wide_instant(number * period_ms));
	}

	/* the same at the position of SQL Server's order */
	suffix = CALL(idgen_short_suffix_comb, interval_arg(&period), instant_arg(clock));
	if (wide_period(&period, 2, &period_ms))
	{
		ids[0] = *DatumGetUUIDP(value_of(suffix));
		CHECK(is_version(&ids[0], 4));
		CHECK(wide_bytes(&ids[0], 10, 2) == wide_modulo(number, 65536));
	}
	else
		CHECK(suffix.sqlstate == ERRCODE_INVALID_PARAMETER_VALUE);
}
