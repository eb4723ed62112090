/*-------------------------------------------------------------------------
 *
 * int_ids.c
 *	  Identifiers that fit into a bigint: Snowflake and similar layouts.
 *
 * From high to low: time, node, counter, with the number of bits that the
 * layout gives each; or decimal places: counter, generator, launch.
 * Time and counter, or counter and generator, are the values of a ticker.
 *
 * A ticker counts in Unix time.  The time in snowflake() and js_id() counts
 * from an epoch, an argument of generators, readers and bounds, rounded down
 * to the layout's tick.  So no setting changes what an identifier means, and
 * no epoch of one session moves the ticker of all.
 *
 * Reading a number that is not such an identifier gives NULL.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/timestamp.h"

#include "clock.h"
#include "int_ids.h"

#define DECIMAL_LAUNCHES	(DECIMAL_LAUNCH_MAX + 1)

/*
 * trace_id's time has room for 388 days.  Which ones is told by a clock that
 * identifiers may be ahead of: by a day, the default of idgen.max_ahead.
 */
#define TRACE_ID_AHEAD		SECS_PER_DAY

static const TickerLayout snowflake_layout = {
	.name = "snowflake",
	.tick_bits = 41, .node_bits = 10, .counter_bits = 12,
	.ms_per_tick = 1,
	.max_value = (UINT64CONST(1) << (48 + 12)) - 1
};

static const TickerLayout trace_id_layout = {
	.name = "trace_id",
	.tick_bits = 25, .node_bits = 16, .counter_bits = 22,
	.min_counter = 1,
	.ms_per_tick = 1000,
	.max_value = PG_INT64_MAX - 1	/* the mark is one above */
};

static const TickerLayout js_id_layout = {
	.name = "js_id",
	.tick_bits = 32, .node_bits = 5, .counter_bits = 16,
	.ms_per_tick = 1000,
	.max_value = PG_INT64_MAX - 1
};

/* Values are the counters, 1 to DECIMAL_COUNTERS, under each generator in turn. */
static const TickerLayout decimal_id_layout = {
	.name = "decimal_id",
	.max_value = (uint64) DECIMAL_COUNTERS * DECIMAL_GENERATORS
};

/* In the HINT of a setting that is missing. */
#define WHO_MAY_SET \
	"Only superusers and roles with the privilege SET (for ALTER SYSTEM, the privilege ALTER SYSTEM) on the parameter can set it."

Ticker		snowflake_ticker = {.layout = &snowflake_layout};
Ticker		trace_id_ticker = {.layout = &trace_id_layout};
Ticker		js_id_ticker = {.layout = &js_id_layout};
Ticker		decimal_id_ticker = {.layout = &decimal_id_layout};

int			node_id_setting = NODE_UNSET;
int			launch_id_setting = LAUNCH_UNSET;

/* The greatest number of this many bits. */
static inline int64
max_of_bits(int bits)
{
	return (INT64CONST(1) << bits) - 1;
}

/* ------------------------------------------------------------------------
 * Time, node and counter
 * ------------------------------------------------------------------------
 */

static inline int64
int_id_pack(const TickerLayout *layout, int64 tick, int64 node, int64 counter)
{
	return ((tick & max_of_bits(layout->tick_bits)) << layout->node_bits | node)
		<< layout->counter_bits | counter;
}

static inline int64
int_id_tick(const TickerLayout *layout, int64 id)
{
	return id >> (layout->node_bits + layout->counter_bits);
}

static inline int32
int_id_node(const TickerLayout *layout, int64 id)
{
	return (id >> layout->counter_bits) & max_of_bits(layout->node_bits);
}

static inline int32
int_id_counter(const TickerLayout *layout, int64 id)
{
	return id & max_of_bits(layout->counter_bits);
}

static bool
int_id_is_valid(const TickerLayout *layout, int64 id)
{
	return id >= 1 &&
		int_id_tick(layout, id) <= max_of_bits(layout->tick_bits) &&
		int_id_counter(layout, id) >= layout->min_counter;
}

/* This server's number, idgen.node_id. */
static int
require_node(const TickerLayout *layout)
{
	int64		max = max_of_bits(layout->node_bits);

	if (unlikely(node_id_setting == NODE_UNSET))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("idgen.node_id is not set"),
				 errdetail("An identifier of %s() contains the number of the server that made it.",
						   layout->name),
				 errhint("Set idgen.node_id to a number that no other server has, from 0 to " INT64_FORMAT ", in postgresql.conf or with ALTER SYSTEM or ALTER DATABASE. " WHO_MAY_SET,
						 max)));
	if (unlikely(node_id_setting > max))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("idgen.node_id is out of range for %s()", layout->name),
				 errdetail("The value is %d, and the identifier has %d bits for it: 0 to " INT64_FORMAT ".",
						   node_id_setting, layout->node_bits, max)));
	return node_id_setting;
}

