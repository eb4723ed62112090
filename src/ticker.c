/*-------------------------------------------------------------------------
 *
 * ticker.c
 *	  Counters in shared memory that follow the clock and never repeat.
 *
 * A ticker gives out words: the clock's ticks with a counter below them, or
 * only a counter.  For each database and layout there is one, whose state is
 * the word given out last.  The next one is max(last + 1, now), put in its
 * place by compare-and-swap; so words increase strictly over all sessions,
 * without a lock.  Where more are asked for than a tick has, or where the
 * clock was set back, a ticker runs ahead of the clock, and waits when it is
 * ahead by more than idgen.max_ahead.
 *
 * Shared memory is gone after a restart, and the clock alone does not tell
 * where a ticker was: it may have been set back, or be another machine's.  So
 * each ticker has a sequence, whose last_value is the mark that all its words
 * were below.  The mark is written and flushed to the WAL before words come
 * near it, some seconds' worth of words at a time, and a ticker that starts,
 * after a crash or on a standby that was promoted, starts at the mark.  While a
 * ticker is in use, a new mark is written when half of the words are left, so
 * that a standby may lag behind by as much and still know a mark above all
 * words.  After a pause it is written just before the first word; what an
 * asynchronous standby has not got then, only its clock can make up for.
 *
 * The mark belongs to no transaction: a rollback does not take it back.  It
 * needs no transaction id, so that parallel workers can move it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/generic_xlog.h"
#include "access/htup_details.h"
#include "access/parallel.h"
#include "access/relation.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/namespace.h"
#include "commands/sequence.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/bufmgr.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"
#if PG_VERSION_NUM >= 170000
#include "storage/dsm_registry.h"
#endif

#include "clock.h"
#include "ticker.h"

/* The subtransaction that gave a relation another file first. */
#if PG_VERSION_NUM >= 160000
#define NEW_FILE_SUBID	rd_firstRelfilelocatorSubid
#else
#define NEW_FILE_SUBID	rd_firstRelfilenodeSubid
#endif

const TickerLayout ticker_layouts[TICKER_KINDS] = {
	[TICKER_SNOWFLAKE] = {
		.name = "snowflake",
		.tick_bits = 41, .node_bits = 10, .counter_bits = 12,
		.ms_per_tick = 1,
		.epoch_is_set = true,
		.max_word = (UINT64CONST(1) << (41 + 12)) - 1
	},
	[TICKER_TRACE_ID] = {
		.name = "trace_id",
		.tick_bits = 25, .node_bits = 16, .counter_bits = 22,
		.min_counter = 1,
		.ms_per_tick = 1000,
		.max_word = PG_INT64_MAX - 1	/* words keep the whole time; a mark is above */
	},
	[TICKER_JS_ID] = {
		.name = "js_id",
		.tick_bits = 32, .node_bits = 5, .counter_bits = 16,
		.ms_per_tick = 1000,
		.epoch_is_set = true,
		.max_word = (UINT64CONST(1) << (32 + 16)) - 1
	},
	[TICKER_DECIMAL_ID] = {
		.name = "decimal_id",
		.max_word = (uint64) DECIMAL_COUNTERS * DECIMAL_GENERATORS
	},
	[TICKER_UUID_V7] = {
		.name = "uuid_v7_ordered",
		.tick_bits = 48, .counter_bits = SUBMS_BITS,
		.ms_per_tick = 1,
		.counter_is_fraction = true,
		.max_word = (UINT64CONST(1) << (48 + SUBMS_BITS)) - 1
	}
};

/*
 * Where there is no clock to go by, so many words at a time.  A restart skips
 * up to as many of the 92 million million that decimal_id() has.
 */
#define RESERVE_WORDS		4000000

/*
 * What log_cnt says in a sequence whose mark a ticker wrote.  Whoever sets the
 * sequence leaves 0 there, also where the value is the one that it had.
 */
#define OUR_LOG_CNT			1

