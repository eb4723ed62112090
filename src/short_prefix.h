/*
 * short_prefix.h
 *	  The prefix of a short COMB: floor(unix_ms / period_ms) mod 256^bytes.
 */
#ifndef IDGEN_SHORT_PREFIX_H
#define IDGEN_SHORT_PREFIX_H

#include "clock.h"
#include "uuid_bits.h"

#define MIN_PREFIX_BYTES		1
#define MAX_PREFIX_BYTES		6	/* the bytes before the version nibble */
#define DEFAULT_PREFIX_BYTES	2

typedef struct ShortPrefix
{
	int64		period_ms;		/* the time for which a prefix is used */
	int			bits;			/* its width, 8 to 48 */
} ShortPrefix;

/* Return the number of different prefixes. */
static inline uint64
short_prefix_cycle(const ShortPrefix *prefix)
{
	return UINT64CONST(1) << prefix->bits;
}

/* Return the prefix of a period, given its number since the Unix epoch. */
static inline uint64
short_prefix_of_period(const ShortPrefix *prefix, int64 period_number)
{
	/* in two's complement, this is also correct before the epoch */
	return (uint64) period_number & (short_prefix_cycle(prefix) - 1);
}

/* Return the prefix of an identifier. */
static inline uint64
short_prefix_of_uuid(const ShortPrefix *prefix, const pg_uuid_t *id)
{
	return uuid_first_48_bits(id) >> (48 - prefix->bits);
}

extern const ShortPrefix short_prefix_default;

extern int64 short_prefix_period_ms(const Interval *period);
extern ShortPrefix short_prefix_make(const Interval *period, int32 prefix_bytes);
extern ShortPrefix short_prefix_arguments(FunctionCallInfo fcinfo,
										  int period_argno, int bytes_argno);
extern int64 short_prefix_period_number(const ShortPrefix *prefix,
										TimestampTz instant);
extern uint64 short_prefix_of_instant(const ShortPrefix *prefix, TimestampTz instant);

#endif							/* IDGEN_SHORT_PREFIX_H */
