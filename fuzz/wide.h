/*
 * wide.h
 *	  Times as a target counts them: in 128 bits, where nothing overflows, and
 *	  rounded down.
 */
#ifndef FUZZ_WIDE_H
#define FUZZ_WIDE_H

#include "backend.h"

typedef __int128 Wide;

static inline Wide
wide_floor(Wide dividend, Wide divisor)
{
	Wide		quotient = dividend / divisor;

	return quotient - (dividend % divisor < 0);
}

static inline Wide
wide_modulo(Wide dividend, Wide divisor)
{
	return dividend - wide_floor(dividend, divisor) * divisor;
}

/* Unix milliseconds of an instant. */
static inline Wide
wide_unix_ms(Wide instant)
{
	return wide_floor(instant, 1000) + (Wide) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * 86400000;
}

/* The instant of Unix milliseconds. */
static inline Wide
wide_instant(Wide unix_ms)
{
	return (unix_ms - (Wide) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * 86400000) * 1000;
}

static inline bool
wide_is_instant(Wide instant)
{
	return instant >= MIN_TIMESTAMP && instant < END_TIMESTAMP;
}

static inline bool
wide_is_int64(Wide number)
{
	return number >= PG_INT64_MIN && number <= PG_INT64_MAX;
}

/*
 * The length of an interval; false where it has none that 64 bits hold. That
 * of its days must fit by itself, too.
 */
static inline bool
wide_interval(const Interval *length, Wide *us)
{
	Wide		days_us = (Wide) length->day * 86400000000;

	*us = days_us + length->time;
	return length->month == 0 && wide_is_int64(days_us) && wide_is_int64(*us);
}

/* Is this a valid period for prefixes of that many bytes? */
static inline bool
wide_period(const Interval *length, int32 prefix_bytes, Wide *ms)
{
	Wide		us;

	if (!wide_interval(length, &us))
		return false;
	*ms = us / 1000;
	return us > 0 && us % 1000 == 0 && us <= (Wide) 365250 * 86400000000 &&
		prefix_bytes >= 1 && prefix_bytes <= 6;
}

/* Bytes of an identifier as a number. */
static inline Wide
wide_bytes(const pg_uuid_t *id, int first, int count)
{
	Wide		number = 0;

	for (int i = first; i < first + count; i++)
		number = number << 8 | id->data[i];
	return number;
}

static inline bool
is_version(const pg_uuid_t *id, int version)
{
	return id->data[8] >> 6 == 2 && id->data[6] >> 4 == version;
}

#endif							/* FUZZ_WIDE_H */
