/*
 * short_prefix.c
 *	  The prefix of short COMBs: its arguments and its arithmetic.
 *
 * Time is divided into periods of equal length, which are numbered from the
 * Unix epoch.  The prefix consists of the low bytes of a period's number.
 * With the defaults, one minute and two bytes, it repeats every 65536 minutes
 * (45.5 days).
 */
#include "postgres.h"

#include "arguments.h"
#include "short_prefix.h"

/* the longest period, 1000 years of 365.25 days */
#define MAX_PERIOD_DAYS			365250
#define MAX_PERIOD_US			(MAX_PERIOD_DAYS * USECS_PER_DAY)

/* one minute */
const ShortPrefix short_prefix_default = {60000, DEFAULT_PREFIX_BYTES * BITS_PER_BYTE};

/* Return a period in milliseconds.  Raises 22023 if its length is invalid. */
int64
short_prefix_period_ms(const Interval *period)
{
	int64		period_us = clock_interval_us(period, "period");

	if (period_us <= 0 || period_us > MAX_PERIOD_US || period_us % US_PER_MS != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 period_us <= 0 ? errmsg("period must be greater than zero") :
				 period_us > MAX_PERIOD_US ?
				 errmsg("period must be at most %d days", MAX_PERIOD_DAYS) :
				 errmsg("period must be a whole number of milliseconds"),
				 errdetail("The period is %s.", clock_interval_text(period))));
	return period_us / US_PER_MS;
}

/* Make a prefix from a period and a width, after checking both.  A NULL period means a minute. */
ShortPrefix
short_prefix_make(const Interval *period, int32 prefix_bytes)
{
	ShortPrefix prefix = short_prefix_default;

	if (prefix_bytes < MIN_PREFIX_BYTES || prefix_bytes > MAX_PREFIX_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("prefix_bytes must be between %d and %d",
						MIN_PREFIX_BYTES, MAX_PREFIX_BYTES),
				 errdetail("The value is %d.", prefix_bytes)));
	prefix.bits = prefix_bytes * BITS_PER_BYTE;
	if (period != NULL)
		prefix.period_ms = short_prefix_period_ms(period);
	return prefix;
}

/* Make a prefix from the SQL arguments "period" and "prefix_bytes".  Raises 22004 if one is NULL. */
ShortPrefix
short_prefix_arguments(FunctionCallInfo fcinfo, int period_argno, int bytes_argno)
{
	require_not_null(fcinfo, period_argno, "period");
	require_not_null(fcinfo, bytes_argno, "prefix_bytes");
	return short_prefix_make(PG_GETARG_INTERVAL_P(period_argno),
							 PG_GETARG_INT32(bytes_argno));
}

/* Return the number of the period that contains a timestamp. */
int64
short_prefix_period_number(const ShortPrefix *prefix, TimestampTz instant)
{
	return floor_div(clock_unix_ms(instant), prefix->period_ms);
}

/* Return the prefix of the period that contains a timestamp. */
uint64
short_prefix_of_instant(const ShortPrefix *prefix, TimestampTz instant)
{
	return short_prefix_of_period(prefix, short_prefix_period_number(prefix, instant));
}
