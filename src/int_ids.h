/*-------------------------------------------------------------------------
 *
 * int_ids.h
 *	  The layouts, tickers, setting and default epoch of int_ids.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef IDGEN_INT_IDS_H
#define IDGEN_INT_IDS_H

#include "ticker.h"

/* the default of the argument "epoch", 2020-01-01 00:00:00+00, and in Unix ms */
#define DEFAULT_EPOCH		INT64CONST(631152000000000)
#define DEFAULT_EPOCH_MS	INT64CONST(1577836800000)

#define NODE_UNSET			(-1)
#define NODE_MAX			PG_UINT16_MAX	/* trace_id() has the most bits */

typedef struct IntIdLayout
{
	TickerLayout ticker;		/* includes the counter */
	int			tick_bits;
	int			node_bits;
} IntIdLayout;

static const IntIdLayout snowflake_layout = {
	.ticker = {
		.name = "snowflake",
		.counter_bits = 12,
		.ms_per_tick = 1,
		.max_value = (UINT64CONST(1) << (48 + 12)) - 1
	},
	.tick_bits = 41,
	.node_bits = 10
};

static const IntIdLayout trace_id_layout = {
	.ticker = {
		.name = "trace_id",
		.counter_bits = 22,
		.min_counter = 1,
		.ms_per_tick = 1000,
		.max_value = PG_INT64_MAX - 1	/* the high-water mark is one above */
	},
	.tick_bits = 25,
	.node_bits = 16
};

static const IntIdLayout js_id_layout = {
	.ticker = {
		.name = "js_id",
		.counter_bits = 16,
		.ms_per_tick = 1000,
		.max_value = PG_INT64_MAX - 1
	},
	.tick_bits = 32,
	.node_bits = 5
};

extern Ticker snowflake_ticker;
extern Ticker trace_id_ticker;
extern Ticker js_id_ticker;

extern int	node_id_setting;

/* The greatest number that has the given number of bits. */
static inline int64
max_of_bits(int bits)
{
	return (INT64CONST(1) << bits) - 1;
}

static inline int64
int_id_pack(const IntIdLayout *layout, int64 tick, int64 node, int64 counter)
{
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

#endif							/* IDGEN_INT_IDS_H */
