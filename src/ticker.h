/*-------------------------------------------------------------------------
 *
 * ticker.h
 *	  Counters in shared memory that follow the clock and never repeat.
 *
 *-------------------------------------------------------------------------
 */
#ifndef IDGEN_TICKER_H
#define IDGEN_TICKER_H

/*
 * The parts of an identifier, from high to low: ticks of the clock, node,
 * counter.  A ticker's values are Unix time in ticks, then the counter,
 * without the node: the value after a tick's last counter is the next tick's
 * first one.
 */
typedef struct TickerLayout
{
	const char *name;			/* of the SQL function; its sequence is
								 * idgen.NAME_ticker */
	int			tick_bits;		/* in an identifier, not in a value */
	int			node_bits;
	int			counter_bits;
	int			min_counter;	/* 0 or 1 */
	int			ms_per_tick;	/* 0: no clock, only a counter */
	bool		counter_is_fraction;	/* a tick's counter begins at the
										 * fraction of the tick */
	uint64		max_value;
} TickerLayout;

/*
 * A ticker as one backend sees it.  The file of a scheme defines it with its
 * layout; the rest belongs to ticker.c.
 */
typedef struct Ticker
{
	const TickerLayout *layout;
	int			number;			/* in shared memory */
	struct TickerSlot *slot;	/* NULL before the first use, and to attach
								 * again */
	Oid			sequence;
	uint64		own_mark;		/* see move_mark() */
	struct Ticker *next;
} Ticker;

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

extern uint64 ticker_next(Ticker *ticker);

/* for _PG_init(): always in the same order */
extern void ticker_register(Ticker *ticker);

extern int	ticker_reserve_ahead_setting;
extern int	ticker_max_ahead_setting;
extern void ticker_request_shared_memory(void);

#endif							/* IDGEN_TICKER_H */
