/*-------------------------------------------------------------------------
 *
 * idgen.c
 *	  Load: the module's magic and its settings, and nothing else.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/guc.h"

#include "clock.h"

PG_MODULE_MAGIC;

#if PG_VERSION_NUM < 150000
#define MarkGUCPrefixReserved(prefix) EmitWarningsOnPlaceholders(prefix)
#endif

void		_PG_init(void);

void
_PG_init(void)
{
	DefineCustomStringVariable("idgen.clock",
							   "The time that idgen.check_on_insert() takes for now.",
							   "A late batch or a retry sets it to the time at which it made its identifiers. Empty means the server's wall clock.",
							   &clock_setting,
							   "",
							   PGC_SUSET,
							   0,
							   clock_setting_check,
							   NULL,
							   NULL);

	MarkGUCPrefixReserved("idgen");
}
