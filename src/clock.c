/*-------------------------------------------------------------------------
 *
 * clock.c
 *	  The one place that reads the clock and converts between its units.
 *
 * Identifiers count in Unix milliseconds (COMB, version 7), in 4096ths of one
 * (version 7's order within a backend), in Unix seconds (ObjectId) and in
 * 100 ns ticks since the Gregorian reform (versions 1 and 6); SQL speaks
 * timestamptz and interval.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <time.h>

#include "access/xact.h"
#include "common/int.h"
#include "utils/builtins.h"
#include "utils/datetime.h"
#include "utils/timestamp.h"

#include "clock.h"

#define US_PER_MS			INT64CONST(1000)
#define NS_PER_MS			INT64CONST(1000000)

#define UNIX_EPOCH_DAYS		(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE)

/*
 * The Unix epoch in 100 ns ticks since 1582-10-15 00:00:00 UTC, RFC 9562
 * section 6.2 ("the number of 100 ns intervals between the UUID epoch and
 * the Unix epoch", appendix A.1).
 */
#define UNIX_EPOCH_TICKS	INT64CONST(0x01B21DD213814000)
#define TICKS_PER_US		10
#define TICKS_PER_SECOND	INT64CONST(10000000)
#define NS_PER_TICK			100

/* Before version 16, malloc() was what settings were made with. */
#if PG_VERSION_NUM < 160000
#define guc_malloc(elevel, size)	malloc(size)
#endif

char	   *clock_setting = NULL;

/* Division that rounds down, also before the epoch. */
static inline int64
floor_div(int64 dividend, int64 divisor)
{
	int64		quotient = dividend / divisor;

	return quotient - (dividend % divisor < 0);
}

/* An infinite instant has no place in an identifier (22008). */
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
 * The caller's idea of now: argument argno, or the wall clock where that is
 * NULL.  An infinite clock is an error (22008).
 */
TimestampTz
clock_argument(FunctionCallInfo fcinfo, int argno)
{
	return PG_ARGISNULL(argno) ? GetCurrentTimestamp() :
		clock_require_finite(PG_GETARG_TIMESTAMPTZ(argno));
}

/*
 * The same for a function that is STABLE, which must not see time pass within
 * a statement.  The start of the statement serves better than now(): in a
 * transaction that has been open for long, now() would call the identifiers
 * that were made since then identifiers from the future.
 */
TimestampTz
clock_argument_stable(FunctionCallInfo fcinfo, int argno)
{
	return PG_ARGISNULL(argno) ? GetCurrentStatementStartTimestamp() :
		clock_require_finite(PG_GETARG_TIMESTAMPTZ(argno));
}

/*
 * Milliseconds since 1970-01-01 00:00:00 UTC, rounded down.  Every finite
 * timestamptz has them.
 */
int64
clock_unix_ms(TimestampTz instant)
{
	return floor_div(instant, US_PER_MS) + UNIX_EPOCH_DAYS * MS_PER_DAY;
}

/* The same in seconds. */
int64
clock_unix_seconds(TimestampTz instant)
{
	return floor_div(instant, USECS_PER_SEC) + UNIX_EPOCH_DAYS * SECS_PER_DAY;
}

/*
 * Unix milliseconds for a field of 48 bits; an instant that does not fit is an error
 * (22008).
 */
int64
clock_unix_ms48(TimestampTz instant)
{
	int64		ms = clock_unix_ms(clock_require_finite(instant));

	if (ms < 0 || ms > UNIX_MS48_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("timestamp is out of range for 48 bits of Unix milliseconds"),
				 errdetail("The timestamp is %s; it must be from 1970-01-01 00:00:00+00 to 10889-08-02 05:31:50.655999+00.",
						   timestamptz_to_str(instant))));
	return ms;
}

/*
 * Unix time in 4096ths of a millisecond, 60 bits: the 48 bits of version 7's
 * timestamp followed by the fraction in its rand_a (RFC 9562 section 6.2,
 * method 3).
 */
uint64
clock_unix_submillis(TimestampTz instant)
{
	int64		ms = clock_unix_ms48(instant);
	int64		us = instant - floor_div(instant, US_PER_MS) * US_PER_MS;

	return (uint64) ms << SUBMS_BITS | (us << SUBMS_BITS) / US_PER_MS;
}

/*
 * The wall clock in the same unit, with all that it gives below the
 * microsecond, where timestamptz ends.
 */
uint64
clock_wall_submillis(void)
{
	struct timespec now;
	int64		ms;

	clock_gettime(CLOCK_REALTIME, &now);
	ms = now.tv_sec * MS_PER_SECOND + now.tv_nsec / NS_PER_MS;
	if (unlikely(ms < 0 || ms > UNIX_MS48_MAX))
		clock_unix_ms48(GetCurrentTimestamp()); /* raises the error */

	return (uint64) ms << SUBMS_BITS |
		((uint64) (now.tv_nsec % NS_PER_MS) << SUBMS_BITS) / NS_PER_MS;
}

/*
 * Seconds since 1970-01-01 00:00:00 UTC, rounded down, for a field of 32
 * bits; an instant that does not fit is an error (22008).
 */
