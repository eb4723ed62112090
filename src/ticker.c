/*-------------------------------------------------------------------------
 *
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
 * Shared memory is lost at a restart, and the clock does not show where a
 * ticker was: it may have been set back, or belong to another machine.
 * Therefore each ticker has a sequence, whose last_value is a high-water mark:
 * all values returned are below it.  The high-water mark is written by setval()
 * and flushed to the WAL before values reach it, some seconds' worth of values
 * at a time.  A ticker that starts, after a crash or on a promoted standby,
 * starts at the high-water mark.  While a ticker is in use, a new one is
 * written when half of the reserved values are left, so that a standby may lag
 * behind by that much and still have a high-water mark above all values.  After
 * a pause it is written just before the first value; if an asynchronous standby
 * misses that record, only its clock protects it.
 *
 * A sequence that was never called (is_called is false) has no high-water mark.
 * As with nextval(), a rollback does not lower it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/namespace.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/latch.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "clock.h"
#include "compat.h"
#include "ticker.h"
#include "ticker_slots.h"

/* A session that waits for the clock reads it at least this often. */
#define WAIT_MS_MAX			INT64CONST(100)

int			ticker_reserve_ahead_setting;
int			ticker_max_ahead_setting;

static Ticker *tickers = NULL;	/* all that are registered */

static TickerSlot *attach(Ticker *ticker, uint64 *private_mark);
static uint64 reserve_values(Ticker *ticker, TickerSlot *slot, uint64 next);

void
ticker_register(Ticker *ticker)
{
	ticker->number = tickers == NULL ? 0 : tickers->number + 1;
	ticker->next = tickers;
	tickers = ticker;
}

/* ------------------------------------------------------------------------
 * Values
 * ------------------------------------------------------------------------
 */

/* The difference between two values that are the given number of ticks apart. */
static inline uint64
values_of_ticks(const TickerLayout *layout, uint64 ticks)
{
	return ticks << layout->counter_bits;
}

/* The first value of the present tick; 0 if the layout has no clock. */
static inline uint64
present_value(const TickerLayout *layout)
{
	uint64		ms;

	if (layout->ms_per_tick == 0)
		return 0;
	if (layout->counter_is_fraction)
		return clock_wall_submillis();

	/* division by a constant costs less than by a variable */
	ms = clock_wall_unix_ms();
	return values_of_ticks(layout,
						   layout->ms_per_tick == 1 ? ms : ms / MS_PER_SECOND);
}

/* Raise 2200H if a layout has no more values. */
static void
require_in_range(const TickerLayout *layout, uint64 next)
{
	if (next > layout->max_value)
		ereport(ERROR,
				(errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
				 errmsg("%s() has handed out its last identifier", layout->name)));
}

/* Raise 25006: a transaction that must not write cannot reserve values. */
static void
refuse_to_write(const char *function)
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

/* The number of milliseconds by which a value exceeds idgen.max_ahead, if positive. */
static inline int64
too_far_ahead_ms(const TickerLayout *layout, uint64 value, uint64 now)
{
	int64		ticks = ticker_tick(layout, value) - ticker_tick(layout, now);

	if (layout->ms_per_tick == 0)
		return 0;
	return ticks * layout->ms_per_tick - ticker_max_ahead_setting * MS_PER_SECOND;
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
		refuse_to_write(layout->name);
	if (unlikely(slot == NULL))
		slot = attach(ticker, &private_mark);

	for (;;)
	{
		uint64		now = present_value(layout);
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
			too_far_ms = too_far_ahead_ms(layout, next, now);
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
			private_mark = reserve_values(ticker, slot, next);
	}
}

/* From now on, return values above this one only. */
static void
raise_last(TickerSlot *slot, uint64 value)
{
	uint64		last = pg_atomic_read_u64(&slot->last);

	while (last < value &&
		   !pg_atomic_compare_exchange_u64(&slot->last, &last, value))
		;
}

/* ------------------------------------------------------------------------
 * The high-water mark
 * ------------------------------------------------------------------------
 */

static char *
sequence_name(const TickerLayout *layout)
{
	return psprintf("%s_ticker", layout->name);
}

