/*
 * fuzz_short_comb.c
 *	  Short COMBs, and the windows of time in which identifiers are accepted.
 */
#include "fuzz.h"

#include "uuid_bits.h"

/*
 * short_comb() with any arguments: the documented errors and no others;
 * otherwise the prefix of the clock's period, which the check accepts and the
 * reading returns, and one tag in a run.
 */
void
fuzz_short_comb(Input *input)
{
	Interval	period = take_interval(input);
	uint8		way = take(input, 1);
	int32		prefix_bytes = way & 8 ? way % 8 : (int8) take(input, 1);
	int32		run_length = way & 16 ? 3 : (int16) take(input, 2);
	bool		has_runs = (way & 32) == 0;
	TimestampTz clock = take_instant(input);
	Interval	no_time = {0};
	NullableDatum period_arg = interval_arg(&period);
	NullableDatum bytes_arg = int32_arg(prefix_bytes);
	NullableDatum clock_arg = instant_arg(clock);
	uint32		tags[3];		/* the 32 bits after the prefix, version and variant left out */
	pg_uuid_t  *id;
	Wide		period_ms;
	Wide		number = 0;
	bool		valid = wide_period(&period, prefix_bytes, &period_ms);

	for (int i = 0; i < (int) lengthof(tags); i++)
	{
		Outcome		made = CALL(idgen_short_comb, period_arg, bytes_arg,
								has_runs ? int32_arg(run_length) : null_arg(), clock_arg);

		if (!valid || (has_runs && run_length < 1))
		{
			CHECK(made.sqlstate == ERRCODE_INVALID_PARAMETER_VALUE);
			return;
		}
		id = DatumGetUUIDP(value_of(made));
		number = wide_floor(wide_unix_ms(clock), period_ms);
		CHECK(is_version(id, 4));
		CHECK(wide_bytes(id, 0, prefix_bytes) == wide_modulo(number, (Wide) 1 << 8 * prefix_bytes));
		CHECK(DatumGetBool(CALL_VALUE(idgen_is_recent_short_comb, uuid_arg(id),
									  interval_arg(&no_time), period_arg, bytes_arg,
									  null_arg(), null_arg(), clock_arg)));
		check_instant(CALL(idgen_short_comb_timestamp, uuid_arg(id), period_arg, bytes_arg,
						   clock_arg), true, wide_instant(number * period_ms));
		tags[i] = ((Wide) uuid_high(id) << UUID_LOW_BITS | uuid_low(id)) >> (90 - 8 * prefix_bytes);
	}

	/* one of them may begin a new run */
	CHECK(!has_runs || run_length < 3 || tags[0] == tags[1] || tags[1] == tags[2]);

	/* the same at the position of SQL Server's order */
	id = DatumGetUUIDP(CALL_VALUE(idgen_short_suffix_comb, period_arg, clock_arg));
	CHECK(is_version(id, 4) && wide_bytes(id, 10, 2) == wide_modulo(number, 65536));
}

static const struct Scheme
{
	PGFunction	is;
	PGFunction	check;
	int			version;
}			schemes[] =
{
	{idgen_is_recent_short_comb, idgen_check_recent_short_comb, 4},
	{idgen_is_recent_comb, idgen_check_recent_comb, 4},
	{idgen_is_recent_uuid_v7, idgen_check_recent_uuid_v7, 7}
};

/* Often an identifier gets the right version, and sometimes a time near the clock. */
static void
adapt(pg_uuid_t *id, uint8 way, int version, TimestampTz clock)
{
	uint64		ms = (uint64) wide_unix_ms(clock) + (int8) id->data[5];

	if (way & 0x10)
	{
		id->data[6] = (id->data[6] & 0x0F) | version << 4;
		id->data[8] = (id->data[8] & 0x3F) | 0x80;
	}
	for (int i = 0; way & 0x08 && i < 6; i++)
		id->data[i] = ms >> (40 - 8 * i);
}

/*
 * is_recent_short_comb(), is_recent_comb() and is_recent_uuid_v7() with any
 * identifier, clock and tolerances: their results are those of arithmetic in 128
 * bits, and check_recent_...() agree with them.
 */
void
fuzz_window(Input *input)
{
	uint8		way = take(input, 1);
	const struct Scheme *scheme = &schemes[way % lengthof(schemes)];
	bool		has_prefix = scheme == &schemes[0];
	pg_uuid_t	id = take_uuid(input);
	TimestampTz clock = take_instant(input);
	int32		prefix_bytes = take(input, 1) % 8;
	Interval	period = take_interval(input);
	Wide		unit_ms = 1;
	Wide		cycle = (Wide) 1 << (has_prefix ? 8 * prefix_bytes : 64);
	Wide		reach_us[3] = {0};	/* tolerance, past_tolerance, future_tolerance */
	Wide		first;
	Wide		last;
	NullableDatum args[7];
	int			nargs = 0;
	bool		valid = !has_prefix || wide_period(&period, prefix_bytes, &unit_ms);
	bool		accepted = false;
	int			error = 0;
	Outcome		verdict;

	adapt(&id, way, scheme->version, clock);
	args[nargs++] = uuid_arg(&id);
	for (int i = 0; i < (int) lengthof(reach_us); i++)
	{
		Interval	length = take_interval(input);
		bool		given = way & 0x80 >> i;

		args[nargs++] = given ? interval_arg(&length) : null_arg();
		reach_us[i] = reach_us[0];
		if (given)
			valid = wide_interval(&length, &reach_us[i]) && reach_us[i] >= 0 && valid;
		if (i == 0 && has_prefix)
		{
			args[nargs++] = interval_arg(&period);
			args[nargs++] = int32_arg(prefix_bytes);
		}
	}
	args[nargs++] = instant_arg(clock);

	if ((way & 0x80) == 0)
		error = ERRCODE_NULL_VALUE_NOT_ALLOWED;
	else if (!valid || wide_floor(reach_us[1] + reach_us[2] + 999, 1000) > (cycle - 2) * unit_ms)
		error = ERRCODE_INVALID_PARAMETER_VALUE;
	else if (clock - reach_us[1] < PG_INT64_MIN || clock + reach_us[2] > PG_INT64_MAX)
		error = ERRCODE_DATETIME_VALUE_OUT_OF_RANGE;
	else
	{
		Wide		own = wide_bytes(&id, 0, has_prefix ? prefix_bytes : 6);

		first = wide_floor(wide_unix_ms(clock - reach_us[1]), unit_ms);
		last = wide_floor(wide_unix_ms(clock + reach_us[2]), unit_ms);
		accepted = is_version(&id, scheme->version) &&
			first + wide_modulo(own - first, cycle) <= last;
	}
	verdict = call_function(scheme->is, nargs, args);
	CHECK(verdict.sqlstate == error);
	CHECK(error != 0 || DatumGetBool(value_of(verdict)) == accepted);
	CHECK(call_function(scheme->check, nargs, args).sqlstate ==
		  (error != 0 || accepted ? error : ERRCODE_CHECK_VIOLATION));
}
