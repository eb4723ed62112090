/*
 * fuzz_layouts.c
 *	  The bit layouts of the bigint identifiers with a node: any tick, node and
 *	  counter are packed and read again, and so is any identifier; the order of
 *	  identifiers is that of their ticks.
 */
#include "fuzz.h"

#include "int_ids.c"

static const struct
{
	const IntIdLayout *layout;
	const Ticker *ticker;
}			schemes[] =
{
#define SCHEME(name) {&name##_layout, &name##_ticker},
#include "schemes.h"
};

void
fuzz_target(Input *input)
{
	int			which = take(input, 1) % lengthof(schemes);
	const IntIdLayout *layout = schemes[which].layout;
	const TickerLayout *values = schemes[which].ticker->layout;
	/* -1 has all bits of each part */
	int64		tick = take(input, 8) & int_id_tick(layout, int_id_pack(layout, -1, 0, 0));
	int64		node = take(input, 8) & int_id_node(layout, -1);
	int64		counter = take(input, 8) & int_id_counter(layout, -1);
	int64		id = int_id_pack(layout, tick, node, counter);
	uint64		value = tick << values->counter_bits | counter;
	int64		any = take(input, 8);

	CHECK(int_id_tick(layout, id) == tick);
	CHECK(int_id_node(layout, id) == node);
	CHECK(int_id_counter(layout, id) == counter);
	CHECK(int_id_is_valid(layout, id) == (id > 0 && counter >= values->min_counter));
	CHECK(ticker_tick(values, value) == (uint64) tick);
	CHECK(ticker_counter(values, value) == (uint64) counter);

	if (!int_id_is_valid(layout, any))
		return;
	CHECK(int_id_pack(layout, int_id_tick(layout, any), int_id_node(layout, any), int_id_counter(layout, any)) == any);
	CHECK(int_id_tick(layout, any) <= tick || any > id);
}
