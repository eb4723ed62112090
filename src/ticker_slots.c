/*
 * ticker_slots.c
 *	  The shared memory of the tickers: a table with a slot for each database
 *	  and ticker.
 *
 * If there are more tickers than slots, those of a database to which no backend
 * is connected are evicted: their values are kept in a denser list, from which
 * they return to a slot when they are used again.  If that list is full, too,
 * an earlier entry is overwritten; its ticker starts at its high-water mark, as
 * after a restart.
 *
 * A database that gets the OID of a dropped one continues above the values of
 * that one, which does no harm.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/procarray.h"
#include "storage/shmem.h"
#include "utils/syscache.h"

#include "shared_memory.h"
#include "ticker_internal.h"

/*
 * The name contains the version of the layout of TickerTable: a library with
 * another layout, installed while the server runs, uses a table of its own.
 */
#define SEGMENT_NAME	"idgen tickers, layout 1"

/*
 * The number of tickers that a server has room for.  Before version 17, a
 * library that the postmaster does not load has little memory to share.
 */
#define MANY_SLOTS	4096
#define FEW_SLOTS	128

/* the number of evicted tickers that are remembered, for each slot */
#define EVICTED_PER_SLOT	8

/* Each slot has a cache line of its own. */
typedef union TickerSlotPadded
{
	TickerSlot	slot;
	char		pad[PG_CACHE_LINE_SIZE];
} TickerSlotPadded;

typedef struct EvictedTicker
{
	uint64		last;
	uint64		reserved;
	Oid			database;
	int			number;
} EvictedTicker;

typedef struct TickerTable
{
	LWLock		lock;			/* held to look for a slot, and to take one */
	int			tranche;
	int			size;			/* number of slots */
	int			used;			/* the first ones are in use */
	int			next_victim;	/* the slot to evict next, if possible */
	int			evicted;		/* number of entries after the slots */
	int			next_overwritten;	/* the entry to overwrite next */
	pg_atomic_flag warned;		/* about scarce slots */
	TickerSlotPadded slots[FLEXIBLE_ARRAY_MEMBER];
} TickerTable;

static TickerTable *table = NULL;
static bool preloaded = false;
static shmem_request_hook_type previous_shmem_request_hook = NULL;

static Size
table_size(int slots)
{
	return offsetof(TickerTable, slots) +
		slots * (sizeof(TickerSlotPadded) + EVICTED_PER_SLOT * sizeof(EvictedTicker));
}

static int
table_slots(void)
{
	return HAVE_DSM_REGISTRY || preloaded ? MANY_SLOTS : FEW_SLOTS;
}

static void
initialize_table(INIT_SEGMENT_ARGS)
{
	TickerTable *new_table = segment;

	memset(new_table, 0, table_size(table_slots()));
	new_table->size = table_slots();
	new_table->tranche = new_lwlock_tranche("idgen");
	LWLockInitialize(&new_table->lock, new_table->tranche);
	pg_atomic_init_flag(&new_table->warned);
}

static void
request_table(void)
{
	if (previous_shmem_request_hook)
		previous_shmem_request_hook();
	RequestAddinShmemSpace(table_size(MANY_SLOTS));
}

/*
 * Request shared memory, if its amount is fixed when the server starts and the
 * postmaster is loading the library.
 */
void
ticker_slots_request(void)
{
	if (HAVE_DSM_REGISTRY || !process_shared_preload_libraries_in_progress)
		return;

	preloaded = true;
	previous_shmem_request_hook = shmem_request_hook;
	shmem_request_hook = request_table;
}

static void
attach_table(void)
{
	TickerTable *attached;
	bool		found;

	if (table != NULL)
		return;

	attached = get_named_segment(SEGMENT_NAME, table_size(table_slots()),
								 initialize_table, &found);
	register_lwlock_tranche(attached->tranche, "idgen");
	/* after all that can fail, so that the next call repeats it */
	table = attached;
}

/*
 * The functions below require the table's lock, exclusively unless they only
 * look for something.
 */

/* The slot of a ticker of this database, or NULL. */
static TickerSlot *
find_slot(int number)
{
	for (int i = 0; i < table->used; i++)
	{
		TickerSlot *slot = &table->slots[i].slot;

		if (slot->database == MyDatabaseId && slot->number == number)
			return slot;
	}
	return NULL;
}

static EvictedTicker *
evicted_tickers(void)
{
	return (EvictedTicker *) &table->slots[table->size];
}

