/*
 * ticker.h
 *	  Counters in shared memory that follow the clock and never repeat.
 */
#ifndef IDGEN_TICKER_H
#define IDGEN_TICKER_H

/*
 * The values of a ticker: Unix time in ticks, and below it counter_bits of a
 * counter.  After a tick's last counter comes the first one of the next tick.
 */
typedef struct TickerLayout
{
	const char *name;			/* of the SQL function; its sequence is
								 * idgen.NAME_ticker */
	int			counter_bits;
	int			min_counter;	/* 0 or 1 */
	int			ms_per_tick;	/* 1, 1000, or 0 for a counter without clock */
	bool		counter_is_fraction;	/* a tick's counter begins at the
										 * fraction of the tick */
	uint64		max_value;
	uint64		values_ahead;	/* to reserve at a time, without clock */
} TickerLayout;

/*
 * A ticker as one backend sees it.  The file of a scheme defines it with its
 * layout; the other members belong to ticker.c.
 */
typedef struct Ticker
{
	const TickerLayout *layout;
	int			number;			/* in shared memory */
	struct TickerSlot *slot;	/* NULL if the backend has to attach */
	Oid			sequence;
	LocalTransactionId transaction; /* the last one that looked at the
									 * sequence */
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
extern void ticker_raise(Ticker *ticker, uint64 above, const char *function);

/* for _PG_init(): the tickers in the same order in each process, then the request */
extern void ticker_register(Ticker *ticker);
extern void ticker_slots_request(void);

/* the end of the HINT of a generator that requires a setting */
#define HINT_WHO_MAY_SET \
	"Only superusers and roles with the privilege SET (for ALTER SYSTEM, the privilege ALTER SYSTEM) on the parameter can set it."

extern int	ticker_reserve_ahead_setting;
extern int	ticker_max_ahead_setting;

#endif							/* IDGEN_TICKER_H */
