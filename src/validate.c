/*-------------------------------------------------------------------------
 *
 * validate.c
 *	  Checking identifiers that clients generate.
 *
 * The server can check the form of an identifier, and whether its time lies in
 * a window around a clock.  The clock is the server's, or one that was
 * recorded with a late batch.  is_recent_...() returns the result,
 * check_recent_...() returns the identifier or raises 23514, and the trigger
 * function check_on_insert() does the same for a column.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "catalog/pg_am.h"
#include "catalog/pg_index.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "common/int.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "arguments.h"
#include "clock.h"
#include "short_prefix.h"
#include "uuid_bits.h"

typedef struct Scheme Scheme;

/* The requirements of a check, except for the clock. */
typedef struct Rule
{
	const Scheme *scheme;
	ShortPrefix prefix;			/* for a scheme with a prefix */
	int64		past_us;		/* from the start of the window to the clock */
	int64		future_us;		/* from the clock to the end of the window */
} Rule;

/* The instants from first to last, both inclusive. */
typedef struct Window
{
	TimestampTz first;
	TimestampTz last;
} Window;

/* A scheme of identifiers with a time. */
struct Scheme
{
	const char *name;			/* of the generator; argument of the trigger */
	const char *noun;			/* for messages */
	int			version;
	bool		has_prefix;		/* has the arguments period and prefix_bytes */

	/* Is the time of an identifier of this version in the window? */
	bool		(*accepts) (const Rule *rule, const pg_uuid_t *id, const Window *window);

	/* the reason why it is not, as a sentence */
	char	   *(*describe) (const Rule *rule, const pg_uuid_t *id, const Window *window);
};

/* "tolerance" of a trigger that does not give one, as of the SQL functions */
#define DEFAULT_TOLERANCE_US		(10 * USECS_PER_MINUTE)

/* ------------------------------------------------------------------------
 * The form of a UUID
 * ------------------------------------------------------------------------
 */

/*
 * is_uuid(id text, version int DEFAULT NULL) returns bool
 *
 * Whether the text is a UUID in canonical form, of the RFC's variant and of
 * the given version; without one, of any version from 1 to 8.  No text raises
 * an error, and text of another length is not detoasted.
 */
PG_FUNCTION_INFO_V1(idgen_is_uuid);
Datum
idgen_is_uuid(PG_FUNCTION_ARGS)
{
	pg_uuid_t	id;
	int			version;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (!PG_ARGISNULL(1) && (PG_GETARG_INT32(1) < 0 || PG_GETARG_INT32(1) > 15))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("version must be between 0 and 15"),
				 errdetail("The value is %d.", PG_GETARG_INT32(1))));

	if (toast_raw_datum_size(PG_GETARG_DATUM(0)) != VARHDRSZ + UUID_TEXT_LENGTH)
		PG_RETURN_BOOL(false);

	if (!uuid_read_text(VARDATA_ANY(PG_GETARG_TEXT_PP(0)), &id))
		PG_RETURN_BOOL(false);

	version = uuid_version_nibble(&id);
	PG_RETURN_BOOL(uuid_is_rfc_variant(&id) &&
				   (PG_ARGISNULL(1) ? version >= 1 && version <= 8 :
					version == PG_GETARG_INT32(1)));
}

/* ------------------------------------------------------------------------
 * The schemes
 * ------------------------------------------------------------------------
 */

/* The first and the last period that the window intersects. */
static void
window_periods(const Rule *rule, const Window *window, int64 *first, int64 *last)
{
	*first = short_prefix_period_number(&rule->prefix, window->first);
	*last = short_prefix_period_number(&rule->prefix, window->last);
}

static bool
prefix_accepts(const Rule *rule, const pg_uuid_t *id, const Window *window)
{
	uint64		prefix = short_prefix_of_uuid(&rule->prefix, id);
	int64		first;
	int64		last;

	window_periods(rule, window, &first, &last);
	return short_prefix_of_period(&rule->prefix, prefix - first) <= (uint64) (last - first);
}

/* A prefix as hexadecimal digits. */
static char *
prefix_text(const ShortPrefix *prefix, uint64 value)
{
	return psprintf("%0*llx", prefix->bits / 4, (unsigned long long) value);
}

static char *
prefix_describe(const Rule *rule, const pg_uuid_t *id, const Window *window)
{
	const ShortPrefix *prefix = &rule->prefix;
	char	   *first_text = pstrdup(timestamptz_to_str(window->first));
	int64		first;
	int64		last;

	window_periods(rule, window, &first, &last);
	return psprintf("Identifier %s has prefix %s, but the prefixes from %s to %s are %s to %s.",
					uuid_text(id),
					prefix_text(prefix, short_prefix_of_uuid(prefix, id)),
					first_text, timestamptz_to_str(window->last),
					prefix_text(prefix, short_prefix_of_period(prefix, first)),
					prefix_text(prefix, short_prefix_of_period(prefix, last)));
}