/* The entry of an evicted ticker of this database, or NULL. */
static EvictedTicker *
find_evicted(int number)
{
	EvictedTicker *evicted = evicted_tickers();

	for (int i = 0; i < table->evicted; i++)
	{
		if (evicted[i].database == MyDatabaseId && evicted[i].number == number)
			return &evicted[i];
	}
	return NULL;
}

/* Keep the values of a ticker that loses its slot. */
static void
remember_evicted(TickerSlot *slot)
{
	EvictedTicker *entry;

	if (table->evicted < table->size * EVICTED_PER_SLOT)
		entry = &evicted_tickers()[table->evicted++];
	else
	{
		entry = &evicted_tickers()[table->next_overwritten];
		table->next_overwritten = (table->next_overwritten + 1) % table->evicted;
	}

	entry->last = pg_atomic_read_u64(&slot->last);
	entry->reserved = pg_atomic_read_u64(&slot->reserved);
	entry->database = slot->database;
	entry->number = slot->number;
}

/*
 * A slot that was never used, or that of a database to which no backend is
 * connected, such as a dropped one; or NULL.  A backend is connected before it
 * looks for a slot, so that no backend has a pointer to that slot.  Candidates
 * are considered in turn, so that databases that take turns do not evict each
 * other.  Sets *victim to the database that lost a ticker.
 */
static TickerSlot *
take_slot(Oid *victim)
{
	if (table->used < table->size)
		return &table->slots[table->used++].slot;

	for (int i = 0; i < table->size; i++)
	{
		TickerSlot *slot = &table->slots[table->next_victim].slot;

		table->next_victim = (table->next_victim + 1) % table->size;
		if (slot->database != MyDatabaseId && CountDBBackends(slot->database) == 0)
		{
			remember_evicted(slot);
			*victim = slot->database;
			return slot;
		}
	}
	return NULL;
}

/* Give a slot to this database's ticker, which continues if it was evicted. */
static void
fill_slot(TickerSlot *slot, int number)
{
	EvictedTicker *evicted = find_evicted(number);

	pg_atomic_init_u64(&slot->last, evicted ? evicted->last : 0);
	pg_atomic_init_u64(&slot->reserved, evicted ? evicted->reserved : 0);
	pg_atomic_init_u64(&slot->renew_at, 0);
	pg_atomic_init_u64(&slot->private_mark, 0);
	slot->number = number;
	slot->database = MyDatabaseId;

	if (evicted)
		*evicted = evicted_tickers()[--table->evicted];
}

/* Once while the server runs, warn that a database lost a ticker. */
static void
warn_of_eviction(Oid database)
{
	bool		is_dropped = !SearchSysCacheExists1(DATABASEOID, ObjectIdGetDatum(database));

	if (is_dropped || !pg_atomic_test_set_flag(&table->warned))
		return;
	ereport(WARNING,
			(errmsg("tickers of databases without sessions are removed from memory"),
			 errdetail("There is room for %d tickers; each database and each function counts as one. "
					   "Those removed last continue after their last value, others at their high-water mark.",
					   table->size),
			 table->size < MANY_SLOTS ?
			 errhint("Add idgen to shared_preload_libraries to raise the limit to %d.", MANY_SLOTS) : 0));
}

/* The slot of this database's ticker.  "function" is for the error message. */
TickerSlot *
ticker_slot(int number, const char *function)
{
	TickerSlot *slot;
	Oid			victim = InvalidOid;

	attach_table();

	LWLockAcquire(&table->lock, LW_EXCLUSIVE);
	slot = find_slot(number);
	if (slot == NULL)
	{
		slot = take_slot(&victim);
		if (slot != NULL)
			fill_slot(slot, number);
	}
	LWLockRelease(&table->lock);

	if (slot == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("too many databases of this server use %s() and similar functions",
						function),
				 errdetail("The limit is %d; each database and each function counts as one.",
						   table->size),
				 table->size < MANY_SLOTS ?
				 errhint("Add idgen to shared_preload_libraries to raise the limit to %d.", MANY_SLOTS) : 0));
	if (OidIsValid(victim))
		warn_of_eviction(victim);
	return slot;
}

/* The value that a ticker returned last; 0 if it has not started. */
uint64
ticker_slot_last(int number)
{
	TickerSlot *slot;
	EvictedTicker *evicted;
	uint64		last = 0;

	attach_table();

	LWLockAcquire(&table->lock, LW_SHARED);
	slot = find_slot(number);
	if (slot != NULL)
		last = pg_atomic_read_u64(&slot->last);
	else if ((evicted = find_evicted(number)) != NULL)
		last = evicted->last;
	LWLockRelease(&table->lock);
	return last;
}
