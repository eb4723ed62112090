/*-------------------------------------------------------------------------
 *
 * fuzz.h
 *	  The parts that every fuzz target uses: input, checks, and arithmetic in
 *	  128 bits to compare results with.
 *
 * A target takes its arguments from the input, calls functions of the
 * extension, and checks properties that hold for every argument.  A failed
 * check ends the program, which libFuzzer reports as a crash, as it reports
 * findings of AddressSanitizer and UndefinedBehaviorSanitizer.
 *
 * A target that includes only this file is linked without server.c: the
 * functions that it calls need no server.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FUZZ_H
#define FUZZ_H

#include "postgres.h"

#include "utils/timestamp.h"
#include "utils/uuid.h"

/* --- Checks --- */

extern void check_failed(const char *condition, const char *file, int line) __attribute__((noreturn));

#define CHECK(condition) \
	((condition) ? (void) 0 : check_failed(#condition, __FILE__, __LINE__))

/* --- Input: the bytes that are left; zeros follow the last one --- */

typedef struct Input
{
	const uint8 *bytes;
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
			number |= *input->bytes++;
			input->left--;
		}
	}
	return number;
}

extern pg_uuid_t take_uuid(Input *input);
extern TimestampTz take_instant(Input *input);
extern Interval take_interval(Input *input);

/* The target: libFuzzer's entry point calls it with each input. */
extern void fuzz_target(Input *input);

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

static inline bool
wide_is_instant(Wide instant)
{
	return instant >= MIN_TIMESTAMP && instant < END_TIMESTAMP;
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

extern bool wide_interval(const Interval *length, Wide *us);
extern bool wide_period(const Interval *length, int32 prefix_bytes, Wide *ms);

#endif							/* FUZZ_H */
