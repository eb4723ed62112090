/*-------------------------------------------------------------------------
 *
 * validate.c
 *	  Checking the identifiers that clients bring.
 *
 * What can be checked is the form, and whether the time in an identifier lies
 * in a window around a clock: the server's, or one that a late batch has
 * recorded.  is_...() answers, check_...() returns the identifier or raises
 * 23514, and the trigger function check_on_insert() does that for a column.
 * All of them follow one Rule.
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

#include "clock.h"
#include "short_prefix.h"
#include "uuid_bits.h"

typedef enum Scheme
{
	SCHEME_SHORT_COMB,
	SCHEME_COMB,
	SCHEME_UUID_V7
} Scheme;

static const struct
{
	const char *name;			/* an argument of check_on_insert(), a generator */
	const char *noun;			/* in messages */
	int			version;
}			schemes[] =
{
	[SCHEME_SHORT_COMB] = {"short_comb", "short COMB", 4},
	[SCHEME_COMB] = {"comb", "COMB", 4},
	[SCHEME_UUID_V7] = {"uuid_v7", "UUID version 7", 7},
};

/* What an identifier must be like, but for the clock. */
typedef struct Rule
{
	Scheme		scheme;
	ShortPrefix prefix;			/* SCHEME_SHORT_COMB only */
	int64		past_us;		/* how far the window reaches to either side */
	int64		future_us;
} Rule;

/* The instants from first to last, both included. */
typedef struct Window
{
	TimestampTz first;
	TimestampTz last;
} Window;

#define DEFAULT_TOLERANCE_PERIODS	10
#define DEFAULT_TOLERANCE_US		(10 * USECS_PER_MINUTE)

/* ----------
 * Text
 * ----------
 */

/*
 * is_uuid(id text, version int DEFAULT NULL) returns bool
 *
 * Whether the text is a UUID in canonical form, of the RFC's variant and of
 * the version asked for, or of one from 1 to 8.  Bad text never raises an
 * error, and long text is not read.
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

/* ----------
 * The rule
 * ----------
 */

/* A tolerance in microseconds; NULL is the default. */
static int64
tolerance_us(const Interval *tolerance, const char *name, int64 default_us)
{
	int64		us;

	if (tolerance == NULL)
		return default_us;

	us = clock_interval_us(tolerance, name);
	if (us < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must not be negative", name),
				 errdetail("The %s is %s.", name, clock_interval_text(tolerance))));
	return us;
}

/*
 * A window must leave out some prefix, wherever the clock is in its period.
 * One that is wider than n - 1 periods can touch n + 1 of them, so the width
 * is limited to the cycle less 2 periods.
 */
static void
require_window_within_cycle(const Rule *rule)
{
	uint64		period_us = (uint64) rule->prefix.period_ms * 1000;
	uint64		width_us = (uint64) rule->past_us + (uint64) rule->future_us;
	uint64		width_periods = width_us / period_us + (width_us % period_us != 0);
	uint64		widest_periods = short_prefix_cycle(&rule->prefix) - 2;

	if (width_periods > widest_periods)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("tolerance is too wide for the cycle of prefixes"),
				 errdetail("Past and future tolerance together are " UINT64_FORMAT " ms; they can be at most " UINT64_FORMAT " periods of " INT64_FORMAT " ms, the cycle less 2, because a wider window could contain every prefix.",
						   width_us / 1000 + (width_us % 1000 != 0),
						   widest_periods, rule->prefix.period_ms),
				 errhint("Use a smaller tolerance, a longer period or more prefix bytes.")));
}

/*
 * Check what a rule is made of.  NULL tolerances are the defaults: ten periods
 * of a short COMB, ten minutes of the others; past and future each override
 * one side.
 */
static Rule
make_rule(Scheme scheme, ShortPrefix prefix, const Interval *tolerance,
		  const Interval *past, const Interval *future)
{
	Rule		rule;
	int64		default_us = DEFAULT_TOLERANCE_US;
	int64		both_us;

	if (scheme == SCHEME_SHORT_COMB)
		default_us = prefix.period_ms * 1000 * DEFAULT_TOLERANCE_PERIODS;

	both_us = tolerance_us(tolerance, "tolerance", default_us);
	rule.scheme = scheme;
	rule.prefix = prefix;
	rule.past_us = tolerance_us(past, "past_tolerance", both_us);
	rule.future_us = tolerance_us(future, "future_tolerance", both_us);

	if (scheme == SCHEME_SHORT_COMB)
		require_window_within_cycle(&rule);
	return rule;
}

