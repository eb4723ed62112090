/*
 * check_recent_id.c
 *	  The triggers that check the identifiers which clients store.
 *
 * check_recent_hmac_id() is a function of its own, because its EXECUTE privilege
 * is not for PUBLIC: a role that could make such a trigger on a table of its own
 * would learn the time of any key by trying tolerances.
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

#include "arguments.h"
#include "validate.h"

/* The parsed arguments of a trigger, kept in fn_extra for the statement. */
typedef struct TriggerRule
{
	Oid			trigger_oid;
	int			attnum;
	Rule		rule;
} TriggerRule;

/* The arguments "name=value". */
enum
{
	TOLERANCE, PAST_TOLERANCE, FUTURE_TOLERANCE, PERIOD, PREFIX_BYTES, KEY_NAME, AREA
};

static const char *const argument_names[] = {
	"tolerance", "past_tolerance", "future_tolerance", "period", "prefix_bytes", "key_name", "area"
};

static bool
has_argument(const Scheme *scheme, int argument)
{
	switch (argument)
	{
		case PERIOD:
			return scheme->time != TIME_IN_MS;
		case PREFIX_BYTES:
			return scheme->time == TIME_IN_PREFIX;
		case KEY_NAME:
		case AREA:
			return scheme->time == TIME_IS_HASHED;
		default:
			return true;
	}
}

static const Interval *
read_interval(const char *text)
{
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
 * Set a value from an argument "name=value".  A name that the scheme does not
 * have, or that was given before, is an error (22023).
 */
static void
read_argument(const Scheme *scheme, const char *argument, const char **values)
{
	const char *equals = strchr(argument, '=');

	for (int i = 0; i < (int) lengthof(argument_names) && equals != NULL; i++)
	{
		if (has_argument(scheme, i) && values[i] == NULL &&
			strlen(argument_names[i]) == (Size) (equals - argument) &&
			strncmp(argument_names[i], argument, equals - argument) == 0)
		{
			values[i] = equals + 1;
			return;
		}
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 scheme->time == TIME_IS_HASHED ?
			 errmsg("invalid argument \"%s\" for check_recent_hmac_id", argument) :
			 errmsg("invalid argument \"%s\" for check_recent_id with scheme \"%s\"",
					argument, scheme->name),
			 errhint("After %s, the arguments are of the form name=value, each name at most once: tolerance, "
					 "past_tolerance, future_tolerance%s.",
					 scheme->time == TIME_IS_HASHED ? "the column" : "column and scheme",
					 scheme->time == TIME_IS_HASHED ? ", period, area, key_name" :
					 scheme->time == TIME_IN_PREFIX ? ", period, prefix_bytes" : "")));
}

/* Set area and keys of a rule from a trigger's arguments. */
static void
set_keys(Rule *rule, const char *area, const char *key_names)
{
	if (area == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("check_recent_hmac_id requires the argument \"area=...\""),
				 errhint("For example, EXECUTE FUNCTION idgen.check_recent_hmac_id('id', 'area=orders').")));
	rule_set_keys(rule, area_in_utf8(cstring_to_text(area)),
				  cstring_to_text(key_names == NULL ? "shared" : key_names));
}

/* The rule of a scheme from a trigger's arguments, those from "first" on. */
static Rule
rule_from_trigger(const Scheme *scheme, const Trigger *trigger, int first)
{
	const char *values[lengthof(argument_names)] = {NULL};
	const char *bytes;
	const char *period;
	Rule		rule;

	for (int i = first; i < trigger->tgnargs; i++)
		read_argument(scheme, trigger->tgargs[i], values);

	bytes = values[PREFIX_BYTES];
	period = values[PERIOD];
	if (period == NULL && scheme->time == TIME_IS_HASHED)
		period = "1 hour";		/* as of hmac_comb() */
	rule = rule_make(scheme,
					 short_prefix_make(read_interval(period),
									   bytes ? pg_strtoint32(bytes) : DEFAULT_PREFIX_BYTES),
					 read_interval(values[TOLERANCE]), read_interval(values[PAST_TOLERANCE]),
					 read_interval(values[FUTURE_TOLERANCE]));
	if (scheme->time == TIME_IS_HASHED)
		set_keys(&rule, values[AREA], values[KEY_NAME]);
	return rule;
}

/*
 * The rule of the trigger that was fired.  "scheme" is NULL if it is the second
 * argument of the trigger.
 */
static const TriggerRule *
trigger_rule(FunctionCallInfo fcinfo, const TriggerData *data, const Scheme *scheme)
{
	const Trigger *trigger = data->tg_trigger;
	TriggerRule *kept = fcinfo->flinfo->fn_extra;

	if (kept == NULL || kept->trigger_oid != trigger->tgoid)
	{
		int			first = scheme == NULL ? 2 : 1;
		MemoryContext caller;

		if (trigger->tgnargs < first)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 scheme != NULL ?
					 errmsg("check_recent_hmac_id requires a column as argument") :
					 errmsg("check_recent_id requires a column and a scheme as arguments"),
					 scheme != NULL ?
					 errhint("For example, EXECUTE FUNCTION idgen.check_recent_hmac_id('id', 'area=orders').") :
					 errhint("For example, EXECUTE FUNCTION idgen.check_recent_id('id', 'short_comb').")));

		if (scheme == NULL)
			scheme = scheme_by_name(trigger->tgargs[1]);
		/* what the rule points to must live as long as the rule */
		caller = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
		kept = palloc(sizeof(TriggerRule));
		kept->trigger_oid = trigger->tgoid;
		kept->attnum = uuid_column(data->tg_relation, trigger->tgargs[0]);
		kept->rule = rule_from_trigger(scheme, trigger, first);
		MemoryContextSwitchTo(caller);
		fcinfo->flinfo->fn_extra = kept;	/* complete, if no error was
											 * raised */
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
 * Scan the index with this snapshot for a row with the identifier; set *tid to
 * its location, and return false if there is none.
 */
