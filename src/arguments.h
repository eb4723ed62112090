/*-------------------------------------------------------------------------
 *
 * arguments.h
 *	  Checks of the arguments of SQL functions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef IDGEN_ARGUMENTS_H
#define IDGEN_ARGUMENTS_H

#include "fmgr.h"

#include "clock.h"

/* Raise 22004 if an argument is NULL. */
static inline void
require_not_null(FunctionCallInfo fcinfo, int argno, const char *name)
{
	if (PG_ARGISNULL(argno))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s must not be null", name)));
}

/* Raise 22023 if a number is negative. */
static inline void
require_not_negative(int64 value, const char *name)
{
	if (value < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must not be negative", name),
				 errdetail("The value is %lld.", (long long) value)));
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

#endif							/* IDGEN_ARGUMENTS_H */