/* Who waits for the clock looks at it so often; it may be set meanwhile. */
#define WAIT_MS_MAX			INT64CONST(100)

/*
 * A ticker.  The words are 0 until it starts.
 */
typedef struct TickerSlot
{
	Oid			database;		/* InvalidOid: nobody's */
	TickerKind	kind;
	LWLock		lock;			/* held to start it and to move the mark */
	pg_atomic_uint64 last;		/* the word given out last */
	pg_atomic_uint64 reserved;	/* the mark: words are below it */
	pg_atomic_uint64 renew_at;	/* who comes to here moves the mark */
	uint64		own_mark;		/* see move_mark() */
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
 * How many tickers there can be in a server.  Where idgen is not loaded by
 * the postmaster, versions before 17 have but little memory to share.
 */
#define MANY_SLOTS	4096
#define FEW_SLOTS	128

int			ticker_reserve_ahead_setting;
int			ticker_max_ahead_setting;

static TickerTable *table = NULL;	/* in shared memory */
#if PG_VERSION_NUM < 170000
static bool preloaded = false;
#endif

/* This backend's tickers; NULL until it needs one, or to look again. */
static TickerSlot *slots[TICKER_KINDS];
static Oid	sequences[TICKER_KINDS];

static TickerSlot *attach(TickerKind kind, uint64 *own_mark);
static uint64 move_mark(TickerKind kind, TickerSlot *slot, uint64 next);

/* ------------------------------------------------------------------------
 * The words
 * ------------------------------------------------------------------------
 */

int64
ticker_epoch_ms(const TickerLayout *layout)
{
	return layout->epoch_is_set ? clock_epoch_ms : 0;
}

/* So many ticks, as a difference between words. */
static inline uint64
words_of_ticks(const TickerLayout *layout, uint64 ticks)
{
	return ticks << layout->counter_bits;
}

static void
out_of_range(const TickerLayout *layout)
{
	if (layout->ms_per_tick == 0)
		ereport(ERROR,
				(errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
				 errmsg("%s() has given out its last identifier", layout->name)));
	ereport(ERROR,
			(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
			 errmsg("timestamp is out of range for %s()", layout->name),
			 errdetail("The clock says %s, and the identifier has %d bits for the time since %s.",
					   pstrdup(timestamptz_to_str(GetCurrentTimestamp())),
					   layout->tick_bits,
					   layout->epoch_is_set ? clock_epoch_setting : "1970-01-01 00:00:00+00"),
			 layout->epoch_is_set ?
			 errhint("Look at the server's clock and at idgen.snowflake_epoch.") :
			 errhint("Look at the server's clock.")));
}

/* The first word of this moment; 0 where the layout has no clock. */
static inline uint64
present_word(const TickerLayout *layout)
{
	uint64		submillis;
	int64		ms;

	if (layout->ms_per_tick == 0)
		return 0;

	submillis = clock_wall_submillis();
	if (layout->counter_is_fraction)
		return submillis;

	ms = (int64) (submillis >> SUBMS_BITS) - ticker_epoch_ms(layout);
	if (unlikely(ms < 0))
		out_of_range(layout);
	/* a division by a constant is a fraction of the cost */
	return words_of_ticks(layout,
						  layout->ms_per_tick == 1 ? ms : ms / MS_PER_SECOND);
}

/* A transaction that must not write could not move the mark. */
static void
refuse_read_only(const TickerLayout *layout)
{
	bool		standby = RecoveryInProgress();

	ereport(ERROR,
			(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
			 standby ?
			 errmsg("cannot execute %s() during recovery", layout->name) :
			 errmsg("cannot execute %s() in a read-only transaction", layout->name),
			 errdetail("It records in a sequence how far it has come, so as never to repeat an identifier."),
			 standby ?
			 errhint("Make the identifier on the primary.") :
			 errhint("Make the identifier in a transaction that may write.")));
}

/*
 * Wait until the clock has come nearer to a ticker that is too far ahead of
 * it, by this many milliseconds.  Tells so once where that takes long.
 */
static void
wait_for_clock(const TickerLayout *layout, int64 ms, bool *told)
{
#if PG_VERSION_NUM >= 170000
	static uint32 wait_event = 0;

	if (wait_event == 0)
		wait_event = WaitEventExtensionNew("IdgenTickerAhead");
#else
	const uint32 wait_event = PG_WAIT_EXTENSION;
#endif

	if (ms > MS_PER_SECOND && !*told)
	{
		*told = true;
		ereport(WARNING,
				(errmsg("%s() waits, because it is too far ahead of the clock", layout->name),
				 errdetail("It can go on in " INT64_FORMAT " seconds.", ms / MS_PER_SECOND),
				 errhint("See the view idgen.tickers. If the clock is right now, a greater idgen.max_ahead lets it go on at once.")));
	}

	CHECK_FOR_INTERRUPTS();
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					 Min(ms, WAIT_MS_MAX), wait_event);
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
}