static bool
time_accepts(const Rule *rule pg_attribute_unused(), const pg_uuid_t *id,
			 const Window *window)
{
	int64		ms = uuid_first_48_bits(id);

	return ms >= clock_unix_ms(window->first) && ms <= clock_unix_ms(window->last);
}

static char *
time_describe(const Rule *rule pg_attribute_unused(), const pg_uuid_t *id,
			  const Window *window)
{
	char	   *first_text = pstrdup(timestamptz_to_str(window->first));
	char	   *last_text = pstrdup(timestamptz_to_str(window->last));
	TimestampTz made_at = 0;

	/* 48 bits of milliseconds always fit timestamptz */
	(void) clock_from_unix_ms(uuid_first_48_bits(id), &made_at);
	return psprintf("Identifier %s contains the time %s, which is not between %s and %s.",
					uuid_text(id), timestamptz_to_str(made_at), first_text, last_text);
}

static const Scheme short_comb = {"short_comb", "short COMB", 4, true, prefix_accepts, prefix_describe};
static const Scheme comb = {"comb", "COMB", 4, false, time_accepts, time_describe};
static const Scheme uuid_v7 = {"uuid_v7", "version 7 UUID", 7, false, time_accepts, time_describe};

static const Scheme *const schemes[] = {&short_comb, &comb, &uuid_v7};

/* ------------------------------------------------------------------------
 * The time of an identifier
 * ------------------------------------------------------------------------
 */

/*
 * Raise 22023 if the window could contain every prefix for some clock.  A
 * window of more than n - 1 periods can intersect n + 1 of them, so the limit
 * is the cycle less 2 periods.
 */
static void
require_window_within_cycle(const Rule *rule)
{
	uint64		period_us = (uint64) rule->prefix.period_ms * US_PER_MS;
	uint64		width_us = (uint64) rule->past_us + (uint64) rule->future_us;
	uint64		width_periods = width_us / period_us + (width_us % period_us != 0);
	uint64		widest_periods = short_prefix_cycle(&rule->prefix) - 2;

	if (width_periods > widest_periods)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("tolerance is too wide for the cycle of prefixes"),
				 errdetail("The past and future tolerances add up to " UINT64_FORMAT " ms. At most " UINT64_FORMAT " periods of " INT64_FORMAT " ms are allowed, 2 less than the cycle, because a wider window could contain every prefix.",
						   width_us / US_PER_MS + (width_us % US_PER_MS != 0),
						   widest_periods, rule->prefix.period_ms),
				 errhint("Use a smaller tolerance, a longer period or more prefix bytes.")));
}

/* A tolerance in microseconds, or the default if it is NULL. */
static int64
tolerance_us(const Interval *tolerance, const char *name, int64 default_us)
{
	return tolerance == NULL ? default_us : require_duration_us(tolerance, name);
}

/*
 * Make a rule and check it.  The tolerance applies to both sides of the clock;
 * the past and the future tolerance, if not NULL, override it on one side.
 */
static Rule
make_rule(const Scheme *scheme, ShortPrefix prefix, const Interval *tolerance,
		  const Interval *past, const Interval *future)
{
	int64		both_us = tolerance_us(tolerance, "tolerance", DEFAULT_TOLERANCE_US);
	Rule		rule;

	rule.scheme = scheme;
	rule.prefix = prefix;
	rule.past_us = tolerance_us(past, "past_tolerance", both_us);
	rule.future_us = tolerance_us(future, "future_tolerance", both_us);

	if (scheme->has_prefix)
		require_window_within_cycle(&rule);
	return rule;
}

static Window
window_around(const Rule *rule, TimestampTz clock)
{
	Window		window;

	if (pg_sub_s64_overflow(clock, rule->past_us, &window.first) ||
		pg_add_s64_overflow(clock, rule->future_us, &window.last))
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("timestamp out of range")));
	return window;
}

/* Is the identifier of the scheme, with a time in the window? */
static bool
rule_accepts(const Rule *rule, const pg_uuid_t *id, const Window *window)
{
	return uuid_is_version(id, rule->scheme->version) &&
		rule->scheme->accepts(rule, id, window);
}

/* A period as text, in the longest unit of which it is a multiple. */
static char *
period_text(int64 ms)
{
	static const struct
	{
		const char *name;
		int64		ms;
	}			units[] = {
		{"day", MS_PER_DAY},
		{"hour", SECS_PER_HOUR * MS_PER_SECOND},
		{"minute", SECS_PER_MINUTE * MS_PER_SECOND},
		{"second", MS_PER_SECOND},
		{"millisecond", 1}
	};
	int			i = 0;

	while (ms % units[i].ms != 0)
		i++;
	return psprintf(INT64_FORMAT " %s%s", ms / units[i].ms, units[i].name,
					ms == units[i].ms ? "" : "s");
}

