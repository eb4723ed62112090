/*
 * creation.c
 *	  Creation commands that are safe to retry.
 *
 * A client that received no answer sends its command again with the same
 * command id.  The first call of create_once() records the identifier of the
 * new entity in the table idgen.creation_identifiers; later calls return the
 * recorded identifier.
 *
 * The table is accessed only through SPI.  Therefore, triggers, row-level
 * security policies and the caller's privileges apply.  The table can have
 * additional indexes and columns, and it can be distributed.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/htup_details.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "arguments.h"
#include "kept_statement.h"
#include "request_hash.h"

/* All names are schema-qualified, so that search_path does not matter. */
#define FIND_COMMAND \
	"SELECT entity_id::pg_catalog.uuid, entity_number::pg_catalog.int8," \
	" entity_text::pg_catalog.text, command_name::pg_catalog.text, request_hash::pg_catalog.int8" \
	" FROM idgen.creation_identifiers" \
	" WHERE command_id OPERATOR(pg_catalog.=) $1"

#define RECORD_COMMAND \
	"INSERT INTO idgen.creation_identifiers" \
	" (command_id, entity_id, entity_number, entity_text, command_name, request_hash)" \
	" VALUES ($1, $2, $3, $4, $5, $6)" \
	" ON CONFLICT (command_id) DO NOTHING"

/* the columns of FIND_COMMAND */
#define ATTNUM_ENTITY			1	/* of the first EntityKind */
#define ATTNUM_COMMAND_NAME		(ATTNUM_ENTITY + ENTITY_KINDS)
#define ATTNUM_REQUEST_HASH		(ATTNUM_COMMAND_NAME + 1)

/* Both statements use the primary key, so a generic plan suits all values. */
static KeptStatement find_command =
{FIND_COMMAND, CURSOR_OPT_GENERIC_PLAN, 1, {UUIDOID}, NULL};
static KeptStatement record_command =
{RECORD_COMMAND, CURSOR_OPT_GENERIC_PLAN, 6, {UUIDOID, UUIDOID, INT8OID, TEXTOID, TEXTOID, INT8OID}, NULL};

/* the types of an entity's identifier, in the order of the columns */
typedef enum EntityKind
{
	ENTITY_UUID,
	ENTITY_NUMBER,
	ENTITY_TEXT
} EntityKind;

#define ENTITY_KINDS	3

static const struct
{
	const char *type;			/* for messages */
	const char *function;
}			entity_kinds[ENTITY_KINDS] = {
	{"uuid", "create_once"}, {"bigint", "create_once_bigint"}, {"text", "create_once_text"}
};

/* A row of the table, without the command id. */
typedef struct Creation
{
	EntityKind	kind;
	Datum		entity;			/* of a found row: valid until SPI_finish() */
	text	   *command_name;	/* of a found row: valid until SPI_finish() */
	bool		has_request;
	int64		request_hash;	/* 0 without a request */
} Creation;

#define MAX_ENTITY_TEXT_BYTES	255

/* maximum length of a command's name in a message, in bytes */
#define MAX_SHOWN_NAME_BYTES	200

/*
 * Maximum number of attempts to find or record a command.  A retry is needed
 * only if another session has recorded the same command and deleted the row in
 * the meantime.  If many retries are needed, a row-level security policy,
 * trigger or rule probably hides or suppresses the row.
 */
#define MAX_ATTEMPTS	100

/* Find the row of a command.  Returns false if there is none. */
static bool
find_creation(Datum command_id, Creation *found)
{
	uint64		rows = run_by_index(&find_command, &command_id);
	HeapTuple	row;
	TupleDesc	columns;
	Datum		value;
	bool		isnull;

	if (rows == 0)
		return false;

	/*
	 * A SERIALIZABLE transaction sees two rows if its snapshot contains the
	 * command, another session has since deleted it, and this transaction has
	 * recorded it again.  No serial order of the two transactions leads to
	 * this state.
	 */
	if (rows > 1)
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("could not serialize access due to concurrent delete"),
				 errdetail("Another session forgot command id \"%s\" while this transaction recorded it.",
						   uuid_text(DatumGetUUIDP(command_id)))));

	row = SPI_tuptable->vals[0];
	columns = SPI_tuptable->tupdesc;

	isnull = true;
	for (int kind = 0; kind < ENTITY_KINDS && isnull; kind++)
	{
		found->kind = kind;
		found->entity = SPI_getbinval(row, columns, ATTNUM_ENTITY + kind, &isnull);
	}
	if (isnull)					/* the owner has dropped the constraint */
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("command id \"%s\" is recorded without an entity",
						uuid_text(DatumGetUUIDP(command_id)))));

	/* NULL only if the owner has changed the table */
	value = SPI_getbinval(row, columns, ATTNUM_COMMAND_NAME, &isnull);
	found->command_name = isnull ? cstring_to_text("") : DatumGetTextPP(value);

	value = SPI_getbinval(row, columns, ATTNUM_REQUEST_HASH, &isnull);
	found->has_request = !isnull;
	found->request_hash = isnull ? 0 : DatumGetInt64(value);
	return true;
}

