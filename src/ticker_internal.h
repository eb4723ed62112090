/*
 * ticker_internal.h
 *	  What the files of the tickers share: ticker.c, which returns values,
 *	  ticker_mark.c, which makes them durable, ticker_slots.c, which shares them,
 *	  and ticker_functions.c.
 */
#ifndef IDGEN_TICKER_INTERNAL_H
#define IDGEN_TICKER_INTERNAL_H

#include "port/atomics.h"

#include "clock.h"
#include "ticker.h"

/* A ticker of one database, in shared memory.  The values are 0 until it starts. */
typedef struct TickerSlot
{
	Oid			database;
	int			number;			/* of the ticker */
	pg_atomic_uint64 last;		/* the value returned last */
	pg_atomic_uint64 reserved;	/* high-water mark: values are below it */
	pg_atomic_uint64 renew_at;	/* from this value on, reserve more */
	pg_atomic_uint64 private_mark;	/* written last to a private sequence, see
									 * ticker_reserve() */
} TickerSlot;

/* all tickers that are registered */
extern Ticker *ticker_list;

/* The difference between two values that are the given number of ticks apart. */
static inline uint64
ticker_values_of_ticks(const TickerLayout *layout, uint64 ticks)
{
	return ticks << layout->counter_bits;
}

/* The first value of the present tick; 0 if the layout has no clock. */
static inline uint64
ticker_present_value(const TickerLayout *layout)
{
	uint64		ms;

	if (layout->ms_per_tick == 0)
		return 0;
	if (layout->counter_is_fraction)
		return clock_wall_submillis();

	/* division by a constant costs less than by a variable */
	ms = clock_wall_unix_ms();
	return ticker_values_of_ticks(layout, layout->ms_per_tick == 1 ? ms : ms / MS_PER_SECOND);
}

/*
 * The number of milliseconds by which a tick exceeds idgen.max_ahead, if
 * positive; "now" is the present value.
 */
static inline int64
ticker_too_far_ahead_ms(const TickerLayout *layout, int64 tick, uint64 now)
{
	if (layout->ms_per_tick == 0)
		return 0;
	return (tick - (int64) ticker_tick(layout, now)) * layout->ms_per_tick -
		ticker_max_ahead_setting * MS_PER_SECOND;
}

/* ticker.c */
extern void ticker_refuse_to_write(const char *function);

/* ticker_mark.c */
extern TickerSlot *ticker_attach(Ticker *ticker, uint64 *private_mark);
extern uint64 ticker_reserve(Ticker *ticker, TickerSlot *slot, uint64 next);
extern uint64 ticker_stored_mark(Ticker *ticker);

/* ticker_slots.c */
extern TickerSlot *ticker_slot(int number, const char *function);
extern uint64 ticker_slot_last(int number);

#endif							/* IDGEN_TICKER_INTERNAL_H */
