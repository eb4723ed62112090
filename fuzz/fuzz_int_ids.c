/*
 * fuzz_int_ids.c
 *	  Any bigint read as a Snowflake, js_id, TraceId and DecimalId: NULL for all
 *	  of its parts or for none; parts that make the number again; and a time
 *	  whose bounds hold it.
 */
#include "wide.h"

static bool
is_part(Outcome part, bool valid, Wide expected)
{
	CHECK(part.sqlstate == 0);
	return valid ? !part.isnull && DatumGetInt32(part.value) == expected : part.isnull;
}

static void
check_timed(int64 id, bool valid, int node_bits, int counter_bits, int ms_per_tick, TimestampTz epoch,
			PGFunction node, PGFunction counter, PGFunction read, PGFunction floor, PGFunction ceil)
{
	Wide		tick = wide_floor(id, (Wide) 1 << (node_bits + counter_bits));
	Wide		instant = wide_instant((wide_floor(wide_unix_ms(epoch), ms_per_tick) + tick) * ms_per_tick);
	Outcome		reading = CALL(read, int64_arg(id), instant_arg(epoch));

	CHECK(is_part(CALL(counter, int64_arg(id)), valid, wide_modulo(id, (Wide) 1 << counter_bits)));
	CHECK(is_part(CALL(node, int64_arg(id)), valid,
				  wide_modulo(wide_floor(id, (Wide) 1 << counter_bits), (Wide) 1 << node_bits)));
	CHECK(reading.sqlstate == 0);
	if (!valid || !wide_is_instant(instant))
	{
		CHECK(reading.isnull);
		return;
	}
	CHECK(DatumGetTimestampTz(value_of(reading)) == instant);
	CHECK(DatumGetInt64(CALL_VALUE(floor, instant_arg(instant), instant_arg(epoch))) <= id);
	CHECK(DatumGetInt64(CALL_VALUE(ceil, instant_arg(instant), instant_arg(epoch))) >= id);
}

void
fuzz_target(Input *input)
{
	int64		id = take(input, 8);
	TimestampTz epoch = take_instant(input);
	TimestampTz clock = take_instant(input);
	Wide		places = (Wide) id / 100000;
	Wide		second = wide_floor(wide_unix_ms(clock), 1000) + 86400;
	bool		valid;
	Outcome		outcome;

	check_timed(id, id >= 1, 10, 12, 1, epoch, idgen_snowflake_node, idgen_snowflake_counter,
				idgen_snowflake_timestamp, idgen_snowflake_floor, idgen_snowflake_ceil);
	check_timed(id, id >= 1 && id < INT64CONST(1) << 53, 5, 16, 1000, epoch, idgen_js_id_node, idgen_js_id_counter,
				idgen_js_id_timestamp, idgen_js_id_floor, idgen_js_id_ceil);

	/* TraceId: the latest such second that is at most a day after the clock */
	valid = id >= 1 && (id & 0x3FFFFF) != 0;
	CHECK(is_part(CALL(idgen_trace_id_counter, int64_arg(id)), valid, id & 0x3FFFFF));
	CHECK(is_part(CALL(idgen_trace_id_node, int64_arg(id)), valid, id >> 22 & 0xFFFF));
	outcome = CALL(idgen_trace_id_timestamp, int64_arg(id), instant_arg(clock));
	second -= wide_modulo(second - (id >> 38), 1 << 25);
	CHECK(outcome.sqlstate == 0);
	CHECK(outcome.isnull == !(valid && wide_is_instant(wide_instant(second * 1000))));
	CHECK(outcome.isnull || DatumGetTimestampTz(outcome.value) == wide_instant(second * 1000));

	/* DecimalId */
	valid = id > 0 && places / 100000 >= 1 && places / 100000 <= 922337202;
	outcome = CALL(idgen_decimal_id_parts, int64_arg(id));
	CHECK(outcome.sqlstate == 0 && outcome.isnull == !valid);
	if (valid)
	{
		CHECK(!row_nulls[0] && !row_nulls[1] && !row_nulls[2]);
		CHECK(DatumGetInt32(row_values[1]) <= 99999 && DatumGetInt32(row_values[2]) <= 99999);
		CHECK(((Wide) DatumGetInt32(row_values[0]) * 100000 + DatumGetInt32(row_values[1])) * 100000 +
			  DatumGetInt32(row_values[2]) == id);
	}
}