/* The call that generates identifiers for which the rule was made. */
static char *
generator_call(const Rule *rule)
{
	ShortPrefix usual = short_prefix_default();

	if (rule->prefix.period_ms == usual.period_ms && rule->prefix.bits == usual.bits)
		return psprintf("idgen.%s()", rule->scheme->name);
	return psprintf("idgen.%s('%s', %d)", rule->scheme->name,
					period_text(rule->prefix.period_ms),
					rule->prefix.bits / BITS_PER_BYTE);
}

/* Raise 23514 for an identifier that is not of the scheme. */
static void
refuse_form(const Rule *rule, const pg_uuid_t *id, const char *constraint,
			Relation relation, int attnum)
{
	ereport(ERROR,
			(errcode(ERRCODE_CHECK_VIOLATION),
			 errmsg("identifier is not a %s", rule->scheme->noun),
			 uuid_is_rfc_variant(id) ?
			 errdetail("Identifier %s has version %d, not %d.", uuid_text(id),
					   uuid_version_nibble(id), rule->scheme->version) :
			 errdetail("Identifier %s has variant %s, not RFC 9562.",
					   uuid_text(id), uuid_variant_name(id)),
			 errhint("Generate a new identifier with %s.", generator_call(rule)),
			 relation ? errtablecol(relation, attnum) : 0,
			 err_generic_string(PG_DIAG_CONSTRAINT_NAME, constraint)));
}

/*
 * Raise 23514 for an identifier that the rule does not accept.  "constraint"
 * is the name of the trigger or of the function that checks.  A trigger also
 * passes the relation and the column; a function has the argument "clock".
 */
static void
refuse(const Rule *rule, const pg_uuid_t *id, const Window *window,
	   const char *constraint, Relation relation, int attnum)
{
	if (!uuid_is_version(id, rule->scheme->version))
		refuse_form(rule, id, constraint, relation, attnum);

	ereport(ERROR,
			(errcode(ERRCODE_CHECK_VIOLATION),
			 errmsg("identifier is outside the accepted time window"),
			 errdetail_internal("%s", rule->scheme->describe(rule, id, window)),
			 relation ?
			 errhint("Generate a new identifier with %s.", generator_call(rule)) :
			 errhint("Generate a new identifier with %s. For a late batch, pass the time at which its identifiers were generated as \"clock\".",
					 generator_call(rule)),
			 relation ? errtablecol(relation, attnum) : 0,
			 err_generic_string(PG_DIAG_CONSTRAINT_NAME, constraint)));
}

/* ------------------------------------------------------------------------
 * is_recent_...(), check_recent_...()
 * ------------------------------------------------------------------------
 */

static const Interval *
interval_argument(FunctionCallInfo fcinfo, int argno)
{
	return PG_ARGISNULL(argno) ? NULL : PG_GETARG_INTERVAL_P(argno);
}

/*
 * The rule and the window from the arguments that follow the identifier:
 * tolerance, period and prefix_bytes if the scheme has them, past_tolerance,
 * future_tolerance, clock.
 */
static Rule
rule_from_arguments(FunctionCallInfo fcinfo, const Scheme *scheme, Window *window)
{
	int			clock_argno = PG_NARGS() - 1;
	Rule		rule;

	require_not_null(fcinfo, 1, "tolerance");
	rule = make_rule(scheme,
					 scheme->has_prefix ? short_prefix_arguments(fcinfo, 2, 3) :
					 short_prefix_default(),
					 PG_GETARG_INTERVAL_P(1),
					 interval_argument(fcinfo, clock_argno - 2),
					 interval_argument(fcinfo, clock_argno - 1));
	*window = window_around(&rule, clock_argument_stable(fcinfo, clock_argno));
	return rule;
}

static Datum
is_recent(FunctionCallInfo fcinfo, const Scheme *scheme)
{
	Window		window;
	Rule		rule;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();

	rule = rule_from_arguments(fcinfo, scheme, &window);
	PG_RETURN_BOOL(rule_accepts(&rule, PG_GETARG_UUID_P(0), &window));
}