/* Return the OID of the table of recorded commands, or InvalidOid if there is none. */
static Oid
command_table(void)
{
	return get_relname_relid("creation_identifiers", get_namespace_oid("idgen", true));
}

/*
 * Raise an error if the table of recorded commands can lose its rows.  pg_dump
 * does not dump the rows of a partitioned table or a view that has replaced
 * the extension's table, and a crash empties an unlogged table.
 */
static void
require_lasting_table(void)
{
	Oid			commands = command_table();

	if (OidIsValid(commands) &&
		(get_rel_relkind(commands) != RELKIND_RELATION ||
		 get_rel_persistence(commands) != RELPERSISTENCE_PERMANENT))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"idgen.creation_identifiers\" is not an ordinary, logged table"),
				 errdetail("A dump or a crash would lose the commands that are recorded there.")));
}

/*
 * Does this unique violation mean that an index on command_id alone already
 * contains this command?  Other violations are not replaced: they may concern
 * another command, an index that the owner has added, or a table that a
 * trigger writes to.
 *
 * The server reports the key only in the text of the DETAIL, and the index
 * only by its name.  Searching for the command would require a subtransaction
 * for each INSERT, and a snapshot that contains the row.
 */
static bool
violates_command_index(const ErrorData *error, Datum command_id)
{
	Oid			relation = command_table();
	Oid			index;
	HeapTuple	tuple;
	bool		on_command_id = false;

	if (error->schema_name == NULL || strcmp(error->schema_name, "idgen") != 0 ||
		error->table_name == NULL || strcmp(error->table_name, "creation_identifiers") != 0 ||
		error->constraint_name == NULL)
		return false;

	/* the DETAIL contains the key, unless row-level security is enabled */
	if (error->detail != NULL &&
		strstr(error->detail, uuid_text(DatumGetUUIDP(command_id))) == NULL)
		return false;

	/*
	 * REINDEX CONCURRENTLY may since have renamed or dropped the index.
	 * Returning true is safe in that case, even if it is wrong: the caller
	 * reports 40001 instead of 23505, and a retry finds the recorded command
	 * or raises the violation again.
	 */
	index = get_relname_relid(error->constraint_name, get_rel_namespace(relation));
	if (!OidIsValid(index))
		return true;

	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
	if (HeapTupleIsValid(tuple))
	{
		const FormData_pg_index *form = (const FormData_pg_index *) GETSTRUCT(tuple);

		on_command_id = form->indrelid == relation && form->indnkeyatts == 1 &&
			form->indkey.values[0] == get_attnum(relation, "command_id");
		ReleaseSysCache(tuple);
	}
	return on_command_id;
}

/*
 * During REINDEX CONCURRENTLY, the table has a second unique index, which ON
 * CONFLICT ignores before version 19.  If two sessions record the same command
 * at that time, one of them can get a unique violation, which its client could
 * mistake for success.  Replace that error with 40001.
 */
static void
replace_reindex_error(ErrorData *error, Datum command_id)
{
	if (!violates_command_index(error, command_id))
		return;

	/* the other fields of the error, such as its context, stay as they are */
	error->sqlerrcode = ERRCODE_T_R_SERIALIZATION_FAILURE;
	error->message = psprintf("could not record command id \"%s\" due to a concurrent reindex",
							  uuid_text(DatumGetUUIDP(command_id)));
	error->detail = psprintf("Another transaction has recorded the command in index \"%s\".",
							 error->constraint_name);
	error->hint = pstrdup("Retry the transaction with the same command id.");
	FlushErrorState();
	ReThrowError(error);
}

/*
 * Record a command.  Returns false if it is already recorded.  Waits for any
 * transaction that is recording the same command.
 */
