/*
 * arguments.h
 *	  Checks of the arguments of SQL functions.
 */
#ifndef IDGEN_ARGUMENTS_H
#define IDGEN_ARGUMENTS_H

#include "mb/pg_wchar.h"

#include "clock.h"
#include "compat.h"
#include "uuid_bits.h"

/* Does the text consist of these bytes? */
static inline bool
text_is_bytes(const text *value, const char *bytes, int length)
{
	return (int) VARSIZE_ANY_EXHDR(value) == length &&
		memcmp(VARDATA_ANY(value), bytes, length) == 0;
}

/* A copy of a caller's text for a message, of at most max bytes. */
static inline char *
shown_text(const char *bytes, int length, int max)
{
	return pnstrdup(bytes, pg_mbcliplen(bytes, length, max));
}

/*
 * Text of the server's encoding in UTF-8, the bytes themselves if they are the
 * same; *length becomes that of the result.
 */
static inline char *
utf8_text(char *bytes, int *length)
{
	char	   *utf8 = pg_server_to_any(bytes, *length, PG_UTF8);

	if (utf8 != bytes)
		*length = strlen(utf8);
	return utf8;
}

/*
 * The smallest UUID of this version in the millisecond of a timestamp.  That of
 * a timestamp before the first millisecond, also of -infinity, is that of the
 * first one; after the last one, it is the greatest uuid (RFC 9562 section 5.10).
 */
static inline Datum
uuid_floor_datum(int version, TimestampTz instant)
{
	int64		ms = clock_unix_ms(instant);
	pg_uuid_t  *id;

	if (ms <= UNIX_MS48_MAX)
		return uuid_datum(version, uuid_high_of_ms(Max(ms, 0), 0), 0);

	id = palloc(sizeof(pg_uuid_t));
	memset(id, 0xFF, sizeof(*id));
	return UUIDPGetDatum(id);
}

/* Raise 22004 if an argument is NULL. */
static inline void
require_not_null(FunctionCallInfo fcinfo, int argno, const char *name)
{
	if (PG_ARGISNULL(argno))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s must not be null", name)));
}

/* Raise 22023 if a number is less than the minimum. */
static inline void
require_at_least(int64 value, int64 min, const char *name)
{
	if (value < min)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be at least " INT64_FORMAT, name, min),
				 errdetail("The value is " INT64_FORMAT ".", value)));
}

/* Raise 22023 if a number is negative. */
static inline void
require_not_negative(int64 value, const char *name)
{
	if (value < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must not be negative", name),
				 errdetail("The value is " INT64_FORMAT ".", value)));
}

#define MAX_AREA_BYTES	63

/* The argument "area"; 22004 if it is NULL, 22023 if it is too long. */
static inline const text *
area_argument(FunctionCallInfo fcinfo, int argno)
{
	const text *area;

	require_not_null(fcinfo, argno, "area");
	area = PG_GETARG_TEXT_PP(argno);
	if (VARSIZE_ANY_EXHDR(area) > MAX_AREA_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("area is too long"),
				 errdetail("The area has %d bytes; at most %d are allowed.",
						   (int) VARSIZE_ANY_EXHDR(area), MAX_AREA_BYTES)));
	return area;
}

/* The microseconds of an interval; 22023 if it is negative or not a fixed time. */
static inline int64
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

/* A uuid argument; 22023 if it is not of the RFC's variant and the version. */
static inline const pg_uuid_t *
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

#endif							/* IDGEN_ARGUMENTS_H */
