/*-------------------------------------------------------------------------
 *
 * ticker_slots.c
 *	  The shared memory of the tickers: a table with a slot for each database
 *	  and ticker.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/procarray.h"
#include "storage/shmem.h"

#include "compat.h"
#include "ticker_slots.h"

/*
 * The number of tickers that a server has room for.  Before version 17, a
 * library that the postmaster does not load has little memory to share.
 */
#define MANY_SLOTS	4096
#define FEW_SLOTS	128

/* Each slot has a cache line of its own. */
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

static TickerTable *table = NULL;
static bool preloaded = false;
static shmem_request_hook_type previous_shmem_request_hook = NULL;

static Size
table_size(int slots)
{
	return offsetof(TickerTable, slots) + slots * sizeof(TickerSlotPadded);
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

	attached = get_named_segment("idgen", table_size(table_slots()),
								 initialize_table, &found);
	register_lwlock_tranche(attached->tranche, "idgen");
	/* after all that can fail, so that the next call repeats it */
	table = attached;
}

/*
 * The slot of a ticker of this database, or NULL.  The caller holds the
 * table's lock.
 */
static TickerSlot *
find_slot(int number)
{
	for (int i = 0; i < table->size; i++)
	{
		TickerSlot *slot = &table->slots[i].slot;

		if (slot->database == MyDatabaseId && slot->number == number)
			return slot;
	}
	return NULL;
}

/*
 * A free slot, or that of a database to which no backend is connected, such as
 * a dropped one; or NULL.  The caller holds the table's lock exclusively, and
 * a backend is connected before it looks for a slot, so that no backend has a
 * pointer to the slot.  A ticker that loses its slot starts at its high-water
 * mark, as after a restart.
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

TickerSlot *
ticker_slot(int number, const char *function)
{
	TickerSlot *slot;

	attach_table();

	LWLockAcquire(&table->lock, LW_EXCLUSIVE);
	slot = find_slot(number);
	if (slot == NULL && (slot = find_unused_slot()) != NULL)
	{
		LWLockInitialize(&slot->lock, table->tranche);
		pg_atomic_init_u64(&slot->last, 0);
		pg_atomic_init_u64(&slot->reserved, 0);
		pg_atomic_init_u64(&slot->renew_at, 0);
		slot->number = number;
		slot->database = MyDatabaseId;
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
	return slot;
}

uint64
ticker_slot_last(int number)
{
	TickerSlot *slot;
	uint64		last = 0;

	attach_table();

	LWLockAcquire(&table->lock, LW_SHARED);
	slot = find_slot(number);
	if (slot != NULL)
		last = pg_atomic_read_u64(&slot->last);
	LWLockRelease(&table->lock);
	return last;
}
