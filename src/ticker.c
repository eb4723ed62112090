/*
 * ticker.c
 *	  Counters in shared memory that follow the clock and never repeat.
 *
 * There is one ticker for each database and layout.  Its values are Unix time
 * in ticks of the layout with a counter below them, or only a counter.  The
 * next value is max(last + 1, now), stored by compare-and-swap, so that values
 * increase strictly over all sessions without a lock: a hybrid logical clock.
 * If more values are requested than a tick has, or if the clock was set back,
 * a ticker runs ahead of the clock.  It waits when it is ahead by more than
 * idgen.max_ahead.
 *
 * All values are below a high-water mark, which ticker_mark.c keeps in a
 * sequence.
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "storage/latch.h"
#include "storage/proc.h"
#include "utils/wait_event.h"

#include "compat.h"
#include "ticker_internal.h"

/* Before version 17, an extension has no wait events of its own. */
#if PG_VERSION_NUM < 170000
#define WaitEventExtensionNew(name) PG_WAIT_EXTENSION
#endif

/* A session that waits for the clock reads it at least this often. */
#define WAIT_MS_MAX			INT64CONST(100)

int			ticker_reserve_ahead_setting;
int			ticker_max_ahead_setting;

Ticker	   *ticker_list = NULL;

void
ticker_register(Ticker *ticker)
{
	ticker->number = ticker_list == NULL ? 0 : ticker_list->number + 1;
	ticker->next = ticker_list;
	ticker_list = ticker;
}

/* Raise 2200H if a layout has no more values. */
static void
require_in_range(const TickerLayout *layout, uint64 next)
{
	if (next > layout->max_value)
		ereport(ERROR,
				(errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
				 errmsg("%s() reached its maximum value", layout->name)));
}

/* Raise 25006: a transaction that must not write cannot reserve values. */
void
ticker_refuse_to_write(const char *function)
{
	bool		standby = RecoveryInProgress();

	ereport(ERROR,
			(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
			 standby ?
			 errmsg("cannot execute %s() during recovery", function) :
			 errmsg("cannot execute %s() in a read-only transaction", function),
			 errdetail("A ticker records in a sequence which values are reserved, so that no identifier repeats."),
			 standby ?
			 errhint("Call it on the primary.") :
			 errhint("Call it in a read-write transaction.")));
}

/*
 * Wait because a ticker exceeds idgen.max_ahead by the given number of
 * milliseconds.  Returns after WAIT_MS_MAX at the latest.  If the caller's
 * whole wait takes long, *warned becomes true after one WARNING.
 */
static void
wait_for_clock(const TickerLayout *layout, int64 ms, bool *warned)
{
	static uint32 wait_event = 0;

	if (wait_event == 0)
		wait_event = WaitEventExtensionNew("IdgenTickerAhead");

	if (ms > MS_PER_SECOND && !*warned)
	{
		*warned = true;
		ereport(WARNING,
				(errmsg("%s() is waiting because it is too far ahead of the clock", layout->name),
				 errdetail("It can continue in " INT64_FORMAT " seconds.", ms / MS_PER_SECOND),
				 errhint("See the view idgen.tickers. If the clock is correct now, increase idgen.max_ahead to continue at once.")));
	}

	CHECK_FOR_INTERRUPTS();
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					 Min(ms, WAIT_MS_MAX), wait_event);
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
}

/*
 * A new value, greater than every value that any session got before the call.
 * May wait for the clock.
 */
uint64
ticker_next(Ticker *ticker)
{
	const TickerLayout *layout = ticker->layout;
	TickerSlot *slot = ticker->slot;
	uint64		private_mark = 0;
	bool		warned = false;

	if (unlikely(XactReadOnly))
		ticker_refuse_to_write(layout->name);
	if (unlikely(slot == NULL || ticker->transaction != MY_LOCAL_TRANSACTION_ID))
		slot = ticker_attach(ticker, &private_mark);

	for (;;)
	{
		uint64		now = ticker_present_value(layout);
		uint64		last = pg_atomic_read_u64(&slot->last);
		uint64		next;
		uint64		renew_at;
		uint64		reserved;
		int64		too_far_ms;
		bool		must_reserve;

		for (;;)
		{
			next = Max(last + 1, now);
			if (ticker_counter(layout, next) < (uint64) layout->min_counter)
				next++;
			renew_at = private_mark != 0 ? private_mark : pg_atomic_read_u64(&slot->renew_at);
			too_far_ms = ticker_too_far_ahead_ms(layout, ticker_tick(layout, next), now);
			if (unlikely(next >= renew_at || too_far_ms > 0))
				break;
			if (likely(pg_atomic_compare_exchange_u64(&slot->last, &last, next)))
				return next;
		}

		require_in_range(layout, next);
		if (too_far_ms > 0)
		{
			wait_for_clock(layout, too_far_ms, &warned);
			continue;
		}

		/*
		 * One session reserves more values while the others use those that
		 * are left.  If it fails, the session that reaches the high-water
		 * mark does it.
		 */
		reserved = pg_atomic_read_u64(&slot->reserved);
		must_reserve = private_mark != 0 || next >= reserved;
		if (!must_reserve)
			must_reserve = pg_atomic_compare_exchange_u64(&slot->renew_at, &renew_at, reserved);
		if (must_reserve)
			private_mark = ticker_reserve(ticker, slot, next);
	}
}
