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
 * a ticker runs ahead of the clock, and waits when it is ahead by more than
 * idgen.max_ahead.
 *
 * Shared memory is lost at a restart, and the clock alone does not say where a
 * ticker was: it may have been set back, or be another machine's.  Therefore
 * each ticker has a sequence, whose last_value is a high-water mark: all values
 * handed out are below it.  The mark is written by setval() and flushed to the
 * WAL before values reach it, some seconds' worth of values at a time, and a
 * ticker that starts, after a crash or on a promoted standby, starts at the
 * mark.  While a ticker is in use, a new mark is written when half of the
 * values are left, so that a standby may lag behind by that much and still know
 * a mark above all values.  After a pause it is written just before the first
 * value; if an asynchronous standby misses that record, only its clock
 * protects it.
 *
 * A sequence that was never called (is_called is false) has no mark.  As with
 * nextval(), a rollback does not take the mark back.
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
#include "port/atomics.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "storage/procarray.h"
#include "storage/shmem.h"
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

/*
 * Values reserved at a time by a layout without a clock.  A restart skips up
 * to that many of the 92 million million that decimal_id() has.
 */
#define RESERVE_VALUES		4000000

/* A session that waits for the clock looks at it this often at least. */
#define WAIT_MS_MAX			INT64CONST(100)

/* A ticker.  The values are 0 until it starts. */
typedef struct TickerSlot
{
	Oid			database;		/* InvalidOid if the slot is free */
	int			number;			/* of the ticker */
	LWLock		lock;			/* held to start it and to move the mark */
	pg_atomic_uint64 last;		/* the value handed out last */
	pg_atomic_uint64 reserved;	/* the high-water mark: values are below it */
	pg_atomic_uint64 renew_at;	/* the session that gets here moves the mark */
} TickerSlot;

/* Each one has a cache line of its own. */
typedef union TickerSlotPadded
{
	TickerSlot	slot;
	char		pad[PG_CACHE_LINE_SIZE];
} TickerSlotPadded;

typedef struct TickerTable
{
	LWLock		lock;			/* held to look for a slot, and to take one */
	int			tranche;
	int			size;
	TickerSlotPadded slots[FLEXIBLE_ARRAY_MEMBER];
} TickerTable;

/*
 * The number of tickers that a server has room for.  If idgen is not loaded by
 * the postmaster, versions before 17 have little memory to share.
 */
#define MANY_SLOTS	4096
#define FEW_SLOTS	128

int			ticker_reserve_ahead_setting;
int			ticker_max_ahead_setting;

static TickerTable *table = NULL;	/* in shared memory */
static bool preloaded = false;

static Ticker *tickers = NULL;	/* all that are registered */

static TickerSlot *attach(Ticker *ticker, uint64 *own_mark);
static uint64 move_mark(Ticker *ticker, TickerSlot *slot, uint64 next);

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

/* The difference between two values that are this many ticks apart. */
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

	/* division by a constant is a fraction of the cost */
	ms = clock_wall_unix_ms();
	return values_of_ticks(layout,
						   layout->ms_per_tick == 1 ? ms : ms / MS_PER_SECOND);
}

static void
require_in_range(const TickerLayout *layout, uint64 next)
{
	if (next > layout->max_value)
		ereport(ERROR,
				(errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
				 errmsg("%s() has handed out its last identifier", layout->name)));
}

/* A transaction that must not write cannot move the mark. */
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
 * Wait until the clock has come nearer to a ticker that is too far ahead of
 * it, by this many milliseconds.  Raises one WARNING if that takes long.
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
				(errmsg("%s() waits, because it is too far ahead of the clock", layout->name),
				 errdetail("It can continue in " INT64_FORMAT " seconds.", ms / MS_PER_SECOND),
				 errhint("See the view idgen.tickers. If the clock is right now, a greater idgen.max_ahead lets it continue at once.")));
	}

	CHECK_FOR_INTERRUPTS();
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					 Min(ms, WAIT_MS_MAX), wait_event);
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
}

