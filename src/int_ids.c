/*
 * int_ids.c
 *	  Snowflake and similar 64-bit identifiers: time, node, counter.
 *
 * From the high to the low bits, an identifier consists of time, node and
 * counter.  The layout defines how many bits each has.  Time and counter are
 * taken from a value of a ticker.
 *
 * A ticker counts in Unix time.  In identifiers of snowflake() and js_id(),
 * time is counted from an epoch, which is rounded down to a tick.  The epoch
 * is an argument of all functions that generate or read such identifiers or
 * return bounds for them.  Therefore, no setting changes the meaning of an
 * identifier, and the epoch of one session does not affect the ticker that all
 * sessions share.
 *
 * The functions that read an identifier return NULL for a number that is not a
 * valid identifier.
 */
#include "postgres.h"

#include "arguments.h"
#include "settings.h"
#include "ticker.h"

/* the default for the argument "epoch", 2020-01-01 00:00:00+00 */
#define DEFAULT_EPOCH		INT64CONST(631152000000000)
#define DEFAULT_EPOCH_MS	(DEFAULT_EPOCH / US_PER_MS + UNIX_EPOCH_DAYS * MS_PER_DAY)

/*
 * The time field of trace_id() repeats after 388 days.  It is read as the
 * latest time that is at most this far ahead of the clock.  ticker.c allows
 * identifiers to be that far ahead.
 */
#define TRACE_ID_AHEAD		SECS_PER_DAY

typedef struct IntIdLayout
{
	TickerLayout ticker;		/* includes the counter */
	int			tick_bits;
	int			node_bits;
	int64		default_epoch;	/* in ticks of Unix time; trace_id() has none */
} IntIdLayout;

static const IntIdLayout snowflake_layout = {
	.ticker = {.name = "snowflake",.number = TICKER_SNOWFLAKE,.counter_bits = 12,.ms_per_tick = 1},
	.tick_bits = 41,.node_bits = 10,.default_epoch = DEFAULT_EPOCH_MS
};

static const IntIdLayout trace_id_layout = {
	.ticker = {.name = "trace_id",.number = TICKER_TRACE_ID,.counter_bits = 22,.min_counter = 1,.ms_per_tick = 1000},
	.tick_bits = 25,.node_bits = 16
};

static const IntIdLayout js_id_layout = {
	.ticker = {.name = "js_id",.number = TICKER_JS_ID,.counter_bits = 16,.ms_per_tick = 1000},
	.tick_bits = 32,.node_bits = 5,.default_epoch = DEFAULT_EPOCH_MS / MS_PER_SECOND
};

/* Return the greatest number that has the given number of bits. */
static inline int64
max_of_bits(int bits)
{
	return (INT64CONST(1) << bits) - 1;
}

static inline int64
int_id_pack(const IntIdLayout *layout, int64 tick, int64 node, int64 counter)
{
	Assert(node >> layout->node_bits == 0 && counter >> layout->ticker.counter_bits == 0);
	return ((tick & max_of_bits(layout->tick_bits)) << layout->node_bits | node)
		<< layout->ticker.counter_bits | counter;
}

static inline int64
int_id_tick(const IntIdLayout *layout, int64 id)
{
	return id >> (layout->node_bits + layout->ticker.counter_bits);
}

static inline int32
int_id_node(const IntIdLayout *layout, int64 id)
{
	return (id >> layout->ticker.counter_bits) & max_of_bits(layout->node_bits);
}

static inline int32
int_id_counter(const IntIdLayout *layout, int64 id)
{
	return id & max_of_bits(layout->ticker.counter_bits);
}

static bool
int_id_is_valid(const IntIdLayout *layout, int64 id)
{
	return id >= 1 &&
		int_id_tick(layout, id) <= max_of_bits(layout->tick_bits) &&
		int_id_counter(layout, id) >= layout->ticker.min_counter;
}

/* Return this server's node number (idgen.node_id), after checking it. */
static int
require_node(const IntIdLayout *layout)
{
	int64		max = max_of_bits(layout->node_bits);

	if (unlikely(node_id_setting == SETTING_UNSET))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("idgen.node_id is not set"),
				 errdetail("An identifier of %s() contains the number of the server that generated it.",
						   layout->ticker.name),
				 errhint("Set idgen.node_id to a number that no other server has, from 0 to " INT64_FORMAT ". "
						 HINT_WHERE_TO_SET,
						 max)));
	if (unlikely(node_id_setting > max))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("idgen.node_id is out of range for %s()", layout->ticker.name),
				 errdetail("The value is %d, and the identifier has %d bits for it: 0 to " INT64_FORMAT ".",
						   node_id_setting, layout->node_bits, max)));
	return node_id_setting;
}

