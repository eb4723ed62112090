/*-------------------------------------------------------------------------
 *
 * check_on_insert.c
 *	  The trigger that checks the identifiers which clients store.
 *
 * The rule is made from the trigger's arguments, once for each statement.  The
 * wall clock is its clock.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "catalog/pg_am.h"
#include "catalog/pg_index.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "validate.h"

/* The parsed arguments of a trigger, kept in fn_extra for the statement. */
typedef struct TriggerRule
{
	Oid			trigger_oid;
	int			attnum;
	Rule		rule;
} TriggerRule;

/* An argument of the trigger; NULL if it is omitted or empty. */
static const char *
trigger_argument(const Trigger *trigger, int argno)
{
	if (argno >= trigger->tgnargs || trigger->tgargs[argno][0] == '\0')
		return NULL;
	return trigger->tgargs[argno];
}

static const Interval *
trigger_interval(const Trigger *trigger, int argno)
{
	const char *text = trigger_argument(trigger, argno);

	if (text == NULL)
		return NULL;
	return DatumGetIntervalP(DirectFunctionCall3(interval_in,
												 CStringGetDatum(text),
												 ObjectIdGetDatum(InvalidOid),
												 Int32GetDatum(-1)));
}

/*
 * The number of a column by its name.  It must be of type uuid, or a domain
 * over it, and not generated.
 */
static int
uuid_column(Relation relation, const char *column)
{
	int			attnum = SPI_fnumber(RelationGetDescr(relation), column);

	if (attnum <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist",
						column, RelationGetRelationName(relation))));
	if (getBaseType(SPI_gettypeid(RelationGetDescr(relation), attnum)) != UUIDOID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of relation \"%s\" is not of type uuid",
						column, RelationGetRelationName(relation)),
				 errtablecol(relation, attnum)));
	if (TupleDescAttr(RelationGetDescr(relation), attnum - 1)->attgenerated != '\0')
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("column \"%s\" of relation \"%s\" is a generated column",
						column, RelationGetRelationName(relation)),
				 errdetail("Generated columns are computed after BEFORE triggers are called."),
				 errtablecol(relation, attnum)));
	return attnum;
}

/*
 * The rule from a trigger's arguments that follow column and scheme:
 * tolerance, period and prefix_bytes if the scheme has them, past_tolerance,
 * future_tolerance.
 */
static Rule
rule_from_trigger(const Trigger *trigger)
{
	const Scheme *scheme = scheme_by_name(trigger->tgargs[1]);
	int			past_argno = scheme->has_prefix ? 5 : 3;
	ShortPrefix prefix = short_prefix_default();

	if (trigger->tgnargs > past_argno + 2)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("too many arguments for check_on_insert with scheme \"%s\"",
						scheme->name),
				 errhint("The arguments are (column, scheme, tolerance%s, past_tolerance, future_tolerance).",
						 scheme->has_prefix ? ", period, prefix_bytes" : "")));

	if (scheme->has_prefix)
	{
		const char *bytes = trigger_argument(trigger, 4);

		prefix = short_prefix_make(trigger_interval(trigger, 3),
								   bytes ? pg_strtoint32(bytes) : DEFAULT_PREFIX_BYTES);
	}

	return rule_make(scheme, prefix,
					 trigger_interval(trigger, 2),
					 trigger_interval(trigger, past_argno),
					 trigger_interval(trigger, past_argno + 1));
}

/* The rule of the trigger that was fired. */
static const TriggerRule *
trigger_rule(FunctionCallInfo fcinfo, const TriggerData *data)
{
	const Trigger *trigger = data->tg_trigger;
	TriggerRule *kept = fcinfo->flinfo->fn_extra;

	if (kept == NULL || kept->trigger_oid != trigger->tgoid)
	{
		if (trigger->tgnargs < 2)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("check_on_insert requires a column and a scheme as arguments"),
					 errhint("For example, EXECUTE FUNCTION idgen.check_on_insert('id', 'short_comb').")));

		kept = MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof(TriggerRule));
		kept->trigger_oid = trigger->tgoid;
		kept->attnum = uuid_column(data->tg_relation, trigger->tgargs[0]);
		kept->rule = rule_from_trigger(trigger);
		fcinfo->flinfo->fn_extra = kept;	/* complete, if no error was raised */
	}
	return kept;
}

/*
 * A unique index on the column alone, whose violations are found when a row is
 * inserted; InvalidOid if there is none.
 */
