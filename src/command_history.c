/*-------------------------------------------------------------------------
 *
 * command_history.c
 *	  The last commands on an entity, in an array in the entity's own row.
 *
 * create_once() makes a creation safe to retry; these functions do the same
 * for later commands on the same entity.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/array.h"

#include "arguments.h"

/*
 * The command ids of a history, oldest first, and their number.  A NULL
 * history is empty; NULL elements are skipped.
 */
static const pg_uuid_t *
history_ids(FunctionCallInfo fcinfo, int argno, int *count)
{
	ArrayType  *history;
	const pg_uuid_t *ids;

	*count = 0;
	if (PG_ARGISNULL(argno))
		return NULL;

	history = PG_GETARG_ARRAYTYPE_P(argno);
	if (ARR_NDIM(history) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("history must be a one-dimensional array")));

	/* NULL elements occupy no space, and uuid needs no alignment */
	ids = (const pg_uuid_t *) ARR_DATA_PTR(history);
	*count = (const pg_uuid_t *) ((char *) history + ARR_SIZE(history)) - ids;
	return ids;
}

/* The index of a command in a history, or -1 if it is not there. */
static int
find_command(const pg_uuid_t *ids, int count, const pg_uuid_t *command_id)
{
	/* a retry follows its command soon, so begin with the newest */
	for (int i = count - 1; i >= 0; i--)
	{
		if (memcmp(&ids[i], command_id, sizeof(pg_uuid_t)) == 0)
			return i;
	}
	return -1;
}

/* has_command(history uuid[], command_id uuid) returns boolean: NULL if command_id is */
PG_FUNCTION_INFO_V1(idgen_has_command);
Datum
idgen_has_command(PG_FUNCTION_ARGS)
{
	const pg_uuid_t *ids;
	int			count;

	if (PG_ARGISNULL(1))
		PG_RETURN_NULL();

	ids = history_ids(fcinfo, 0, &count);
	PG_RETURN_BOOL(find_command(ids, count, PG_GETARG_UUID_P(1)) >= 0);
}

/*
 * remember_command(history uuid[], command_id uuid, keep bigint DEFAULT 20)
 *	returns uuid[]
 *
 * Append the command and remove the oldest ones, so that "keep" remain.  A
 * command that the history contains already keeps its position, and is not
 * removed unless "keep" is 0.
 */
PG_FUNCTION_INFO_V1(idgen_remember_command);
Datum
idgen_remember_command(PG_FUNCTION_ARGS)
{
	const pg_uuid_t *ids;
	pg_uuid_t  *command_id;
	int64		keep;
	int			count;
	int			position;
	int			total;
	int			removed;
	Datum	   *elements;

	require_not_null(fcinfo, 1, "command_id");
	require_not_null(fcinfo, 2, "keep");
	command_id = PG_GETARG_UUID_P(1);
	keep = PG_GETARG_INT64(2);
	require_not_negative(keep, "keep");

	ids = history_ids(fcinfo, 0, &count);
	position = find_command(ids, count, command_id);
	total = position >= 0 ? count : count + 1;
	removed = Max(total - keep, 0);

	elements = palloc(sizeof(Datum) * total);
	for (int i = 0; i < total; i++)
		elements[i] = UUIDPGetDatum(i < count ? &ids[i] : command_id);

	/* do not remove the command itself, but the next one */
	if (position >= 0 && position < removed && removed < total)
		elements[removed] = UUIDPGetDatum(command_id);

	PG_RETURN_ARRAYTYPE_P(construct_array(elements + removed, total - removed,
										  UUIDOID, UUID_LEN, false, TYPALIGN_CHAR));
}
