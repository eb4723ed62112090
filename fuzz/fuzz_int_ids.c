/*
 * fuzz_int_ids.c
 *	  Any bigint, as an identifier of each scheme with a node and of decimal_id().
 */
#include "fuzz.h"

#include "decimal_id.c"
#include "int_ids.c"

/* The time of trace_id() is cyclic: it has no bounds, and its reader has a clock. */
static const struct Scheme
{
	const IntIdLayout *layout;
	PGFunction	node;
	PGFunction	counter;
	PGFunction	timestamp;
	PGFunction	floor;
}			schemes[] =
{
#define SCHEME(name, floor) \
	{&name##_layout, idgen_##name##_node, idgen_##name##_counter, idgen_##name##_timestamp, floor}
	SCHEME(snowflake, idgen_snowflake_floor),
	SCHEME(trace_id, NULL),
	SCHEME(js_id, idgen_js_id_floor)
};

/* The readers of a number's parts: NULL for all of them or for none. */
static void
check_parts(const struct Scheme *scheme, int64 id, bool valid)
{
	Outcome		node = CALL(scheme->node, int64_arg(id));
	Outcome		counter = CALL(scheme->counter, int64_arg(id));

	CHECK(node.sqlstate == 0 && node.isnull == !valid);
	CHECK(counter.sqlstate == 0 && counter.isnull == !valid);
	CHECK(!valid || DatumGetInt32(node.value) == int_id_node(scheme->layout, id));
	CHECK(!valid || DatumGetInt32(counter.value) == int_id_counter(scheme->layout, id));
}

/* Any tick, node and counter are packed and read again, as by the ticker. */
static int64
check_packed(const struct Scheme *scheme, int64 tick, int64 node, int64 counter)
{
	const IntIdLayout *layout = scheme->layout;
	int64		id = int_id_pack(layout, tick, node, counter);
	uint64		value = tick << layout->ticker.counter_bits | counter;

	CHECK(int_id_tick(layout, id) == tick);
	CHECK(int_id_node(layout, id) == node);
	CHECK(int_id_counter(layout, id) == counter);
	CHECK(ticker_tick(&layout->ticker, value) == (uint64) tick);
	CHECK(ticker_counter(&layout->ticker, value) == (uint64) counter);
	check_parts(scheme, id, id > 0 && counter >= layout->ticker.min_counter);
	return id;
}

/* The time of a number, which is not below the bound of its time. */
static void
check_time(const struct Scheme *scheme, int64 id, bool valid, TimestampTz reference)
{
	int			ms_per_tick = scheme->layout->ticker.ms_per_tick;
	Outcome		reading = CALL(scheme->timestamp, int64_arg(id), instant_arg(reference));
	Wide		tick = int_id_tick(scheme->layout, id);
	Wide		begin = wide_floor(wide_unix_ms(reference), ms_per_tick);
	Wide		cycle = (Wide) 1 << scheme->layout->tick_bits;
	int64		low;

	/* of a cyclic time, the latest second that is at most a day after the clock */
	tick = scheme->floor != NULL ? begin + tick :
		begin + 86400 - wide_modulo(begin + 86400 - tick, cycle);
	check_instant(reading, valid, wide_instant(tick * ms_per_tick));
	if (scheme->floor == NULL || reading.isnull)
		return;
	low = DatumGetInt64(CALL_VALUE(scheme->floor, value_arg(reading.value),
								   instant_arg(reference)));
	CHECK(low <= id && int_id_tick(scheme->layout, low) == int_id_tick(scheme->layout, id));
}

/* A number that is a decimal_id() is made of its parts again, and any other has none. */
static void
check_decimal(int64 id)
{
	int32		parts[3];

	if (!decimal_id_split(id, parts))
	{
		CHECK(id < INT64CONST(10000000000) || id >= INT64CONST(9223372030000000000));
		return;
	}
	CHECK(parts[0] >= 1 && parts[0] <= 922337202);
	CHECK(parts[1] >= 0 && parts[1] <= 99999);
	CHECK(parts[2] >= 0 && parts[2] <= 99999);
	CHECK(((Wide) parts[0] * 100000 + parts[1]) * 100000 + parts[2] == id);
}

void
fuzz_int_ids(Input *input)
{
	int64		id = take(input, 8);
	TimestampTz epoch = take_instant(input);
	TimestampTz clock = take_instant(input);
	int64		any_tick = take(input, 8);
	int64		any_node = take(input, 8);
	int64		any_counter = take(input, 8);

	check_decimal(id);
	for (int i = 0; i < (int) lengthof(schemes); i++)
	{
		const IntIdLayout *layout = schemes[i].layout;
		int64		max_tick = max_of_bits(layout->tick_bits);
		int64		packed = check_packed(&schemes[i], any_tick & max_tick,
										  any_node & max_of_bits(layout->node_bits),
										  any_counter & max_of_bits(layout->ticker.counter_bits));
		int64		tick = int_id_tick(layout, id);
		int64		counter = int_id_counter(layout, id);
		bool		valid = id > 0 && tick <= max_tick && counter >= layout->ticker.min_counter;

		check_parts(&schemes[i], id, valid);
		check_time(&schemes[i], id, valid, schemes[i].floor != NULL ? epoch : clock);
		if (!valid)
			continue;
		CHECK(int_id_pack(layout, tick, int_id_node(layout, id), counter) == id);
		/* the order of identifiers is that of their ticks */
		CHECK(tick <= (any_tick & max_tick) || id > packed);
	}
}