static Oid
unique_index_on(Relation relation, int attnum)
{
	List	   *indexes = RelationGetIndexList(relation);
	Oid			found = InvalidOid;

	for (int i = 0; i < list_length(indexes) && !OidIsValid(found); i++)
	{
		Relation	index = index_open(list_nth_oid(indexes, i), AccessShareLock);
		const FormData_pg_index *form = index->rd_index;

		if (form->indisunique && form->indimmediate && form->indisvalid &&
			form->indnkeyatts == 1 && form->indkey.values[0] == attnum &&
			heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL) &&
			index->rd_rel->relam == BTREE_AM_OID &&
			get_opcode(get_opfamily_member(index->rd_opfamily[0], UUIDOID, UUIDOID,
										   BTEqualStrategyNumber)) == F_UUID_EQ)
			found = RelationGetRelid(index);
		index_close(index, AccessShareLock);
	}
	list_free(indexes);
	return found;
}

/*
 * Would the identifier conflict with a row of the table?
 *
 * As the unique check itself does, this reads the index without regard to the
 * transaction's snapshot, to privileges and to row-level security, and waits
 * for a transaction that has inserted or deleted such a row.  No function or
 * operator is looked up by name, and no other code of a role is executed.
 */
static bool
conflicts_with_row(Relation relation, int attnum, const pg_uuid_t *id)
{
	Oid			index = unique_index_on(relation, attnum);
	TransactionId in_progress;
	bool		found;

	if (!OidIsValid(index))
		return false;

	do
	{
		SnapshotData snapshot;
		ScanKeyData key;
		SysScanDesc scan;
		HeapTuple	tuple;
		ItemPointerData tid;

		InitDirtySnapshot(snapshot);
		ScanKeyInit(&key, attnum, BTEqualStrategyNumber, F_UUID_EQ, UUIDPGetDatum(id));
		scan = systable_beginscan(relation, index, true, &snapshot, 1, &key);
		tuple = systable_getnext(scan);
		found = HeapTupleIsValid(tuple);
		in_progress = InvalidTransactionId;
		if (found)
		{
			/* the scan has set them if a transaction in progress made the row, or deleted it */
			in_progress = TransactionIdIsValid(snapshot.xmin) ? snapshot.xmin : snapshot.xmax;
			tid = tuple->t_self;
		}
		systable_endscan(scan);

		if (TransactionIdIsValid(in_progress))
			XactLockTableWait(in_progress, relation, &tid, XLTW_InsertIndex);
	} while (TransactionIdIsValid(in_progress));

	return found;
}

/* Is the identifier of an updated row the same as before? */
static bool
is_unchanged(const TriggerData *data, int attnum, const pg_uuid_t *id)
{
	Datum		old;
	bool		isnull;

	if (!TRIGGER_FIRED_BY_UPDATE(data->tg_event))
		return false;
	old = heap_getattr(data->tg_trigtuple, attnum,
					   RelationGetDescr(data->tg_relation), &isnull);
	return !isnull && memcmp(DatumGetUUIDP(old), id, UUID_LEN) == 0;
}

/*
 * check_on_insert() returns trigger
 *	For a trigger BEFORE INSERT OR UPDATE FOR EACH ROW.  The trigger's arguments
 *	are the column, the scheme, and those of check_recent_...() without the
 *	clock, which is the wall clock; an empty one is the default.  A NULL
 *	identifier is accepted, as by a CHECK constraint.
 *
 *	A client that repeats an INSERT must learn that the row is there already.
 *	Therefore an identifier that will conflict with a row is left to the unique
 *	index, which raises 23505 or applies ON CONFLICT.
 */
PG_FUNCTION_INFO_V1(idgen_check_on_insert);
Datum
idgen_check_on_insert(PG_FUNCTION_ARGS)
{
	TriggerData *data = (TriggerData *) fcinfo->context;
	const TriggerRule *kept;
	HeapTuple	row;
	Datum		datum;
	bool		isnull;

	if (!CALLED_AS_TRIGGER(fcinfo) ||
		!TRIGGER_FIRED_BEFORE(data->tg_event) ||
		!TRIGGER_FIRED_FOR_ROW(data->tg_event) ||
		!(TRIGGER_FIRED_BY_INSERT(data->tg_event) ||
		  TRIGGER_FIRED_BY_UPDATE(data->tg_event)))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"check_on_insert\" must be fired BEFORE INSERT OR UPDATE FOR EACH ROW")));

	row = TRIGGER_FIRED_BY_UPDATE(data->tg_event) ? data->tg_newtuple : data->tg_trigtuple;
	kept = trigger_rule(fcinfo, data);
	datum = heap_getattr(row, kept->attnum, RelationGetDescr(data->tg_relation), &isnull);
	if (!isnull)
	{
		const pg_uuid_t *id = DatumGetUUIDP(datum);
		Window		window = rule_window(&kept->rule, GetCurrentTimestamp());

		if (!rule_accepts(&kept->rule, id, &window) &&
			!is_unchanged(data, kept->attnum, id) &&
			!conflicts_with_row(data->tg_relation, kept->attnum, id))
			rule_refuse(&kept->rule, id, &window, data->tg_trigger->tgname,
						data->tg_relation, kept->attnum);
	}
	return PointerGetDatum(row);
}
