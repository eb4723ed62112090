/*
 * kept_statement.c
 *	  SPI statements whose plans are kept for the session.
 */
#include "postgres.h"

#include "utils/guc.h"
#include "utils/plancache.h"

#include "kept_statement.h"

/* Run a statement, and return the number of rows returned or changed. */
uint64
run_statement(KeptStatement *statement, Datum *values, const char *nulls)
{
	CachedPlanSource *source;
	int			result;

	if (statement->plan == NULL)
	{
		SPIPlanPtr	plan = SPI_prepare_cursor(statement->text, statement->nargs,
											  statement->argtypes, statement->options);

		if (plan == NULL)
			elog(ERROR, "could not prepare \"%s\": %s", statement->text,
				 SPI_result_code_string(SPI_result));
		(void) SPI_keepplan(plan);
		statement->plan = plan;
	}

	/*
	 * If a rule has replaced the statement by NOTHING or NOTIFY, its plan
	 * depends on no table, so dropping the rule does not invalidate it. Never
	 * free a plan, because a trigger that it has fired may make this call.
	 */
	source = linitial(SPI_plan_get_plan_sources(statement->plan));
	if (source->relationOids == NIL)
		source->is_valid = false;

	result = SPI_execute_plan(statement->plan, values, nulls, false, 0);
	if (result < 0)
		elog(ERROR, "could not run \"%s\": %s", statement->text,
			 SPI_result_code_string(result));
	return SPI_processed;
}

static void
turn_off(const char *setting)
{
	(void) set_config_option(setting, "off", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
}

/*
 * Disable a scan method until the end of the caller's GUC nest level.  This
 * also affects the statements of triggers.  Before version 18, a statement that
 * cannot avoid the scan then has such a high cost estimate that each execution
 * would compile it.  Therefore, disable JIT compilation, too.
 */
void
disable_scan(const char *method)
{
	turn_off(method);
	turn_off("jit");
}

/*
 * Run a statement without a sequential scan.  There is an index for its
 * condition, but the server may prefer a sequential scan while the table is
 * empty.  The session would then keep that plan while the table grows,
 * possibly to millions of rows before it is analyzed.  The server can make a
 * new plan in any call, so each call needs the setting.
 */
uint64
run_by_index(KeptStatement *statement, Datum *values)
{
	int			guc_level = NewGUCNestLevel();
	uint64		processed;

	disable_scan("enable_seqscan");
	processed = run_statement(statement, values, NULL);
	AtEOXact_GUC(true, guc_level);
	return processed;
}
