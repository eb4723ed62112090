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

typedef struct TriggerFunction
{
	const char *name;
	const Scheme *scheme;		/* NULL if it is the second argument */
	int			first;			/* argument of the rule */
	const char *required;		/* the arguments before it */
	const char *example;
	const char *default_period; /* NULL: the default of short_comb() */
} TriggerFunction;

static const TriggerFunction check_recent_id =
{"check_recent_id", NULL, 2, "a column and a scheme as arguments", "'id', 'short_comb'", NULL};
static const TriggerFunction check_recent_hmac_id =
{"check_recent_hmac_id", &hmac_comb_scheme, 1, "a column as argument", "'id', 'area=orders'", "1 hour"};

#define EXAMPLE_OF_TRIGGER	"For example, EXECUTE FUNCTION idgen.%s(%s)."

/*
 * The arguments "name=value", and their defaults.  The SQL functions have the same
 * ones (sql/keys.sql compares them).
 */
static const struct
{
	const char *name;
	const char *default_value;
}			arguments[RULE_ARGUMENTS] = {
	[TOLERANCE] = {"tolerance", "10 minutes"},
	[PAST_TOLERANCE] = {"past_tolerance", NULL},
	[FUTURE_TOLERANCE] = {"future_tolerance", NULL},
	[PERIOD] = {"period", NULL},
	[PREFIX_BYTES] = {"prefix_bytes", CppAsString2(DEFAULT_PREFIX_BYTES)},
	[AREA] = {"area", NULL},
	[KEY_NAME] = {"key_name", "shared"}
};

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

/* Raise 22023 for an argument that the scheme does not have, or that was given before. */
static void
refuse_argument(const TriggerFunction *function, const Scheme *scheme, const char *argument)
{
	StringInfoData names;

	initStringInfo(&names);
	for (int i = 0; i < RULE_ARGUMENTS; i++)
	{
		if (scheme_has(scheme, i))
			appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "", arguments[i].name);
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 function->scheme != NULL ?
			 errmsg("invalid argument \"%s\" for %s", argument, function->name) :
			 errmsg("invalid argument \"%s\" for %s with scheme \"%s\"",
					argument, function->name, scheme->name),
			 errhint("After %s, the arguments are of the form name=value, each name at most once: %s.",
					 function->scheme != NULL ? "the column" : "column and scheme", names.data)));
}

/*
 * The number of an argument "name=value", and its value; -1 if the scheme does
 * not have it.
 */
static int
read_argument(const Scheme *scheme, const char *argument, const char **value)
{
	for (int i = 0; i < RULE_ARGUMENTS; i++)
	{
		size_t		length = strlen(arguments[i].name);

		if (scheme_has(scheme, i) && strncmp(argument, arguments[i].name, length) == 0 &&
			argument[length] == '=')
		{
			*value = argument + length + 1;
			return i;
		}
	}
	return -1;
}

/* The rule of a scheme from a trigger's arguments. */
static Rule
rule_from_trigger(const TriggerFunction *function, const Scheme *scheme, const Trigger *trigger)
{
	const char *values[RULE_ARGUMENTS] = {NULL};
	Rule		rule;

	for (int i = function->first; i < trigger->tgnargs; i++)
	{
		const char *value = NULL;
		int			argument = read_argument(scheme, trigger->tgargs[i], &value);

		if (argument < 0 || values[argument] != NULL)
			refuse_argument(function, scheme, trigger->tgargs[i]);
		values[argument] = value;
	}
	for (int i = 0; i < RULE_ARGUMENTS; i++)
	{
		if (values[i] == NULL)
			values[i] = i == PERIOD ? function->default_period : arguments[i].default_value;
	}

	rule = rule_make(scheme,
					 short_prefix_make(read_interval(values[PERIOD]), pg_strtoint32(values[PREFIX_BYTES])),
					 read_interval(values[TOLERANCE]), read_interval(values[PAST_TOLERANCE]),
					 read_interval(values[FUTURE_TOLERANCE]));
	if (!scheme_has(scheme, AREA))
		return rule;

	if (values[AREA] == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s requires the argument \"area=...\"", function->name),
				 errhint(EXAMPLE_OF_TRIGGER, function->name, function->example)));
	rule_set_keys(&rule, area_in_utf8(cstring_to_text(values[AREA])),
				  cstring_to_text(values[KEY_NAME]));
	return rule;
}

/* The rule of the trigger that was fired. */
static const TriggerRule *
trigger_rule(FunctionCallInfo fcinfo, const TriggerData *data, const TriggerFunction *function)
{
	const Trigger *trigger = data->tg_trigger;
	TriggerRule *kept = fcinfo->flinfo->fn_extra;

	if (kept == NULL || kept->trigger_oid != trigger->tgoid)
	{
		const Scheme *scheme = function->scheme;
		MemoryContext caller;

		if (trigger->tgnargs < function->first)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("%s requires %s", function->name, function->required),
					 errhint(EXAMPLE_OF_TRIGGER, function->name, function->example)));
		if (scheme == NULL)
			scheme = scheme_by_name(trigger->tgargs[1]);

		/* what the rule points to must live as long as the rule */
		caller = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
		kept = palloc(sizeof(TriggerRule));
		kept->trigger_oid = trigger->tgoid;
		kept->attnum = uuid_column(data->tg_relation, trigger->tgargs[0]);
		kept->rule = rule_from_trigger(function, scheme, trigger);
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

/* The index and the identifier that are searched for */
typedef struct Search
{
	Relation	relation;
	Oid			index;
	int			attnum;
	const pg_uuid_t *id;
} Search;

