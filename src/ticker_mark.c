/*
 * ticker_mark.c
 *	  The high-water marks of the tickers.
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
 * Two heavyweight locks protect a renewal, both taken before anything is read,
 * so that a session that waits can be canceled and deadlocks are detected:
 *
 * - RowExclusiveLock on the sequence, kept to the end of the transaction as by
 *   nextval(), so that the sequence is not altered, renamed or dropped;
 * - a lock of its own, held while the high-water mark is read, written, flushed
 *   and published, so that one session at a time does so.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/namespace.h"
#include "catalog/pg_authid_d.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/proc.h"
#include "storage/sinval.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "compat.h"
#include "ticker_internal.h"

/* The subtransaction that first gave a relation another file. */
#if PG_VERSION_NUM >= 160000
#define NEW_FILE_SUBID	rd_firstRelfilelocatorSubid
#else
#define NEW_FILE_SUBID	rd_firstRelfilenodeSubid
#endif

static char *
sequence_name(const TickerLayout *layout)
{
	return psprintf("%s_ticker", layout->name);
}

/* The function that raises a ticker. */
static char *
raising_function(const TickerLayout *layout)
{
	return layout->ms_per_tick > 0 ? "idgen.raise_ticker()" :
		psprintf("idgen.raise_%s()", layout->name);
}

/*
 * Lock the relation of that name in schema idgen; InvalidOid if there is none.
 * While the lock is awaited, another transaction may rename, drop and create
 * relations, so the name is looked up until the result does not change, as
 * RangeVarGetRelid() does.  (That function requires USAGE on the schema.)
 */
static Oid
lock_relation(const char *name, LOCKMODE lockmode)
{
	Oid			locked = InvalidOid;

	for (;;)
	{
		uint64		messages = SharedInvalidMessageCounter;
		Oid			found = get_relname_relid(name, get_namespace_oid("idgen", true));

		if (OidIsValid(locked))
		{
			if (found == locked)
				return found;
			UnlockRelationOid(locked, lockmode);
		}

		/* this processes messages about changes */
		if (OidIsValid(found))
			LockRelationOid(found, lockmode);
		else
		{
			AcceptInvalidationMessages();
			if (messages == SharedInvalidMessageCounter)
				return InvalidOid;
		}
		locked = found;
	}
}

/* Open and lock a ticker's sequence; 42P01 if it does not exist. */
static Relation
open_sequence(Ticker *ticker, LOCKMODE lockmode)
{
	char	   *name = sequence_name(ticker->layout);
	Oid			oid = lock_relation(name, lockmode);
	Relation	sequence = OidIsValid(oid) ? relation_open(oid, NoLock) : NULL;

	if (sequence == NULL || sequence->rd_rel->relkind != RELKIND_SEQUENCE)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("sequence \"idgen.%s\" does not exist", name),
				 errhint("Create it again with CREATE SEQUENCE idgen.%s. If the server was restarted since it was lost, raise it above all identifiers with %s.",
						 name, raising_function(ticker->layout))));
	ticker->sequence = oid;
	return sequence;
}

/*
 * Did this transaction create the sequence, or give it another file or name?
 * Then no other session sees it in the ticker's place, and a rollback removes
 * it.  The row of pg_class that a rename replaced has another name or schema.
 */
static bool
is_private(Relation sequence)
{
	bool		private = sequence->rd_createSubid != InvalidSubTransactionId ||
		sequence->NEW_FILE_SUBID != InvalidSubTransactionId;
	Relation	catalog;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	row;

	if (private || !TransactionIdIsValid(GetTopTransactionIdIfAny()))
		return private;

	catalog = table_open(RelationRelationId, AccessShareLock);
	ScanKeyInit(&key, Anum_pg_class_oid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(RelationGetRelid(sequence)));
	scan = systable_beginscan(catalog, ClassOidIndexId, true, SnapshotAny, 1, &key);
	while (!private && HeapTupleIsValid(row = systable_getnext(scan)))
	{
		const FormData_pg_class *form = (const FormData_pg_class *) GETSTRUCT(row);
		bool		is_replaced =
			!TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(row->t_data)) &&
			TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetUpdateXid(row->t_data));

		private = is_replaced && (form->relnamespace != RelationGetNamespace(sequence) ||
								  namestrcmp(&sequence->rd_rel->relname, NameStr(form->relname)) != 0);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return private;
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
 * Call one of the server's functions for sequences with all rights; 0 if it
 * returns NULL.  The rights do not depend on the sequence's owner, who may have
 * revoked his own: from version 17 on, pg_sequence_last_value() then returns
 * NULL, as for a sequence without a value.  Neither function runs code of
 * another role.
 */
