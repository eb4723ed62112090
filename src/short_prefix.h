/*-------------------------------------------------------------------------
 *
 * short_prefix.h
 *	  The prefix of a short COMB: floor(unix_ms / period_ms) mod 256^bytes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef IDGEN_SHORT_PREFIX_H
#define IDGEN_SHORT_PREFIX_H

#include "datatype/timestamp.h"
#include "fmgr.h"

#include "uuid_bits.h"

#define MIN_PREFIX_BYTES	1
#define MAX_PREFIX_BYTES	6	/* the bytes before the version nibble */

typedef struct ShortPrefix
{
	int64		period_ms;		/* how long a prefix lasts */
	int			bits;			/* its width, 8 to 48 */
} ShortPrefix;

/* How many prefixes there are before they begin again. */
static inline uint64
short_prefix_cycle(const ShortPrefix *prefix)
{
	return UINT64CONST(1) << prefix->bits;
}

/* The prefix that a period's number, counted from the Unix epoch, gives. */
static inline uint64
short_prefix_of_period(const ShortPrefix *prefix, int64 period_number)
{
	/* two's complement makes this right before the epoch, too */
	return (uint64) period_number & (short_prefix_cycle(prefix) - 1);
}

/* The prefix that an identifier has. */
static inline uint64
short_prefix_of_uuid(const ShortPrefix *prefix, const pg_uuid_t *id)
{
	return uuid_first_48_bits(id) >> (48 - prefix->bits);
}

extern ShortPrefix short_prefix_default(void);
extern ShortPrefix short_prefix_make(const Interval *period, int32 prefix_bytes);
extern ShortPrefix short_prefix_arguments(FunctionCallInfo fcinfo,
										  int period_argno, int bytes_argno);
extern int64 short_prefix_period_number(const ShortPrefix *prefix,
										TimestampTz instant);

#endif							/* IDGEN_SHORT_PREFIX_H */
