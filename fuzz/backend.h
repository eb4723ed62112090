/*-------------------------------------------------------------------------
 *
 * backend.h
 *	  What the fuzz targets share: reading their input, calling idgen's SQL
 *	  functions outside a server, and checking.
 *
 * A target takes its arguments from the input, calls functions, and checks
 * what must hold for every argument.  A check that fails ends the program,
 * which libFuzzer takes for a crash; so do AddressSanitizer and
 * UndefinedBehaviorSanitizer.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FUZZ_BACKEND_H
#define FUZZ_BACKEND_H

#include "postgres.h"

#include "fmgr.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

/* ----------
 * Checks
 * ----------
 */

extern void check_failed(const char *condition, const char *file, int line) pg_attribute_noreturn();

#define CHECK(condition) \
	((condition) ? (void) 0 : check_failed(#condition, __FILE__, __LINE__))

/* ----------
 * Input: what was not taken yet; taken from the end of it come zeros
 * ----------
 */

typedef struct Input
{
	const uint8 *bytes;
	size_t		left;
} Input;

/* An unsigned number of so many bytes. */
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

static inline pg_uuid_t
take_uuid(Input *input)
{
	pg_uuid_t	id;

	for (int i = 0; i < UUID_LEN; i++)
		id.data[i] = take(input, 1);
	return id;
}

extern TimestampTz take_instant(Input *input);
extern Interval take_interval(Input *input);

/* ----------
 * Calls
 * ----------
 */

/* How a call ended. */
typedef struct Outcome
{
	int			sqlstate;		/* 0 where it returned */
	bool		isnull;
	Datum		value;
} Outcome;

extern Outcome call_function(PGFunction function, int nargs, const NullableDatum *args);

#define CALL(function, ...) \
	call_function(function, \
				  sizeof((NullableDatum[]) {__VA_ARGS__}) / sizeof(NullableDatum), \
				  (NullableDatum[]) {__VA_ARGS__})

/* What a call returned, which must not have raised an error or given NULL. */
static inline Datum
value_of(Outcome outcome)
{
	CHECK(outcome.sqlstate == 0);
	CHECK(!outcome.isnull);
	return outcome.value;
}

#define CALL_VALUE(function, ...)	value_of(CALL(function, __VA_ARGS__))

/* Arguments lie in memory of just their length. */
extern NullableDatum null_arg(void);
extern NullableDatum value_arg(Datum value);
extern NullableDatum uuid_arg(const pg_uuid_t *id);
extern NullableDatum interval_arg(const Interval *length);
extern NullableDatum text_arg(const char *bytes, size_t length, bool short_header);

#define int32_arg(value)	value_arg(Int32GetDatum(value))
#define int64_arg(value)	value_arg(Int64GetDatum(value))
#define instant_arg(value)	value_arg(TimestampTzGetDatum(value))

/* ----------
 * What the functions see of a server
 * ----------
 */

extern TimestampTz backend_now;		/* start of the statement, and wall clock */
extern struct timespec backend_clock;	/* the wall clock beyond microseconds */

/* the columns of the row that was returned last */
#define MAX_COLUMNS 3
extern Datum row_values[MAX_COLUMNS];
extern bool row_nulls[MAX_COLUMNS];

/* ----------
 * idgen's functions
 * ----------
 */

#define FUNCTION(name)	extern Datum name(PG_FUNCTION_ARGS)

FUNCTION(idgen_bigint_from_base);
FUNCTION(idgen_bigint_to_base);
FUNCTION(idgen_check_recent_comb);
FUNCTION(idgen_check_recent_short_comb);
FUNCTION(idgen_check_recent_uuid_v7);
FUNCTION(idgen_comb);
FUNCTION(idgen_comb_ceil);
FUNCTION(idgen_comb_floor);
FUNCTION(idgen_comb_timestamp);
FUNCTION(idgen_decimal_id_parts);
FUNCTION(idgen_is_object_id);
FUNCTION(idgen_is_prefixed_id);
FUNCTION(idgen_is_recent_comb);
FUNCTION(idgen_is_recent_short_comb);
FUNCTION(idgen_is_uuid);
FUNCTION(idgen_is_recent_uuid_v7);
FUNCTION(idgen_js_id_ceil);
FUNCTION(idgen_js_id_counter);
FUNCTION(idgen_js_id_floor);
FUNCTION(idgen_js_id_node);
FUNCTION(idgen_js_id_timestamp);
FUNCTION(idgen_lambert_comb);
FUNCTION(idgen_lambert_comb_to_uuid_v1);
FUNCTION(idgen_object_id);
FUNCTION(idgen_object_id_ceil);
FUNCTION(idgen_object_id_floor);
FUNCTION(idgen_object_id_timestamp);
FUNCTION(idgen_prefix_to_suffix);
FUNCTION(idgen_prefixed_id);
FUNCTION(idgen_prefixed_id_prefix);
FUNCTION(idgen_prefixed_id_to_uuid);
FUNCTION(idgen_short_comb);
FUNCTION(idgen_short_comb_timestamp);
FUNCTION(idgen_short_prefix_to_suffix);
FUNCTION(idgen_short_suffix_comb);
FUNCTION(idgen_snowflake_ceil);
FUNCTION(idgen_snowflake_counter);
FUNCTION(idgen_snowflake_floor);
FUNCTION(idgen_snowflake_node);
FUNCTION(idgen_snowflake_timestamp);
FUNCTION(idgen_suffix_comb);
FUNCTION(idgen_suffix_comb_timestamp);
FUNCTION(idgen_swap_guid_bytes);
FUNCTION(idgen_trace_id_counter);
FUNCTION(idgen_trace_id_node);
FUNCTION(idgen_trace_id_timestamp);
FUNCTION(idgen_typeid_from_uuid);
FUNCTION(idgen_typeid_prefix);
FUNCTION(idgen_typeid_to_uuid);
FUNCTION(idgen_ulid);
FUNCTION(idgen_ulid_ceil);
FUNCTION(idgen_ulid_floor);
FUNCTION(idgen_ulid_from_uuid);
FUNCTION(idgen_ulid_timestamp);
FUNCTION(idgen_ulid_to_uuid);
FUNCTION(idgen_uuid_from_base);
FUNCTION(idgen_uuid_timestamp);
FUNCTION(idgen_uuid_to_base);
FUNCTION(idgen_uuid_v1);
FUNCTION(idgen_uuid_v1_to_lambert_comb);
FUNCTION(idgen_uuid_v1_to_v6);
FUNCTION(idgen_uuid_v4);
FUNCTION(idgen_uuid_v6);
FUNCTION(idgen_uuid_v6_to_v1);
FUNCTION(idgen_uuid_v7);
FUNCTION(idgen_uuid_v7_ceil);
FUNCTION(idgen_uuid_v7_floor);
FUNCTION(idgen_uuid_variant);
FUNCTION(idgen_uuid_version);

/* The target: libFuzzer's entry calls it with each input. */
extern void fuzz_target(Input *input);

#endif							/* FUZZ_BACKEND_H */