static Datum
check_recent(FunctionCallInfo fcinfo, const Scheme *scheme)
{
	const pg_uuid_t *id;
	Window		window;
	Rule		rule;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();

	id = PG_GETARG_UUID_P(0);
	rule = rule_from_arguments(fcinfo, scheme, &window);
	if (!rule_accepts(&rule, id, &window))
		refuse(&rule, id, &window,
			   psprintf("check_recent_%s", scheme->name), NULL, 0);
	PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

/*
 * is_recent_short_comb(id uuid, tolerance interval DEFAULT '10 minutes',
 *						period interval DEFAULT '1 minute',
 *						prefix_bytes int DEFAULT 2,
 *						past_tolerance interval DEFAULT NULL,
 *						future_tolerance interval DEFAULT NULL,
 *						clock timestamptz DEFAULT NULL) returns bool
 *
 * Whether the identifier is a version 4 UUID with the prefix of an instant from
 * clock - past_tolerance to clock + future_tolerance.
 */
PG_FUNCTION_INFO_V1(idgen_is_recent_short_comb);
Datum
idgen_is_recent_short_comb(PG_FUNCTION_ARGS)
{
	return is_recent(fcinfo, &short_comb);
}

/*
 * is_recent_comb(id uuid, tolerance interval DEFAULT '10 minutes',
 *				  past_tolerance interval DEFAULT NULL,
 *				  future_tolerance interval DEFAULT NULL,
 *				  clock timestamptz DEFAULT NULL) returns bool
 *
 * Whether the identifier is a version 4 UUID with a time from
 * clock - past_tolerance to clock + future_tolerance, in whole milliseconds.
 */
PG_FUNCTION_INFO_V1(idgen_is_recent_comb);
Datum
idgen_is_recent_comb(PG_FUNCTION_ARGS)
{
	return is_recent(fcinfo, &comb);
}

/* The same for version 7, with the arguments of is_recent_comb(). */
PG_FUNCTION_INFO_V1(idgen_is_recent_uuid_v7);
Datum
idgen_is_recent_uuid_v7(PG_FUNCTION_ARGS)
{
	return is_recent(fcinfo, &uuid_v7);
}

/*
 * check_recent_short_comb(), check_recent_comb() and check_recent_uuid_v7()
 * have the arguments of is_recent_...(), and return the identifier or raise
 * 23514.
 */
PG_FUNCTION_INFO_V1(idgen_check_recent_short_comb);
Datum
idgen_check_recent_short_comb(PG_FUNCTION_ARGS)
{
	return check_recent(fcinfo, &short_comb);
}

PG_FUNCTION_INFO_V1(idgen_check_recent_comb);
Datum
idgen_check_recent_comb(PG_FUNCTION_ARGS)
{
	return check_recent(fcinfo, &comb);
}

PG_FUNCTION_INFO_V1(idgen_check_recent_uuid_v7);
Datum
idgen_check_recent_uuid_v7(PG_FUNCTION_ARGS)
{
	return check_recent(fcinfo, &uuid_v7);
}

/* ------------------------------------------------------------------------
 * The trigger
 * ------------------------------------------------------------------------
 */

/* The parsed arguments of a trigger, kept in fn_extra for the statement. */
typedef struct TriggerRule
{
	Oid			trigger_oid;
	int			attnum;
	Rule		rule;
} TriggerRule;

static const Scheme *
scheme_by_name(const char *name)
{
	for (int i = 0; i < (int) lengthof(schemes); i++)
	{
		if (strcmp(name, schemes[i]->name) == 0)
			return schemes[i];
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unknown identifier scheme \"%s\"", name),
			 errhint("Supported schemes are short_comb, comb and uuid_v7.")));
}

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

	return make_rule(scheme, prefix,
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
		TriggerRule made;

		if (trigger->tgnargs < 2)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("check_on_insert requires a column and a scheme as arguments"),
					 errhint("For example, EXECUTE FUNCTION idgen.check_on_insert('id', 'short_comb').")));

		made.trigger_oid = trigger->tgoid;
		made.attnum = uuid_column(data->tg_relation, trigger->tgargs[0]);
		made.rule = rule_from_trigger(trigger);

		kept = MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof(TriggerRule));
		*kept = made;
		fcinfo->flinfo->fn_extra = kept;
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
 *
 * For a trigger BEFORE INSERT OR UPDATE FOR EACH ROW.  The trigger's arguments
 * are the column, the scheme, and those of check_recent_...() without the
 * clock, which is the wall clock; an empty one is the default.  A NULL
 * identifier is accepted, as by a CHECK constraint.
 *
 * A client that repeats an INSERT must learn that the row is there already.
 * Therefore an identifier that will conflict with a row is left to the unique
 * index, which raises 23505 or applies ON CONFLICT.
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
		Window		window = window_around(&kept->rule, GetCurrentTimestamp());

		if (!rule_accepts(&kept->rule, id, &window) &&
			!is_unchanged(data, kept->attnum, id) &&
			!conflicts_with_row(data->tg_relation, kept->attnum, id))
			refuse(&kept->rule, id, &window, data->tg_trigger->tgname,
				   data->tg_relation, kept->attnum);
	}
	return PointerGetDatum(row);
}