static bool
record_creation(Datum command_id, const Creation *creation)
{
	MemoryContext caller = CurrentMemoryContext;
	Datum		values[ENTITY_KINDS + 3];
	char		nulls[ENTITY_KINDS + 3];
	volatile bool recorded = false;

	values[0] = command_id;
	memset(nulls, ' ', sizeof(nulls));
	for (int kind = 0; kind < ENTITY_KINDS; kind++)
	{
		values[1 + kind] = creation->entity;
		if (kind != (int) creation->kind)
			nulls[1 + kind] = 'n';
	}
	values[ENTITY_KINDS + 1] = PointerGetDatum(creation->command_name);
	values[ENTITY_KINDS + 2] = Int64GetDatum(creation->request_hash);
	if (!creation->has_request)
		nulls[ENTITY_KINDS + 2] = 'n';

	PG_TRY();
	{
		recorded = run_statement(&record_command, values, nulls) == 1;
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(caller);
		if (geterrcode() == ERRCODE_UNIQUE_VIOLATION)
			replace_reindex_error(CopyErrorData(), command_id);
		PG_RE_THROW();
	}
	PG_END_TRY();
	/* check the table after the INSERT, which has locked it */
	require_lasting_table();
	return recorded;
}

/* Raise 25006 for a new command in a transaction that cannot write. */
static void
refuse_to_record(Datum command_id, const Creation *creation)
{
	const char *function = entity_kinds[creation->kind].function;

	ereport(ERROR,
			(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
			 RecoveryInProgress() ?
			 errmsg("cannot execute %s() during recovery", function) :
			 errmsg("cannot execute %s() in a read-only transaction", function),
			 errdetail("Command id \"%s\" is not recorded, and recording it writes to table \"idgen.creation_identifiers\".",
					   uuid_text(DatumGetUUIDP(command_id))),
			 errhint("Call the function on the primary server, in a read-write transaction.")));
}

/*
 * Describe a command, for the DETAIL of an error.  "name" introduces a name
 * that is too long to be shown in full; "request" describes any request.
 */
static char *
describe_command(const Creation *creation, const char *name, const char *request)
{
	int			length = VARSIZE_ANY_EXHDR(creation->command_name);
	char	   *shown = shown_text(VARDATA_ANY(creation->command_name), length, MAX_SHOWN_NAME_BYTES);

	return psprintf("%s, a %s identifier and %s",
					length <= MAX_SHOWN_NAME_BYTES ? psprintf("the name \"%s\"", shown) :
					psprintf("%s of %d bytes that begins with \"%s\"", name, length, shown),
					entity_kinds[creation->kind].type,
					creation->has_request ? request : "no request");
}

/*
 * Raise 23514 if a command id is used again for a different command.
 * Returning the recorded entity would tell the client that its second command
 * was executed.  A unique violation (23505) would not be better, because some
 * libraries treat it as success.  The DETAIL does not contain the hash,
 * because the recorded request could be guessed from it.
 */
static void
require_same_command(Datum command_id, const Creation *recorded,
					 const Creation *proposed)
{
	bool		same_name = text_is_bytes(proposed->command_name,
										  VARDATA_ANY(recorded->command_name),
										  VARSIZE_ANY_EXHDR(recorded->command_name));
	bool		same_request = recorded->has_request == proposed->has_request &&
		recorded->request_hash == proposed->request_hash;

	if (recorded->kind == proposed->kind && same_name && same_request)
		return;

	ereport(ERROR,
			(errcode(ERRCODE_CHECK_VIOLATION),
			 errmsg("command id \"%s\" was already used for a different command",
					uuid_text(DatumGetUUIDP(command_id))),
			 errdetail("This command has %s; the recorded command has %s.",
					   describe_command(proposed, "a name", "a request"),
					   describe_command(recorded, same_name ? "the same name" : "another name",
										same_request ? "the same request" :
										proposed->has_request ? "another request" : "a request")),
			 errhint("Retry a command with the same name and request, and use a new command id for a new command."),
			 err_generic_string(PG_DIAG_SCHEMA_NAME, "idgen"),
			 err_generic_string(PG_DIAG_TABLE_NAME, "creation_identifiers"),
			 err_generic_string(PG_DIAG_CONSTRAINT_NAME, "creation_identifiers_same_command")));
}

