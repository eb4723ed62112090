/*-------------------------------------------------------------------------
 *
 * ticker_slots.h
 *	  The shared memory of the tickers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef IDGEN_TICKER_SLOTS_H
#define IDGEN_TICKER_SLOTS_H

#include "port/atomics.h"

/* A ticker of one database.  The values are 0 until it starts. */
typedef struct TickerSlot
{
	Oid			database;
	int			number;			/* of the ticker */
	pg_atomic_uint64 last;		/* the value returned last */
	pg_atomic_uint64 reserved;	/* high-water mark: values are below it */
	pg_atomic_uint64 renew_at;	/* from this value on, reserve more */
} TickerSlot;

/* for _PG_init() */
extern void ticker_slots_request(void);

/* the slot of this database's ticker; "function" is for the error message */
extern TickerSlot *ticker_slot(int number, const char *function);

/* the value that a ticker returned last; 0 if it has not started */
extern uint64 ticker_slot_last(int number);

#endif							/* IDGEN_TICKER_SLOTS_H */
