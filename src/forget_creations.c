/*
 * forget_creations.c
 *	  Deletion of recorded creation commands.
 *
 * As in creation.c, the table is accessed only through SPI, with the caller's
 * privileges.  The statements do not depend on the caller's search_path.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "common/int.h"
#include "utils/array.h"
#include "utils/guc.h"
#include "utils/portal.h"

#include "arguments.h"
#include "kept_statement.h"

/*
 * The following queries select at most $3 commands to forget.  If $2 is not
 * NULL, they select only commands with this name.  The result is sorted by id,
 * so that sessions that forget the same commands lock the rows in the same
 * order.
 */

/* commands recorded before the time $1 */
#define SELECT_OLD \
	"SELECT id, made FROM (" \
	" SELECT command_id::pg_catalog.uuid, created_at::pg_catalog.timestamptz" \
	" FROM idgen.creation_identifiers" \
	" WHERE created_at OPERATOR(pg_catalog.<) $1" \
	" AND ($2 IS NULL OR command_name OPERATOR(pg_catalog.=) $2)" \
	" ORDER BY created_at LIMIT $3) AS found (id, made)" \
	" WHERE id IS NOT NULL AND made IS NOT NULL ORDER BY id"

/* all commands except the newest $1 */
#define SELECT_SUPERFLUOUS \
	"SELECT id, made FROM (" \
	" SELECT command_id::pg_catalog.uuid, created_at::pg_catalog.timestamptz" \
	" FROM (SELECT command_id, created_at FROM idgen.creation_identifiers" \
	"  WHERE $2 IS NULL OR command_name OPERATOR(pg_catalog.=) $2" \
	"  ORDER BY created_at DESC, command_id DESC OFFSET $1) AS others" \
	" ORDER BY created_at, command_id LIMIT $3) AS found (id, made)" \
	" WHERE id IS NOT NULL AND made IS NOT NULL ORDER BY id"

/* maximum number of commands in one DELETE */
#define FORGET_BATCH_SIZE	1000

/* Do not force generic plans: a distributed table can reject them. */
static KeptStatement forget_command =
{"DELETE FROM idgen.creation_identifiers WHERE command_id OPERATOR(pg_catalog.=) $1",
0, 1, {UUIDOID}, NULL};

/* IS TRUE prevents a scan of the index on created_at, which would not return rows in the order of ids */
static KeptStatement forget_commands =
{"DELETE FROM idgen.creation_identifiers WHERE command_id OPERATOR(pg_catalog.=) ANY ($1)"
" AND (created_at OPERATOR(pg_catalog.<=) $2) IS TRUE", 0, 2, {UUIDARRAYOID, TIMESTAMPTZOID}, NULL};
static KeptStatement forget_entity =
{"DELETE FROM idgen.creation_identifiers WHERE entity_id OPERATOR(pg_catalog.=) $1",
0, 1, {UUIDOID}, NULL};
static KeptStatement forget_number =
{"DELETE FROM idgen.creation_identifiers WHERE entity_number OPERATOR(pg_catalog.=) $1"
" AND command_name OPERATOR(pg_catalog.=) $2", 0, 2, {INT8OID, TEXTOID}, NULL};
static KeptStatement forget_text =
{"DELETE FROM idgen.creation_identifiers WHERE entity_text OPERATOR(pg_catalog.=) $1"
" AND command_name OPERATOR(pg_catalog.=) $2", 0, 2, {TEXTOID, TEXTOID}, NULL};

/* Forget the commands that the arguments select, and return their number. */
static int64
forget(KeptStatement *statement, FunctionCallInfo fcinfo)
{
	Datum		values[2];
	int64		forgotten;

	for (int i = 0; i < statement->nargs; i++)
		values[i] = PG_GETARG_DATUM(i);
	SPI_connect();
	forgotten = run_by_index(statement, values);
	SPI_finish();
	return forgotten;
}

/* forget_creation(command_id uuid) returns boolean */
PG_FUNCTION_INFO_V1(idgen_forget_creation);
Datum
idgen_forget_creation(PG_FUNCTION_ARGS)
{
	return BoolGetDatum(forget(&forget_command, fcinfo) > 0);
}

/*
 * forget_creation_of(entity_id uuid),
 * forget_creation_of_bigint(entity_number bigint, command_name text),
 * forget_creation_of_text(entity_text text, command_name text) return bigint
 *	A number or string identifies an entity only together with the command's name.
 */
PG_FUNCTION_INFO_V1(idgen_forget_creation_of_uuid);
Datum
idgen_forget_creation_of_uuid(PG_FUNCTION_ARGS)
{
	return Int64GetDatum(forget(&forget_entity, fcinfo));
}

PG_FUNCTION_INFO_V1(idgen_forget_creation_of_bigint);
Datum
idgen_forget_creation_of_bigint(PG_FUNCTION_ARGS)
{
	return Int64GetDatum(forget(&forget_number, fcinfo));
}

PG_FUNCTION_INFO_V1(idgen_forget_creation_of_text);
Datum
idgen_forget_creation_of_text(PG_FUNCTION_ARGS)
{
	return Int64GetDatum(forget(&forget_text, fcinfo));
}

