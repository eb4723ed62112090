/*
 * validate.h
 *	  Rules for identifiers that clients generate.
 */
#ifndef IDGEN_VALIDATE_H
#define IDGEN_VALIDATE_H

#include "utils/relcache.h"

#include "short_prefix.h"

/* Maximum number of secret keys in a check, which accepts several while one replaces another. */
#define MAX_RULE_KEYS	8

/* The requirements of a check, except for the clock. */
typedef struct Rule
{
	const struct Scheme *scheme;
	ShortPrefix prefix;			/* only the period, for hmac_comb() */
	int			keys;			/* for hmac_comb() */
	const text *key_names[MAX_RULE_KEYS];	/* messages name the first */
	const text *area;			/* in UTF-8 */
	int64		past_us;		/* from the start of the window to the clock */
	int64		future_us;		/* from the clock to the end of the window */
} Rule;

/* The instants from first to last, both inclusive. */
typedef struct Window
{
	TimestampTz first;
	TimestampTz last;
} Window;

/* The arguments of a rule.  Scheme.arguments has a bit for each. */
typedef enum RuleArgument
{
	TOLERANCE,
	PAST_TOLERANCE,
	FUTURE_TOLERANCE,
	PERIOD,
	PREFIX_BYTES,
	AREA,
	KEY_NAME
} RuleArgument;

#define RULE_ARGUMENTS		(KEY_NAME + 1)

/* A scheme of identifiers that contain a time, and the functions that check the time. */
typedef struct Scheme
{
	const char *name;			/* of the generator; argument of the trigger */
	const char *noun;			/* for messages */
	int			version;
	int			arguments;
	void		(*require_width) (const Rule *rule);	/* can be NULL */
	bool		(*is_in_window) (const Rule *rule, const pg_uuid_t *id, const Window *window);
	/* these return sentences for the DETAIL and the HINT */
	char	   *(*describe) (const Rule *rule, const pg_uuid_t *id, const Window *window);
	char	   *(*advise) (const Rule *rule);
} Scheme;

/* The trigger or function that performs a check.  Its errors name it. */
typedef struct Checker
{
	const char *name;			/* the error's constraint name */
	Relation	relation;		/* of the trigger; NULL for a function */
	int			attnum;
	bool		has_unique_index;	/* on the column alone */
} Checker;

static inline bool
scheme_has(const Scheme *scheme, RuleArgument argument)
{
	return (scheme->arguments & 1 << argument) != 0;
}

extern const Scheme hmac_comb_scheme;
extern const Scheme *scheme_by_name(const char *name);

extern Rule rule_make(const Scheme *scheme, ShortPrefix prefix, const Interval *tolerance,
					  const Interval *past, const Interval *future);
extern void rule_set_keys(Rule *rule, const text *area, const text *key_names);
extern Window rule_window(const Rule *rule, TimestampTz clock);
extern bool rule_accepts(const Rule *rule, const pg_uuid_t *id, const Window *window);
extern void rule_refuse(const Rule *rule, const pg_uuid_t *id, const Window *window,
						const Checker *checker);

#endif							/* IDGEN_VALIDATE_H */
