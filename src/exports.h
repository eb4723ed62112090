/*-------------------------------------------------------------------------
 *
 * exports.h
 *	  Export the SQL functions, and nothing else, on every version.
 *
 * The library is built with hidden visibility, because the server loads
 * libraries with RTLD_GLOBAL.  From version 16 on, the server's headers export
 * what it looks up; for version 15 this does.  The Makefile includes it ahead
 * of each source.
 *
 *-------------------------------------------------------------------------
 */
#ifndef IDGEN_EXPORTS_H
#define IDGEN_EXPORTS_H

#include "postgres.h"

#include "fmgr.h"

#if PG_VERSION_NUM < 160000
#undef PGDLLEXPORT
#define PGDLLEXPORT __attribute__((visibility("default")))

extern PGDLLEXPORT void _PG_init(void);

#undef PG_FUNCTION_INFO_V1
#define PG_FUNCTION_INFO_V1(funcname) \
extern PGDLLEXPORT Datum funcname(PG_FUNCTION_ARGS); \
extern PGDLLEXPORT const Pg_finfo_record *CppConcat(pg_finfo_, funcname)(void); \
const Pg_finfo_record * \
CppConcat(pg_finfo_, funcname)(void) \
{ \
	static const Pg_finfo_record my_finfo = {1}; \
	return &my_finfo; \
} \
extern int no_such_variable
#endif

#endif							/* IDGEN_EXPORTS_H */