/* Convert a timestamp to Unix time in the layout's ticks, rounded down. */
static inline int64
unix_ticks(const IntIdLayout *layout, TimestampTz timestamp)
{
	return floor_div(clock_unix_ms(timestamp), layout->ticker.ms_per_tick);
}

/*
 * Return the tick of the epoch in argument argno.  Raises 22004 if it is NULL,
 * and 22008 if it is infinite.
 */
static inline int64
epoch_argument(FunctionCallInfo fcinfo, int argno, const IntIdLayout *layout)
{
	require_not_null(fcinfo, argno, "epoch");

	/* the default epoch needs no division */
	if (PG_GETARG_TIMESTAMPTZ(argno) == DEFAULT_EPOCH)
		return layout->default_epoch;

	return unix_ticks(layout, clock_require_finite(PG_GETARG_TIMESTAMPTZ(argno)));
}

/* Return the time field for a Unix tick.  Raises 22008 if it is out of range. */
static inline int64
tick_since(const IntIdLayout *layout, int64 unix_tick, int64 epoch)
{
	int64		tick = unix_tick - epoch;

	if (unlikely(tick < 0 || tick > max_of_bits(layout->tick_bits)))
	{
		TimestampTz begin;
		TimestampTz timestamp;

		(void) clock_from_unix_ms(epoch * layout->ticker.ms_per_tick, &begin);
		(void) clock_from_unix_ms(unix_tick * layout->ticker.ms_per_tick, &timestamp);
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("timestamp is out of range for %s()", layout->ticker.name),
				 errdetail("The timestamp is %s, and the identifier has %d bits for the time in units of %d ms since the epoch, %s.",
						   pstrdup(timestamptz_to_str(timestamp)),
						   layout->tick_bits, layout->ticker.ms_per_tick,
						   pstrdup(timestamptz_to_str(begin)))));
	}
	return tick;
}

/* Generate an identifier whose time is counted from the epoch in argument 0. */
static inline Datum
next_int_id(FunctionCallInfo fcinfo, const IntIdLayout *layout)
{
	int64		epoch = epoch_argument(fcinfo, 0, layout);
	int			node = require_node(layout);
	int64		id;

	/* 0 is not a valid identifier, so node 0 begins the epoch with 1 */
	do
	{
		uint64		value = ticker_next(&layout->ticker);

		id = int_id_pack(layout, tick_since(layout, ticker_tick(&layout->ticker, value), epoch),
						 node, ticker_counter(&layout->ticker, value));
	} while (unlikely(id == 0));
	PG_RETURN_INT64(id);
}

/* Return the start of the identifier's tick, given the epoch in argument 1. */
static Datum
int_id_timestamp(FunctionCallInfo fcinfo, const IntIdLayout *layout)
{
	int64		id;
	int64		epoch;
	TimestampTz timestamp;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();

	id = PG_GETARG_INT64(0);
	epoch = epoch_argument(fcinfo, 1, layout);
	if (!int_id_is_valid(layout, id) ||
		!clock_from_unix_ms((epoch + int_id_tick(layout, id)) * layout->ticker.ms_per_tick,
							&timestamp))
		PG_RETURN_NULL();
	PG_RETURN_TIMESTAMPTZ(timestamp);
}

/* Return the identifier's node or counter. */
static inline Datum
int_id_part(FunctionCallInfo fcinfo, const IntIdLayout *layout,
			int32 (*part) (const IntIdLayout *, int64))
{
	int64		id = PG_GETARG_INT64(0);

	if (!int_id_is_valid(layout, id))
		PG_RETURN_NULL();
	PG_RETURN_INT32(part(layout, id));
}

/*
 * Return the lower bound for identifiers with the timestamp in argument 0,
 * given the epoch in argument 1.  The bound is 0 before the epoch, and the
 * greatest identifier after the last tick.
 */
static Datum
int_id_floor(FunctionCallInfo fcinfo, const IntIdLayout *layout)
{
	int			id_bits = layout->tick_bits + layout->node_bits + layout->ticker.counter_bits;
	int64		epoch;
	int64		tick;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();

	epoch = epoch_argument(fcinfo, 1, layout);
	tick = unix_ticks(layout, PG_GETARG_TIMESTAMPTZ(0)) - epoch;
	if (tick > max_of_bits(layout->tick_bits))
		PG_RETURN_INT64((int64) ((UINT64CONST(1) << id_bits) - 1));
	PG_RETURN_INT64(int_id_pack(layout, Max(tick, 0), 0, 0));
}

/* snowflake(epoch timestamptz DEFAULT ...) returns bigint (Twitter, 2010) */
PG_FUNCTION_INFO_V1(idgen_snowflake);
Datum
idgen_snowflake(PG_FUNCTION_ARGS)
{
	return next_int_id(fcinfo, &snowflake_layout);
}

