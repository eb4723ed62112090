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
#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "common/int.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "arguments.h"
#include "clock.h"
#include "short_prefix.h"
#include "uuid_bits.h"

/* A scheme of identifiers with a time. */
typedef struct Scheme
{
	const char *name;			/* of the generator; argument of the trigger */
	const char *noun;			/* for messages */
	int			version;
} Scheme;

static const Scheme short_comb = {"short_comb", "short COMB", 4};
static const Scheme comb = {"comb", "COMB", 4};
static const Scheme uuid_v7 = {"uuid_v7", "version 7 UUID", 7};

static const Scheme *const schemes[] = {&short_comb, &comb, &uuid_v7};

/* The requirements of a check, except for the clock. */
typedef struct Rule
{
	const Scheme *scheme;
	ShortPrefix prefix;			/* for short COMBs only */
	int64		past_us;		/* from the start of the window to the clock */
	int64		future_us;		/* from the clock to the end of the window */
} Rule;

/* The instants from first to last, both inclusive. */
typedef struct Window
{
	TimestampTz first;
	TimestampTz last;
} Window;

#define DEFAULT_TOLERANCE_PERIODS	10
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
 * The time of an identifier
 * ------------------------------------------------------------------------
 */

/* A tolerance in microseconds; NULL is the default. */
static int64
tolerance_us(const Interval *tolerance, const char *name, int64 default_us)
{
	return tolerance == NULL ? default_us : require_duration_us(tolerance, name);
}

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

/*
 * Make a rule and check it.  The tolerance applies to both sides of the clock
 * and is ten periods of a short COMB or ten minutes if NULL.  The past and the
 * future tolerance, if not NULL, override it on one side.
 */
static Rule
make_rule(const Scheme *scheme, ShortPrefix prefix, const Interval *tolerance,
		  const Interval *past, const Interval *future)
{
	Rule		rule;
	int64		default_us = DEFAULT_TOLERANCE_US;
	int64		both_us;

	if (scheme == &short_comb)
		default_us = prefix.period_ms * US_PER_MS * DEFAULT_TOLERANCE_PERIODS;

	both_us = tolerance_us(tolerance, "tolerance", default_us);
	rule.scheme = scheme;
	rule.prefix = prefix;
	rule.past_us = tolerance_us(past, "past_tolerance", both_us);
	rule.future_us = tolerance_us(future, "future_tolerance", both_us);

	if (scheme == &short_comb)
		require_window_within_cycle(&rule);
	return rule;
}

static const Interval *
interval_argument(FunctionCallInfo fcinfo, int argno)
{
	return PG_ARGISNULL(argno) ? NULL : PG_GETARG_INTERVAL_P(argno);
}

/*
 * The rule from the arguments that follow the identifier:
 *	short COMB: tolerance, clock, period, prefix_bytes, past, future
 *	others:		tolerance, clock, past, future
 */
