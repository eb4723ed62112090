/*-------------------------------------------------------------------------
 *
 * int_ids.h
 *	  Layouts, default epoch, tickers and settings of the identifiers of 63 bits.
 *
 *-------------------------------------------------------------------------
 */
#ifndef IDGEN_INT_IDS_H
#define IDGEN_INT_IDS_H

#include "ticker.h"

/* The default of the argument "epoch", 2020-01-01 00:00:00+00, and in Unix ms */
#define DEFAULT_EPOCH		INT64CONST(631152000000000)
#define DEFAULT_EPOCH_MS	INT64CONST(1577836800000)

/* decimal_id: counter, then five places of generator, then five of launch */
#define DECIMAL_COUNTERS	922337202
#define DECIMAL_GENERATORS	100000

#define NODE_UNSET			(-1)
#define NODE_MAX			PG_UINT16_MAX	/* trace_id() has the most bits */
#define LAUNCH_UNSET		(-1)
#define DECIMAL_LAUNCH_MAX	99999
#define DECIMAL_LAUNCHES	(DECIMAL_LAUNCH_MAX + 1)

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

extern Ticker snowflake_ticker;
extern Ticker trace_id_ticker;
extern Ticker js_id_ticker;
extern Ticker decimal_id_ticker;

extern int	node_id_setting;
extern int	launch_id_setting;

/* The greatest number of this many bits. */
static inline int64
max_of_bits(int bits)
{
	return (INT64CONST(1) << bits) - 1;
}

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

#endif							/* IDGEN_INT_IDS_H */