/*
 * Forget a batch of commands, and return the number of deleted rows.  "rows"
 * contains the ids and times of the commands.
 *
 * After the query, another session may have forgotten one of these commands,
 * and a late retry may have recorded it again.  The new row is newer than all
 * rows of the batch, and is therefore not deleted.
 */
static uint64
forget_batch(const SPITupleTable *rows, uint64 count)
{
	Datum		ids[FORGET_BATCH_SIZE];
	TimestampTz newest = DT_NOBEGIN;
	Datum		values[2];
	uint64		forgotten;
	bool		isnull;

	for (uint64 i = 0; i < count; i++)
	{
		TimestampTz made = DatumGetTimestampTz(SPI_getbinval(rows->vals[i], rows->tupdesc,
															 2, &isnull));

		ids[i] = SPI_getbinval(rows->vals[i], rows->tupdesc, 1, &isnull);
		newest = Max(newest, made);
	}

	values[0] = PointerGetDatum(construct_array(ids, (int) count, UUIDOID, UUID_LEN,
												false, TYPALIGN_CHAR));
	values[1] = TimestampTzGetDatum(newest);
	forgotten = run_statement(&forget_commands, values, NULL);
	pfree(DatumGetPointer(values[0]));
	return forgotten;
}

/*
 * Forget the commands that a query selects, and return their number.  The
 * parameters of the query are "first" and the arguments command_name and
 * batch_size.
 *
 * The commands are deleted by id, because a distributed table rejects a DELETE
 * whose subquery has a LIMIT.  They are deleted in batches to limit memory
 * usage.
 */
static int64
forget_selected(FunctionCallInfo fcinfo, const char *query, Oid first_type, Datum first)
{
	Oid			argtypes[3] = {first_type, TEXTOID, INT8OID};
	Datum		values[3] = {first, PG_GETARG_DATUM(1), PG_GETARG_DATUM(2)};
	char		nulls[3] = {' ', PG_ARGISNULL(1) ? 'n' : ' ', ' '};
	int64		forgotten = 0;
	uint64		fetched;
	int			guc_level = NewGUCNestLevel();
	Portal		commands;

	/* only an index scan locks the rows of a batch in the order of ids */
	disable_scan("enable_seqscan");
	disable_scan("enable_bitmapscan");

	SPI_connect();
	commands = SPI_cursor_open_with_args(NULL, query, 3, argtypes, values, nulls, false,
										 CURSOR_OPT_CUSTOM_PLAN | CURSOR_OPT_NO_SCROLL);
	PinPortal(commands);		/* so that CLOSE in a trigger fails */

	/* execute at least one DELETE, to check privileges and read-only mode */
	do
	{
		SPITupleTable *rows;

		SPI_cursor_fetch(commands, true, FORGET_BATCH_SIZE);
		fetched = SPI_processed;
		rows = SPI_tuptable;
		forgotten += forget_batch(rows, fetched);
		SPI_freetuptable(rows);
	} while (fetched == FORGET_BATCH_SIZE);

	UnpinPortal(commands);
	SPI_cursor_close(commands);
	SPI_finish();
	AtEOXact_GUC(true, guc_level);
	return forgotten;
}

/*
 * purge_creations(older_than interval, command_name text, batch_size bigint) returns bigint
 *	Deletes the oldest commands first.  A day has 24 hours in any time zone.
 */
PG_FUNCTION_INFO_V1(idgen_purge_creations);
Datum
idgen_purge_creations(PG_FUNCTION_ARGS)
{
	int64		older_than_us;
	TimestampTz cutoff;

	require_not_null(fcinfo, 0, "older_than");
	require_not_null(fcinfo, 2, "batch_size");

	older_than_us = require_duration_us(PG_GETARG_INTERVAL_P(0), "older_than");
	require_at_least(PG_GETARG_INT64(2), 1, "batch_size");

	/* a distributed table's servers have different clocks, so avoid now() */
	if (pg_sub_s64_overflow(GetCurrentTransactionStartTimestamp(), older_than_us, &cutoff) ||
		!IS_VALID_TIMESTAMP(cutoff))
		cutoff = MIN_TIMESTAMP;
	PG_RETURN_INT64(forget_selected(fcinfo, SELECT_OLD, TIMESTAMPTZOID,
									TimestampTzGetDatum(cutoff)));
}

/*
 * trim_creations(keep bigint, command_name text, batch_size bigint) returns bigint
 *	Deletes the oldest commands first.
 */
PG_FUNCTION_INFO_V1(idgen_trim_creations);
Datum
idgen_trim_creations(PG_FUNCTION_ARGS)
{
	require_not_null(fcinfo, 0, "keep");
	require_not_null(fcinfo, 2, "batch_size");

	require_not_negative(PG_GETARG_INT64(0), "keep");
	require_at_least(PG_GETARG_INT64(2), 1, "batch_size");
	PG_RETURN_INT64(forget_selected(fcinfo, SELECT_SUPERFLUOUS, INT8OID, PG_GETARG_DATUM(0)));
}
