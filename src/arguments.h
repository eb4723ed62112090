/*
 * arguments.h
 *	  Checks and conversions of the arguments of SQL functions.
 */
#ifndef IDGEN_ARGUMENTS_H
#define IDGEN_ARGUMENTS_H

#include "clock.h"
#include "compat.h"
#include "uuid_bits.h"

#define MAX_AREA_BYTES	63

/* Raise 22004 if an argument is NULL. */
static inline void
require_not_null(FunctionCallInfo fcinfo, int argno, const char *name)
{
	if (PG_ARGISNULL(argno))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s must not be null", name)));
}

/* Does the text consist of exactly these bytes? */
static inline bool
text_is_bytes(const text *value, const char *bytes, int length)
{
	return (int) VARSIZE_ANY_EXHDR(value) == length &&
		memcmp(VARDATA_ANY(value), bytes, length) == 0;
}

extern void require_at_least(int64 value, int64 min, const char *name);
extern void require_not_negative(int64 value, const char *name);
extern int64 require_duration_us(const Interval *duration, const char *name);
extern const pg_uuid_t *require_uuid_version(FunctionCallInfo fcinfo, int argno, int version);
extern const text *area_in_utf8(const text *area);
extern const text *area_argument(FunctionCallInfo fcinfo, int argno);

extern char *shown_text(const char *bytes, int length, int max);
extern char *utf8_text(char *bytes, int *length);
extern char *server_text(const text *utf8);

#endif							/* IDGEN_ARGUMENTS_H */