/*
 * Record the proposed creation and return true, or replace it with the
 * recorded one and return false.
 *
 * Because of the search before the INSERT, a replay costs little more than a
 * SELECT, and works in a read-only transaction.  If another session records
 * the command after the search, the INSERT waits for that session's
 * transaction.  If that transaction commits, the next search finds its row; if
 * it rolls back, the INSERT succeeds.  In a REPEATABLE READ transaction, the
 * snapshot does not contain the new row, and the INSERT raises 40001.
 *
 * A read-write SERIALIZABLE transaction does not search first.  A search that
 * finds nothing would take a predicate lock on an index page.  Any two
 * concurrent commands that insert into the same page would then conflict.
 */
static bool
create_or_replay(Datum command_id, Creation *creation)
{
	bool		search = !IsolationIsSerializable() || XactReadOnly;
	Creation	recorded;

	for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++)
	{
		if (search && find_creation(command_id, &recorded))
		{
			require_same_command(command_id, &recorded, creation);
			*creation = recorded;
			return false;
		}
		if (XactReadOnly)
			refuse_to_record(command_id, creation);
		if (record_creation(command_id, creation))
			return true;

		/* the INSERT conflicted with a row that may have been deleted since */
		search = true;
		CHECK_FOR_INTERRUPTS();
	}

	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("could not find or record command id \"%s\"",
					uuid_text(DatumGetUUIDP(command_id))),
			 errhint("A row-level security policy on table \"idgen.creation_identifiers\" may hide the row, or a trigger suppress it.")));
}

/* Return create_once_text()'s "proposed_id", after checking its length. */
static Datum
entity_text_argument(FunctionCallInfo fcinfo, int argno)
{
	Size		length = toast_raw_datum_size(PG_GETARG_DATUM(argno)) - VARHDRSZ;

	if (length < 1 || length > MAX_ENTITY_TEXT_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("proposed_id must have 1 to %d bytes", MAX_ENTITY_TEXT_BYTES),
				 errdetail("It has %zu bytes.", length)));
	return PointerGetDatum(PG_GETARG_TEXT_PP(argno));
}

/* Implement create_once(), create_once_bigint() and create_once_text(). */
static Datum
create_once(FunctionCallInfo fcinfo, EntityKind kind)
{
	Creation	creation = {.kind = kind};
	MemoryContext caller = CurrentMemoryContext;
	Datum		result[2];
	bool		isnull[2] = {false, false};
	bool		created;
	TupleDesc	columns;
	HeapTuple	row;

	require_not_null(fcinfo, 0, "command_id");
	require_not_null(fcinfo, 1, "proposed_id");
	require_not_null(fcinfo, 2, "command_name");

	creation.entity = kind == ENTITY_TEXT ? entity_text_argument(fcinfo, 1) : PG_GETARG_DATUM(1);
	creation.command_name = PG_GETARG_TEXT_PP(2);
	creation.has_request = !PG_ARGISNULL(3);
	if (creation.has_request)
		creation.request_hash = request_hash(PG_GETARG_JSONB_P(3));

	if (get_call_result_type(fcinfo, NULL, &columns) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	columns = BlessTupleDesc(columns);

	SPI_connect();
	created = create_or_replay(PG_GETARG_DATUM(0), &creation);
	result[0] = creation.entity;
	result[1] = BoolGetDatum(created);
	MemoryContextSwitchTo(caller);
	row = heap_form_tuple(columns, result, isnull);
	SPI_finish();
	return HeapTupleGetDatum(row);
}

/*
 * create_once(command_id uuid, proposed_id uuid, command_name text, request jsonb,
 *			   OUT entity_id uuid, OUT created boolean)
 *
 * The first call with a command id records and returns the proposed id; later
 * calls return the recorded id.  A call with a recorded command id, but with a
 * different name or request, raises an error (23514).
 */
PG_FUNCTION_INFO_V1(idgen_create_once_uuid);
Datum
idgen_create_once_uuid(PG_FUNCTION_ARGS)
{
	return create_once(fcinfo, ENTITY_UUID);
}

/* create_once_bigint(): proposed_id and OUT entity_number are of type bigint. */
PG_FUNCTION_INFO_V1(idgen_create_once_bigint);
Datum
idgen_create_once_bigint(PG_FUNCTION_ARGS)
{
	return create_once(fcinfo, ENTITY_NUMBER);
}

/* create_once_text(): proposed_id and OUT entity_text are of type text. */
PG_FUNCTION_INFO_V1(idgen_create_once_text);
Datum
idgen_create_once_text(PG_FUNCTION_ARGS)
{
	return create_once(fcinfo, ENTITY_TEXT);
}