static bool
row_is_visible(Relation relation, Oid index, int attnum, const pg_uuid_t *id,
			   Snapshot snapshot, ItemPointer tid)
{
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, attnum, BTEqualStrategyNumber, F_UUID_EQ, UUIDPGetDatum(id));
	scan = systable_beginscan(relation, index, true, snapshot, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
		*tid = tuple->t_self;
	systable_endscan(scan);
	return HeapTupleIsValid(tuple);
}

/*
 * Would the identifier conflict with a row of the table?
 *
 * As the unique check itself does, this reads the index without regard to the
 * transaction's snapshot, to privileges and to row-level security, and waits
 * for a transaction that has inserted or deleted such a row.  No function or
 * operator is looked up by name, and no other code of a role is executed.
 *
 * A scan with a dirty snapshot reads the places of the row's versions before it
 * visits them, so that it misses a row that another session updates and commits
 * in between.  (The unique check locks the index page meanwhile.)  Such a row is
 * visible to the latest snapshot.
 */
static bool
conflicts_with_row(Relation relation, int attnum, const pg_uuid_t *id)
{
	Oid			index = unique_index_on(relation, attnum);
	ItemPointerData tid;
	Snapshot	latest;
	bool		found;

	if (!OidIsValid(index))
		return false;

	for (;;)
	{
		SnapshotData dirty;
		TransactionId in_progress;

		InitDirtySnapshot(dirty);
		if (!row_is_visible(relation, index, attnum, id, &dirty, &tid))
			break;

		/*
		 * the scan has set them if a transaction in progress made the row, or
		 * deleted it
		 */
		in_progress = TransactionIdIsValid(dirty.xmin) ? dirty.xmin : dirty.xmax;
		if (!TransactionIdIsValid(in_progress))
			return true;
		if (dirty.speculativeToken != 0)
			SpeculativeInsertionWait(in_progress, dirty.speculativeToken);
		else
			XactLockTableWait(in_progress, relation, &tid, XLTW_InsertIndex);
	}

	latest = RegisterSnapshot(GetLatestSnapshot());

	/*
	 * The unique check also sees what this command did: a row that it deleted
	 * is gone, one that it inserted is there.  InvalidCommandId is greater
	 * than each command, so the snapshot sees them all as done.
	 */
	latest->curcid = InvalidCommandId;
	found = row_is_visible(relation, index, attnum, id, latest, &tid);

	/*
	 * A unit of work may delete a row, or change its identifier, and insert it
	 * again.  FirstCommandId is not greater than any command, so the snapshot
	 * sees all deletions of this transaction as not yet done, and none of its
	 * own rows.
	 */
	if (!found)
	{
		latest->curcid = FirstCommandId;
		found = row_is_visible(relation, index, attnum, id, latest, &tid);
	}
	UnregisterSnapshot(latest);
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
	old = SPI_getbinval(data->tg_trigtuple, RelationGetDescr(data->tg_relation),
						attnum, &isnull);
	return !isnull && memcmp(DatumGetUUIDP(old), id, UUID_LEN) == 0;
}

/*
 * Check the row of a trigger, which "function" is called for.  A NULL identifier
 * is accepted, as by a CHECK constraint.
 *
 * A client that repeats an INSERT must learn that the row is there already.
 * Therefore an identifier that will conflict with a row is left to the unique
 * index, which raises 23505 or applies ON CONFLICT.
 */
static Datum
check_row(FunctionCallInfo fcinfo, const char *function, const Scheme *scheme)
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
				 errmsg("function \"%s\" must be fired BEFORE INSERT OR UPDATE FOR EACH ROW",
						function)));

	row = TRIGGER_FIRED_BY_UPDATE(data->tg_event) ? data->tg_newtuple : data->tg_trigtuple;
	kept = trigger_rule(fcinfo, data, scheme);
	datum = SPI_getbinval(row, RelationGetDescr(data->tg_relation), kept->attnum, &isnull);
	if (!isnull)
	{
		const pg_uuid_t *id = DatumGetUUIDP(datum);
		Window		window = rule_window(&kept->rule, GetCurrentTimestamp());

		/* an UPDATE that keeps the identifier needs no key */
		if (!is_unchanged(data, kept->attnum, id) &&
			!rule_accepts(&kept->rule, id, &window) &&
			!conflicts_with_row(data->tg_relation, kept->attnum, id))
			rule_refuse(&kept->rule, id, &window, data->tg_trigger->tgname,
						data->tg_relation, kept->attnum,
						OidIsValid(unique_index_on(data->tg_relation, kept->attnum)));
	}
	return PointerGetDatum(row);
}

/*
 * check_recent_id() returns trigger
 *	For a trigger BEFORE INSERT OR UPDATE FOR EACH ROW.  The trigger's arguments
 *	are the column, the scheme, and any of those of check_recent_...() but the
 *	clock, which is the wall clock, as "name=value".
 */
PG_FUNCTION_INFO_V1(idgen_check_recent_id);
Datum
idgen_check_recent_id(PG_FUNCTION_ARGS)
{
	return check_row(fcinfo, "check_recent_id", NULL);
}

/* check_recent_hmac_id() returns trigger: the same for hmac_comb(), with "area=..." in place of the scheme */
PG_FUNCTION_INFO_V1(idgen_check_recent_hmac_id);
Datum
idgen_check_recent_hmac_id(PG_FUNCTION_ARGS)
{
	return check_row(fcinfo, "check_recent_hmac_id", hmac_comb_scheme);
}