/* By how many milliseconds the word is further ahead of now than it may be. */
static inline int64
too_far_ahead_ms(const TickerLayout *layout, uint64 next, uint64 now)
{
	int64		ticks = ticker_tick(layout, next) - ticker_tick(layout, now);

	if (layout->ms_per_tick == 0)
		return 0;
	return ticks * layout->ms_per_tick - ticker_max_ahead_setting * MS_PER_SECOND;
}

/*
 * A word that nobody has got, greater than every one that anybody got before
 * the call.  May wait for the clock.
 */
uint64
ticker_next(TickerKind kind)
{
	const TickerLayout *layout = &ticker_layouts[kind];
	TickerSlot *slot = slots[kind];
	uint64		own_mark = 0;
	bool		told = false;

	if (unlikely(XactReadOnly))
		refuse_read_only(layout);
	if (unlikely(slot == NULL))
		slot = attach(kind, &own_mark);

	for (;;)
	{
		uint64		now = present_word(layout);
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

		if (next > layout->max_word)
			out_of_range(layout);
		if (too_far_ms > 0)
		{
			wait_for_clock(layout, too_far_ms, &told);
			continue;
		}

		/*
		 * One session moves the mark while the others go on to it.  Should it
		 * fail, whoever reaches the mark does it.
		 */
		reserved = pg_atomic_read_u64(&slot->reserved);
		if (own_mark != 0 || next >= reserved ||
			pg_atomic_compare_exchange_u64(&slot->renew_at, &renew_at, reserved))
			own_mark = move_mark(kind, slot, next);
	}
}

/* ------------------------------------------------------------------------
 * The mark
 * ------------------------------------------------------------------------
 */

static char *
sequence_name(const TickerLayout *layout)
{
	return psprintf("%s_ticker", layout->name);
}

static Relation
open_sequence(TickerKind kind, LOCKMODE lockmode)
{
	char	   *name = sequence_name(&ticker_layouts[kind]);
	Oid			oid = get_relname_relid(name, get_namespace_oid("idgen", false));
	Relation	sequence = OidIsValid(oid) ? try_relation_open(oid, lockmode) : NULL;

	if (sequence == NULL || sequence->rd_rel->relkind != RELKIND_SEQUENCE)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("sequence \"idgen.%s\" does not exist", name),
				 errhint("It belongs to the extension idgen; dropping and creating that makes it anew.")));
	sequences[kind] = oid;
	return sequence;
}

/* The one row of a sequence, in its page. */
static Form_pg_sequence_data
sequence_data(Page page)
{
	HeapTupleData tuple;

	tuple.t_data = (HeapTupleHeader) PageGetItem(page, PageGetItemId(page, FirstOffsetNumber));
	return (Form_pg_sequence_data) GETSTRUCT(&tuple);
}

/*
 * Whether this transaction made the sequence, or gave it another file, so that
 * nobody else sees it so, and a rollback takes it back.  A parallel worker does
 * not know of files; to it, any change of the row in pg_class is one.
 */
