/*
 * clock.h
 *	  Timestamps and intervals in the units of the identifiers.
 */
#ifndef IDGEN_CLOCK_H
#define IDGEN_CLOCK_H

#include "utils/timestamp.h"

#define US_PER_MS			INT64CONST(1000)
#define MS_PER_SECOND		INT64CONST(1000)
#define MS_PER_DAY			(SECS_PER_DAY * MS_PER_SECOND)

/* days from the Unix epoch to the epoch of timestamptz */
#define UNIX_EPOCH_DAYS		(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE)

/* RFC 9562 section 6.2, method 3: 12 bits for the fraction of a millisecond */
#define SUBMS_BITS			12

/* Unix milliseconds fit into 48 bits until 10889-08-02 05:31:50.655+00. */
#define UNIX_MS48_MAX		((INT64CONST(1) << 48) - 1)

/* Unix seconds fit into 32 bits until 2106-02-07 06:28:15+00. */
#define UNIX_SECONDS32_MAX	INT64CONST(0xFFFFFFFF)

/* 100 ns ticks since 1582-10-15 fit into 60 bits until 5236-03-31 21:21:00.684697+00. */
#define GREGORIAN_TICKS_MAX	((INT64CONST(1) << 60) - 1)

/* Divide, rounding down even if the dividend is negative. */
static inline int64
floor_div(int64 dividend, int64 divisor)
{
	return dividend / divisor - (dividend % divisor < 0);
}

extern TimestampTz clock_argument(FunctionCallInfo fcinfo, int argno);
extern TimestampTz clock_argument_stable(FunctionCallInfo fcinfo, int argno);
extern TimestampTz clock_require_finite(TimestampTz instant);

extern int64 clock_unix_ms(TimestampTz instant);
extern int64 clock_unix_seconds(TimestampTz instant);
extern int64 clock_unix_ms48(TimestampTz instant);
extern uint64 clock_unix_submillis(TimestampTz instant);
extern uint64 clock_wall_submillis(void);
extern int64 clock_wall_unix_ms(void);
extern int64 clock_unix_seconds32(TimestampTz instant);
extern int64 clock_wall_unix_seconds(void);
extern uint64 clock_gregorian_ticks(TimestampTz instant);
extern uint64 clock_wall_gregorian_ticks(void);

extern bool clock_from_unix_ms(int64 unix_ms, TimestampTz *instant);
extern TimestampTz clock_from_unix_ms48(uint64 unix_ms);
extern TimestampTz clock_from_gregorian_ticks(uint64 ticks);

extern int64 clock_interval_us(const Interval *length, const char *name);
extern char *clock_interval_text(const Interval *length);

#endif							/* IDGEN_CLOCK_H */
