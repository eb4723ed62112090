/*
 * any_uuid.c
 *	  Functions for UUIDs of any scheme.
 *
 * Functions that read a value from an identifier return NULL if the identifier
 * does not contain such a value.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "common/int.h"
#include "nodes/supportnodes.h"
#include "utils/builtins.h"

#include "arguments.h"
#include "radix.h"

#define UUID_TEXT_LENGTH	36

/* Parse the canonical form of a UUID (RFC 9562 section 4), in either case. */
static bool
read_uuid_text(const char *text, pg_uuid_t *id)
{
	char		digits[RADIX_MAX_WIDTH];
	int			count = 0;

	for (int i = 0; i < UUID_TEXT_LENGTH; i++)
	{
		bool		is_hyphen = i == 8 || i == 13 || i == 18 || i == 23;

		if (is_hyphen != (text[i] == '-'))
			return false;
		if (!is_hyphen)
			digits[count++] = text[i];
	}
	return radix_decode(&radix_16, digits, count, id);
}

/*
 * is_uuid(id text, version int DEFAULT NULL) returns bool
 *	Is the text a UUID in canonical form, with the RFC's variant and the given
 *	version?  If no version is given, versions 1 to 8, the Nil UUID and the Max
 *	UUID (RFC 9562 sections 5.9 and 5.10) are accepted.  Invalid text does not
 *	raise an error.
 */
PG_FUNCTION_INFO_V1(idgen_is_uuid);
Datum
idgen_is_uuid(PG_FUNCTION_ARGS)
{
	pg_uuid_t	id;
	uint64		half;
	int			version;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (!PG_ARGISNULL(1) && (PG_GETARG_INT32(1) < 0 || PG_GETARG_INT32(1) > 15))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("version must be between 0 and 15"),
				 errdetail("The value is %d.", PG_GETARG_INT32(1))));

	if (toast_raw_datum_size(PG_GETARG_DATUM(0)) != VARHDRSZ + UUID_TEXT_LENGTH ||
		!read_uuid_text(VARDATA_ANY(PG_GETARG_TEXT_PP(0)), &id))
		PG_RETURN_BOOL(false);

	if (!PG_ARGISNULL(1))
		PG_RETURN_BOOL(uuid_is_version(&id, PG_GETARG_INT32(1)));

	half = uuid_half(&id, 0);
	if (half == uuid_half(&id, 1) && (half == 0 || half == PG_UINT64_MAX))
		PG_RETURN_BOOL(true);
	version = uuid_version_nibble(&id);
	PG_RETURN_BOOL(uuid_is_rfc_variant(&id) && version >= 1 && version <= 8);
}

/* uuid_version(id uuid) returns int: NULL for variants other than the RFC's */
PG_FUNCTION_INFO_V1(idgen_uuid_version);
Datum
idgen_uuid_version(PG_FUNCTION_ARGS)
{
	pg_uuid_t  *id = PG_GETARG_UUID_P(0);

	if (!uuid_is_rfc_variant(id))
		PG_RETURN_NULL();
	PG_RETURN_INT32(uuid_version_nibble(id));
}

/* uuid_variant(id uuid) returns text: the name of the variant (RFC 9562 section 4.1) */
PG_FUNCTION_INFO_V1(idgen_uuid_variant);
Datum
idgen_uuid_variant(PG_FUNCTION_ARGS)
{
	return CStringGetTextDatum(uuid_variant_name(PG_GETARG_UUID_P(0)));
}

/*
 * internal_is_version(id uuid, version int) returns boolean
 *	uuid_v7_within() and comb_within() use this function to exclude UUIDs of
 *	other versions that lie between the bounds of a range.
 */
PG_FUNCTION_INFO_V1(idgen_internal_is_version);
Datum
idgen_internal_is_version(PG_FUNCTION_ARGS)
{
	return BoolGetDatum(uuid_is_version(PG_GETARG_UUID_P(0), PG_GETARG_INT32(1)));
}

/*
 * internal_expect_true(internal) returns internal
 *	Planner support function for conditions that are usually true for every row
 *	of a table.  With the default selectivity of 1/3, the planner would
 *	underestimate the number of rows in a range.
 */
PG_FUNCTION_INFO_V1(idgen_internal_expect_true);
Datum
idgen_internal_expect_true(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);

	if (!IsA(request, SupportRequestSelectivity))
		PG_RETURN_POINTER(NULL);
	((SupportRequestSelectivity *) request)->selectivity = 1.0;
	PG_RETURN_POINTER(request);
}

/* Return the time in a UUID, or DT_NOBEGIN if its version has no timestamp. */
static TimestampTz
read_time(const pg_uuid_t *id)
{
	if (uuid_is_version(id, 7))
		return clock_from_unix_ms48(uuid_first_48_bits(id));
	if (uuid_is_version(id, 1))
		return clock_from_gregorian_ticks(uuid_v1_ticks(uuid_high(id)));
	if (uuid_is_version(id, 6) || uuid_is_version(id, UUID_VERSION_LAMBERT))
		return clock_from_gregorian_ticks(uuid_high(id));
	return DT_NOBEGIN;
}

/*
 * uuid_timestamp(id uuid) returns timestamptz
 *	The resolution is a millisecond for version 7, and a microsecond for the
 *	other versions.
 */
PG_FUNCTION_INFO_V1(idgen_uuid_timestamp);
Datum
idgen_uuid_timestamp(PG_FUNCTION_ARGS)
{
	TimestampTz instant = read_time(PG_GETARG_UUID_P(0));

	if (TIMESTAMP_IS_NOBEGIN(instant))
		PG_RETURN_NULL();
	PG_RETURN_TIMESTAMPTZ(instant);
}

/*
 * internal_created_bound(id uuid, tolerance interval, is_last boolean) returns timestamptz
 *	Returns the first or the last timestamp that created_near() accepts.  For a
 *	UUID without a time, the first is after the last, so none is accepted.
 */
PG_FUNCTION_INFO_V1(idgen_internal_created_bound);
Datum
idgen_internal_created_bound(PG_FUNCTION_ARGS)
{
	bool		is_last = PG_GETARG_BOOL(2);
	int64		us;
	TimestampTz bound;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	require_not_null(fcinfo, 1, "tolerance");
	us = require_duration_us(PG_GETARG_INTERVAL_P(1), "tolerance");

	bound = read_time(PG_GETARG_UUID_P(0));
	if (TIMESTAMP_IS_NOBEGIN(bound))
		PG_RETURN_TIMESTAMPTZ(is_last ? DT_NOBEGIN : DT_NOEND);
	if (pg_add_s64_overflow(bound, is_last ? us : -us, &bound) || !IS_VALID_TIMESTAMP(bound))
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("timestamp out of range")));
	PG_RETURN_TIMESTAMPTZ(bound);
}

static int
compare_arguments(FunctionCallInfo fcinfo)
{
	return memcmp(PG_GETARG_UUID_P(0), PG_GETARG_UUID_P(1), UUID_LEN);
}

/* uuid_smaller(), uuid_larger(): transition functions of min() and max() */
PG_FUNCTION_INFO_V1(idgen_uuid_smaller);
Datum
idgen_uuid_smaller(PG_FUNCTION_ARGS)
{
	return PG_GETARG_DATUM(compare_arguments(fcinfo) < 0 ? 0 : 1);
}

PG_FUNCTION_INFO_V1(idgen_uuid_larger);
Datum
idgen_uuid_larger(PG_FUNCTION_ARGS)
{
	return PG_GETARG_DATUM(compare_arguments(fcinfo) > 0 ? 0 : 1);
}