static const Interval *
interval_argument(FunctionCallInfo fcinfo, int argno)
{
	return PG_ARGISNULL(argno) ? NULL : PG_GETARG_INTERVAL_P(argno);
}

/*
 * The rule from the arguments behind the identifier:
 *	short COMB: tolerance, clock, period, prefix_bytes, past, future
 *	others:		tolerance, clock, past, future
 */
static Rule
rule_from_arguments(FunctionCallInfo fcinfo, Scheme scheme)
{
	bool		is_short = scheme == SCHEME_SHORT_COMB;
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

/* Does some instant of the window give the identifier's time? */
static bool
rule_accepts(const Rule *rule, const pg_uuid_t *id, TimestampTz clock)
{
	Window		window = window_around(rule, clock);

	if (!uuid_is_version(id, schemes[rule->scheme].version))
		return false;

	if (rule->scheme == SCHEME_SHORT_COMB)
	{
		/* modulo the cycle, the prefix may be so many periods after the first */
		int64		first = short_prefix_period_number(&rule->prefix, window.first);
		int64		last = short_prefix_period_number(&rule->prefix, window.last);
		uint64		prefix = short_prefix_of_uuid(&rule->prefix, id);

		return short_prefix_of_period(&rule->prefix, prefix - first) <=
			(uint64) (last - first);
	}
	else
	{
		int64		ms = uuid_first_48_bits(id);

		return ms >= clock_unix_ms(window.first) &&
			ms <= clock_unix_ms(window.last);
	}
}

/* What is wrong with an identifier that the rule does not accept. */
static char *
describe_violation(const Rule *rule, const pg_uuid_t *id, TimestampTz clock)
{
	Window		window = window_around(rule, clock);
	char	   *id_text = uuid_text(id);
	char	   *first_text = pstrdup(timestamptz_to_str(window.first));
	char	   *last_text = pstrdup(timestamptz_to_str(window.last));

	if (!uuid_is_rfc_variant(id))
		return psprintf("Identifier %s is of variant %s, not RFC 9562.",
						id_text, uuid_variant_name(id));

	if (!uuid_is_version(id, schemes[rule->scheme].version))
		return psprintf("Identifier %s has version %d, not %d.",
						id_text, uuid_version_nibble(id),
						schemes[rule->scheme].version);

	if (rule->scheme == SCHEME_SHORT_COMB)
	{
		const ShortPrefix *prefix = &rule->prefix;
		int			digits = prefix->bits / 4;

		return psprintf("Identifier %s has prefix %0*llx; from %s to %s it may be %0*llx to %0*llx.",
						id_text, digits,
						(unsigned long long) short_prefix_of_uuid(prefix, id),
						first_text, last_text, digits,
						(unsigned long long) short_prefix_of_period(prefix,
																	short_prefix_period_number(prefix, window.first)),
						digits,
						(unsigned long long) short_prefix_of_period(prefix,
																	short_prefix_period_number(prefix, window.last)));
	}
	else
	{
		TimestampTz made_at = 0;

		/* 48 bits of milliseconds always fit timestamptz */
		(void) clock_from_unix_ms(uuid_first_48_bits(id), &made_at);
		return psprintf("Identifier %s has the time %s; it may be from %s to %s.",
						id_text, timestamptz_to_str(made_at),
						first_text, last_text);
	}
}

/*
 * Raise 23514 for an identifier that the rule does not accept.  "constraint"
 * is the trigger or the function that checks; a trigger adds the relation and
 * the column.  "batch_hint" is how a batch that is late can pass the time of
 * its identifiers.
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
			 errmsg("identifier is not a %s of the allowed time",
					schemes[rule->scheme].noun),
			 errdetail_internal("%s", describe_violation(rule, id, clock)),
			 uuid_is_version(id, schemes[rule->scheme].version) ?
			 errhint("Make a new identifier. %s", batch_hint) :
			 errhint("Make a new identifier with idgen.%s().",
					 schemes[rule->scheme].name),
			 relation ? errtablecol(relation, attnum) : 0,
			 err_generic_string(PG_DIAG_CONSTRAINT_NAME, constraint)));
}

/* ----------
 * Functions
 * ----------
 */

static Datum
is_scheme(FunctionCallInfo fcinfo, Scheme scheme)
{
	Rule		rule;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();

	rule = rule_from_arguments(fcinfo, scheme);
	PG_RETURN_BOOL(rule_accepts(&rule, PG_GETARG_UUID_P(0),
								clock_argument_stable(fcinfo, 2)));
}

static Datum
check_scheme(FunctionCallInfo fcinfo, Scheme scheme)
{
	Rule		rule;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();

	rule = rule_from_arguments(fcinfo, scheme);
	rule_check(&rule, PG_GETARG_UUID_P(0), clock_argument_stable(fcinfo, 2),
			   "For a batch that is late, pass the time at which its identifiers were made as \"clock\".",
			   psprintf("check_recent_%s", schemes[scheme].name), NULL, 0);
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
 * Whether it is a version 4 UUID with a prefix that some instant from
 * clock - past to clock + future gives, also where the prefixes begin again.
 */
PG_FUNCTION_INFO_V1(idgen_is_recent_short_comb);
Datum
idgen_is_recent_short_comb(PG_FUNCTION_ARGS)
{
	return is_scheme(fcinfo, SCHEME_SHORT_COMB);
}

/*
 * is_recent_comb(id uuid, tolerance interval DEFAULT '10 minutes',
 *				  clock timestamptz DEFAULT NULL,
 *				  past_tolerance interval DEFAULT NULL,
 *				  future_tolerance interval DEFAULT NULL) returns bool
 */
PG_FUNCTION_INFO_V1(idgen_is_recent_comb);
Datum
idgen_is_recent_comb(PG_FUNCTION_ARGS)
{
	return is_scheme(fcinfo, SCHEME_COMB);
}

/* is_recent_uuid_v7(), with the arguments of is_recent_comb() */
PG_FUNCTION_INFO_V1(idgen_is_recent_uuid_v7);
Datum
idgen_is_recent_uuid_v7(PG_FUNCTION_ARGS)
{
	return is_scheme(fcinfo, SCHEME_UUID_V7);
}

/*
 * check_recent_short_comb(), check_recent_comb(), check_recent_uuid_v7(): with
 * the arguments of is_recent_...(), return the identifier or raise 23514.
 */
PG_FUNCTION_INFO_V1(idgen_check_recent_short_comb);
Datum
idgen_check_recent_short_comb(PG_FUNCTION_ARGS)
{
	return check_scheme(fcinfo, SCHEME_SHORT_COMB);
}

PG_FUNCTION_INFO_V1(idgen_check_recent_comb);
Datum
idgen_check_recent_comb(PG_FUNCTION_ARGS)
{
	return check_scheme(fcinfo, SCHEME_COMB);
}

PG_FUNCTION_INFO_V1(idgen_check_recent_uuid_v7);
Datum
idgen_check_recent_uuid_v7(PG_FUNCTION_ARGS)
{
	return check_scheme(fcinfo, SCHEME_UUID_V7);
}

/* ----------
 * The trigger
 * ----------
 */

/* A trigger's arguments, read once per statement and kept in fn_extra. */
typedef struct TriggerRule
{
	Oid			trigger_oid;
	int			attnum;
	Rule		rule;
} TriggerRule;

static Scheme
scheme_by_name(const char *name)
{
	for (int i = 0; i < (int) lengthof(schemes); i++)
	{
		if (strcmp(name, schemes[i].name) == 0)
			return (Scheme) i;
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unknown identifier scheme \"%s\"", name),
			 errhint("The schemes are short_comb, comb and uuid_v7.")));
}