static int64
call_with_all_rights(PGFunction function, Relation sequence, int nargs, int64 value)
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
	SetUserIdAndSecContext(BOOTSTRAP_SUPERUSERID,
						   security | SECURITY_LOCAL_USERID_CHANGE);
	result = function(call);
	SetUserIdAndSecContext(caller, security);

	return call->isnull ? 0 : DatumGetInt64(result);
}

/* The high-water mark that the sequence contains; 0 if it has none. */
static uint64
read_high_water_mark(Relation sequence)
{
	return Max(call_with_all_rights(pg_sequence_last_value, sequence, 1, 0), 0);
}

/* Store a high-water mark, and flush it, because values below it are returned next. */
static void
write_high_water_mark(Relation sequence, uint64 mark)
{
	(void) call_with_all_rights(setval_oid, sequence, 2, (int64) mark);
	XLogFlush(XactLastRecEnd);
}

/* The high-water mark in a ticker's sequence; 0 if it has none. */
uint64
ticker_stored_mark(Ticker *ticker)
{
	Relation	sequence = open_sequence(ticker, AccessShareLock);
	uint64		mark = read_high_water_mark(sequence);

	relation_close(sequence, AccessShareLock);
	return mark;
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

/* The number of values to reserve at a time. */
static uint64
values_ahead(const TickerLayout *layout)
{
	if (layout->ms_per_tick == 0)
		return layout->values_ahead;
	return ticker_values_of_ticks(layout, ticker_reserve_ahead_setting * MS_PER_SECOND / layout->ms_per_tick);
}

/* The HINT for a sequence whose value is not usable. */
static int
hint_to_restart(const TickerLayout *layout)
{
	return errhint("Use ALTER SEQUENCE idgen.%s RESTART; then the next call writes the value that this server has in memory. "
				   "If the server was restarted since the value was set, raise the ticker above all identifiers with %s before that call.",
				   sequence_name(layout), raising_function(layout));
}

/*
 * Raise 55000 if the sequence has a value that must not be continued from: one
 * that no identifier has, or one that was set elsewhere and is so far ahead of
 * the clock that each call would wait.  A ticker without a clock continues from
 * any greater value.
 */
static void
require_usable_mark(const TickerLayout *layout, uint64 stored, bool set_elsewhere)
{
	bool		out_of_range = stored > layout->max_value + 1;
	uint64		first_reserved = stored - Min(stored, values_ahead(layout));
	bool		too_far = set_elsewhere &&
		ticker_too_far_ahead_ms(layout, ticker_tick(layout, first_reserved),
								ticker_present_value(layout)) > 0;

	if (out_of_range)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("value of sequence \"idgen.%s\" is out of range for %s()",
						sequence_name(layout), layout->name),
				 errdetail("The value is " UINT64_FORMAT "; the maximum is " UINT64_FORMAT ".",
						   stored, layout->max_value + 1),
				 hint_to_restart(layout)));
	if (too_far)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("value of sequence \"idgen.%s\" is too far ahead of the clock",
						sequence_name(layout)),
				 errdetail("%s() did not write the value " UINT64_FORMAT ", which is ahead by more than idgen.max_ahead.",
						   layout->name, stored),
				 hint_to_restart(layout)));
}

/*
 * The high-water mark that the sequence should contain.  "stored" is the one
 * that it contains; it is the result if it is far enough above the value "next".
 * "reserved" is the one in shared memory.
 */
