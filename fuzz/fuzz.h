/*-------------------------------------------------------------------------
 *
 * fuzz.h
 *	  The parts that fuzz targets use: input, checks, calls of SQL functions
 *	  outside of a server, and arithmetic in 128 bits to compare results with.
 *
 * The target NAME is the function fuzz_NAME() in one of the files fuzz_*.c.  It
 * takes its arguments from the input, calls functions of the extension, and
 * checks properties that hold for every argument.  A failed check ends the
 * program, which libFuzzer reports as a crash, as it reports findings of
 * AddressSanitizer and UndefinedBehaviorSanitizer.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FUZZ_H
#define FUZZ_H

#include "postgres.h"

#include "fmgr.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "compat.h"
#include "functions.h"			/* made by fuzz.sh: all SQL functions in src/ */

extern void check_failed(const char *condition, const char *file, int line) pg_attribute_noreturn();

#define CHECK(condition) \
	((condition) ? (void) 0 : check_failed(#condition, __FILE__, __LINE__))

/* --- Input: the bytes that are left; zeros follow the last one --- */

typedef struct Input
{
	const char *bytes;
	size_t		left;
} Input;

/* An unsigned number of the given number of bytes. */
static inline uint64
take(Input *input, int bytes)
{
	uint64		number = 0;

	for (; bytes > 0; bytes--)
	{
		number <<= 8;
		if (input->left > 0)
		{
			number |= (uint8) *input->bytes++;
			input->left--;
		}
	}
	return number;
}

extern pg_uuid_t take_uuid(Input *input);
extern TimestampTz take_instant(Input *input);
extern Interval take_interval(Input *input);

/* --- Calls of SQL functions --- */

typedef struct Outcome
{
	int			sqlstate;		/* 0 if the function returned */
	bool		isnull;
	Datum		value;
} Outcome;

extern Outcome call_function(PGFunction function, int nargs, const NullableDatum *args);

#define CALL(function, ...) \
	call_function(function, \
				  sizeof((NullableDatum[]) {__VA_ARGS__}) / sizeof(NullableDatum), \
				  (NullableDatum[]) {__VA_ARGS__})

/* The value of a call that must neither raise an error nor return NULL. */
#define CALL_VALUE(function, ...)	value_of(CALL(function, __VA_ARGS__))

static inline Datum
value_of(Outcome outcome)
{
	CHECK(outcome.sqlstate == 0 && !outcome.isnull);
	return outcome.value;
}

/* Arguments; those passed by reference are copies in memory of their length. */
extern NullableDatum copy_arg(const void *value, size_t length);
extern NullableDatum text_arg(const char *bytes, size_t length, bool short_header);

#define value_arg(datum)		((NullableDatum) {datum, false})
#define null_arg()				((NullableDatum) {0, true})
#define int32_arg(number)		value_arg(Int32GetDatum(number))
#define int64_arg(number)		value_arg(Int64GetDatum(number))
#define instant_arg(instant)	value_arg(TimestampTzGetDatum(instant))
#define uuid_arg(id)			copy_arg(id, UUID_LEN)
#define interval_arg(length)	copy_arg(length, sizeof(Interval))

/* Results */
static inline const char *
text_bytes(Datum value)
{
	return VARDATA_ANY(DatumGetPointer(value));
}

static inline size_t
text_length(Datum value)
{
	return VARSIZE_ANY_EXHDR(DatumGetPointer(value));
}

static inline bool
text_is(Datum value, const char *bytes, size_t length)
{
	return text_length(value) == length && memcmp(text_bytes(value), bytes, length) == 0;
}

static inline bool
uuid_is(Datum value, const pg_uuid_t *id)
{
	return memcmp(DatumGetUUIDP(value), id, UUID_LEN) == 0;
}

static inline bool
is_version(const pg_uuid_t *id, int version)
{
	return id->data[8] >> 6 == 2 && id->data[6] >> 4 == version;
}

extern struct timespec server_clock;	/* the wall clock, for clock_gettime() */

/* --- Arithmetic in 128 bits, where no time overflows --- */

typedef __int128 Wide;

#define UNIX_EPOCH_MS	((Wide) (UNIX_EPOCH_JDATE - POSTGRES_EPOCH_JDATE) * 86400000)

/* Division that rounds down, and its remainder. */
static inline Wide
wide_floor(Wide dividend, Wide divisor)
{
	return dividend / divisor - (dividend % divisor < 0);
}

static inline Wide
wide_modulo(Wide dividend, Wide divisor)
{
	return dividend - wide_floor(dividend, divisor) * divisor;
}

static inline Wide
wide_unix_ms(Wide instant)
{
	return wide_floor(instant, 1000) - UNIX_EPOCH_MS;
}

static inline Wide
wide_instant(Wide unix_ms)
{
	return (unix_ms + UNIX_EPOCH_MS) * 1000;
}

/* The instant of a number of 100 ns ticks since 1582-10-15. */
static inline Wide
wide_instant_of_ticks(Wide ticks)
{
	return wide_floor(ticks - (Wide) 0x01B21DD213814000, 10) + wide_instant(0);
}

/* At most 15 bytes of an identifier as a number. */
static inline Wide
wide_bytes(const pg_uuid_t *id, int first, int count)
{
	Wide		number = 0;

	for (int i = first; i < first + count; i++)
		number = number << 8 | id->data[i];
	return number;
}

extern bool wide_is_instant(Wide instant);
extern bool wide_interval(const Interval *length, Wide *us);
extern bool wide_period(const Interval *length, int32 prefix_bytes, Wide *ms);
extern void check_instant(Outcome reading, bool applies, Wide instant);

#endif							/* FUZZ_H */
