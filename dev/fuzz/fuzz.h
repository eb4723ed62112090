/*
 * fuzz.h
 *	  Declarations for fuzz targets: input, checks, and calls of SQL functions
 *	  outside a server.
 *
 * The target NAME is the function fuzz_NAME() in one of the files fuzz_*.c.
 * It takes its arguments from the input, calls functions of the extension, and
 * checks properties that must hold for all arguments.  The targets test code
 * that reads any number of bytes; t/003_properties.pl tests functions whose
 * arguments have a fixed size.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include "postgres.h"

#include "fmgr.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "compat.h"
#include "functions.h"			/* fuzz.sh creates it: all SQL functions in src/ */

extern void check_failed(const char *condition, const char *file, int line) pg_attribute_noreturn();

#define CHECK(condition) \
	((condition) ? (void) 0 : check_failed(#condition, __FILE__, __LINE__))

/* --- Input: the remaining bytes, followed by zeros --- */

typedef struct Input
{
	const char *bytes;
	size_t		left;
} Input;

static inline uint8
take(Input *input)
{
	if (input->left == 0)
		return 0;
	input->left--;
	return *input->bytes++;
}

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

/* The result of a call that must neither raise an error nor return NULL. */
#define CALL_VALUE(function, ...)	value_of(CALL(function, __VA_ARGS__))

static inline Datum
value_of(Outcome outcome)
{
	CHECK(outcome.sqlstate == 0 && !outcome.isnull);
	return outcome.value;
}

/* Arguments.  Arguments passed by reference are copied to memory of exactly their length. */
extern NullableDatum uuid_arg(const pg_uuid_t *id);
extern NullableDatum text_arg(const char *bytes, size_t length, bool short_header);

#define value_arg(datum)		((NullableDatum) {datum, false})
#define null_arg()				((NullableDatum) {0, true})
#define int32_arg(number)		value_arg(Int32GetDatum(number))
#define int64_arg(number)		value_arg(Int64GetDatum(number))

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

#endif							/* FUZZ_H */