/* A timestamp in Unix time, in ticks of the layout, rounded down. */
static inline int64
unix_ticks(const TickerLayout *layout, TimestampTz timestamp)
{
	return layout->ms_per_tick == 1 ? clock_unix_ms(timestamp) :
		clock_unix_seconds(timestamp);
}

/*
 * The tick that an identifier counts from: that of argument argno, or of the
 * default epoch if it is NULL.  An infinite epoch is an error (22008).
 */
static inline int64
epoch_argument(FunctionCallInfo fcinfo, int argno, const TickerLayout *layout)
{
	/* without a division in the usual case */
	if (PG_ARGISNULL(argno) || PG_GETARG_TIMESTAMPTZ(argno) == DEFAULT_EPOCH)
		return layout->ms_per_tick == 1 ? DEFAULT_EPOCH_MS :
			DEFAULT_EPOCH_MS / MS_PER_SECOND;

	return unix_ticks(layout, clock_require_finite(PG_GETARG_TIMESTAMPTZ(argno)));
}

/*
 * The time field of a Unix tick; one before the epoch, or with more bits than
 * the identifier has for it, is an error (22008).
 */
static inline int64
tick_since(const TickerLayout *layout, int64 unix_tick, int64 epoch)
{
	int64		tick = unix_tick - epoch;

	if (unlikely(tick < 0 || tick > max_of_bits(layout->tick_bits)))
	{
		TimestampTz begin;
		TimestampTz timestamp;

		(void) clock_from_unix_ms(epoch * layout->ms_per_tick, &begin);
		(void) clock_from_unix_ms(unix_tick * layout->ms_per_tick, &timestamp);
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("timestamp is out of range for %s()", layout->name),
				 errdetail("The timestamp is %s, and the identifier has %d bits for the %s since the epoch, %s.",
						   pstrdup(timestamptz_to_str(timestamp)),
						   layout->tick_bits,
						   layout->ms_per_tick == 1 ? "milliseconds" : "seconds",
						   pstrdup(timestamptz_to_str(begin)))));
	}
	return tick;
}

/* A new identifier of the ticker's layout, whose time counts from this tick. */
static inline Datum
next_int_id(Ticker *ticker, const TickerLayout *layout, int64 epoch)
{
	int			node = require_node(layout);
	uint64		value = ticker_next(ticker);

	PG_RETURN_INT64(int_id_pack(layout,
								tick_since(layout, ticker_tick(layout, value), epoch),
								node, ticker_counter(layout, value)));
}

/* The start of the identifier's tick, counted from argument 1. */
static Datum
int_id_timestamp(FunctionCallInfo fcinfo, const TickerLayout *layout)
{
	int64		id;
	TimestampTz timestamp;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();

	id = PG_GETARG_INT64(0);
	if (!int_id_is_valid(layout, id) ||
		!clock_from_unix_ms((epoch_argument(fcinfo, 1, layout) + int_id_tick(layout, id)) *
							layout->ms_per_tick, &timestamp))
		PG_RETURN_NULL();
	PG_RETURN_TIMESTAMPTZ(timestamp);
}

static Datum
int_id_node_reading(FunctionCallInfo fcinfo, const TickerLayout *layout)
{
	int64		id = PG_GETARG_INT64(0);

	if (!int_id_is_valid(layout, id))
		PG_RETURN_NULL();
	PG_RETURN_INT32(int_id_node(layout, id));
}

static Datum
int_id_counter_reading(FunctionCallInfo fcinfo, const TickerLayout *layout)
{
	int64		id = PG_GETARG_INT64(0);

	if (!int_id_is_valid(layout, id))
		PG_RETURN_NULL();
	PG_RETURN_INT32(int_id_counter(layout, id));
}

/* The time field of a range bound's timestamp, argument 0, counted from argument 1. */
static int64
bound_tick(FunctionCallInfo fcinfo, const TickerLayout *layout)
{
	return tick_since(layout, unix_ticks(layout, clock_argument(fcinfo, 0)),
					  epoch_argument(fcinfo, 1, layout));
}

static Datum
int_id_floor(FunctionCallInfo fcinfo, const TickerLayout *layout)
{
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	PG_RETURN_INT64(int_id_pack(layout, bound_tick(fcinfo, layout), 0, 0));
}