/* Open and lock a ticker's sequence; 42P01 if it does not exist. */
static Relation
open_sequence(Ticker *ticker, LOCKMODE lockmode)
{
	char	   *name = sequence_name(ticker->layout);
	Oid			oid = get_relname_relid(name, get_namespace_oid("idgen", false));
	Relation	sequence = OidIsValid(oid) ? try_relation_open(oid, lockmode) : NULL;

	if (sequence == NULL || sequence->rd_rel->relkind != RELKIND_SEQUENCE)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("sequence \"idgen.%s\" does not exist", name),
				 errhint("Create it again with CREATE SEQUENCE idgen.%s. If the server was restarted since it was lost, raise it above all identifiers with idgen.raise_ticker().",
						 name)));
	ticker->sequence = oid;
	return sequence;
}

/*
 * Did this transaction create the sequence, or give it another file?  Then no
 * other session sees it, and a rollback removes it.
 */
static bool
is_private(Relation sequence)
{
	return sequence->rd_createSubid != InvalidSubTransactionId ||
		sequence->NEW_FILE_SUBID != InvalidSubTransactionId;
}

/* Raise 55000 if the high-water mark would not survive a crash. */
static void
require_logged(const TickerLayout *layout, Relation sequence)
{
	if (sequence->rd_rel->relpersistence != RELPERSISTENCE_PERMANENT)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("sequence \"idgen.%s\" is not logged", sequence_name(layout)),
				 errdetail("After a crash, %s() would not know which values it has returned.", layout->name),
				 errhint("Use ALTER SEQUENCE ... SET LOGGED.")));
}

/*
 * Call one of the server's functions for sequences with the rights of the
 * sequence's owner; 0 if it returns NULL.  The call runs no code that another
 * role could have defined.
 */
static int64
call_as_owner(PGFunction function, Relation sequence, int nargs, int64 value)
{
	LOCAL_FCINFO(call, 2);
	Oid			caller;
	int			security;
	Datum		result;

	InitFunctionCallInfoData(*call, NULL, nargs, InvalidOid, NULL, NULL);
	call->args[0].value = ObjectIdGetDatum(RelationGetRelid(sequence));
	call->args[0].isnull = false;
	call->args[1].value = Int64GetDatum(value);
	call->args[1].isnull = false;

	GetUserIdAndSecContext(&caller, &security);
	SetUserIdAndSecContext(sequence->rd_rel->relowner,
						   security | SECURITY_LOCAL_USERID_CHANGE);
	result = function(call);
	SetUserIdAndSecContext(caller, security);

	return call->isnull ? 0 : DatumGetInt64(result);
}

/* The high-water mark that the sequence contains; 0 if it has none. */
static uint64
read_high_water_mark(Relation sequence)
{
	return Max(call_as_owner(pg_sequence_last_value, sequence, 1, 0), 0);
}

/*
 * Store a high-water mark, and flush it, because values below it are returned
 * next.
 */
static void
write_high_water_mark(Relation sequence, uint64 mark)
{
	(void) call_as_owner(setval_oid, sequence, 2, (int64) mark);
	XLogFlush(XactLastRecEnd);
}

/* Raise 55000 if the sequence has an impossible value, as a setval() may set. */
static void
require_mark_in_range(const TickerLayout *layout, uint64 mark)
{
	if (mark > layout->max_value + 1)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("value of sequence \"idgen.%s\" is out of range for %s()",
						sequence_name(layout), layout->name),
				 errdetail("The value is " UINT64_FORMAT "; the maximum is " UINT64_FORMAT ".",
						   mark, layout->max_value + 1),
				 errhint("Set it with setval() to the value at which %s() should continue.", layout->name)));
}

/* The number of values to reserve at a time. */
static uint64
values_ahead(const TickerLayout *layout)
{
	if (layout->ms_per_tick == 0)
		return layout->values_ahead;
	return values_of_ticks(layout, ticker_reserve_ahead_setting * MS_PER_SECOND / layout->ms_per_tick);
}

/*
 * The high-water mark that the sequence should contain.  "stored" is the one
 * that it contains; it is the result if it is far enough above the value "next".
 * "reserved" is the one in shared memory.
 */
static uint64
choose_high_water_mark(const TickerLayout *layout, uint64 next, uint64 stored, uint64 reserved,
					   bool private, bool set_elsewhere)
{
	uint64		ahead = values_ahead(layout);
	bool		half_is_left = next + ahead / 2 < reserved;
	bool		is_greatest = reserved > layout->max_value;
	bool		is_high_enough;
	uint64		mark;

	if (private)
		is_high_enough = next < stored && reserved <= stored;
	else
		is_high_enough = !set_elsewhere && (half_is_left || is_greatest);
	if (is_high_enough)
		return stored;

	mark = Max(reserved, Max(next, stored) + ahead);
	return Max(stored, Min(mark, layout->max_value + 1));
}