static bool
is_changed_here(Relation sequence)
{
	HeapTuple	tuple;
	bool		changed;

	if (!IsParallelWorker())
		return sequence->rd_createSubid != InvalidSubTransactionId ||
			sequence->NEW_FILE_SUBID != InvalidSubTransactionId;

	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(RelationGetRelid(sequence)));
	changed = !HeapTupleIsValid(tuple) ||
		TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(tuple->t_data));
	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return changed;
}

/* A mark must outlast a crash. */
static void
require_logged(const TickerLayout *layout, Relation sequence)
{
	if (sequence->rd_rel->relpersistence != RELPERSISTENCE_PERMANENT)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("sequence \"idgen.%s\" is not logged", sequence_name(layout)),
				 errdetail("After a crash, %s() would not know what it has given out.", layout->name),
				 errhint("Use ALTER SEQUENCE ... SET LOGGED.")));
}

/* Nobody could go on from there; and it is put right while nobody has. */
static void
require_mark_in_range(const TickerLayout *layout, uint64 mark)
{
	if (mark > layout->max_word + 1)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("value of sequence \"idgen.%s\" is out of range for %s()",
						sequence_name(layout), layout->name),
				 errdetail("The value is " UINT64_FORMAT ", and the greatest one is " UINT64_FORMAT ".",
						   mark, layout->max_word + 1),
				 errhint("Set it with setval() to where %s() should go on.", layout->name)));
}

/*
 * Make sure that the mark is far enough above the word "next", and that the
 * sequence has it: it would not if somebody set it, or created the extension
 * anew.  Starts the ticker.
 *
 * In a transaction that made the sequence or its file, the mark is not for the
 * other sessions, as it goes with a rollback.  Then it is the result, which is
 * 0 otherwise: this transaction may go on to it, but has to ask for each word.
 * The mark of the others stays where it is meanwhile, because they cannot lock
 * the sequence.
 *
 * The lock on the sequence comes before the light-weight lock, because one
 * may have to wait for the former as long as a transaction lasts.
 */
static uint64
move_mark(TickerKind kind, TickerSlot *slot, uint64 next)
{
	const TickerLayout *layout = &ticker_layouts[kind];
	uint64		ahead = layout->ms_per_tick == 0 ? RESERVE_WORDS :
		words_of_ticks(layout, ticker_reserve_ahead_setting * MS_PER_SECOND / layout->ms_per_tick);
	Relation	sequence = open_sequence(kind, RowExclusiveLock);
	bool		own = is_changed_here(sequence);
	uint64		reserved;
	uint64		stored;
	uint64		known;
	uint64		mark;
	bool		is_ours;
	bool		written = false;
	Buffer		buffer;

	require_logged(layout, sequence);
	LWLockAcquire(&slot->lock, LW_EXCLUSIVE);
	buffer = ReadBuffer(sequence, 0);
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);

	reserved = pg_atomic_read_u64(&slot->reserved);
	/* words begin with 1, even if the sequence does not */
	stored = Max(sequence_data(BufferGetPage(buffer))->last_value, 1);
	require_mark_in_range(layout, stored);
	is_ours = sequence_data(BufferGetPage(buffer))->log_cnt == OUR_LOG_CNT;
	known = own ? slot->own_mark : reserved;
	mark = stored;

	/* a mark of somebody else's: the ticker starts there, or starts anew */
	if (stored != known || !is_ours)
	{
		uint64		last = pg_atomic_read_u64(&slot->last);

		while (last < stored - 1 &&
			   !pg_atomic_compare_exchange_u64(&slot->last, &last, stored - 1))
			;
	}

	if (!is_ours ||
		(own ? next >= stored || reserved > stored :
		 stored != reserved || (next + ahead / 2 >= reserved && reserved <= layout->max_word)))
	{
		GenericXLogState *state;
		Form_pg_sequence_data data;
		XLogRecPtr	lsn;

		/* above what was given out, and what somebody set the sequence to */
		mark = Max(reserved, Max(next, stored) + ahead);
		mark = Max(stored, Min(mark, layout->max_word + 1));

		state = GenericXLogStart(sequence);
		/* nextval() may have changed the page without a record of it */
		data = sequence_data(GenericXLogRegisterBuffer(state, buffer,
													   is_ours ? 0 : GENERIC_XLOG_FULL_IMAGE));
		data->last_value = mark;
		data->log_cnt = OUR_LOG_CNT;
		data->is_called = true;
		lsn = GenericXLogFinish(state);
		UnlockReleaseBuffer(buffer);
		written = true;

		/*
		 * A crash must not lose what words are given out on the strength of.
		 * (Without an LSN, the sequence is one that this transaction created
		 * under wal_level minimal.)
		 */
		if (!XLogRecPtrIsInvalid(lsn))
			XLogFlush(lsn);
	}
	else
		UnlockReleaseBuffer(buffer);

	if (own)
		slot->own_mark = mark;
	else
	{
		pg_memory_barrier();
		pg_atomic_write_u64(&slot->reserved, mark);
		pg_atomic_write_u64(&slot->renew_at,
							mark > layout->max_word ? mark : mark - ahead / 2);
	}
	LWLockRelease(&slot->lock);
	relation_close(sequence, RowExclusiveLock);

	/*
	 * With a transaction id, the commit waits for a synchronous standby to get
	 * the mark, as that of nextval() does.
	 */
	if (written && !IsInParallelMode())
		(void) GetTopTransactionId();
	return own ? mark : 0;
}