static uint64
choose_high_water_mark(const TickerLayout *layout, uint64 next, uint64 stored, uint64 reserved,
					   bool private)
{
	uint64		ahead = values_ahead(layout);
	bool		half_is_left = next + ahead / 2 < reserved;
	bool		is_greatest = reserved > layout->max_value;
	bool		is_high_enough = private ? next < stored && reserved <= stored :
		stored == reserved && (half_is_left || is_greatest);
	uint64		mark;

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
	 * a session that reads the new high-water mark must not read an older
	 * last value
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
 * In a transaction that created the sequence, its file or its name, the
 * high-water mark is private, because a rollback removes it.  Then it is the
 * result, which is 0 otherwise: this transaction may use values below it, but
 * has to attach for each value.  The one in shared memory does not change
 * meanwhile, because the other sessions cannot lock the sequence.
 */
uint64
ticker_reserve(Ticker *ticker, TickerSlot *slot, uint64 next)
{
	const TickerLayout *layout = ticker->layout;
	Relation	sequence = open_sequence(ticker, RowExclusiveLock);
	bool		private = is_private(sequence);
	bool		is_ours;
	uint64		reserved;
	uint64		stored;
	uint64		mark;

	require_logged(layout, sequence);

	/*
	 * setval() reads this row.  If it has to wait for a lock on the catalog,
	 * it should do so before it makes other sessions wait.
	 */
	(void) SearchSysCacheExists1(SEQRELID, ObjectIdGetDatum(RelationGetRelid(sequence)));

	/*
	 * One session at a time renews the high-water mark.  The server itself
	 * locks relations in another way, so that nothing else takes this lock.
	 * (A page lock would not do: the deadlock detector ignores it.)
	 */
	LockDatabaseObject(RelationRelationId, RelationGetRelid(sequence), 0, ExclusiveLock);

	/* values begin with 1, even if the sequence does not */
	stored = Max(read_high_water_mark(sequence), 1);
	reserved = pg_atomic_read_u64(&slot->reserved);
	/* did this ticker write it, here or in a transaction that has committed? */
	is_ours = stored == reserved || (stored > reserved && stored == pg_atomic_read_u64(&slot->private_mark));

	/*
	 * If the ticker starts, it wrote the value before, or another server did,
	 * and the clock may have been set back since.
	 */
	require_usable_mark(layout, stored, !is_ours && reserved != 0 && stored > reserved);
	if (!is_ours)
		raise_last(slot, stored - 1);	/* values continue there */

	mark = choose_high_water_mark(layout, next, stored, reserved, private);
	if (mark > stored)
		write_high_water_mark(sequence, mark);

	if (private)
		pg_atomic_write_u64(&slot->private_mark, mark);
	else
		publish_high_water_mark(layout, slot, mark);

	UnlockDatabaseObject(RelationRelationId, RelationGetRelid(sequence), 0, ExclusiveLock);
	relation_close(sequence, NoLock);
	return private ? mark : 0;
}

/* A backend attaches again after DDL on a sequence. */
static void
detach(Datum arg pg_attribute_unused(), Oid relation)
{
	for (Ticker *ticker = ticker_list; ticker != NULL; ticker = ticker->next)
	{
		if (!OidIsValid(relation) || relation == ticker->sequence)
			ticker->slot = NULL;
	}
}

/*
 * Does the sequence still contain the high-water mark?  A restore of data, for
 * example, may have set it back.  A sequence that is being altered is not looked
 * at: the backend attaches again when that is committed.
 */
static bool
has_stored_mark(Ticker *ticker)
{
	Relation	sequence;
	bool		is_stored;

	if (!ConditionalLockRelationOid(ticker->sequence, RowExclusiveLock))
		return true;
	if (ticker->slot == NULL)	/* altered before the lock was there */
		return false;

	sequence = relation_open(ticker->sequence, NoLock);
	is_stored = read_high_water_mark(sequence) == pg_atomic_read_u64(&ticker->slot->reserved);
	relation_close(sequence, NoLock);
	return is_stored;
}

/*
 * Find this database's ticker, and make sure that it is started and that its
 * high-water mark is high enough.  Sets *private_mark to the result of
 * ticker_reserve().  A backend that is attached does so again if the sequence
 * has another value, which each transaction checks once.
 */
TickerSlot *
ticker_attach(Ticker *ticker, uint64 *private_mark)
{
	static bool notices_ddl = false;
	const TickerLayout *layout = ticker->layout;
	TickerSlot *slot;
	uint64		next;

	/* a parallel worker does not know of changes of the sequence */
	PreventCommandIfParallelMode(psprintf("%s()", layout->name));

	ticker->transaction = MY_LOCAL_TRANSACTION_ID;
	*private_mark = 0;
	if (ticker->slot != NULL && has_stored_mark(ticker))
		return ticker->slot;

	if (!notices_ddl)
	{
		CacheRegisterRelcacheCallback(detach, (Datum) 0);
		notices_ddl = true;
	}

	slot = ticker_slot(ticker->number, layout->name);
	next = Max(pg_atomic_read_u64(&slot->last) + 1, ticker_present_value(layout));
	*private_mark = ticker_reserve(ticker, slot, next);
	if (*private_mark == 0)
		ticker->slot = slot;
	return slot;
}

/*
 * From now on, return values above this one only, in all sessions.  Never
 * lowers the ticker.  Requires UPDATE on the sequence.  "function" is for
 * messages.
 */
void
ticker_raise(Ticker *ticker, uint64 above, const char *function)
{
	Relation	sequence;
	AclResult	right;
	TickerSlot *slot;
	uint64		private_mark;

	if (XactReadOnly)
		ticker_refuse_to_write(function);

	sequence = open_sequence(ticker, RowExclusiveLock);
	right = pg_class_aclcheck(RelationGetRelid(sequence), GetUserId(), ACL_UPDATE);
	if (right != ACLCHECK_OK)
		aclcheck_error(right, OBJECT_SEQUENCE, RelationGetRelationName(sequence));
	relation_close(sequence, NoLock);

	slot = ticker_attach(ticker, &private_mark);
	raise_last(slot, above);
	(void) ticker_reserve(ticker, slot, above + 1);
}
