/*
 * validate.c
 *	  Checking the time of identifiers that clients generate.
 *
 * The server can check whether an identifier's time lies in a window around a
 * clock.  The clock is the server's, or one that was recorded with a late
 * batch.  is_recent_...() returns the result, check_recent_...() returns the
 * identifier or raises 23514, and so does the trigger of check_recent_id.c.
 */
#include "postgres.h"

#include "common/int.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "arguments.h"
#include "validate.h"

/* "tolerance" of a trigger that does not give one, as of the SQL functions */
#define DEFAULT_TOLERANCE_US		(10 * USECS_PER_MINUTE)

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
	TimestampTz made_at = clock_from_unix_ms48(uuid_first_48_bits(id));

	return psprintf("Identifier %s contains the time %s, which is not between %s and %s.",
					uuid_text(id), timestamptz_to_str(made_at), first_text, last_text);
}

static const Scheme schemes[] = {
	{"short_comb", "short COMB", 4, true, prefix_accepts, prefix_describe},
	{"comb", "COMB", 4, false, time_accepts, time_describe},
	{"uuid_v7", "version 7 UUID", 7, false, time_accepts, time_describe}
};

#define SHORT_COMB	(&schemes[0])
#define COMB		(&schemes[1])
#define UUID_V7		(&schemes[2])

/* The scheme of this name; 42704 if there is none. */
const Scheme *
scheme_by_name(const char *name)
{
	for (int i = 0; i < (int) lengthof(schemes); i++)
	{
		if (strcmp(name, schemes[i].name) == 0)
			return &schemes[i];
	}
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("identifier scheme \"%s\" does not exist", name),
			 errhint("Supported schemes are short_comb, comb and uuid_v7.")));
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
				 errdetail("The past and future tolerances add up to " UINT64_FORMAT " ms. "
						   "At most " UINT64_FORMAT " periods of " INT64_FORMAT " ms are allowed, "
						   "2 less than the cycle, because a wider window could contain every prefix.",
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
Rule
rule_make(const Scheme *scheme, ShortPrefix prefix, const Interval *tolerance,
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

/* The instants that a rule accepts at a time.  One out of range is an error (22008). */
Window
rule_window(const Rule *rule, TimestampTz clock)
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
bool
rule_accepts(const Rule *rule, const pg_uuid_t *id, const Window *window)
{
	return uuid_is_version(id, rule->scheme->version) &&
		rule->scheme->accepts(rule, id, window);
}

/* The call that generates identifiers for which the rule was made. */
static char *
generator_call(const Rule *rule)
{
	ShortPrefix usual = short_prefix_default();
	Interval	period = {.time = rule->prefix.period_ms * US_PER_MS};

	if (rule->prefix.period_ms == usual.period_ms && rule->prefix.bits == usual.bits)
		return psprintf("idgen.%s()", rule->scheme->name);
	return psprintf("idgen.%s('%s', %d)", rule->scheme->name,
					clock_interval_text(&period),
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
void
rule_refuse(const Rule *rule, const pg_uuid_t *id, const Window *window,
			const char *constraint, Relation relation, int attnum,
			bool has_unique_index)
{
	if (!uuid_is_version(id, rule->scheme->version))
		refuse_form(rule, id, constraint, relation, attnum);

	ereport(ERROR,
			(errcode(ERRCODE_CHECK_VIOLATION),
			 errmsg("identifier is outside the accepted time window"),
			 errdetail_internal("%s%s", rule->scheme->describe(rule, id, window),
								relation && !has_unique_index ?
								" The table has no unique index on the column alone, so that a repeated INSERT of an existing row is refused as well." : ""),
			 relation ?
			 errhint("Generate a new identifier with %s.", generator_call(rule)) :
			 errhint("Generate a new identifier with %s. For a late batch, pass the time at which its identifiers were generated as \"clock\".",
					 generator_call(rule)),
			 relation ? errtablecol(relation, attnum) : 0,
			 err_generic_string(PG_DIAG_CONSTRAINT_NAME, constraint)));
}

static const Interval *
interval_argument(FunctionCallInfo fcinfo, int argno)
{
	return PG_ARGISNULL(argno) ? NULL : PG_GETARG_INTERVAL_P(argno);
}

/*
 * The rule and the window from the arguments that follow the identifier:
 * tolerance, past_tolerance, future_tolerance, period and prefix_bytes if the
 * scheme has them, clock.
 */
static Rule
rule_from_arguments(FunctionCallInfo fcinfo, const Scheme *scheme, Window *window)
{
	Rule		rule;

	require_not_null(fcinfo, 1, "tolerance");
	rule = rule_make(scheme,
					 scheme->has_prefix ? short_prefix_arguments(fcinfo, 4, 5) :
					 short_prefix_default(),
					 PG_GETARG_INTERVAL_P(1),
					 interval_argument(fcinfo, 2),
					 interval_argument(fcinfo, 3));
	*window = rule_window(&rule, clock_argument_stable(fcinfo, PG_NARGS() - 1));
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
		rule_refuse(&rule, id, &window,
					psprintf("check_recent_%s", scheme->name), NULL, 0, false);
	PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

/*
 * is_recent_short_comb(id uuid, ...), is_recent_comb(id uuid, ...) and
 * is_recent_uuid_v7(id uuid, ...) return boolean
 *	Whether the identifier is of the scheme's version, and contains the prefix or
 *	the time, in whole milliseconds, of an instant from clock - past_tolerance to
 *	clock + future_tolerance.
 */
SQL_FUNCTION(idgen_is_recent_short_comb, is_recent(fcinfo, SHORT_COMB))
SQL_FUNCTION(idgen_is_recent_comb, is_recent(fcinfo, COMB))
SQL_FUNCTION(idgen_is_recent_uuid_v7, is_recent(fcinfo, UUID_V7))

/*
 * check_recent_short_comb(), check_recent_comb() and check_recent_uuid_v7()
 * have the arguments of is_recent_...(), and return the identifier or raise
 * 23514.
 */
SQL_FUNCTION(idgen_check_recent_short_comb, check_recent(fcinfo, SHORT_COMB))
SQL_FUNCTION(idgen_check_recent_comb, check_recent(fcinfo, COMB))
SQL_FUNCTION(idgen_check_recent_uuid_v7, check_recent(fcinfo, UUID_V7))
