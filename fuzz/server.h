/*-------------------------------------------------------------------------
 *
 * server.h
 *	  Calling SQL functions outside of a server, for the fuzz targets whose
 *	  functions raise errors, read text or need a clock.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FUZZ_SERVER_H
#define FUZZ_SERVER_H

#include "fuzz.h"

#include "fmgr.h"

#include "compat.h"
#include "functions.h"			/* made by fuzz.sh: all SQL functions in src/ */

/* The result of a call. */
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
	CHECK(outcome.sqlstate == 0);
	CHECK(!outcome.isnull);
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

/* Does the text consist of these bytes? */
extern bool text_is(Datum value, const char *bytes, size_t length);

/* Is the uuid this one? */
static inline bool
uuid_is(Datum value, const pg_uuid_t *id)
{
	return memcmp(DatumGetUUIDP(value), id, UUID_LEN) == 0;
}

/* the wall clock, for clock_gettime() */
extern struct timespec server_clock;

#endif							/* FUZZ_SERVER_H */