/* The trigger's argument, NULL where it is left out or empty. */
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
 * The number of the column that a trigger names, which must be a uuid's.  One
 * that is generated has no value yet.
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
				 errdetail("A generated column has no value yet where a trigger is called before the insert."),
				 errtablecol(relation, attnum)));
	return attnum;
}

/*
 * The rule from a trigger's arguments behind column and scheme:
 *	short_comb: tolerance, period, prefix_bytes, past, future
 *	others:		tolerance, past, future
 */
static Rule
rule_from_trigger(const Trigger *trigger)
{
	Scheme		scheme;
	bool		is_short;
	int			past_argno;
	ShortPrefix prefix = short_prefix_default();

	scheme = scheme_by_name(trigger->tgargs[1]);
	is_short = scheme == SCHEME_SHORT_COMB;
	past_argno = is_short ? 5 : 3;

	if (trigger->tgnargs > past_argno + 2)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("too many arguments for check_on_insert with scheme \"%s\"",
						schemes[scheme].name),
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
					 errmsg("check_on_insert needs a column and a scheme as arguments"),
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
 * BEFORE INSERT FOR EACH ROW; arguments (column, scheme, tolerance, ...), the
 * ones of check_...() without the clock, an empty one being the default.  The
 * clock is the setting idgen.clock, or the wall clock.  A NULL identifier
 * passes: whether it may be NULL is for the column to say.
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
				   "For a batch that is late, set idgen.clock to the time at which its identifiers were made.",
				   data->tg_trigger->tgname, data->tg_relation, kept->attnum);

	return PointerGetDatum(data->tg_trigtuple);
}
