/*
 * validate.c
 *	  Checking the time of identifiers that clients generate.
 *
 * These functions check whether an identifier's time lies in a window around
 * the current time, or around the recorded time of a batch that arrives late.
 * is_recent_...() returns the result of the check; check_recent_...() returns
 * the identifier or raises 23514.  The triggers of check_recent_id.c perform
 * the same checks.
 *
 * The identifiers of hmac_comb() do not contain the time, but a hash of it.
 * No message contains an accepted hash or says which part of a hash is wrong,
 * and the duration of a check does not depend on which part is right.
 * Otherwise, a role that may store identifiers, but may not call hmac_comb(),
 * could learn an accepted hash.
 */
#include "postgres.h"

#include "common/int.h"
#include "utils/builtins.h"
#include "utils/rel.h"

#include "arguments.h"
#include "keyed_prefix.h"
#include "validate.h"

#define TOLERANCES	(1 << TOLERANCE | 1 << PAST_TOLERANCE | 1 << FUTURE_TOLERANCE)

static char *
instant_text(TimestampTz instant)
{
	return pstrdup(timestamptz_to_str(instant));
}

static char *
period_text(const Rule *rule)
{
	Interval	period = {.time = rule->prefix.period_ms * US_PER_MS};

	return clock_interval_text(&period);
}

/*
 * Raise 22023 if, for some clock, the window could contain every prefix.  A
 * window that is n periods long can intersect n + 1 periods.  With n = cycle -
 * 2, at least one prefix is always rejected.  The width is computed using
 * unsigned numbers, because two tolerances of almost 2^63 us add up to less
 * than 2^64.
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

/* Raise 22023 if the window is wider than MAX_CHECKED_PERIODS, which limits the cost of a check. */
static void
require_few_periods(const Rule *rule)
{
	uint64		period_us = (uint64) rule->prefix.period_ms * US_PER_MS;
	uint64		width_us = (uint64) rule->past_us + (uint64) rule->future_us;

	if (width_us > MAX_CHECKED_PERIODS * period_us)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("tolerance is too wide for the period"),
				 errdetail("The past and future tolerances add up to more than %d periods of " INT64_FORMAT " ms.",
						   MAX_CHECKED_PERIODS, rule->prefix.period_ms),
				 errhint("Use a smaller tolerance. For a late batch, pass the time at which its identifiers were generated as \"clock\".")));
}

/* Is the time of the identifier in the window? */
static bool
ms_are_in_window(const Rule *rule pg_attribute_unused(), const pg_uuid_t *id, const Window *window)
{
	int64		ms = uuid_first_48_bits(id);

	return ms >= clock_unix_ms(window->first) && ms <= clock_unix_ms(window->last);
}

/* Does a period that the window intersects have the identifier's prefix? */
static bool
prefix_is_in_window(const Rule *rule, const pg_uuid_t *id, const Window *window)
{
	const ShortPrefix *prefix = &rule->prefix;
	int64		first = short_prefix_period_number(prefix, window->first);
	int64		last = short_prefix_period_number(prefix, window->last);

	Assert((uint64) (last - first) < short_prefix_cycle(prefix) - 1);
	return short_prefix_of_period(prefix, short_prefix_of_uuid(prefix, id) - first) <=
		(uint64) (last - first);
}

/*
 * With one of the rule's secret keys, does a twelfth that the window
 * intersects have the identifier's prefix?  Each key is always used, so that
 * neither an error (42704) nor the duration depends on the identifier.
 */
static bool
hash_is_in_window(const Rule *rule, const pg_uuid_t *id, const Window *window)
{
	uint32		prefix = uuid_half(id, 0) >> (64 - KEYED_PREFIX_BITS);
	bool		found = false;

	for (int i = 0; i < rule->keys; i++)
	{
		KeyedArea  *area = keyed_area(KEY_OF_FILE, rule->key_names[i], rule->area,
									  rule->prefix.period_ms);

		found |= keyed_area_has_prefix(area, prefix, clock_unix_ms(window->first),
									   clock_unix_ms(window->last));
	}
	return found;
}

static char *
describe_ms(const Rule *rule pg_attribute_unused(), const pg_uuid_t *id, const Window *window)
{
	return psprintf("Identifier %s contains the time %s, which is not between %s and %s.",
					uuid_text(id), instant_text(clock_from_unix_ms48(uuid_first_48_bits(id))),
					instant_text(window->first), instant_text(window->last));
}

/* Return a prefix as hexadecimal digits. */
static char *
prefix_text(const ShortPrefix *prefix, uint64 value)
{
	return psprintf("%0*llx", prefix->bits / 4, (unsigned long long) value);
}

static char *
describe_prefix(const Rule *rule, const pg_uuid_t *id, const Window *window)
{
	const ShortPrefix *prefix = &rule->prefix;

	return psprintf("Identifier %s has prefix %s, but the prefixes from %s to %s are %s to %s.",
					uuid_text(id), prefix_text(prefix, short_prefix_of_uuid(prefix, id)),
					instant_text(window->first), instant_text(window->last),
					prefix_text(prefix, short_prefix_of_instant(prefix, window->first)),
					prefix_text(prefix, short_prefix_of_instant(prefix, window->last)));
}

