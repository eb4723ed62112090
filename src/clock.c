/*
 * clock.c
 *	  Reading the clock, and converting between units of time.
 *
 * Identifiers contain Unix time in milliseconds (COMB, version 7), in 4096ths
 * of a millisecond (version 7 with a fraction) or in seconds (ObjectId), or a
 * count of 100 ns ticks since the Gregorian reform (versions 1 and 6).  SQL
 * functions use timestamptz and interval.
 */
#include "postgres.h"

#include <time.h>

#include "access/xact.h"
#include "common/int.h"
#include "utils/builtins.h"
#include "utils/datetime.h"

#include "clock.h"

#define NS_PER_MS			INT64CONST(1000000)

/* The Unix epoch in 100 ns ticks since 1582-10-15 00:00:00 UTC, RFC 9562 appendix A. */
#define UNIX_EPOCH_TICKS	INT64CONST(0x01B21DD213814000)
#define TICKS_PER_US		10
#define TICKS_PER_SECOND	INT64CONST(10000000)
#define NS_PER_TICK			100

/* Raise 22008 if a timestamp is infinite, because no identifier can contain infinity. */
TimestampTz
clock_require_finite(TimestampTz instant)
{
	if (TIMESTAMP_NOT_FINITE(instant))
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("timestamp must be finite"),
				 errdetail("The timestamp is %s.",
						   TIMESTAMP_IS_NOBEGIN(instant) ? EARLY : LATE)));
	return instant;
}

/*
 * Return argument argno, or the current time if it is NULL.  Raises 22008 if
 * it is infinite.
 */
TimestampTz
clock_argument(FunctionCallInfo fcinfo, int argno)
{
	return PG_ARGISNULL(argno) ? GetCurrentTimestamp() :
		clock_require_finite(PG_GETARG_TIMESTAMPTZ(argno));
}

/*
 * Like clock_argument(), but for STABLE functions: NULL means the start of the
 * statement, because the result must not change within a statement.  It does
 * not mean the start of the transaction, because identifiers that were
 * generated later in a long transaction would then lie in the future.
 */
TimestampTz
clock_argument_stable(FunctionCallInfo fcinfo, int argno)
{
	return PG_ARGISNULL(argno) ? GetCurrentStatementStartTimestamp() :
		clock_require_finite(PG_GETARG_TIMESTAMPTZ(argno));
}

/* Convert any timestamp to Unix milliseconds, rounded down. */
int64
clock_unix_ms(TimestampTz instant)
{
	return floor_div(instant, US_PER_MS) + UNIX_EPOCH_DAYS * MS_PER_DAY;
}

/* Convert any timestamp to Unix seconds, rounded down. */
int64
clock_unix_seconds(TimestampTz instant)
{
	return floor_div(instant, USECS_PER_SEC) + UNIX_EPOCH_DAYS * SECS_PER_DAY;
}

/* Return "value".  Raises 22008 unless it is between 0 and max. */
static int64
require_in_field(int64 value, int64 max, TimestampTz instant,
				 const char *field, const char *first, const char *last)
{
	if (unlikely(value < 0 || value > max))
	{
		clock_require_finite(instant);
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("timestamp is out of range for %s", field),
				 errdetail("The timestamp is %s; it must be from %s to %s.",
						   timestamptz_to_str(instant), first, last)));
	}
	return value;
}

/* Convert a timestamp to Unix milliseconds.  Raises 22008 if they do not fit into 48 bits. */
int64
clock_unix_ms48(TimestampTz instant)
{
	return require_in_field(clock_unix_ms(instant), UNIX_MS48_MAX, instant,
							"48 bits of Unix milliseconds", "1970-01-01 00:00:00+00",
							"10889-08-02 05:31:50.655999+00");
}

/*
 * Convert a timestamp to Unix time in 4096ths of a millisecond.  The result
 * has 60 bits, as in a version 7 UUID: a 48-bit timestamp, followed by a
 * 12-bit fraction in rand_a (RFC 9562 section 6.2, method 3).
 */
uint64
clock_unix_submillis(TimestampTz instant)
{
	int64		ms = clock_unix_ms48(instant);
	int64		us = instant - floor_div(instant, US_PER_MS) * US_PER_MS;

	return (uint64) ms << SUBMS_BITS | (us << SUBMS_BITS) / US_PER_MS;
}

