/*
 * validate.h
 *	  Rules for identifiers that clients generate: a scheme, and a window of
 *	  time around a clock.
 */
#ifndef IDGEN_VALIDATE_H
#define IDGEN_VALIDATE_H

#include "utils/relcache.h"

#include "short_prefix.h"

/* A scheme of identifiers with a time. */
typedef struct Scheme
{
	const char *name;			/* of the generator; argument of the trigger */
	const char *noun;			/* for messages */
	int			version;
	enum
	{
		TIME_IN_MS,				/* as 48 bits of Unix milliseconds */
		TIME_IN_PREFIX,			/* as a short prefix; arguments period and
								 * prefix_bytes */
		TIME_IS_HASHED			/* under a key; arguments area, key_name,
								 * period */
	}			time;
} Scheme;

/* While one key replaces another, a check accepts both.  Each has its own KeyedArea. */
#define MAX_RULE_KEYS	8

/* The requirements of a check, except for the clock. */
typedef struct Rule
{
	const Scheme *scheme;
	ShortPrefix prefix;			/* of TIME_IN_PREFIX; of TIME_IS_HASHED, the
								 * period only */
	int			keys;			/* of TIME_IS_HASHED */
	const text *key_names[MAX_RULE_KEYS];	/* each is accepted; messages name
											 * the first */
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

extern const Scheme *const hmac_comb_scheme;
extern const Scheme *scheme_by_name(const char *name);

extern Rule rule_make(const Scheme *scheme, ShortPrefix prefix, const Interval *tolerance,
					  const Interval *past, const Interval *future);
extern void rule_set_keys(Rule *rule, const text *area, const text *key_names);
extern Window rule_window(const Rule *rule, TimestampTz clock);
extern bool rule_accepts(const Rule *rule, const pg_uuid_t *id, const Window *window);
extern void rule_refuse(const Rule *rule, const pg_uuid_t *id, const Window *window,
						const char *constraint, Relation relation, int attnum,
						bool has_unique_index);

#endif							/* IDGEN_VALIDATE_H */