/* ------------------------------------------------------------------------
 * Shared memory
 * ------------------------------------------------------------------------
 */

/* The lock's names differ between versions, and so does who remembers them. */
#if PG_VERSION_NUM >= 190000
#define NEW_TRANCHE()			LWLockNewTrancheId("idgen")
#define REGISTER_TRANCHE(id)	((void) (id))
#else
#define NEW_TRANCHE()			LWLockNewTrancheId()
#define REGISTER_TRANCHE(id)	LWLockRegisterTranche(id, "idgen")
#endif

static Size
table_size(int size)
{
	return offsetof(TickerTable, slots) + size * sizeof(TickerSlotPadded);
}

static void
initialize_table(TickerTable *new_table, int size)
{
	memset(new_table, 0, table_size(size));
	new_table->size = size;
	new_table->tranche = NEW_TRANCHE();
	LWLockInitialize(&new_table->lock, new_table->tranche);
}

#if PG_VERSION_NUM >= 170000

#if PG_VERSION_NUM >= 190000
static void
initialize_segment(void *segment, void *arg)
{
	(void) arg;
	initialize_table(segment, MANY_SLOTS);
}
#define GET_SEGMENT(name, size, found) \
	GetNamedDSMSegment(name, size, initialize_segment, found, NULL)
#else
static void
initialize_segment(void *segment)
{
	initialize_table(segment, MANY_SLOTS);
}
#define GET_SEGMENT(name, size, found) \
	GetNamedDSMSegment(name, size, initialize_segment, found)
#endif

void
ticker_request_shared_memory(void)
{
	/* a segment is made when somebody needs it */
}

static TickerTable *
find_table(void)
{
	bool		found;

	return GET_SEGMENT("idgen", table_size(MANY_SLOTS), &found);
}

#else							/* PG_VERSION_NUM < 170000 */

#if PG_VERSION_NUM >= 150000
static shmem_request_hook_type previous_shmem_request_hook = NULL;

static void
request_table(void)
{
	if (previous_shmem_request_hook)
		previous_shmem_request_hook();
	RequestAddinShmemSpace(table_size(MANY_SLOTS));
}
#endif

/*
 * To be called while the library is loaded.  Where the postmaster does that,
 * the tickers get memory of their own, or else they make do with a little of
 * what the server has left over.
 */