int64
clock_unix_seconds32(TimestampTz instant)
{
	int64		seconds = clock_unix_seconds(clock_require_finite(instant));

	if (seconds < 0 || seconds > UNIX_SECONDS32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("timestamp is out of range for 32 bits of Unix seconds"),
				 errdetail("The timestamp is %s; it must be from 1970-01-01 00:00:00+00 to 2106-02-07 06:28:15.999999+00.",
						   timestamptz_to_str(instant))));
	return seconds;
}

/* The wall clock in the same unit, whatever it says. */
int64
clock_wall_unix_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec;
}

/*
 * The wall clock in 100 ns ticks since 1582-10-15 (RFC 9562 section 5.1).
 */
uint64
clock_wall_gregorian_ticks(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return UNIX_EPOCH_TICKS + now.tv_sec * TICKS_PER_SECOND +
		now.tv_nsec / NS_PER_TICK;
}

/*
 * The start of a Unix millisecond as timestamptz; false where timestamptz
 * does not reach.
 */
bool
clock_from_unix_ms(int64 unix_ms, TimestampTz *instant)
{
	int64		ms;

	return !pg_sub_s64_overflow(unix_ms, UNIX_EPOCH_DAYS * MS_PER_DAY, &ms) &&
		!pg_mul_s64_overflow(ms, US_PER_MS, instant) &&
		IS_VALID_TIMESTAMP(*instant);
}

/* The instant of so many Unix seconds; all 32 bits of them fit. */
TimestampTz
clock_from_unix_seconds32(uint32 seconds)
{
	return seconds * USECS_PER_SEC - UNIX_EPOCH_DAYS * USECS_PER_DAY;
}

/*
 * The instant of a 60-bit count of 100 ns ticks since 1582-10-15, rounded
 * down to the microsecond.  All 60 bits fit: the last one is in year 5236.
 */
TimestampTz
clock_from_gregorian_ticks(uint64 ticks)
{
	return floor_div((int64) ticks - UNIX_EPOCH_TICKS, TICKS_PER_US) -
		UNIX_EPOCH_DAYS * USECS_PER_DAY;
}

/* An interval as its output function writes it. */
char *
clock_interval_text(const Interval *length)
{
	return DatumGetCString(DirectFunctionCall1(interval_out,
											   IntervalPGetDatum(length)));
}

/*
 * The length of an interval in microseconds, a day having 24 hours.  One that
 * has no fixed length (months, infinity) or that 64 bits cannot count is an
 * error (22023) that calls it by its argument's name.
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

/*
 * Read a setting's text as a finite timestamptz, for a check hook.  Words that
 * move with the real clock are refused, which recovery_target_time refuses too.
 */
static bool
setting_to_instant(const char *text, TimestampTz *instant)
{
	static const char *const moving[] = {"now", "today", "tomorrow", "yesterday"};
	char		workbuf[MAXDATELEN + MAXDATEFIELDS];
	char	   *field[MAXDATEFIELDS];
	int			ftype[MAXDATEFIELDS];
	int			nfields;
	int			dtype;
	struct pg_tm tm;
	fsec_t		fsec;
	int			tz;
#if PG_VERSION_NUM >= 160000
	DateTimeErrorExtra error_extra;
#define DECODE_DATE_TIME_EXTRA , &error_extra
#else
#define DECODE_DATE_TIME_EXTRA
#endif

	if (ParseDateTime(text, workbuf, sizeof(workbuf),
					  field, ftype, MAXDATEFIELDS, &nfields) != 0)
		return false;

	/* wherever they stand, as in "today 12:00"; fields are in lower case */
	for (int i = 0; i < nfields; i++)
		for (int k = 0; k < (int) lengthof(moving); k++)
			if (strcmp(field[i], moving[k]) == 0)
				return false;

	if (DecodeDateTime(field, ftype, nfields, &dtype, &tm, &fsec,
					   &tz DECODE_DATE_TIME_EXTRA) != 0 ||
		dtype != DTK_DATE)
		return false;

	if (tm2timestamp(&tm, fsec, &tz, instant) != 0)
	{
		GUC_check_errdetail("Timestamp out of range: \"%s\".", text);
		return false;
	}
	return true;
}

/*
 * Check hook of idgen.clock: empty, or an instant.  Text without a time zone
 * is allowed; like everywhere in PostgreSQL it is read in the session's
 * TimeZone, each time it is used.
 */
bool
clock_setting_check(char **newval, void **extra, GucSource source)
{
	TimestampTz instant;

	(void) extra;
	(void) source;

	return **newval == '\0' || setting_to_instant(*newval, &instant);
}

/*
 * The clock for a trigger, which has no argument for one: the setting
 * idgen.clock, or the wall clock where that is not set.
 */
TimestampTz
clock_setting_or_wall(void)
{
	if (clock_setting == NULL || *clock_setting == '\0')
		return GetCurrentTimestamp();

	return clock_require_finite(DatumGetTimestampTz(DirectFunctionCall3(timestamptz_in,
																CStringGetDatum(clock_setting),
																ObjectIdGetDatum(InvalidOid),
																Int32GetDatum(-1))));
}