/* The milliseconds by which a value exceeds idgen.max_ahead; 0 or less if it does not. */
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
	uint64		own_mark = 0;
	bool		warned = false;

	if (unlikely(XactReadOnly))
		refuse_to_write(layout->name);
	if (unlikely(slot == NULL))
		slot = attach(ticker, &own_mark);

	for (;;)
	{
		uint64		now = present_value(layout);
		uint64		last = pg_atomic_read_u64(&slot->last);
		uint64		next;
		uint64		renew_at;
		uint64		reserved;
		int64		too_far_ms;

		for (;;)
		{
			next = Max(last + 1, now);
			if (ticker_counter(layout, next) < (uint64) layout->min_counter)
				next++;
			renew_at = own_mark != 0 ? own_mark : pg_atomic_read_u64(&slot->renew_at);
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
		 * One session moves the mark while the others use the values up to
		 * it.  Should it fail, the session that reaches the mark does it.
		 */
		reserved = pg_atomic_read_u64(&slot->reserved);
		if (own_mark != 0 || next >= reserved ||
			pg_atomic_compare_exchange_u64(&slot->renew_at, &renew_at, reserved))
			own_mark = move_mark(ticker, slot, next);
	}
}

/* Make sure that no value up to this one is handed out from now on. */
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
 * other session sees it, and a rollback takes it back.
 */
static bool
is_changed_here(Relation sequence)
{
	return sequence->rd_createSubid != InvalidSubTransactionId ||
		sequence->NEW_FILE_SUBID != InvalidSubTransactionId;
}

/* The mark must survive a crash. */
static void
require_logged(const TickerLayout *layout, Relation sequence)
{
	if (sequence->rd_rel->relpersistence != RELPERSISTENCE_PERMANENT)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("sequence \"idgen.%s\" is not logged", sequence_name(layout)),
				 errdetail("After a crash, %s() would not know which values were handed out.", layout->name),
				 errhint("Use ALTER SEQUENCE ... SET LOGGED.")));
}

/* A mark that cannot be, set by setval(), which can be corrected as well. */
static void
require_mark_in_range(const TickerLayout *layout, uint64 mark)
{
	if (mark > layout->max_value + 1)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("value of sequence \"idgen.%s\" is out of range for %s()",
						sequence_name(layout), layout->name),
				 errdetail("The value is " UINT64_FORMAT ", and the greatest one is " UINT64_FORMAT ".",
						   mark, layout->max_value + 1),
				 errhint("Set it with setval() to the value at which %s() should continue.", layout->name)));
}

/*
 * The mark that the sequence holds, 0 if it has none.  It is read and written
 * by the server's own functions, with the rights of the sequence's owner;
 * nothing that another role could have defined runs meanwhile.
 */
static uint64
read_mark(Relation sequence)
{
	LOCAL_FCINFO(call, 1);
	Oid			caller;
	int			security;
	int64		mark;

	InitFunctionCallInfoData(*call, NULL, 1, InvalidOid, NULL, NULL);
	call->args[0].value = ObjectIdGetDatum(RelationGetRelid(sequence));
	call->args[0].isnull = false;

	GetUserIdAndSecContext(&caller, &security);
	SetUserIdAndSecContext(sequence->rd_rel->relowner,
						   security | SECURITY_LOCAL_USERID_CHANGE);
	mark = DatumGetInt64(pg_sequence_last_value(call));
	SetUserIdAndSecContext(caller, security);

	return call->isnull ? 0 : Max(mark, 0);
}

/* Store a mark and flush it, because values below it are handed out next. */
static void
write_mark(Relation sequence, uint64 mark)
{
	Oid			caller;
	int			security;

	GetUserIdAndSecContext(&caller, &security);
	SetUserIdAndSecContext(sequence->rd_rel->relowner,
						   security | SECURITY_LOCAL_USERID_CHANGE);
	(void) DirectFunctionCall2(setval_oid,
							   ObjectIdGetDatum(RelationGetRelid(sequence)),
							   Int64GetDatum((int64) mark));
	SetUserIdAndSecContext(caller, security);

	XLogFlush(XactLastRecEnd);
}

/*
 * Make sure that the mark is far enough above the value "next", and that the
 * sequence holds it, which it does not after a setval() or when the extension
 * was created anew.  Starts the ticker.
 *
 * In a transaction that created the sequence or its file, the mark is not
 * valid for the other sessions, because a rollback removes it.  Then it is the
 * result, which is 0 otherwise: this transaction may use values up to it, but
 * has to attach for each value.  The mark of the others does not change
 * meanwhile, because they cannot lock the sequence.
 *
 * The lock on the sequence is kept to the end of the transaction, as by
 * nextval(), and comes before the lightweight lock, because acquiring it may
 * take as long as a transaction lasts.
 */