void
ticker_request_shared_memory(void)
{
	if (!process_shared_preload_libraries_in_progress)
		return;

	preloaded = true;
#if PG_VERSION_NUM >= 150000
	previous_shmem_request_hook = shmem_request_hook;
	shmem_request_hook = request_table;
#else
	RequestAddinShmemSpace(table_size(MANY_SLOTS));
#endif
}

static TickerTable *
find_table(void)
{
	int			size = preloaded ? MANY_SLOTS : FEW_SLOTS;
	TickerTable *found_table;
	bool		found;

	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	found_table = ShmemInitStruct("idgen", table_size(size), &found);
	if (!found)
		initialize_table(found_table, size);
	LWLockRelease(AddinShmemInitLock);
	return found_table;
}

#endif

/* A backend looks again where something happened to a sequence. */
static void
forget_slots(Datum arg, Oid relation)
{
	(void) arg;

	for (int kind = 0; kind < TICKER_KINDS; kind++)
		if (!OidIsValid(relation) || relation == sequences[kind])
			slots[kind] = NULL;
}

/*
 * Find the table, once.  Should memory run out on the way, the next call does
 * all of it again: a session with the table but no callback would not notice
 * what happens to a sequence.
 */
static void
use_table(void)
{
	TickerTable *found_table;

	if (table != NULL)
		return;

	found_table = find_table();
	REGISTER_TRANCHE(found_table->tranche);
	CacheRegisterRelcacheCallback(forget_slots, (Datum) 0);
	table = found_table;
}

/*
 * The slot of a ticker of this database, or NULL.  To be called with the
 * table's lock.
 */
static TickerSlot *
find_slot(Oid database, TickerKind kind)
{
	for (int i = 0; i < table->size; i++)
	{
		TickerSlot *slot = &table->slots[i].slot;

		if (slot->database == database &&
			(!OidIsValid(database) || slot->kind == kind))
			return slot;
	}
	return NULL;
}

/*
 * The same, or a free slot that is now this ticker's, or NULL where there is
 * none.
 */
static TickerSlot *
find_or_take_slot(TickerKind kind)
{
	TickerSlot *slot;

	LWLockAcquire(&table->lock, LW_EXCLUSIVE);
	slot = find_slot(MyDatabaseId, kind);
	if (slot == NULL && (slot = find_slot(InvalidOid, kind)) != NULL)
	{
		LWLockInitialize(&slot->lock, table->tranche);
		pg_atomic_init_u64(&slot->last, 0);
		pg_atomic_init_u64(&slot->reserved, 0);
		pg_atomic_init_u64(&slot->renew_at, 0);
		slot->own_mark = 0;
		slot->kind = kind;
		slot->database = MyDatabaseId;
	}
	LWLockRelease(&table->lock);
	return slot;
}

/*
 * Free the slots of databases that were dropped.  Nobody is connected to
 * those, so that nobody has a pointer to such a slot.
 */
static void
free_slots(void)
{
	for (int i = 0; i < table->size; i++)
	{
		TickerSlot *slot = &table->slots[i].slot;
		Oid			database;

		LWLockAcquire(&table->lock, LW_SHARED);
		database = slot->database;
		LWLockRelease(&table->lock);

		if (!OidIsValid(database) ||
			SearchSysCacheExists1(DATABASEOID, ObjectIdGetDatum(database)))
			continue;

		LWLockAcquire(&table->lock, LW_EXCLUSIVE);
		if (slot->database == database)
			slot->database = InvalidOid;
		LWLockRelease(&table->lock);
	}
}

/*
 * Find this database's ticker, and see that it is started and that the mark is
 * where it should be.  Sets *own_mark to what move_mark() says.
 */
