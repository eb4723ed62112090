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
#include "int_ids.h"
#include "ticker.h"

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
							   "A late batch or a retry sets it to the time at which it made its identifiers, in ISO 8601; without a time zone, it is in UTC. Empty means the server's wall clock.",
							   &clock_setting,
							   "",
							   PGC_SUSET,
							   0,
							   clock_setting_check,
							   clock_setting_assign,
							   NULL);
	clock_setting_defined();

	DefineCustomIntVariable("idgen.node_id",
							"The number of this server in the identifiers that bear one.",
							"Give every server that makes identifiers for the same tables a number of its own: 0 to 1023 for snowflake(), to 31 for js_id(), to 65535 for trace_id(). -1 means that it is not set.",
							&node_id_setting,
							NODE_UNSET, NODE_UNSET, NODE_MAX,
							PGC_SUSET,
							0,
							NULL, NULL, NULL);

	DefineCustomIntVariable("idgen.launch_id",
							"The last five decimal places of decimal_id().",
							"1 to 99999; 0 is for tests. -1 means that it is not set.",
							&launch_id_setting,
							LAUNCH_UNSET, LAUNCH_UNSET, DECIMAL_LAUNCH_MAX,
							PGC_SUSET,
							0,
							NULL, NULL, NULL);

	DefineCustomStringVariable("idgen.snowflake_epoch",
							   "The instant that snowflake() and js_id() count the time from.",
							   "Choose it before the first identifier is made, and keep it. Without a time zone, it is in UTC.",
							   &clock_epoch_setting,
							   "2020-01-01 00:00:00+00",
							   PGC_SUSET,
							   0,
							   clock_epoch_check,
							   clock_epoch_assign,
							   NULL);

	DefineCustomIntVariable("idgen.max_ahead",
							"How far identifiers may run ahead of the clock.",
							"They do where more are asked for than fit into the time, or where the clock was set back. Past this, their functions wait.",
							&ticker_max_ahead_setting,
							SECS_PER_DAY, 0, PG_INT32_MAX,
							PGC_SUSET,
							GUC_UNIT_S,
							NULL, NULL, NULL);

	DefineCustomIntVariable("idgen.reserve_ahead",
							"How much time identifiers are reserved for at once in the write-ahead log.",
							"After a crash they begin above what was reserved. While identifiers are made, a standby may lag behind by half of this and still know a mark above them.",
							&ticker_reserve_ahead_setting,
							10, 2, SECS_PER_HOUR,
							PGC_SUSET,
							GUC_UNIT_S,
							NULL, NULL, NULL);

	ticker_request_shared_memory();

	MarkGUCPrefixReserved("idgen");
}
