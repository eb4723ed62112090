/*
 * fuzz_window.c
 *	  is_recent_short_comb(), is_recent_comb() and is_recent_uuid_v7() with any
 *	  identifier, clock and tolerances: their results are those of arithmetic
 *	  in 128 bits, and check_recent_...() agree with them.
 */
#include "server.h"

static const struct
{
	PGFunction	is;
	PGFunction	check;
}			functions[] =
{
	{idgen_is_recent_short_comb, idgen_check_recent_short_comb},
	{idgen_is_recent_comb, idgen_check_recent_comb},
	{idgen_is_recent_uuid_v7, idgen_check_recent_uuid_v7}
};

/* Only the functions of short COMBs have the arguments 2 and 3. */
static Outcome
call(PGFunction function, int scheme, const NullableDatum *args)
{
	if (scheme == 0)
		return call_function(function, 7, args);
	return CALL(function, args[0], args[1], args[4], args[5], args[6]);
}

/* The length of a tolerance, or the default; false if it is invalid. */
static bool
reach_of(bool given, const Interval *length, Wide otherwise, Wide *us)
{
	if (!given)
	{
		*us = otherwise;
		return true;
	}
	return wide_interval(length, us) && *us >= 0;
}

void
fuzz_target(Input *input)
{
	uint8		way = take(input, 1);
	int			scheme = way % 3;	/* short COMB, COMB, version 7 */
	bool		has_tolerance = way & 0x80;
	bool		has_past = way & 0x40;
	bool		has_future = way & 0x20;
	pg_uuid_t	id = take_uuid(input);
	TimestampTz clock = take_instant(input);
	int32		prefix_bytes = take(input, 1) % 8;
	Interval	period = take_interval(input);
	Interval	tolerance = take_interval(input);
	Interval	past = take_interval(input);
	Interval	future = take_interval(input);
	Wide		period_ms = 0;
	Wide		both_us = 0;
	Wide		past_us = 0;
	Wide		future_us = 0;
	bool		valid;
	bool		expected = false;
	Outcome		verdict;
	Outcome		check;
	NullableDatum args[7];

	/* an identifier of the right version, and sometimes of the right time */
	if (way & 0x10)
	{
		id.data[6] = (id.data[6] & 0x0F) | (scheme == 2 ? 0x70 : 0x40);
		id.data[8] = (id.data[8] & 0x3F) | 0x80;
	}
	if (way & 0x08)
	{
		uint64		ms = (uint64) wide_unix_ms(clock) + (int8) id.data[5];

		for (int i = 0; i < 6; i++)
			id.data[i] = ms >> (40 - 8 * i);
	}

	args[0] = uuid_arg(&id);
	args[1] = has_tolerance ? interval_arg(&tolerance) : null_arg();
	args[2] = interval_arg(&period);
	args[3] = int32_arg(prefix_bytes);
	args[4] = has_past ? interval_arg(&past) : null_arg();
	args[5] = has_future ? interval_arg(&future) : null_arg();
	args[6] = instant_arg(clock);
	verdict = call(functions[scheme].is, scheme, args);
	check = call(functions[scheme].check, scheme, args);

	valid = (scheme != 0 || wide_period(&period, prefix_bytes, &period_ms)) &&
		reach_of(true, &tolerance, 0, &both_us) &&
		reach_of(has_past, &past, both_us, &past_us) &&
		reach_of(has_future, &future, both_us, &future_us);
	if (valid && scheme == 0)
		valid = wide_floor(past_us + future_us + 999, 1000) <= (((Wide) 1 << 8 * prefix_bytes) - 2) * period_ms;

	CHECK(check.sqlstate == verdict.sqlstate || check.sqlstate == ERRCODE_CHECK_VIOLATION);
	if (!has_tolerance)
	{
		CHECK(verdict.sqlstate == ERRCODE_NULL_VALUE_NOT_ALLOWED);
		return;
	}
	if (!valid)
	{
		CHECK(verdict.sqlstate == ERRCODE_INVALID_PARAMETER_VALUE);
		return;
	}
	if (clock - past_us < PG_INT64_MIN || clock + future_us > PG_INT64_MAX)
	{
		CHECK(verdict.sqlstate == ERRCODE_DATETIME_VALUE_OUT_OF_RANGE);
		return;
	}

	if (is_version(&id, scheme == 2 ? 7 : 4))
	{
		Wide		first = wide_unix_ms(clock - past_us);
		Wide		last = wide_unix_ms(clock + future_us);

		if (scheme == 0)
		{
			first = wide_floor(first, period_ms);
			last = wide_floor(last, period_ms);
			expected = first + wide_modulo(wide_bytes(&id, 0, prefix_bytes) - first, (Wide) 1 << 8 * prefix_bytes) <= last;
		}
		else
			expected = wide_bytes(&id, 0, 6) >= first && wide_bytes(&id, 0, 6) <= last;
	}
	CHECK(DatumGetBool(value_of(verdict)) == expected);
	CHECK(check.sqlstate == (expected ? 0 : ERRCODE_CHECK_VIOLATION));
}