/* snowflake_timestamp(id bigint, epoch timestamptz DEFAULT ...) returns timestamptz */
PG_FUNCTION_INFO_V1(idgen_snowflake_timestamp);
Datum
idgen_snowflake_timestamp(PG_FUNCTION_ARGS)
{
	return int_id_timestamp(fcinfo, &snowflake_layout);
}

/* snowflake_node(id bigint), snowflake_counter(id bigint) return int */
PG_FUNCTION_INFO_V1(idgen_snowflake_node);
Datum
idgen_snowflake_node(PG_FUNCTION_ARGS)
{
	return int_id_part(fcinfo, &snowflake_layout, int_id_node);
}

PG_FUNCTION_INFO_V1(idgen_snowflake_counter);
Datum
idgen_snowflake_counter(PG_FUNCTION_ARGS)
{
	return int_id_part(fcinfo, &snowflake_layout, int_id_counter);
}

/*
 * snowflake_floor(instant timestamptz, epoch timestamptz DEFAULT ...) returns bigint
 *	Returns the smallest value of the millisecond, across all nodes.  For the
 *	first millisecond after the epoch, the result is 0, although the smallest
 *	valid identifier is 1.
 */
PG_FUNCTION_INFO_V1(idgen_snowflake_floor);
Datum
idgen_snowflake_floor(PG_FUNCTION_ARGS)
{
	return int_id_floor(fcinfo, &snowflake_layout);
}

/* js_id(epoch timestamptz DEFAULT ...) returns bigint: a JavaScript number represents it exactly */
PG_FUNCTION_INFO_V1(idgen_js_id);
Datum
idgen_js_id(PG_FUNCTION_ARGS)
{
	return next_int_id(fcinfo, &js_id_layout);
}

/* The following functions correspond to those for snowflake(). */
PG_FUNCTION_INFO_V1(idgen_js_id_timestamp);
Datum
idgen_js_id_timestamp(PG_FUNCTION_ARGS)
{
	return int_id_timestamp(fcinfo, &js_id_layout);
}

PG_FUNCTION_INFO_V1(idgen_js_id_node);
Datum
idgen_js_id_node(PG_FUNCTION_ARGS)
{
	return int_id_part(fcinfo, &js_id_layout, int_id_node);
}

PG_FUNCTION_INFO_V1(idgen_js_id_counter);
Datum
idgen_js_id_counter(PG_FUNCTION_ARGS)
{
	return int_id_part(fcinfo, &js_id_layout, int_id_counter);
}

PG_FUNCTION_INFO_V1(idgen_js_id_floor);
Datum
idgen_js_id_floor(PG_FUNCTION_ARGS)
{
	return int_id_floor(fcinfo, &js_id_layout);
}

/* trace_id() returns bigint: the time field contains the low bits of the Unix time */
PG_FUNCTION_INFO_V1(idgen_trace_id);
Datum
idgen_trace_id(PG_FUNCTION_ARGS pg_attribute_unused())
{
	const IntIdLayout *layout = &trace_id_layout;
	int			node = require_node(layout);
	uint64		value = ticker_next(&layout->ticker);

	/* int_id_pack() removes the high bits of the tick */
	PG_RETURN_INT64(int_id_pack(layout, ticker_tick(&layout->ticker, value), node,
								ticker_counter(&layout->ticker, value)));
}

/*
 * trace_id_timestamp(id bigint, clock timestamptz DEFAULT NULL) returns timestamptz
 *	Returns the latest second that has the identifier's 25 bits and is at most
 *	a day after the clock.  A clock of NULL means the start of the statement.
 */
PG_FUNCTION_INFO_V1(idgen_trace_id_timestamp);
Datum
idgen_trace_id_timestamp(PG_FUNCTION_ARGS)
{
	const IntIdLayout *layout = &trace_id_layout;
	int64		id;
	int64		second;
	TimestampTz timestamp;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();

	id = PG_GETARG_INT64(0);
	second = clock_unix_seconds(clock_argument_stable(fcinfo, 1)) + TRACE_ID_AHEAD;
	second -= (second - int_id_tick(layout, id)) & max_of_bits(layout->tick_bits);

	if (!int_id_is_valid(layout, id) ||
		!clock_from_unix_ms(second * MS_PER_SECOND, &timestamp))
		PG_RETURN_NULL();
	PG_RETURN_TIMESTAMPTZ(timestamp);
}

/* trace_id_node(id bigint), trace_id_counter(id bigint) return int */
PG_FUNCTION_INFO_V1(idgen_trace_id_node);
Datum
idgen_trace_id_node(PG_FUNCTION_ARGS)
{
	return int_id_part(fcinfo, &trace_id_layout, int_id_node);
}

PG_FUNCTION_INFO_V1(idgen_trace_id_counter);
Datum
idgen_trace_id_counter(PG_FUNCTION_ARGS)
{
	return int_id_part(fcinfo, &trace_id_layout, int_id_counter);
}
