/*
 * fuzz_int_ids.c
 *	  Any bigint read by the functions of each scheme with a node: NULL for all
 *	  of its parts or for none; the number is not below the bound of its time.
 */
#include "server.h"

/* A scheme whose time is cyclic, trace_id, has no bounds; its reader has a clock. */
#define SCHEME(name) \
extern Datum idgen_##name##_floor(PG_FUNCTION_ARGS) __attribute__((weak));
#include "schemes.h"
#undef SCHEME

#include "int_ids.c"

static const struct
{
	const IntIdLayout *layout;
	const Ticker *ticker;
	PGFunction	node;
	PGFunction	counter;
	PGFunction	timestamp;
	PGFunction	floor;
}			schemes[] =
{
#define SCHEME(name) \
	{&name##_layout, &name##_ticker, idgen_##name##_node, idgen_##name##_counter, \
	 idgen_##name##_timestamp, idgen_##name##_floor},
#include "schemes.h"
};

static void
check_part(PGFunction function, int64 id, bool valid, int32 expected)
{
	Outcome		part = CALL(function, int64_arg(id));

	CHECK(part.sqlstate == 0 && part.isnull == !valid);
	CHECK(part.isnull || DatumGetInt32(part.value) == expected);
}

void
fuzz_target(Input *input)
{
	int64		id = take(input, 8);
	TimestampTz epoch = take_instant(input);
	TimestampTz clock = take_instant(input);

	for (int i = 0; i < (int) lengthof(schemes); i++)
	{
		const IntIdLayout *layout = schemes[i].layout;
		int			ms_per_tick = schemes[i].ticker->layout->ms_per_tick;
		bool		valid = int_id_is_valid(layout, id);
		bool		has_bounds = schemes[i].floor != NULL;
		NullableDatum reference = instant_arg(has_bounds ? epoch : clock);
		Outcome		reading = CALL(schemes[i].timestamp, int64_arg(id), reference);
		Wide		tick = int_id_tick(layout, id);
		Wide		instant;

		check_part(schemes[i].node, id, valid, int_id_node(layout, id));
		check_part(schemes[i].counter, id, valid, int_id_counter(layout, id));

		if (has_bounds)
			tick += wide_floor(wide_unix_ms(epoch), ms_per_tick);
		else
		{
			/* the latest such second that is at most a day after the clock */
			Wide		last = wide_floor(wide_unix_ms(clock), ms_per_tick) + 86400;

			tick = last - wide_modulo(last - tick, (Wide) int_id_tick(layout, int_id_pack(layout, -1, 0, 0)) + 1);
		}
		instant = wide_instant(tick * ms_per_tick);
		CHECK(reading.sqlstate == 0 && reading.isnull == !(valid && wide_is_instant(instant)));
		CHECK(reading.isnull || DatumGetTimestampTz(reading.value) == instant);

		if (has_bounds && !reading.isnull)
		{
			int64		low = DatumGetInt64(CALL_VALUE(schemes[i].floor, instant_arg(instant), reference));

			CHECK(low <= id && int_id_tick(layout, low) == int_id_tick(layout, id));
		}
	}
}
