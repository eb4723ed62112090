/*
 * own_sequence.c
 *	  The sequences of the extension, found and locked by name.
 *
 * The caller's search_path and privileges do not matter.  No code of another
 * role is executed.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "storage/lmgr.h"
#include "storage/sinval.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "own_sequence.h"

/* Raise 55000 if the sequence would lose its last values in a crash. */
static void
require_logged_sequence(Oid sequence, const char *name, const char *function)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(sequence));
	const FormData_pg_class *form;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for relation %u", sequence);
	form = (const FormData_pg_class *) GETSTRUCT(tuple);
	if (form->relkind != RELKIND_SEQUENCE || form->relpersistence != RELPERSISTENCE_PERMANENT)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("\"idgen.%s\" is not a logged sequence", name),
				 errdetail("After a crash, %s() would not know which values it has returned.", function)));
	ReleaseSysCache(tuple);
}

/*
 * Lock the sequence idgen.NAME, which an SQL function uses, so that it cannot
 * be altered, renamed or dropped during the transaction.  If another session
 * has replaced the sequence while this one waited for the lock, lock the new
 * sequence.
 */
Oid
lock_own_sequence(const char *name, const char *function)
{
	uint64		messages;
	Oid			sequence;

	do
	{
		messages = SharedInvalidMessageCounter;
		sequence = get_relname_relid(name, get_namespace_oid("idgen", true));
		if (!OidIsValid(sequence))
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_TABLE),
					 errmsg("sequence \"idgen.%s\" does not exist", name)));
		LockRelationOid(sequence, RowExclusiveLock);
	} while (messages != SharedInvalidMessageCounter);

	require_logged_sequence(sequence, name, function);
	return sequence;
}