/*
 * Does this snapshot contain a row with the identifier?  Sets *tid to its location.
 */
static bool
row_is_visible(const Search *search, Snapshot snapshot, ItemPointer tid)
{
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, search->attnum, BTEqualStrategyNumber, F_UUID_EQ, UUIDPGetDatum(search->id));
	scan = systable_beginscan(search->relation, search->index, true, snapshot, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
		*tid = tuple->t_self;
	systable_endscan(scan);
	return HeapTupleIsValid(tuple);
}

/*
 * Is there a committed row, or one of this transaction?  Waits for a transaction
 * that has inserted or deleted such a row, as the unique check does.
 */
static bool
row_exists(const Search *search)
{
	SnapshotData dirty;
	TransactionId in_progress;
	ItemPointerData tid;

	for (;;)
	{
		InitDirtySnapshot(dirty);
		if (!row_is_visible(search, &dirty, &tid))
			return false;

		/* the scan sets them if a transaction in progress wrote the row */
		in_progress = TransactionIdIsValid(dirty.xmin) ? dirty.xmin : dirty.xmax;
		if (!TransactionIdIsValid(in_progress))
			return true;
		if (dirty.speculativeToken != 0)
			SpeculativeInsertionWait(in_progress, dirty.speculativeToken);
		else
			XactLockTableWait(in_progress, search->relation, &tid, XLTW_InsertIndex);
	}
}

/*
 * Does the latest snapshot contain such a row, if commands of this transaction
 * from curcid on have not yet run?
 */
static bool
row_is_in_latest_snapshot(const Search *search, CommandId curcid)
{
	Snapshot	latest = RegisterSnapshot(GetLatestSnapshot());
	ItemPointerData tid;
	bool		found;

	latest->curcid = curcid;
	found = row_is_visible(search, latest, &tid);
	UnregisterSnapshot(latest);
	return found;
}

/*
 * Would the identifier conflict with a row of the table?
 *
 * As the unique check itself does, this reads the index without regard to the
 * transaction's snapshot, to privileges and to row-level security.  No function
 * or operator is looked up by name, and no other code of a role is executed.
 *
 * One search is not enough:
 *
 * - A scan with a dirty snapshot reads the places of the row's versions before it
 *   visits them, so that it misses a row that another session updates and commits
 *   in between.  (The unique check locks the index page meanwhile.)  Such a row is
 *   in the latest snapshot.  InvalidCommandId is greater than each command: what
 *   this command itself deleted is gone, and what it inserted is there.
 * - A unit of work may delete a row, or change its identifier, and insert it
 *   again.  FirstCommandId is not greater than any command: no deletion of this
 *   transaction is done yet.
 */
static bool
conflicts_with_row(const Search *search)
{
	return row_exists(search) ||
		row_is_in_latest_snapshot(search, InvalidCommandId) ||
		row_is_in_latest_snapshot(search, FirstCommandId);
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

/* Raise 23514 for an identifier that its rule does not accept, unless it will conflict with a row. */
static void
refuse_new(const TriggerData *data, const TriggerRule *kept, const pg_uuid_t *id, const Window *window)
{
	Search		search = {data->tg_relation, unique_index_on(data->tg_relation, kept->attnum), kept->attnum, id};
	Checker		checker = {data->tg_trigger->tgname, data->tg_relation, kept->attnum, OidIsValid(search.index)};

	if (!checker.has_unique_index || !conflicts_with_row(&search))
		rule_refuse(&kept->rule, id, window, &checker);
}

/*
 * Check the row of a trigger.  A NULL identifier is accepted, as by a CHECK
 * constraint.
 *
 * A client that repeats an INSERT must learn that the row is there already.
 * Therefore an identifier that will conflict with a row is left to the unique
 * index, which raises 23505 or applies ON CONFLICT.
 */
static Datum
check_row(FunctionCallInfo fcinfo, const TriggerFunction *function)
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
						function->name)));

	row = TRIGGER_FIRED_BY_UPDATE(data->tg_event) ? data->tg_newtuple : data->tg_trigtuple;
	kept = trigger_rule(fcinfo, data, function);
	datum = SPI_getbinval(row, RelationGetDescr(data->tg_relation), kept->attnum, &isnull);
	if (!isnull)
	{
		const pg_uuid_t *id = DatumGetUUIDP(datum);
		Window		window = rule_window(&kept->rule, GetCurrentTimestamp());

		/* an UPDATE that keeps the identifier needs no key */
		if (!is_unchanged(data, kept->attnum, id) &&
			!rule_accepts(&kept->rule, id, &window))
			refuse_new(data, kept, id, &window);
	}
	return PointerGetDatum(row);
}

/*
 * check_recent_id() returns trigger
 *	For a trigger BEFORE INSERT OR UPDATE FOR EACH ROW.  The trigger's arguments
 *	are the column, the scheme, and any argument of check_recent_...() except for
 *	the clock, as "name=value".
 */
PG_FUNCTION_INFO_V1(idgen_check_recent_id);
Datum
idgen_check_recent_id(PG_FUNCTION_ARGS)
{
	return check_row(fcinfo, &check_recent_id);
}

/* check_recent_hmac_id() returns trigger: the same for hmac_comb(), with "area=..." in place of the scheme */
PG_FUNCTION_INFO_V1(idgen_check_recent_hmac_id);
Datum
idgen_check_recent_hmac_id(PG_FUNCTION_ARGS)
{
	return check_row(fcinfo, &check_recent_hmac_id);
}
