/*-------------------------------------------------------------------------
 *
 * ticker.h
 *	  Counters in shared memory that follow the clock and never repeat.
 *
 *-------------------------------------------------------------------------
 */
#ifndef IDGEN_TICKER_H
#define IDGEN_TICKER_H

typedef enum TickerKind
{
	TICKER_SNOWFLAKE,
	TICKER_TRACE_ID,
	TICKER_JS_ID,
	TICKER_DECIMAL_ID,
	TICKER_UUID_V7
} TickerKind;

#define TICKER_KINDS	(TICKER_UUID_V7 + 1)

/*
 * What an identifier consists of, from high to low: ticks of the clock, node,
 * counter.  A ticker counts in words, which are that without the node: the
 * next one after a tick's last counter is the next tick's first.
 */
typedef struct TickerLayout
{
	const char *name;			/* of the SQL function; its sequence is
								 * idgen.NAME_ticker */
	int			tick_bits;		/* in an identifier, which may wrap */
	int			node_bits;
	int			counter_bits;
	int			min_counter;	/* 0 or 1 */
	int			ms_per_tick;	/* 0: no clock, only a counter */
	bool		epoch_is_set;	/* ticks since idgen.snowflake_epoch, or 1970 */
	bool		counter_is_fraction;	/* a tick's counter begins at the
										 * fraction of the tick */
	uint64		max_word;
} TickerLayout;

extern const TickerLayout ticker_layouts[TICKER_KINDS];

/*
 * decimal_id's places: words are its counters, 1 to DECIMAL_COUNTERS, under
 * one generator after the other.
 */
#define DECIMAL_COUNTERS	922337202
#define DECIMAL_GENERATORS	100000

static inline uint64
ticker_counter(const TickerLayout *layout, uint64 word)
{
	return word & ((UINT64CONST(1) << layout->counter_bits) - 1);
}

static inline uint64
ticker_tick(const TickerLayout *layout, uint64 word)
{
	return word >> layout->counter_bits;
}

/* Where a layout's ticks begin, in Unix milliseconds. */
extern int64 ticker_epoch_ms(const TickerLayout *layout);

extern uint64 ticker_next(TickerKind kind);

/* for _PG_init() */
extern int	ticker_reserve_ahead_setting;
extern int	ticker_max_ahead_setting;
extern void ticker_request_shared_memory(void);

#endif							/* IDGEN_TICKER_H */