/* Read the server's clock.  Raises 22008 if the milliseconds do not fit into 48 bits. */
static inline int64
read_wall_ms48(struct timespec *now)
{
	int64		ms;

	clock_gettime(CLOCK_REALTIME, now);
	ms = now->tv_sec * MS_PER_SECOND + now->tv_nsec / NS_PER_MS;
	if (unlikely(ms < 0 || ms > UNIX_MS48_MAX))
		clock_unix_ms48(GetCurrentTimestamp()); /* raises the error */
	return ms;
}

/*
 * Return the current Unix time in 4096ths of a millisecond.  The resolution is
 * finer than that of timestamptz.
 */
uint64
clock_wall_submillis(void)
{
	struct timespec now;
	int64		ms = read_wall_ms48(&now);

	return (uint64) ms << SUBMS_BITS |
		((uint64) (now.tv_nsec % NS_PER_MS) << SUBMS_BITS) / NS_PER_MS;
}

/* Return the current Unix time in milliseconds, which fits into 48 bits. */
int64
clock_wall_unix_ms(void)
{
	struct timespec now;

	return read_wall_ms48(&now);
}

/* Convert a timestamp to Unix seconds.  Raises 22008 if they do not fit into 32 bits. */
int64
clock_unix_seconds32(TimestampTz instant)
{
	return require_in_field(clock_unix_seconds(instant), UNIX_SECONDS32_MAX, instant,
							"32 bits of Unix seconds", "1970-01-01 00:00:00+00",
							"2106-02-07 06:28:15.999999+00");
}

/* Return the current Unix time in seconds, without checking its range. */
int64
clock_wall_unix_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec;
}

/* Convert a timestamp to a 60-bit count of 100 ns ticks (RFC 9562 section 5.1). */
uint64
clock_gregorian_ticks(TimestampTz instant)
{
	int64		us;

	if (pg_add_s64_overflow(instant, UNIX_EPOCH_TICKS / TICKS_PER_US + UNIX_EPOCH_DAYS * USECS_PER_DAY, &us))
		us = PG_INT64_MAX;
	return require_in_field(us, GREGORIAN_TICKS_MAX / TICKS_PER_US, instant,
							"60 bits of 100 ns ticks", "1582-10-15 00:00:00+00",
							"5236-03-31 21:21:00.684697+00") * TICKS_PER_US;
}

/* Return the current time in 100 ns ticks since 1582-10-15, without checking its range. */
uint64
clock_wall_gregorian_ticks(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return UNIX_EPOCH_TICKS + now.tv_sec * TICKS_PER_SECOND +
		now.tv_nsec / NS_PER_TICK;
}

/* Convert Unix milliseconds to timestamptz.  Returns false if they are out of range. */
bool
clock_from_unix_ms(int64 unix_ms, TimestampTz *instant)
{
	int64		ms;

	return !pg_sub_s64_overflow(unix_ms, UNIX_EPOCH_DAYS * MS_PER_DAY, &ms) &&
		!pg_mul_s64_overflow(ms, US_PER_MS, instant) &&
		IS_VALID_TIMESTAMP(*instant);
}

/* Convert a 48-bit Unix time in milliseconds to timestamptz.  The result is always in range. */
TimestampTz
clock_from_unix_ms48(uint64 unix_ms)
{
	return ((int64) unix_ms - UNIX_EPOCH_DAYS * MS_PER_DAY) * US_PER_MS;
}

/*
 * Convert a 60-bit count of 100 ns ticks to timestamptz, rounded down to the
 * microsecond.  The result is always in range.
 */
TimestampTz
clock_from_gregorian_ticks(uint64 ticks)
{
	return floor_div((int64) ticks - UNIX_EPOCH_TICKS, TICKS_PER_US) -
		UNIX_EPOCH_DAYS * USECS_PER_DAY;
}

/* Return an interval as text, for messages. */
char *
clock_interval_text(const Interval *length)
{
	return DatumGetCString(DirectFunctionCall1(interval_out,
											   IntervalPGetDatum(length)));
}

/*
 * Return the length of an interval in microseconds.  A day has 24 hours.
 * Raises 22023 with the argument's name if the interval has no fixed length
 * (months, infinity) or does not fit into 64 bits.
 */
int64
clock_interval_us(const Interval *length, const char *name)
{
	int64		us;

	if (length->month != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must not have months or years", name),
				 errdetail("The %s is %s, which has no fixed length.",
						   name, clock_interval_text(length)),
				 errhint("Give it in weeks, days, hours, minutes or seconds.")));

	if (pg_mul_s64_overflow(length->day, USECS_PER_DAY, &us) ||
		pg_add_s64_overflow(us, length->time, &us))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s is too long", name),
				 errdetail("The %s is %s.", name, clock_interval_text(length))));
	return us;
}