static uint64
move_mark(Ticker *ticker, TickerSlot *slot, uint64 next)
{
	const TickerLayout *layout = ticker->layout;
	uint64		ahead = layout->ms_per_tick == 0 ? RESERVE_VALUES :
		values_of_ticks(layout, ticker_reserve_ahead_setting * MS_PER_SECOND / layout->ms_per_tick);
	Relation	sequence = open_sequence(ticker, RowExclusiveLock);
	bool		own = is_changed_here(sequence);
	uint64		reserved;
	uint64		stored;
	uint64		mark;
	bool		was_set;
	bool		is_short;

	require_logged(layout, sequence);
	LWLockAcquire(&slot->lock, LW_EXCLUSIVE);

	reserved = pg_atomic_read_u64(&slot->reserved);
	/* values begin with 1, even if the sequence does not */
	stored = Max(read_mark(sequence), 1);
	require_mark_in_range(layout, stored);

	/* a mark that this ticker did not write: values begin there */
	was_set = stored != (own ? ticker->own_mark : reserved);
	if (was_set)
		raise_last(slot, stored - 1);

	/* half of the values are used up; in a file of this transaction, all of them */
	if (own)
		is_short = next >= stored || reserved > stored;
	else
		is_short = was_set ||
			(next + ahead / 2 >= reserved && reserved <= layout->max_value);

	mark = stored;
	if (is_short)
	{
		/* above the values handed out, and above a mark that was set */
		mark = Max(reserved, Max(next, stored) + ahead);
		mark = Max(stored, Min(mark, layout->max_value + 1));
		write_mark(sequence, mark);
	}

	if (own)
		ticker->own_mark = mark;
	else
	{
		pg_memory_barrier();
		pg_atomic_write_u64(&slot->reserved, mark);
		pg_atomic_write_u64(&slot->renew_at,
							mark > layout->max_value ? mark : mark - ahead / 2);
	}
	LWLockRelease(&slot->lock);
	relation_close(sequence, NoLock);
	return own ? mark : 0;
}

/* ------------------------------------------------------------------------
 * Shared memory
 * ------------------------------------------------------------------------
 */

static Size
table_size(int size)
{
	return offsetof(TickerTable, slots) + size * sizeof(TickerSlotPadded);
}

/* The number of tickers that this server has room for. */
static int
table_slots(void)
{
	return HAVE_DSM_REGISTRY || preloaded ? MANY_SLOTS : FEW_SLOTS;
}

static void
initialize_table(INIT_SEGMENT_ARGS)
{
	TickerTable *new_table = segment;
	int			size = table_slots();

	memset(new_table, 0, table_size(size));
	new_table->size = size;
	new_table->tranche = new_lwlock_tranche("idgen");
	LWLockInitialize(&new_table->lock, new_table->tranche);
}

static shmem_request_hook_type previous_shmem_request_hook = NULL;

static void
request_table(void)
{
	if (previous_shmem_request_hook)
		previous_shmem_request_hook();
	RequestAddinShmemSpace(table_size(MANY_SLOTS));
}

/*
 * To be called while the library is loaded.  Where the amount of shared memory
 * is fixed, the postmaster requests room for all tickers; a library that the
 * postmaster does not load uses a little of the server's spare shared memory.
 */
void
ticker_request_shared_memory(void)
{
	if (HAVE_DSM_REGISTRY || !process_shared_preload_libraries_in_progress)
		return;

	preloaded = true;
	previous_shmem_request_hook = shmem_request_hook;
	shmem_request_hook = request_table;
}

/* A backend attaches again after DDL on a sequence. */
static void
forget_slots(Datum arg, Oid relation)
{
	(void) arg;

	for (Ticker *ticker = tickers; ticker != NULL; ticker = ticker->next)
	{
		if (!OidIsValid(relation) || relation == ticker->sequence)
		{
			ticker->slot = NULL;
			ticker->own_mark = 0;
		}
	}
}

/*
 * Find the table, once.  If memory runs out on the way, the next call does all
 * of it again: a session with the table but without the callback would not
 * notice DDL on a sequence.
 */
