/*-------------------------------------------------------------------------
 *
 * fuzz.c
 *	  The entry point of the fuzz targets, the values that they take from their
 *	  input, and their arithmetic.
 *
 * palloc() is that of libpgcommon: malloc(), so that AddressSanitizer knows
 * the ends of each piece of memory.  Memory that a target did not free is freed
 * after each input.
 *
 *-------------------------------------------------------------------------
 */
#include "fuzz.h"

#include <sanitizer/allocator_interface.h>

extern void fuzz_target(Input *input);	/* fuzz.sh links a target by this name */

void
check_failed(const char *condition, const char *file, int line)
{
	fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, condition);
	abort();
}

/* --- The entry point --- */

static const volatile void *pieces[65536];
static size_t piece_count;
static __thread bool in_target; /* not in threads of libFuzzer */

void
__sanitizer_malloc_hook(const volatile void *piece, size_t size)
{
	if (!in_target)
		return;
	CHECK(piece_count < lengthof(pieces));
	pieces[piece_count++] = piece;
}

int
LLVMFuzzerTestOneInput(const char *bytes, size_t length)
{
	Input		input = {bytes, length};

	in_target = true;
	fuzz_target(&input);
	in_target = false;
	while (piece_count > 0)
	{
		const volatile void *piece = pieces[--piece_count];

		if (__sanitizer_get_ownership(piece))
			free((void *) piece);
	}
	return 0;
}

/* --- Input --- */

pg_uuid_t
take_uuid(Input *input)
{
	pg_uuid_t	id;

	for (int i = 0; i < UUID_LEN; i++)
		id.data[i] = take(input, 1);
	return id;
}

/*
 * A finite instant: any, one that fits into 48 bits of milliseconds, or one near
 * a limit.
 */
TimestampTz
take_instant(Input *input)
{
	static const int64 unix_epoch = UNIX_EPOCH_MS * 1000;
	const TimestampTz limits[] = {
		MIN_TIMESTAMP, END_TIMESTAMP - 1, unix_epoch, 0,
		unix_epoch + INT64CONST(0xFFFFFFFF) * USECS_PER_SEC,
		unix_epoch + ((INT64CONST(1) << 48) - 1) * 1000,
		unix_epoch + INT64CONST(1577836800) * USECS_PER_SEC /* 2020 */
	};
	uint8		way = take(input, 1);
	uint64		number = take(input, 8);
	TimestampTz instant;

	switch (way % 3)
	{
		case 0:
			number %= (uint64) END_TIMESTAMP - (uint64) MIN_TIMESTAMP;
			return (TimestampTz) ((uint64) MIN_TIMESTAMP + number);
		case 1:
			return unix_epoch + (int64) (number % (UINT64CONST(1000) << 48));
	}
	instant = limits[way / 3 % lengthof(limits)] + (int64) (number % 8192) - 4096;
	return Min(Max(instant, MIN_TIMESTAMP), END_TIMESTAMP - 1);
}

/* An interval: of any fields, or of milliseconds. */
Interval
take_interval(Input *input)
{
	Interval	length = {0};
	uint8		way = take(input, 1);

	if (way & 1)
	{
		length.time = (int64) (take(input, way / 2 % 8 + 1) % (PG_INT64_MAX / 1000)) * 1000;
		return length;
	}
	length.time = take(input, 8);
	length.day = take(input, 4);
	length.month = way & 2 ? take(input, 4) : 0;
	return length;
}

/* --- Arithmetic --- */

bool
wide_is_instant(Wide instant)
{
	return instant >= MIN_TIMESTAMP && instant < END_TIMESTAMP;
}

/*
 * The length of an interval; false if it has no fixed length, or if it or the
 * length of its days does not fit into 64 bits.
 */
bool
wide_interval(const Interval *length, Wide *us)
{
	Wide		days_us = (Wide) length->day * 86400000000;

	*us = days_us + length->time;
	return length->month == 0 && days_us == (int64) days_us && *us == (int64) *us;
}

/* Are a period and a number of prefix bytes valid? */
bool
wide_period(const Interval *length, int32 prefix_bytes, Wide *ms)
{
	Wide		us;

	if (!wide_interval(length, &us))
		return false;
	*ms = us / 1000;
	return us > 0 && us % 1000 == 0 && us <= (Wide) 365250 * 86400000000 &&
		prefix_bytes >= 1 && prefix_bytes <= 6;
}

/* Check that a call returned this instant, or NULL if none applies or exists. */
void
check_instant(Outcome reading, bool applies, Wide instant)
{
	CHECK(reading.sqlstate == 0);
	CHECK(reading.isnull == !(applies && wide_is_instant(instant)));
	CHECK(reading.isnull || DatumGetTimestampTz(reading.value) == instant);
}