static Rule
rule_from_arguments(FunctionCallInfo fcinfo, const Scheme *scheme)
{
	bool		is_short = scheme == &short_comb;
	int			past_argno = is_short ? 5 : 3;

	return make_rule(scheme,
					 is_short ? short_prefix_arguments(fcinfo, 3, 4) :
					 short_prefix_default(),
					 interval_argument(fcinfo, 1),
					 interval_argument(fcinfo, past_argno),
					 interval_argument(fcinfo, past_argno + 1));
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

/* Is the identifier of the scheme, with the time of an instant in the window? */
static bool
rule_accepts(const Rule *rule, const pg_uuid_t *id, TimestampTz clock)
{
	Window		window = window_around(rule, clock);

	if (!uuid_is_version(id, rule->scheme->version))
		return false;

	if (rule->scheme == &short_comb)
	{
		int64		first = short_prefix_period_number(&rule->prefix, window.first);
		int64		last = short_prefix_period_number(&rule->prefix, window.last);
		uint64		prefix = short_prefix_of_uuid(&rule->prefix, id);
		uint64		periods_after_first = short_prefix_of_period(&rule->prefix, prefix - first);

		return periods_after_first <= (uint64) (last - first);
	}
	else
	{
		int64		ms = uuid_first_48_bits(id);

		return ms >= clock_unix_ms(window.first) &&
			ms <= clock_unix_ms(window.last);
	}
}

/* A prefix as hexadecimal digits. */
static char *
prefix_text(const ShortPrefix *prefix, uint64 value)
{
	return psprintf("%0*llx", prefix->bits / 4, (unsigned long long) value);
}

/* The reason why a rule does not accept an identifier, as a sentence. */
static char *
describe_violation(const Rule *rule, const pg_uuid_t *id, TimestampTz clock)
{
	Window		window = window_around(rule, clock);
	char	   *id_text = uuid_text(id);
	char	   *first_text = pstrdup(timestamptz_to_str(window.first));
	char	   *last_text = pstrdup(timestamptz_to_str(window.last));

	if (!uuid_is_rfc_variant(id))
		return psprintf("Identifier %s has variant %s, not RFC 9562.",
						id_text, uuid_variant_name(id));

	if (!uuid_is_version(id, rule->scheme->version))
		return psprintf("Identifier %s has version %d, not %d.",
						id_text, uuid_version_nibble(id), rule->scheme->version);

	if (rule->scheme == &short_comb)
	{
		const ShortPrefix *prefix = &rule->prefix;
		int64		first = short_prefix_period_number(prefix, window.first);
		int64		last = short_prefix_period_number(prefix, window.last);

		return psprintf("Identifier %s has prefix %s, but the prefixes from %s to %s are %s to %s.",
						id_text, prefix_text(prefix, short_prefix_of_uuid(prefix, id)),
						first_text, last_text,
						prefix_text(prefix, short_prefix_of_period(prefix, first)),
						prefix_text(prefix, short_prefix_of_period(prefix, last)));
	}
	else
	{
		TimestampTz made_at = 0;

		/* 48 bits of milliseconds always fit timestamptz */
		(void) clock_from_unix_ms(uuid_first_48_bits(id), &made_at);
		return psprintf("Identifier %s contains the time %s, which is not between %s and %s.",
						id_text, timestamptz_to_str(made_at), first_text, last_text);
	}
}

/*
 * Raise 23514 if the rule does not accept an identifier.  "constraint" is the
 * name of the trigger or of the function that checks; a trigger also passes
 * the relation and the column.  "batch_hint" is the HINT for a late batch.
 */
static void
rule_check(const Rule *rule, const pg_uuid_t *id, TimestampTz clock,
		   const char *batch_hint, const char *constraint,
		   Relation relation, int attnum)
{
	if (likely(rule_accepts(rule, id, clock)))
		return;

	ereport(ERROR,
			(errcode(ERRCODE_CHECK_VIOLATION),
			 errmsg("identifier is not a %s from the allowed time range",
					rule->scheme->noun),
			 errdetail_internal("%s", describe_violation(rule, id, clock)),
			 uuid_is_version(id, rule->scheme->version) ?
			 errhint("Generate a new identifier. %s", batch_hint) :
			 errhint("Generate a new identifier with idgen.%s().",
					 rule->scheme->name),
			 relation ? errtablecol(relation, attnum) : 0,
			 err_generic_string(PG_DIAG_CONSTRAINT_NAME, constraint)));
}

static Datum
is_recent(FunctionCallInfo fcinfo, const Scheme *scheme)
{
	Rule		rule;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();

	rule = rule_from_arguments(fcinfo, scheme);
	PG_RETURN_BOOL(rule_accepts(&rule, PG_GETARG_UUID_P(0),
								clock_argument_stable(fcinfo, 2)));
}

static Datum
check_recent(FunctionCallInfo fcinfo, const Scheme *scheme)
{
	Rule		rule;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();

	rule = rule_from_arguments(fcinfo, scheme);
	rule_check(&rule, PG_GETARG_UUID_P(0), clock_argument_stable(fcinfo, 2),
			   "For a late batch, pass the time at which its identifiers were generated as \"clock\".",
			   psprintf("check_recent_%s", scheme->name), NULL, 0);
	PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

/*
 * is_recent_short_comb(id uuid, tolerance interval DEFAULT NULL,
 *						clock timestamptz DEFAULT NULL,
 *						period interval DEFAULT '1 minute',
 *						prefix_bytes int DEFAULT 2,
 *						past_tolerance interval DEFAULT NULL,
 *						future_tolerance interval DEFAULT NULL) returns bool
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
 *				  clock timestamptz DEFAULT NULL,
 *				  past_tolerance interval DEFAULT NULL,
 *				  future_tolerance interval DEFAULT NULL) returns bool
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
 *	short_comb: tolerance, period, prefix_bytes, past, future
 *	others:		tolerance, past, future
 */
static Rule
rule_from_trigger(const Trigger *trigger)
{
	const Scheme *scheme = scheme_by_name(trigger->tgargs[1]);
	bool		is_short = scheme == &short_comb;
	int			past_argno = is_short ? 5 : 3;
	ShortPrefix prefix = short_prefix_default();

	if (trigger->tgnargs > past_argno + 2)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("too many arguments for check_on_insert with scheme \"%s\"",
						scheme->name),
				 errhint("The arguments are (column, scheme, tolerance%s, past_tolerance, future_tolerance).",
						 is_short ? ", period, prefix_bytes" : "")));

	if (is_short)
	{
		const char *bytes = trigger_argument(trigger, 4);

		prefix = short_prefix_make(trigger_interval(trigger, 3),
								   bytes ? pg_strtoint32(bytes) :
								   prefix.bits / BITS_PER_BYTE);
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
 * check_on_insert() returns trigger
 *
 * For a trigger BEFORE INSERT FOR EACH ROW.  The trigger's arguments are the
 * column, the scheme, and those of check_recent_...() without the clock; an
 * empty one is the default.  The clock is the setting idgen.clock, or the wall
 * clock if that is empty.  A NULL identifier is accepted, as by a CHECK
 * constraint.
 */
PG_FUNCTION_INFO_V1(idgen_check_on_insert);
Datum
idgen_check_on_insert(PG_FUNCTION_ARGS)
{
	TriggerData *data = (TriggerData *) fcinfo->context;
	const TriggerRule *kept;
	Datum		id;
	bool		isnull;

	if (!CALLED_AS_TRIGGER(fcinfo) ||
		!TRIGGER_FIRED_BEFORE(data->tg_event) ||
		!TRIGGER_FIRED_FOR_ROW(data->tg_event) ||
		!TRIGGER_FIRED_BY_INSERT(data->tg_event))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"check_on_insert\" must be fired BEFORE INSERT FOR EACH ROW")));

	kept = trigger_rule(fcinfo, data);
	id = heap_getattr(data->tg_trigtuple, kept->attnum,
					  RelationGetDescr(data->tg_relation), &isnull);
	if (!isnull)
		rule_check(&kept->rule, DatumGetUUIDP(id), clock_setting_or_wall(),
				   "For a late batch, set idgen.clock to the time at which its identifiers were generated.",
				   data->tg_trigger->tgname, data->tg_relation, kept->attnum);

	return PointerGetDatum(data->tg_trigtuple);
}