static TickerSlot *
attach(TickerKind kind, uint64 *own_mark)
{
	const TickerLayout *layout = &ticker_layouts[kind];
	TickerSlot *slot;
	uint64		next;

	use_table();
	slot = find_or_take_slot(kind);
	if (slot == NULL)
	{
		free_slots();
		slot = find_or_take_slot(kind);
	}
	if (slot == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("too many databases of this server use %s() and its kin", layout->name),
				 errdetail("There is room for %d, each database and each function counting as one.",
						   table->size),
				 table->size < MANY_SLOTS ?
				 errhint("Add idgen to shared_preload_libraries to make room for %d.", MANY_SLOTS) : 0));

	next = Max(pg_atomic_read_u64(&slot->last) + 1, present_word(layout));
	if (next > layout->max_word)
		out_of_range(layout);
	*own_mark = move_mark(kind, slot, next);
	if (*own_mark == 0)
		slots[kind] = slot;
	return slot;
}

/* ------------------------------------------------------------------------
 * The view
 * ------------------------------------------------------------------------
 */

/* Where a layout's word lies in time; false where it has no clock. */
static bool
instant_of_word(const TickerLayout *layout, uint64 word, TimestampTz *instant)
{
	return layout->ms_per_tick > 0 &&
		clock_from_unix_ms((int64) ticker_tick(layout, word) * layout->ms_per_tick +
						   ticker_epoch_ms(layout), instant);
}

static TickerKind
ticker_kind_of_name(const char *name)
{
	for (int kind = 0; kind < TICKER_KINDS; kind++)
		if (strcmp(name, ticker_layouts[kind].name) == 0)
			return kind;

	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("there is no ticker of that name"),
			 errdetail("The name is \"%s\".",
					   pnstrdup(name, pg_mbcliplen(name, strlen(name), NAMEDATALEN))),
			 errhint("See the view idgen.tickers.")));
}

/*
 * ticker_state(layout text, OUT last_value bigint, OUT last_time timestamptz,
 *				OUT ahead interval, OUT reserved_value bigint,
 *				OUT reserved_until timestamptz)
 *
 * What this server knows of a ticker of this database (NULL until it starts),
 * and the mark in its sequence, which a standby has, too.
 */
PG_FUNCTION_INFO_V1(idgen_ticker_state);
Datum
idgen_ticker_state(PG_FUNCTION_ARGS)
{
	TickerKind	kind = ticker_kind_of_name(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	const TickerLayout *layout = &ticker_layouts[kind];
	TupleDesc	tupdesc;
	Datum		values[5];
	bool		nulls[5] = {true, true, true, true, true};
	TickerSlot *slot;
	uint64		last = 0;
	uint64		reserved;
	Relation	sequence;
	Buffer		buffer;
	Form_pg_sequence_data data;
	TimestampTz instant;

	if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");

	use_table();
	LWLockAcquire(&table->lock, LW_SHARED);
	slot = find_slot(MyDatabaseId, kind);
	if (slot != NULL)
		last = pg_atomic_read_u64(&slot->last);
	LWLockRelease(&table->lock);

	sequence = open_sequence(kind, AccessShareLock);
	buffer = ReadBuffer(sequence, 0);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	data = sequence_data(BufferGetPage(buffer));
	reserved = data->is_called ? data->last_value : 0;
	UnlockReleaseBuffer(buffer);
	relation_close(sequence, AccessShareLock);

	if (last != 0)
	{
		values[0] = Int64GetDatum((int64) last);
		nulls[0] = false;
		if (instant_of_word(layout, last, &instant))
		{
			TimestampTz now = GetCurrentTimestamp();

			values[1] = TimestampTzGetDatum(instant);
			values[2] = DirectFunctionCall2(timestamp_mi,
											TimestampGetDatum(Max(instant, now)),
											TimestampGetDatum(now));
			nulls[1] = nulls[2] = false;
		}
	}
	if (reserved != 0)
	{
		values[3] = Int64GetDatum((int64) reserved);
		nulls[3] = false;
		if (instant_of_word(layout, reserved, &instant))
		{
			values[4] = TimestampTzGetDatum(instant);
			nulls[4] = false;
		}
	}

	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(tupdesc), values, nulls)));
}