static Datum
int_id_ceil(FunctionCallInfo fcinfo, const TickerLayout *layout)
{
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	PG_RETURN_INT64(int_id_pack(layout, bound_tick(fcinfo, layout),
								max_of_bits(layout->node_bits),
								max_of_bits(layout->counter_bits)));
}

/*
 * snowflake(epoch timestamptz DEFAULT '2020-01-01 00:00:00+00') returns bigint
 *
 * 41 bits of milliseconds since the epoch, 10 of node, 12 of counter: Twitter's
 * Snowflake of 2010.
 */
PG_FUNCTION_INFO_V1(idgen_snowflake);
Datum
idgen_snowflake(PG_FUNCTION_ARGS)
{
	return next_int_id(&snowflake_ticker, &snowflake_layout,
					   epoch_argument(fcinfo, 0, &snowflake_layout));
}

/* snowflake_timestamp(id bigint, epoch timestamptz DEFAULT ...) returns timestamptz */
PG_FUNCTION_INFO_V1(idgen_snowflake_timestamp);
Datum
idgen_snowflake_timestamp(PG_FUNCTION_ARGS)
{
	return int_id_timestamp(fcinfo, &snowflake_layout);
}

/* snowflake_node(id bigint) returns int */
PG_FUNCTION_INFO_V1(idgen_snowflake_node);
Datum
idgen_snowflake_node(PG_FUNCTION_ARGS)
{
	return int_id_node_reading(fcinfo, &snowflake_layout);
}

/* snowflake_counter(id bigint) returns int */
PG_FUNCTION_INFO_V1(idgen_snowflake_counter);
Datum
idgen_snowflake_counter(PG_FUNCTION_ARGS)
{
	return int_id_counter_reading(fcinfo, &snowflake_layout);
}

/*
 * snowflake_floor(instant timestamptz, epoch timestamptz DEFAULT ...) returns bigint
 *
 * The smallest value of the instant's millisecond, over all nodes: 0 in the
 * epoch's first millisecond, where the smallest identifier is 1.
 */
PG_FUNCTION_INFO_V1(idgen_snowflake_floor);
Datum
idgen_snowflake_floor(PG_FUNCTION_ARGS)
{
	return int_id_floor(fcinfo, &snowflake_layout);
}

/*
 * snowflake_ceil(instant timestamptz, epoch timestamptz DEFAULT ...) returns bigint
 *
 * The greatest one of the instant's millisecond, over all nodes.
 */
PG_FUNCTION_INFO_V1(idgen_snowflake_ceil);
Datum
idgen_snowflake_ceil(PG_FUNCTION_ARGS)
{
	return int_id_ceil(fcinfo, &snowflake_layout);
}

/*
 * js_id(epoch timestamptz DEFAULT '2020-01-01 00:00:00+00') returns bigint
 *
 * 32 bits of seconds since the epoch, 5 of node, 16 of counter: below 2^53, so
 * that a JavaScript number represents it exactly.
 */
PG_FUNCTION_INFO_V1(idgen_js_id);
Datum
idgen_js_id(PG_FUNCTION_ARGS)
{
	return next_int_id(&js_id_ticker, &js_id_layout,
					   epoch_argument(fcinfo, 0, &js_id_layout));
}

/* js_id_timestamp(id bigint, epoch timestamptz DEFAULT ...) returns timestamptz */
PG_FUNCTION_INFO_V1(idgen_js_id_timestamp);
Datum
idgen_js_id_timestamp(PG_FUNCTION_ARGS)
{
	return int_id_timestamp(fcinfo, &js_id_layout);
}

/* js_id_node(id bigint) returns int */
PG_FUNCTION_INFO_V1(idgen_js_id_node);
Datum
idgen_js_id_node(PG_FUNCTION_ARGS)
{
	return int_id_node_reading(fcinfo, &js_id_layout);
}

/* js_id_counter(id bigint) returns int */
PG_FUNCTION_INFO_V1(idgen_js_id_counter);
Datum
idgen_js_id_counter(PG_FUNCTION_ARGS)
{
	return int_id_counter_reading(fcinfo, &js_id_layout);
}

/* js_id_floor(instant timestamptz, epoch timestamptz DEFAULT ...) returns bigint */
PG_FUNCTION_INFO_V1(idgen_js_id_floor);
Datum
idgen_js_id_floor(PG_FUNCTION_ARGS)
{
	return int_id_floor(fcinfo, &js_id_layout);
}

/* js_id_ceil(instant timestamptz, epoch timestamptz DEFAULT ...) returns bigint */
PG_FUNCTION_INFO_V1(idgen_js_id_ceil);
Datum
idgen_js_id_ceil(PG_FUNCTION_ARGS)
{
	return int_id_ceil(fcinfo, &js_id_layout);
}