static char *
describe_hash(const Rule *rule pg_attribute_unused(), const pg_uuid_t *id, const Window *window)
{
	return psprintf("The prefix of identifier %s is not one of those from %s to %s.",
					uuid_text(id), instant_text(window->first), instant_text(window->last));
}

static char *
advise_generator(const Rule *rule)
{
	return psprintf("Generate a new identifier with idgen.%s().", rule->scheme->name);
}

static char *
advise_short_comb(const Rule *rule)
{
	if (rule->prefix.period_ms == short_prefix_default.period_ms &&
		rule->prefix.bits == short_prefix_default.bits)
		return advise_generator(rule);
	return psprintf("Generate a new identifier with idgen.%s('%s', %d).", rule->scheme->name,
					period_text(rule), rule->prefix.bits / BITS_PER_BYTE);
}

static char *
advise_key(const Rule *rule)
{
	return psprintf("The program that generates it needs the same key \"%s\", period %s and area \"%s\", and a clock that is right.",
					text_to_cstring(rule->key_names[0]), period_text(rule), server_text(rule->area));
}

static const Scheme schemes[] = {
	{"short_comb", "short COMB", 4, TOLERANCES | 1 << PERIOD | 1 << PREFIX_BYTES,
	require_window_within_cycle, prefix_is_in_window, describe_prefix, advise_short_comb},
	{"comb", "COMB", 4, TOLERANCES, NULL, ms_are_in_window, describe_ms, advise_generator},
	{"uuid_v7", "version 7 UUID", 7, TOLERANCES, NULL, ms_are_in_window, describe_ms, advise_generator}
};

#define SHORT_COMB	(&schemes[0])
#define COMB		(&schemes[1])
#define UUID_V7		(&schemes[2])

/* not in the array above, because hmac_comb() has its own trigger function */
const Scheme hmac_comb_scheme = {
	"hmac_comb", "keyed COMB", 4, TOLERANCES | 1 << PERIOD | 1 << AREA | 1 << KEY_NAME,
	require_few_periods, hash_is_in_window, describe_hash, advise_key
};

/* Return the scheme with this name.  Raises 42704 if there is none. */
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
			 strcmp(name, hmac_comb_scheme.name) == 0 ?
			 errhint("The trigger function for hmac_comb() is idgen.check_recent_hmac_id().") :
			 errhint("Supported schemes are short_comb, comb and uuid_v7.")));
}

/* Set the area (in UTF-8) and the key names (a list separated by white space). */
void
rule_set_keys(Rule *rule, const text *area, const text *key_names)
{
	const char *names = text_to_cstring(key_names);

	rule->area = area;
	for (names += strspn(names, KEY_FILE_WHITESPACE); *names != '\0'; names += strspn(names, KEY_FILE_WHITESPACE))
	{
		size_t		length = strcspn(names, KEY_FILE_WHITESPACE);

		if (rule->keys == MAX_RULE_KEYS)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("key_name has more than %d names", MAX_RULE_KEYS)));
		rule->key_names[rule->keys++] = cstring_to_text_with_len(names, length);
		names += length;
	}
	if (rule->keys == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("key_name must contain the name of a key")));
}

/* Make a rule.  If not NULL, "past" and "future" override the tolerance. */
Rule
rule_make(const Scheme *scheme, ShortPrefix prefix, const Interval *tolerance,
		  const Interval *past, const Interval *future)
{
	int64		both_us = require_duration_us(tolerance, "tolerance");
	Rule		rule = {.scheme = scheme,.prefix = prefix};

	rule.past_us = past ? require_duration_us(past, "past_tolerance") : both_us;
	rule.future_us = future ? require_duration_us(future, "future_tolerance") : both_us;
	if (scheme->require_width != NULL)
		scheme->require_width(&rule);
	return rule;
}

/* Return a rule's window at the given time.  Raises 22008 if it is out of range. */
Window
rule_window(const Rule *rule, TimestampTz clock)
{
	Window		window;

	if (pg_sub_s64_overflow(clock, rule->past_us, &window.first) ||
		pg_add_s64_overflow(clock, rule->future_us, &window.last))
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("timestamp out of range")));
	Assert(window.first <= window.last);
	return window;
}

/*
 * Does the identifier belong to the scheme, and is its time in the window?
 * The version is checked last: hash_is_in_window() must always be called,
 * because it raises an error if one of the rule's keys is missing.
 */
bool
rule_accepts(const Rule *rule, const pg_uuid_t *id, const Window *window)
{
	return rule->scheme->is_in_window(rule, id, window) &&
		uuid_is_version(id, rule->scheme->version);
}

