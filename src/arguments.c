/*
 * arguments.c
 *	  Checks and conversions of the arguments of SQL functions.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "utils/builtins.h"

#include "arguments.h"

/* Raise 22023 if a number is less than the minimum. */
void
require_at_least(int64 value, int64 min, const char *name)
{
	if (value < min)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be at least " INT64_FORMAT, name, min),
				 errdetail("The value is " INT64_FORMAT ".", value)));
}

/* Raise 22023 if a number is negative. */
void
require_not_negative(int64 value, const char *name)
{
	if (value < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must not be negative", name),
				 errdetail("The value is " INT64_FORMAT ".", value)));
}

/* Like clock_interval_us(), but also raises 22023 if the interval is negative. */
int64
require_duration_us(const Interval *duration, const char *name)
{
	int64		us = clock_interval_us(duration, name);

	if (us < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must not be negative", name),
				 errdetail("The value is %s.", clock_interval_text(duration))));
	return us;
}

/* Return a uuid argument.  Raises 22023 unless it has the RFC's variant and the given version. */
const pg_uuid_t *
require_uuid_version(FunctionCallInfo fcinfo, int argno, int version)
{
	const pg_uuid_t *id = PG_GETARG_UUID_P(argno);

	if (!uuid_is_version(id, version))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("uuid is not of version %d", version),
				 uuid_is_rfc_variant(id) ?
				 errdetail("The uuid is %s, of version %d.",
						   uuid_text(id), uuid_version_nibble(id)) :
				 errdetail("The uuid is %s, of variant %s.",
						   uuid_text(id), uuid_variant_name(id))));
	return id;
}

/*
 * Convert an area to UTF-8.  Raises 22023 if the result is too long.  The
 * conversion raises 22P05 for a character that has no equivalent in UTF-8, and
 * 42883 if the server's encoding cannot be converted to UTF-8.
 */
const text *
area_in_utf8(const text *area)
{
	int			length = VARSIZE_ANY_EXHDR(area);
	const char *utf8 = NULL;

	/* a longer area has more than MAX_AREA_BYTES characters in any encoding */
	if (length <= MAX_AREA_BYTES * 4)
		utf8 = utf8_text(VARDATA_ANY(area), &length);
	if (length > MAX_AREA_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("area is too long"),
				 errdetail("The area has more than %d bytes in UTF-8.", MAX_AREA_BYTES)));
	return utf8 == VARDATA_ANY(area) ? area : cstring_to_text_with_len(utf8, length);
}

/* Return the argument "area" in UTF-8.  Raises 22004 if it is NULL, and 22023 if it is too long. */
const text *
area_argument(FunctionCallInfo fcinfo, int argno)
{
	require_not_null(fcinfo, argno, "area");
	return area_in_utf8(PG_GETARG_TEXT_PP(argno));
}

/* Copy at most max bytes of a caller's text, for an error message. */
char *
shown_text(const char *bytes, int length, int max)
{
	return pnstrdup(bytes, pg_mbcliplen(bytes, length, max));
}

/*
 * Convert text from the server's encoding to UTF-8.  Returns "bytes" itself if
 * no byte changes.  Sets *length to the length of the result.
 */
char *
utf8_text(char *bytes, int *length)
{
	char	   *utf8 = bytes;

	/* ASCII text needs no conversion, and some encodings support none */
	for (int i = 0; i < *length; i++)
	{
		if (IS_HIGHBIT_SET(bytes[i]))
		{
			utf8 = pg_server_to_any(bytes, *length, PG_UTF8);
			break;
		}
	}
	if (utf8 != bytes)
		*length = strlen(utf8);
	return utf8;
}

/* Convert UTF-8 text, such as an area, to the server's encoding. */
char *
server_text(const text *utf8)
{
	return pg_any_to_server(text_to_cstring(utf8), VARSIZE_ANY_EXHDR(utf8), PG_UTF8);
}