/* Let all sessions use the values below a high-water mark. */
static void
publish_high_water_mark(const TickerLayout *layout, TickerSlot *slot, uint64 mark)
{
	bool		is_greatest = mark > layout->max_value;

	/*
	 * A session that reads the new high-water mark must not read an older
	 * last value.
	 */
	pg_memory_barrier();
	pg_atomic_write_u64(&slot->reserved, mark);
	pg_atomic_write_u64(&slot->renew_at, is_greatest ? mark : mark - values_ahead(layout) / 2);
}

/*
 * Make sure that the high-water mark is far enough above the value "next", and
 * that the sequence contains it: after a setval(), or if the extension was
 * created anew, it does not.  Starts the ticker.
 *
 * In a transaction that created the sequence or its file, the high-water mark
 * is private, because a rollback removes it.  Then it is the result, which is 0
 * otherwise: this transaction may use values below it, but has to attach for
 * each value.  The one in shared memory does not change meanwhile, because the
 * other sessions cannot lock the sequence.
 *
 * The lock on the sequence is kept to the end of the transaction, as by
 * nextval().  It comes before the lightweight lock, because acquiring it may
 * take as long as a transaction.
 */
static uint64
reserve_values(Ticker *ticker, TickerSlot *slot, uint64 next)
{
	const TickerLayout *layout = ticker->layout;
	Relation	sequence = open_sequence(ticker, RowExclusiveLock);
	bool		private = is_private(sequence);
	bool		set_elsewhere;
	uint64		reserved;
	uint64		stored;
	uint64		mark;

	require_logged(layout, sequence);
	LWLockAcquire(&slot->lock, LW_EXCLUSIVE);

	/* values begin with 1, even if the sequence does not */
	stored = Max(read_high_water_mark(sequence), 1);
	require_mark_in_range(layout, stored);

	/* a high-water mark that this ticker did not write: values continue there */
	reserved = pg_atomic_read_u64(&slot->reserved);
	set_elsewhere = stored != (private ? ticker->private_mark : reserved);
	if (set_elsewhere)
		raise_last(slot, stored - 1);

	mark = choose_high_water_mark(layout, next, stored, reserved, private, set_elsewhere);
	if (mark > stored)
		write_high_water_mark(sequence, mark);

	if (private)
		ticker->private_mark = mark;
	else
		publish_high_water_mark(layout, slot, mark);

	LWLockRelease(&slot->lock);
	relation_close(sequence, NoLock);
	return private ? mark : 0;
}

/* ------------------------------------------------------------------------
 * Attaching
 * ------------------------------------------------------------------------
 */

/* A backend attaches again after DDL on a sequence. */
static void
detach(Datum arg pg_attribute_unused(), Oid relation)
{
	for (Ticker *ticker = tickers; ticker != NULL; ticker = ticker->next)
	{
		if (!OidIsValid(relation) || relation == ticker->sequence)
		{
			ticker->slot = NULL;
			ticker->private_mark = 0;
		}
	}
}

/*
 * Find this database's ticker, and make sure that it is started and that its
 * high-water mark is high enough.  Sets *private_mark to the result of
 * reserve_values().
 */
static TickerSlot *
attach(Ticker *ticker, uint64 *private_mark)
{
	static bool notices_ddl = false;
	const TickerLayout *layout = ticker->layout;
	TickerSlot *slot;
	uint64		next;

	/* a parallel worker does not know of changes of the sequence */
	PreventCommandIfParallelMode(psprintf("%s()", layout->name));

	if (!notices_ddl)
	{
		CacheRegisterRelcacheCallback(detach, (Datum) 0);
		notices_ddl = true;
	}

	slot = ticker_slot(ticker->number, layout->name);
	next = Max(pg_atomic_read_u64(&slot->last) + 1, present_value(layout));
	require_in_range(layout, next);
	*private_mark = reserve_values(ticker, slot, next);
	if (*private_mark == 0)
		ticker->slot = slot;
	return slot;
}

/* ------------------------------------------------------------------------
 * SQL functions
 * ------------------------------------------------------------------------
 */