/* Raise 23514 for an identifier that the rule does not accept. */
void
rule_refuse(const Rule *rule, const pg_uuid_t *id, const Window *window, const Checker *checker)
{
	const Scheme *scheme = rule->scheme;
	bool		is_trigger = checker->relation != NULL;

	if (!uuid_is_version(id, scheme->version))
		ereport(ERROR,
				(errcode(ERRCODE_CHECK_VIOLATION),
				 errmsg("identifier is not a %s", scheme->noun),
				 uuid_is_rfc_variant(id) ?
				 errdetail("Identifier %s has version %d, not %d.", uuid_text(id),
						   uuid_version_nibble(id), scheme->version) :
				 errdetail("Identifier %s has variant %s, not RFC 9562.",
						   uuid_text(id), uuid_variant_name(id)),
				 errhint("%s", scheme->advise(rule)),
				 is_trigger ? errtablecol(checker->relation, checker->attnum) : 0,
				 err_generic_string(PG_DIAG_CONSTRAINT_NAME, checker->name)));

	ereport(ERROR,
			(errcode(ERRCODE_CHECK_VIOLATION),
			 errmsg("identifier is outside the accepted time window"),
			 errdetail_internal("%s%s", scheme->describe(rule, id, window),
								is_trigger && !checker->has_unique_index ?
								" The table has no unique index on the column alone, so the trigger cannot find existing rows." : ""),
			 errhint("%s%s", scheme->advise(rule),
					 is_trigger ? "" : " If this is a command's id, find out first whether the command was executed."
					 " For a late batch, pass the time at which its identifiers were generated as \"clock\"."),
			 is_trigger ? errtablecol(checker->relation, checker->attnum) : 0,
			 err_generic_string(PG_DIAG_CONSTRAINT_NAME, checker->name)));
}

/*
 * Make a rule and its window from the arguments that follow the identifier.
 * These are area and key_name (if the scheme has a key), tolerance,
 * past_tolerance, future_tolerance, period and prefix_bytes (if the scheme has
 * them), and clock.
 */
static Rule
rule_from_arguments(FunctionCallInfo fcinfo, const Scheme *scheme, Window *window)
{
	Rule		rule;
	ShortPrefix prefix = short_prefix_default;
	bool		has_key = scheme_has(scheme, KEY_NAME);
	int			tolerance = has_key ? 3 : 1;

	require_not_null(fcinfo, tolerance, "tolerance");
	if (scheme_has(scheme, PREFIX_BYTES))
		prefix = short_prefix_arguments(fcinfo, 4, 5);
	if (has_key)
	{
		require_not_null(fcinfo, 2, "key_name");
		require_not_null(fcinfo, 6, "period");
		prefix.period_ms = short_prefix_period_ms(PG_GETARG_INTERVAL_P(6));
	}

	rule = rule_make(scheme, prefix,
					 PG_GETARG_INTERVAL_P(tolerance),
					 PG_ARGISNULL(tolerance + 1) ? NULL : PG_GETARG_INTERVAL_P(tolerance + 1),
					 PG_ARGISNULL(tolerance + 2) ? NULL : PG_GETARG_INTERVAL_P(tolerance + 2));
	if (has_key)
		rule_set_keys(&rule, area_argument(fcinfo, 1), PG_GETARG_TEXT_PP(2));
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
	{
		Checker		checker = {.name = psprintf("check_recent_%s", scheme->name)};

		rule_refuse(&rule, id, &window, &checker);
	}
	PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

/*
 * is_recent_short_comb(id uuid, ...), is_recent_comb(id uuid, ...) and
 * is_recent_uuid_v7(id uuid, ...) return boolean
 *	Does the identifier have the version of the scheme, and does its prefix, or
 *	its time in milliseconds, match an instant from clock - past_tolerance to
 *	clock + future_tolerance?  The second argument of is_recent_hmac_comb() is
 *	the area.
 */
PG_FUNCTION_INFO_V1(idgen_is_recent_short_comb);
Datum
idgen_is_recent_short_comb(PG_FUNCTION_ARGS)
{
	return is_recent(fcinfo, SHORT_COMB);
}

PG_FUNCTION_INFO_V1(idgen_is_recent_comb);
Datum
idgen_is_recent_comb(PG_FUNCTION_ARGS)
{
	return is_recent(fcinfo, COMB);
}

PG_FUNCTION_INFO_V1(idgen_is_recent_uuid_v7);
Datum
idgen_is_recent_uuid_v7(PG_FUNCTION_ARGS)
{
	return is_recent(fcinfo, UUID_V7);
}

PG_FUNCTION_INFO_V1(idgen_is_recent_hmac_comb);
Datum
idgen_is_recent_hmac_comb(PG_FUNCTION_ARGS)
{
	return is_recent(fcinfo, &hmac_comb_scheme);
}

/* check_recent_...() returns the identifier or raises 23514. */
PG_FUNCTION_INFO_V1(idgen_check_recent_short_comb);
Datum
idgen_check_recent_short_comb(PG_FUNCTION_ARGS)
{
	return check_recent(fcinfo, SHORT_COMB);
}

PG_FUNCTION_INFO_V1(idgen_check_recent_comb);
Datum
idgen_check_recent_comb(PG_FUNCTION_ARGS)
{
	return check_recent(fcinfo, COMB);
}

PG_FUNCTION_INFO_V1(idgen_check_recent_uuid_v7);
Datum
idgen_check_recent_uuid_v7(PG_FUNCTION_ARGS)
{
	return check_recent(fcinfo, UUID_V7);
}