/*
 * trace_id() returns bigint
 *
 * The low 25 bits of Unix seconds, 16 of node, 22 of counter from 1.
 */
PG_FUNCTION_INFO_V1(idgen_trace_id);
Datum
idgen_trace_id(PG_FUNCTION_ARGS)
{
	const TickerLayout *layout = &trace_id_layout;
	int			node = require_node(layout);
	uint64		value = ticker_next(&trace_id_ticker);

	(void) fcinfo;
	/* the low bits of the time */
	PG_RETURN_INT64(int_id_pack(layout, ticker_tick(layout, value), node,
								ticker_counter(layout, value)));
}

/*
 * trace_id_timestamp(id bigint, clock timestamptz DEFAULT NULL) returns timestamptz
 *
 * The latest second with the identifier's 25 bits that is at most a day after
 * the clock, which is the start of the statement where it is NULL.
 */
PG_FUNCTION_INFO_V1(idgen_trace_id_timestamp);
Datum
idgen_trace_id_timestamp(PG_FUNCTION_ARGS)
{
	const TickerLayout *layout = &trace_id_layout;
	int64		id;
	int64		second;
	TimestampTz instant;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();

	id = PG_GETARG_INT64(0);
	second = clock_unix_seconds(clock_argument_stable(fcinfo, 1)) + TRACE_ID_AHEAD;
	second -= (second - int_id_tick(layout, id)) & max_of_bits(layout->tick_bits);

	if (!int_id_is_valid(layout, id) ||
		!clock_from_unix_ms(second * MS_PER_SECOND, &instant))
		PG_RETURN_NULL();
	PG_RETURN_TIMESTAMPTZ(instant);
}

/* trace_id_node(id bigint) returns int */
PG_FUNCTION_INFO_V1(idgen_trace_id_node);
Datum
idgen_trace_id_node(PG_FUNCTION_ARGS)
{
	return int_id_node_reading(fcinfo, &trace_id_layout);
}

/* trace_id_counter(id bigint) returns int */
PG_FUNCTION_INFO_V1(idgen_trace_id_counter);
Datum
idgen_trace_id_counter(PG_FUNCTION_ARGS)
{
	return int_id_counter_reading(fcinfo, &trace_id_layout);
}

/* ------------------------------------------------------------------------
 * Decimal places
 * ------------------------------------------------------------------------
 */

/*
 * decimal_id() returns bigint
 *
 * counter (1 to 922337202) * 10^10 + generator (0 to 99999) * 10^5 +
 * idgen.launch_id.  The counter goes on over restarts; when it has come to
 * its end it begins anew under the next generator.
 */
PG_FUNCTION_INFO_V1(idgen_decimal_id);
Datum
idgen_decimal_id(PG_FUNCTION_ARGS)
{
	uint64		number;
	int64		counter;
	int64		generator;

	(void) fcinfo;

	if (unlikely(launch_id_setting == LAUNCH_UNSET))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("idgen.launch_id is not set"),
				 errdetail("An identifier of decimal_id() contains the number of the launch that made it."),
				 errhint("Set idgen.launch_id to a number that no other server uses, from 1 to %d, or to 0 for tests, in postgresql.conf or with ALTER SYSTEM or ALTER DATABASE. " WHO_MAY_SET,
						 DECIMAL_LAUNCH_MAX)));

	number = ticker_next(&decimal_id_ticker) - 1;
	counter = number % DECIMAL_COUNTERS + 1;
	generator = number / DECIMAL_COUNTERS;
	PG_RETURN_INT64((counter * DECIMAL_GENERATORS + generator) * DECIMAL_LAUNCHES +
					launch_id_setting);
}

/*
 * decimal_id_parts(id bigint, OUT counter int, OUT generator int,
 *					OUT launch int)
 */
PG_FUNCTION_INFO_V1(idgen_decimal_id_parts);
Datum
idgen_decimal_id_parts(PG_FUNCTION_ARGS)
{
	int64		id = PG_GETARG_INT64(0);
	int64		counter = id / DECIMAL_LAUNCHES / DECIMAL_GENERATORS;
	TupleDesc	tupdesc;
	Datum		values[3];
	bool		nulls[3] = {false, false, false};

	if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	if (counter < 1 || counter > DECIMAL_COUNTERS)
		PG_RETURN_NULL();

	values[0] = Int32GetDatum(counter);
	values[1] = Int32GetDatum(id / DECIMAL_LAUNCHES % DECIMAL_GENERATORS);
	values[2] = Int32GetDatum(id % DECIMAL_LAUNCHES);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(tupdesc), values, nulls)));
}