static void
use_table(void)
{
	TickerTable *found_table;
	bool		found;

	if (table != NULL)
		return;

	found_table = get_named_segment("idgen", table_size(table_slots()),
									initialize_table, &found);
	register_lwlock_tranche(found_table->tranche, "idgen");
	CacheRegisterRelcacheCallback(forget_slots, (Datum) 0);
	table = found_table;
}

/*
 * The slot of a ticker of this database, or NULL.  The caller holds the
 * table's lock.
 */
static TickerSlot *
find_slot(Ticker *ticker)
{
	for (int i = 0; i < table->size; i++)
	{
		TickerSlot *slot = &table->slots[i].slot;

		if (slot->database == MyDatabaseId && slot->number == ticker->number)
			return slot;
	}
	return NULL;
}

/*
 * A free slot, or that of a database to which no backend is connected, such as
 * one that was dropped; or NULL.  The caller holds the table's lock
 * exclusively, and a backend is connected before it looks for a slot, so that
 * no backend has a pointer to this one.  A ticker that loses its slot starts
 * at its mark, as after a restart.
 */
static TickerSlot *
find_unused_slot(void)
{
	for (int i = 0; i < table->size; i++)
	{
		if (!OidIsValid(table->slots[i].slot.database))
			return &table->slots[i].slot;
	}
	for (int i = 0; i < table->size; i++)
	{
		Oid			database = table->slots[i].slot.database;

		if (database != MyDatabaseId && CountDBBackends(database) == 0)
			return &table->slots[i].slot;
	}
	return NULL;
}

/* The slot of a ticker of this database, old or new. */
static TickerSlot *
find_or_take_slot(Ticker *ticker)
{
	TickerSlot *slot;

	LWLockAcquire(&table->lock, LW_EXCLUSIVE);
	slot = find_slot(ticker);
	if (slot == NULL && (slot = find_unused_slot()) != NULL)
	{
		LWLockInitialize(&slot->lock, table->tranche);
		pg_atomic_init_u64(&slot->last, 0);
		pg_atomic_init_u64(&slot->reserved, 0);
		pg_atomic_init_u64(&slot->renew_at, 0);
		slot->number = ticker->number;
		slot->database = MyDatabaseId;
	}
	LWLockRelease(&table->lock);

	if (slot == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("too many databases of this server use %s() and similar functions",
						ticker->layout->name),
				 errdetail("The limit is %d; each database and each function counts as one.",
						   table->size),
				 table->size < MANY_SLOTS ?
				 errhint("Add idgen to shared_preload_libraries to raise the limit to %d.", MANY_SLOTS) : 0));
	return slot;
}

/*
 * Find this database's ticker, and make sure that it is started and that its
 * mark is high enough.  Sets *own_mark to the result of move_mark().
 */
static TickerSlot *
attach(Ticker *ticker, uint64 *own_mark)
{
	const TickerLayout *layout = ticker->layout;
	TickerSlot *slot;
	uint64		next;

	/* a parallel worker does not know of changes of the sequence */
	PreventCommandIfParallelMode(psprintf("%s()", layout->name));

	use_table();
	slot = find_or_take_slot(ticker);

	next = Max(pg_atomic_read_u64(&slot->last) + 1, present_value(layout));
	require_in_range(layout, next);
	*own_mark = move_mark(ticker, slot, next);
	if (*own_mark == 0)
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
 * From now on, the ticker hands out values above this one only.  Never lowers
 * it.
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
	uint64		own_mark;

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

	slot = attach(ticker, &own_mark);
	raise_last(slot, value);
	(void) move_mark(ticker, slot, (uint64) value + 1);
	PG_RETURN_VOID();
}

/*
 * ticker_state(layout text, OUT last_value bigint, OUT last_time timestamptz,
 *				OUT ahead interval, OUT reserved_value bigint,
 *				OUT reserved_until timestamptz)
 *
 * The state of a ticker of this database in this server's memory (NULL until
 * it starts), and the mark in its sequence, which a standby has as well.
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
	TickerSlot *slot;
	uint64		last = 0;
	uint64		reserved;
	Relation	sequence;
	TimestampTz timestamp;

	if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");

	use_table();
	LWLockAcquire(&table->lock, LW_SHARED);
	slot = find_slot(ticker);
	if (slot != NULL)
		last = pg_atomic_read_u64(&slot->last);
	LWLockRelease(&table->lock);

	sequence = open_sequence(ticker, AccessShareLock);
	reserved = read_mark(sequence);
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
