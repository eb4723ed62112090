/*
 * ticker.h
 *	  Counters in shared memory that follow the clock and never repeat a value.
 */
#ifndef IDGEN_TICKER_H
#define IDGEN_TICKER_H

#include "shared_memory.h"

/* The layouts, in the order of their tickers in shared memory */
typedef enum TickerNumber
{
	TICKER_SNOWFLAKE,
	TICKER_TRACE_ID,
	TICKER_JS_ID,
	TICKER_UUID_V7_ORDERED,
	TICKERS
} TickerNumber;

/*
 * The layout of a ticker's values: Unix time in ticks and, in the bits below
 * it, a counter that is counter_bits wide.  The last counter of a tick is
 * followed by the first counter of the next tick.
 */
typedef struct TickerLayout
{
	const char *name;			/* of the SQL function */
	TickerNumber number;
	int			counter_bits;
	int			min_counter;	/* 0 or 1 */
	int			ms_per_tick;	/* a divisor of 1000 */
	bool		counter_is_fraction;	/* a counter starts at the elapsed
										 * fraction of its tick */
} TickerLayout;

static inline uint64
ticker_counter(const TickerLayout *layout, uint64 value)
{
	return value & ((UINT64CONST(1) << layout->counter_bits) - 1);
}

static inline uint64
ticker_tick(const TickerLayout *layout, uint64 value)
{
	return value >> layout->counter_bits;
}

extern SharedSegment ticker_segment;

extern uint64 ticker_next(const TickerLayout *layout);

#endif							/* IDGEN_TICKER_H */
