/*-------------------------------------------------------------------------
 *
 * typeid.c
 *	  TypeID, version 0.3 of its specification.
 *
 * A TypeID is an optional prefix with an underscore, and the 26 digits of a
 * uuid in base 32.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "utils/builtins.h"

#include "arguments.h"
#include "id_text.h"

/* Raise 22023 unless a prefix is valid; the empty one is that of a TypeID without one. */
static void
require_typeid_prefix(const text *prefix)
{
	if (VARSIZE_ANY_EXHDR(prefix) > 0)
		id_prefix_require(prefix, false);
}

/* typeid_from_uuid(prefix text, id uuid) returns text */
PG_FUNCTION_INFO_V1(idgen_typeid_from_uuid);
Datum
idgen_typeid_from_uuid(PG_FUNCTION_ARGS)
{
	text	   *prefix;

	require_not_null(fcinfo, 0, "prefix");
	prefix = PG_GETARG_TEXT_PP(0);
	require_typeid_prefix(prefix);
	if (PG_ARGISNULL(1))
		PG_RETURN_NULL();
	return id_text_make(prefix, PG_GETARG_UUID_P(1), radix_typeid);
}

/* Read argument 0, its uuid, and the length of its prefix, 0 if it has none. */
static IdText
read_typeid(FunctionCallInfo fcinfo, int *prefix_length, pg_uuid_t **uuid)
{
	IdText		id = id_text_argument(fcinfo, "TypeID", ID_TEXT_MAX_LENGTH(radix_typeid));
	int			separator = id_text_prefix(&id, false);

	*prefix_length = Max(separator, 0);
	*uuid = id_text_full_uuid(&id, separator + 1, radix_typeid);
	return id;
}

/* Are the bytes a TypeID?  If so, the length of its prefix. */
static bool
scan_typeid(const char *bytes, int length, int *prefix_length)
{
	int			digits = length - radix_width(radix_typeid);
	uint64		high;
	uint64		low;
	const char *problem;

	*prefix_length = Max(digits - 1, 0);
	if (digits > 0 &&
		(bytes[digits - 1] != ID_PREFIX_SEPARATOR ||
		 id_prefix_problem(bytes, *prefix_length, false) != NULL))
		return false;
	return digits >= 0 &&
		radix_decode(radix_typeid, bytes + digits, length - digits, 0,
					 &high, &low, &problem);
}

/*
 * is_typeid(id text, prefix text DEFAULT NULL) returns boolean
 *	Whether the text is a TypeID, and has the prefix if one is given.  No text
 *	raises an error, and one that is too long is not detoasted.
 */
PG_FUNCTION_INFO_V1(idgen_is_typeid);
Datum
idgen_is_typeid(PG_FUNCTION_ARGS)
{
	const text *prefix = PG_ARGISNULL(1) ? NULL : PG_GETARG_TEXT_PP(1);
	const text *id;
	int			prefix_length;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (prefix != NULL)
		require_typeid_prefix(prefix);
	if (toast_raw_datum_size(PG_GETARG_DATUM(0)) > (Size) VARHDRSZ + ID_TEXT_MAX_LENGTH(radix_typeid))
		PG_RETURN_BOOL(false);

	id = PG_GETARG_TEXT_PP(0);
	if (!scan_typeid(VARDATA_ANY(id), VARSIZE_ANY_EXHDR(id), &prefix_length))
		PG_RETURN_BOOL(false);
	PG_RETURN_BOOL(prefix == NULL || text_is_bytes(prefix, VARDATA_ANY(id), prefix_length));
}

/*
 * typeid_to_uuid(id text, expected_prefix text DEFAULT NULL) returns uuid
 *	A prefix other than the expected one is an error (23514).
 */
PG_FUNCTION_INFO_V1(idgen_typeid_to_uuid);
Datum
idgen_typeid_to_uuid(PG_FUNCTION_ARGS)
{
	const text *expected = PG_ARGISNULL(1) ? NULL : PG_GETARG_TEXT_PP(1);
	int			prefix_length;
	pg_uuid_t  *uuid;
	IdText		id;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (expected != NULL)
		require_typeid_prefix(expected);

	id = read_typeid(fcinfo, &prefix_length, &uuid);
	id_text_require_prefix(&id, prefix_length, expected);
	PG_RETURN_UUID_P(uuid);
}

/* typeid_prefix(id text) returns text: empty if the TypeID has no prefix */
PG_FUNCTION_INFO_V1(idgen_typeid_prefix);
Datum
idgen_typeid_prefix(PG_FUNCTION_ARGS)
{
	int			prefix_length;
	pg_uuid_t  *uuid;
	IdText		id = read_typeid(fcinfo, &prefix_length, &uuid);

	PG_RETURN_TEXT_P(cstring_to_text_with_len(id.bytes, prefix_length));
}