/* The start of a value's tick; false if the layout has no clock. */
static bool
timestamp_of_value(const TickerLayout *layout, uint64 value, TimestampTz *result)
{
	return layout->ms_per_tick > 0 &&
		clock_from_unix_ms((int64) ticker_tick(layout, value) * layout->ms_per_tick,
						   result);
}

static Ticker *
ticker_of_name(const char *name)
{
	for (Ticker *ticker = tickers; ticker != NULL; ticker = ticker->next)
		if (strcmp(name, ticker->layout->name) == 0)
			return ticker;

	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("ticker \"%s\" does not exist",
					pnstrdup(name, pg_mbcliplen(name, strlen(name), NAMEDATALEN))),
			 errhint("See the view idgen.tickers.")));
}

/*
 * raise_ticker(layout text, value bigint) returns void
 *
 * From now on, the ticker returns values above this one only.  Never lowers it.
 */
PG_FUNCTION_INFO_V1(idgen_raise_ticker);
Datum
idgen_raise_ticker(PG_FUNCTION_ARGS)
{
	Ticker	   *ticker = ticker_of_name(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	const TickerLayout *layout = ticker->layout;
	int64		value = PG_GETARG_INT64(1);
	Relation	sequence;
	AclResult	right;
	TickerSlot *slot;
	uint64		private_mark;

	if (XactReadOnly)
		refuse_to_write("raise_ticker");

	sequence = open_sequence(ticker, RowExclusiveLock);
	right = pg_class_aclcheck(RelationGetRelid(sequence), GetUserId(), ACL_UPDATE);
	if (right != ACLCHECK_OK)
		aclcheck_error(right, OBJECT_SEQUENCE, RelationGetRelationName(sequence));
	relation_close(sequence, NoLock);

	if (value < 1 || (uint64) value > layout->max_value)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("value is out of range for ticker \"%s\"", layout->name),
				 errdetail("The value is " INT64_FORMAT "; it must be from 1 to " UINT64_FORMAT ".",
						   value, layout->max_value)));
	if (too_far_ahead_ms(layout, value, present_value(layout)) > 0)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("value is too far ahead of the clock for ticker \"%s\"", layout->name),
				 errdetail("%s() would have to wait until the clock is within idgen.max_ahead of it, and a ticker cannot be lowered.",
						   layout->name),
				 errhint("Check the value's unit, or raise idgen.max_ahead first.")));

	slot = attach(ticker, &private_mark);
	raise_last(slot, value);
	(void) reserve_values(ticker, slot, (uint64) value + 1);
	PG_RETURN_VOID();
}

/*
 * ticker_state(layout text, OUT last_value bigint, OUT last_time timestamptz,
 *				OUT ahead interval, OUT reserved_value bigint,
 *				OUT reserved_until timestamptz)
 *
 * The state of a ticker of this database in this server's memory (NULL until
 * it starts), and the high-water mark in its sequence, which a standby has,
 * too.
 */
PG_FUNCTION_INFO_V1(idgen_ticker_state);
Datum
idgen_ticker_state(PG_FUNCTION_ARGS)
{
	Ticker	   *ticker = ticker_of_name(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	const TickerLayout *layout = ticker->layout;
	TupleDesc	tupdesc;
	Datum		values[5];
	bool		nulls[5] = {true, true, true, true, true};
	uint64		last = ticker_slot_last(ticker->number);
	uint64		reserved;
	Relation	sequence;
	TimestampTz timestamp;

	if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");

	sequence = open_sequence(ticker, AccessShareLock);
	reserved = read_high_water_mark(sequence);
	relation_close(sequence, AccessShareLock);

	if (last != 0)
	{
		values[0] = Int64GetDatum((int64) last);
		nulls[0] = false;
		if (timestamp_of_value(layout, last, &timestamp))
		{
			TimestampTz now = GetCurrentTimestamp();

			values[1] = TimestampTzGetDatum(timestamp);
			values[2] = DirectFunctionCall2(timestamp_mi,
											TimestampGetDatum(Max(timestamp, now)),
											TimestampGetDatum(now));
			nulls[1] = nulls[2] = false;
		}
	}
	if (reserved != 0)
	{
		values[3] = Int64GetDatum((int64) reserved);
		nulls[3] = false;
		if (timestamp_of_value(layout, reserved, &timestamp))
		{
			values[4] = TimestampTzGetDatum(timestamp);
			nulls[4] = false;
		}
	}

	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(tupdesc), values, nulls)));
}
