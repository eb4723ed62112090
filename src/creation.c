/*-------------------------------------------------------------------------
 *
 * creation.c
 *	  Creation commands that are safe to retry.
 *
 * A client that got no answer sends its command again, under the same command
 * id.  The table idgen.creation_identifiers remembers which identifier the
 * first call was given; create_once() gives it back to every later one.  The
 * table is read and written through SPI only, so that the caller's rights,
 * policies and triggers apply, and so that the table may be any that behaves
 * like the one that the extension makes: partitioned, or distributed over
 * several servers.
 *
 * The history functions do the same for later commands on one entity, which
 * keeps the ids of its last commands in an array of its own row.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "common/cryptohash.h"
#include "common/sha2.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "port/pg_bswap.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/jsonb.h"
#include "utils/memutils.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "clock.h"
#include "uuid_bits.h"

/*
 * Operators are written out, so that no schema in front of pg_catalog in the
 * caller's search_path can slip in one of its own.
 */
#define FIND_COMMAND \
	"SELECT entity_id::pg_catalog.uuid, entity_number::pg_catalog.int8," \
	" command_name::pg_catalog.text, request_hash::pg_catalog.int8" \
	" FROM idgen.creation_identifiers" \
	" WHERE command_id OPERATOR(pg_catalog.=) $1"

#define RECORD_COMMAND \
	"INSERT INTO idgen.creation_identifiers" \
	" (command_id, entity_id, entity_number, command_name, request_hash)" \
	" VALUES ($1, $2, $3, $4, $5)" \
	" ON CONFLICT (command_id) DO NOTHING"

#define FORGET_WHERE \
	"DELETE FROM idgen.creation_identifiers WHERE "

/*
 * The commands to forget, sorted, so that sessions that forget the same ones
 * lock their rows in the same order.
 */
#define COMMANDS_OF(oldest) \
	"SELECT id, made FROM (" \
	" SELECT command_id::pg_catalog.uuid, created_at::pg_catalog.timestamptz" \
	" FROM idgen.creation_identifiers WHERE " oldest ") AS found (id, made)" \
	" WHERE id IS NOT NULL AND made IS NOT NULL ORDER BY id"

#define OLDER_COMMANDS COMMANDS_OF( \
	"created_at OPERATOR(pg_catalog.<) $1 ORDER BY created_at LIMIT $2")

#define COMMANDS_BEYOND COMMANDS_OF( \
	"$2 IS NULL OR command_name OPERATOR(pg_catalog.=) $2" \
	" ORDER BY created_at DESC, command_id DESC OFFSET $1")

/* How many commands one DELETE forgets. */
#define FORGET_AT_ONCE	1000

/* The columns of FIND_COMMAND. */
#define ATTNUM_ENTITY_ID		1
#define ATTNUM_ENTITY_NUMBER	2
#define ATTNUM_COMMAND_NAME		3
#define ATTNUM_REQUEST_HASH		4

/* A statement, prepared at its first use and kept. */
typedef struct KeptStatement
{
	const char *text;
	int			options;		/* CURSOR_OPT_... */
	int			nargs;
	Oid			argtypes[5];
	SPIPlanPtr	plan;
} KeptStatement;

/*
 * One plan serves all values where it names the row's key.  The others are
 * planned as the server sees fit: a distributed table may refuse a plan that
 * does not know the values.
 */
static KeptStatement find_command =
{FIND_COMMAND, CURSOR_OPT_GENERIC_PLAN, 1, {UUIDOID}, NULL};
static KeptStatement record_command =
{RECORD_COMMAND, CURSOR_OPT_GENERIC_PLAN, 5, {UUIDOID, UUIDOID, INT8OID, TEXTOID, INT8OID}, NULL};
static KeptStatement forget_command =
{FORGET_WHERE "command_id OPERATOR(pg_catalog.=) $1", 0, 1, {UUIDOID}, NULL};
/* IS TRUE keeps the index on created_at out, which has the ids in no order */
static KeptStatement forget_commands =
{FORGET_WHERE "command_id OPERATOR(pg_catalog.=) ANY ($1)"
" AND (created_at OPERATOR(pg_catalog.<=) $2) IS TRUE", 0, 2, {UUIDARRAYOID, TIMESTAMPTZOID}, NULL};
static KeptStatement forget_entity =
{FORGET_WHERE "entity_id OPERATOR(pg_catalog.=) $1", 0, 1, {UUIDOID}, NULL};
static KeptStatement forget_number =
{FORGET_WHERE "entity_number OPERATOR(pg_catalog.=) $1", 0, 1, {INT8OID}, NULL};

/* Bytes of a command name that a message shows. */
#define MAX_SHOWN_NAME	200

/* Whether an entity is known by a uuid or by a number. */
typedef enum EntityKind
{
	ENTITY_UUID,
	ENTITY_NUMBER
} EntityKind;

/* What the table says, or is to say, about a command. */
typedef struct Creation
{
	EntityKind	kind;
	pg_uuid_t	entity_id;		/* of ENTITY_UUID */
	int64		entity_number;	/* of ENTITY_NUMBER */
	text	   *command_name;	/* of a recorded one, until SPI_finish() */
	bool		has_request;
	int64		request_hash;
} Creation;

/* How often create_once() looks again when others remove what it waited for. */
#define MAX_ATTEMPTS	100

/* An argument without which a function can do nothing. */
static void
require_argument(FunctionCallInfo fcinfo, int argno, const char *name)
{
	if (PG_ARGISNULL(argno))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s must not be null", name)));
}

/* ----------
 * The fingerprint of a request
 * ----------
 */

/* One token of a jsonb value: what it is, its length, its bytes. */
static void
hash_token(pg_cryptohash_ctx *hash, uint8 kind, const char *bytes, uint32 length)
{
	uint32		length_be = pg_hton32(length);

	if (pg_cryptohash_update(hash, &kind, sizeof(kind)) < 0 ||
		pg_cryptohash_update(hash, (uint8 *) &length_be, sizeof(length_be)) < 0 ||
		pg_cryptohash_update(hash, (const uint8 *) bytes, length) < 0)
		elog(ERROR, "could not update SHA-256 of the request");
}

static void
hash_scalar(pg_cryptohash_ctx *hash, const JsonbValue *scalar)
{
	char	   *number;

	switch (scalar->type)
	{
		case jbvNull:
			hash_token(hash, 'n', "", 0);
			break;
		case jbvBool:
			hash_token(hash, scalar->val.boolean ? 't' : 'f', "", 0);
			break;
		case jbvString:
			hash_token(hash, 's', scalar->val.string.val, scalar->val.string.len);
			break;
		case jbvNumeric:
			/* equal numbers give equal text, whatever their scale */
			number = numeric_normalize(scalar->val.numeric);
			hash_token(hash, '#', number, strlen(number));
			pfree(number);
			break;
		default:
			elog(ERROR, "unexpected jsonb scalar type %d", (int) scalar->type);
	}
}

/*
 * The first 64 bits of the SHA-256 of a request.  Values that are equal as
 * jsonb have the same hash, on every server version and every machine, since
 * the table that holds it is dumped, restored and replicated.
 */
static int64
request_hash(Jsonb *request)
{
	JsonbIterator *iterator = JsonbIteratorInit(&request->root);
	JsonbIteratorToken token;
	JsonbValue	value;
	uint8		digest[PG_SHA256_DIGEST_LENGTH];
	uint64		first_half;
	pg_cryptohash_ctx *hash = pg_cryptohash_create(PG_SHA256);

	if (hash == NULL || pg_cryptohash_init(hash) < 0)
		elog(ERROR, "could not start SHA-256 of the request");

	while ((token = JsonbIteratorNext(&iterator, &value, false)) != WJB_DONE)
	{
		/* there may be millions of them */
		CHECK_FOR_INTERRUPTS();

		switch (token)
		{
			case WJB_BEGIN_ARRAY:
				/* a bare scalar is kept as an array of one */
				hash_token(hash, value.val.array.rawScalar ? '=' : '[', "", 0);
				break;
			case WJB_BEGIN_OBJECT:
				hash_token(hash, '{', "", 0);
				break;
			case WJB_END_ARRAY:
				hash_token(hash, ']', "", 0);
				break;
			case WJB_END_OBJECT:
				hash_token(hash, '}', "", 0);
				break;
			case WJB_KEY:
			case WJB_VALUE:
			case WJB_ELEM:
				hash_scalar(hash, &value);
				break;
			default:
				elog(ERROR, "unexpected jsonb iterator token %d", (int) token);
		}
	}

	if (pg_cryptohash_final(hash, digest, sizeof(digest)) < 0)
		elog(ERROR, "could not finish SHA-256 of the request");
	pg_cryptohash_free(hash);

	memcpy(&first_half, digest, sizeof(first_half));
	return (int64) pg_ntoh64(first_half);
}

/* ----------
 * The table
 * ----------
 */

/*
 * Run a statement between SPI_connect() and SPI_finish(); the number of rows
 * it returned or changed.
 */
static uint64
run_statement(KeptStatement *statement, Datum *values, const char *nulls)
{
	int			result;

	if (statement->plan == NULL)
	{
		SPIPlanPtr	plan = SPI_prepare_cursor(statement->text, statement->nargs,
											  statement->argtypes, statement->options);

		if (plan == NULL || SPI_keepplan(plan) != 0)
			elog(ERROR, "could not keep a plan for \"%s\": %s", statement->text,
				 SPI_result_code_string(SPI_result));
		statement->plan = plan;
	}

	result = SPI_execute_plan(statement->plan, values, nulls, false, 0);
	if (result < 0)
		elog(ERROR, "could not run \"%s\": %s", statement->text,
			 SPI_result_code_string(result));
	return SPI_processed;
}

/* Discourage a scan method, until the caller leaves its GUC nest level. */
static void
discourage(const char *method)
{
	(void) set_config_option(method, "off", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
}

/*
 * Run a statement that looks for rows, without a sequential scan.  A session
 * keeps its plan while the table grows from nothing to millions of rows,
 * perhaps within one transaction, before any statistics tell; and what it
 * looks for has an index.
 */
static uint64
run_search(KeptStatement *statement, Datum *values)
{
	int			guc_level = NewGUCNestLevel();
	uint64		processed;

	discourage("enable_seqscan");
	processed = run_statement(statement, values, NULL);
	AtEOXact_GUC(true, guc_level);
	return processed;
}

static void
connect_spi(void)
{
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
}

/* What the table says about a command; false if it does not know it. */
static bool
find_creation(Datum command_id, Creation *found)
{
	uint64		rows = run_search(&find_command, &command_id);
	HeapTuple	row;
	TupleDesc	columns;
	Datum		value;
	bool		isnull;

	if (rows == 0)
		return false;

	/*
	 * A SERIALIZABLE transaction that records a command anew, which its
	 * snapshot still holds but another session has forgotten since, sees both
	 * rows.  Which of them is right depends on the order of the two, and they
	 * have none.
	 */
	if (rows > 1)
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("could not serialize access due to concurrent delete"),
				 errdetail("Command id \"%s\" was forgotten while this transaction recorded it.",
						   uuid_text(DatumGetUUIDP(command_id)))));

	row = SPI_tuptable->vals[0];
	columns = SPI_tuptable->tupdesc;

	value = heap_getattr(row, ATTNUM_ENTITY_ID, columns, &isnull);
	if (!isnull)
	{
		found->kind = ENTITY_UUID;
		found->entity_id = *DatumGetUUIDP(value);
	}
	else
	{
		found->kind = ENTITY_NUMBER;
		found->entity_number = DatumGetInt64(heap_getattr(row, ATTNUM_ENTITY_NUMBER,
														  columns, &isnull));
	}

	/* not null, unless the table's owner has allowed that */
	value = heap_getattr(row, ATTNUM_COMMAND_NAME, columns, &isnull);
	found->command_name = isnull ? cstring_to_text("") : DatumGetTextPP(value);

	found->request_hash = DatumGetInt64(heap_getattr(row, ATTNUM_REQUEST_HASH,
													 columns, &isnull));
	found->has_request = !isnull;
	return true;
}

/*
 * Record a command.  False if it is there already; a session that is about to
 * record the same one is waited for.
 */
static bool
record_creation(Datum command_id, const Creation *creation)
{
	Datum		values[5];
	char		nulls[5];

	values[0] = command_id;
	values[1] = UUIDPGetDatum(&creation->entity_id);
	values[2] = Int64GetDatum(creation->entity_number);
	values[3] = PointerGetDatum(creation->command_name);
	values[4] = Int64GetDatum(creation->request_hash);
	memset(nulls, ' ', sizeof(nulls));
	nulls[creation->kind == ENTITY_UUID ? 2 : 1] = 'n';
	if (!creation->has_request)
		nulls[4] = 'n';

	return run_statement(&record_command, values, nulls) == 1;
}

/* A command that is not recorded, in a transaction that cannot write. */
static void
refuse_to_record(Datum command_id, const Creation *creation)
{
	const char *function = creation->kind == ENTITY_UUID ? "create_once" : "create_once_bigint";

	ereport(ERROR,
			(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
			 RecoveryInProgress() ?
			 errmsg("cannot execute %s() during recovery", function) :
			 errmsg("cannot execute %s() in a read-only transaction", function),
			 errdetail("Command id \"%s\" is not recorded here, and %s() records it in the table idgen.creation_identifiers.",
					   uuid_text(DatumGetUUIDP(command_id)), function),
			 errhint("Call it on the primary, in a read-write transaction.")));
}

static bool
same_name(const Creation *one, const Creation *other)
{
	return VARSIZE_ANY_EXHDR(one->command_name) == VARSIZE_ANY_EXHDR(other->command_name) &&
		memcmp(VARDATA_ANY(one->command_name), VARDATA_ANY(other->command_name),
			   VARSIZE_ANY_EXHDR(one->command_name)) == 0;
}

static bool
same_request(const Creation *one, const Creation *other)
{
	return one->has_request == other->has_request &&
		(!one->has_request || one->request_hash == other->request_hash);
}

/* A command as an error's DETAIL shows it, with a long name cut. */
static char *
describe_command(const Creation *creation)
{
	const char *name = VARDATA_ANY(creation->command_name);
	int			length = VARSIZE_ANY_EXHDR(creation->command_name);

	return psprintf("command name \"%s\", %s, %s",
					pnstrdup(name, pg_mbcliplen(name, length, MAX_SHOWN_NAME)),
					creation->kind == ENTITY_UUID ? "a uuid" : "a bigint",
					creation->has_request ?
					psprintf("request hash %016llx",
							 (unsigned long long) creation->request_hash) :
					"no request");
}

/*
 * A known command id must come with what it came with first; a client that
 * uses one twice must not be told that its second command was done.
 */
static void
require_same_command(Datum command_id, const Creation *recorded,
					 const Creation *proposed)
{
	if (recorded->kind == proposed->kind &&
		same_name(recorded, proposed) && same_request(recorded, proposed))
		return;

	ereport(ERROR,
			(errcode(ERRCODE_UNIQUE_VIOLATION),
			 errmsg("command id \"%s\" was used for another command",
					uuid_text(DatumGetUUIDP(command_id))),
			 errdetail("It was recorded with %s; now it comes with %s.",
					   describe_command(recorded), describe_command(proposed)),
			 errhint("A retry repeats the command as it was; a new command needs a new command id."),
			 err_generic_string(PG_DIAG_SCHEMA_NAME, "idgen"),
			 err_generic_string(PG_DIAG_TABLE_NAME, "creation_identifiers"),
			 err_generic_string(PG_DIAG_CONSTRAINT_NAME, "creation_identifiers_same_command")));
}

/*
 * Record the proposed creation, or replace it by the one recorded before.
 * Returns whether it was recorded now.
 *
 * Looking first makes a replay cost little more than a SELECT, and lets it
 * through in a read-only transaction.  Where another session records the
 * command after we looked, the INSERT waits for that transaction: it commits,
 * and we look again, or it rolls back, and the row is ours.  In a REPEATABLE
 * READ transaction the INSERT raises 40001 instead of looking past its
 * snapshot.
 *
 * A SERIALIZABLE transaction that may write does not look first.  What it did
 * not find would be a predicate lock on the index page that all the commands
 * of the moment go to, and any two of them would look like a conflict.
 */
static bool
create_or_replay(Datum command_id, Creation *creation)
{
	bool		look = !IsolationIsSerializable() || XactReadOnly;
	Creation	recorded;

	for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++)
	{
		if (look && find_creation(command_id, &recorded))
		{
			require_same_command(command_id, &recorded, creation);
			*creation = recorded;
			return false;
		}
		if (XactReadOnly)
			refuse_to_record(command_id, creation);
		if (record_creation(command_id, creation))
			return true;

		/* it is there, or it was until a moment ago */
		look = true;
		CHECK_FOR_INTERRUPTS();
	}

	/* Not time, but a policy that hides the row, would bring us here. */
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("could neither find nor record command id \"%s\"",
					uuid_text(DatumGetUUIDP(command_id))),
			 errhint("A row security policy on idgen.creation_identifiers may hide it.")));
}

/*
 * The result row (entity, created) of a function, as a tuple descriptor that
 * lives as long as the session.
 */
static TupleDesc
result_columns(FunctionCallInfo fcinfo, EntityKind kind)
{
	static TupleDesc kept[2];

	if (kept[kind] == NULL)
	{
		TupleDesc	columns;
		MemoryContext caller;

		if (get_call_result_type(fcinfo, NULL, &columns) != TYPEFUNC_COMPOSITE)
			elog(ERROR, "return type must be a row type");

		caller = MemoryContextSwitchTo(TopMemoryContext);
		kept[kind] = BlessTupleDesc(CreateTupleDescCopy(columns));
		MemoryContextSwitchTo(caller);
	}
	return kept[kind];
}

static Datum
create_once(FunctionCallInfo fcinfo, EntityKind kind)
{
	Creation	creation = {.kind = kind};
	Datum		result[2];
	bool		isnull[2] = {false, false};
	bool		created;
	TupleDesc	columns;

	require_argument(fcinfo, 0, "command_id");
	require_argument(fcinfo, 1, "proposed_id");
	require_argument(fcinfo, 2, "command_name");

	if (kind == ENTITY_UUID)
		creation.entity_id = *PG_GETARG_UUID_P(1);
	else
		creation.entity_number = PG_GETARG_INT64(1);
	creation.command_name = PG_GETARG_TEXT_PP(2);
	creation.has_request = !PG_ARGISNULL(3);
	if (creation.has_request)
		creation.request_hash = request_hash(PG_GETARG_JSONB_P(3));

	columns = result_columns(fcinfo, kind);

	connect_spi();
	created = create_or_replay(PG_GETARG_DATUM(0), &creation);
	SPI_finish();

	result[0] = kind == ENTITY_UUID ? UUIDPGetDatum(&creation.entity_id) :
		Int64GetDatum(creation.entity_number);
	result[1] = BoolGetDatum(created);
	return HeapTupleGetDatum(heap_form_tuple(columns, result, isnull));
}

/*
 * create_once(command_id uuid, proposed_id uuid,
 *			   command_name text DEFAULT '', request jsonb DEFAULT NULL,
 *			   OUT entity_id uuid, OUT created boolean)
 *
 * The first call with a command id records the proposed id; every later one
 * gets the recorded id back.  Another name or request under a known command
 * id is an error (23505).
 */
PG_FUNCTION_INFO_V1(idgen_create_once_uuid);
Datum
idgen_create_once_uuid(PG_FUNCTION_ARGS)
{
	return create_once(fcinfo, ENTITY_UUID);
}

/* create_once() for entities that are known by a bigint. */
PG_FUNCTION_INFO_V1(idgen_create_once_bigint);
Datum
idgen_create_once_bigint(PG_FUNCTION_ARGS)
{
	return create_once(fcinfo, ENTITY_NUMBER);
}

/* Forget the commands that one value selects; their number. */
static int64
forget(KeptStatement *statement, Datum value)
{
	int64		forgotten;

	connect_spi();
	forgotten = run_search(statement, &value);
	SPI_finish();
	return forgotten;
}

/* forget_creation(command_id uuid) returns boolean */
PG_FUNCTION_INFO_V1(idgen_forget_creation);
Datum
idgen_forget_creation(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(forget(&forget_command, PG_GETARG_DATUM(0)) > 0);
}

/* forget_creation_of(entity_id uuid) returns bigint */
PG_FUNCTION_INFO_V1(idgen_forget_creation_of_uuid);
Datum
idgen_forget_creation_of_uuid(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(forget(&forget_entity, PG_GETARG_DATUM(0)));
}

/* forget_creation_of_bigint(entity_number bigint) returns bigint */
PG_FUNCTION_INFO_V1(idgen_forget_creation_of_bigint);
Datum
idgen_forget_creation_of_bigint(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(forget(&forget_number, PG_GETARG_DATUM(0)));
}

/*
 * Forget the commands that a query of two arguments selects; their number.
 *
 * They are fetched and deleted in batches, each by its ids, because a
 * distributed table refuses a DELETE that selects its rows with a LIMIT; and
 * because the memory that it takes does not depend on their number.
 *
 * Between the query and the DELETE, another session may have forgotten one of
 * them, and a late retry may have recorded it anew.  That row is younger than
 * all that the query selected, and stays.
 */
static int64
forget_selected(const char *query, Oid *argtypes, Datum *values, const char *nulls)
{
	int64		forgotten = 0;
	uint64		fetched;
	int			guc_level = NewGUCNestLevel();
	Portal		commands;

	/* index scans only, which lock the rows of a batch in the order of ids */
	discourage("enable_seqscan");
	discourage("enable_bitmapscan");

	connect_spi();
	commands = SPI_cursor_open_with_args(NULL, query, 2, argtypes, values, nulls, false,
										 CURSOR_OPT_CUSTOM_PLAN | CURSOR_OPT_NO_SCROLL);

	/* at least one DELETE, which checks rights and the transaction's mode */
	do
	{
		Datum		ids[FORGET_AT_ONCE];
		TimestampTz newest = DT_NOBEGIN;
		Datum		batch[2];
		SPITupleTable *rows;
		bool		isnull;

		SPI_cursor_fetch(commands, true, FORGET_AT_ONCE);
		fetched = SPI_processed;
		rows = SPI_tuptable;
		for (uint64 i = 0; i < fetched; i++)
		{
			TimestampTz made = DatumGetTimestampTz(SPI_getbinval(rows->vals[i], rows->tupdesc,
																 2, &isnull));

			ids[i] = SPI_getbinval(rows->vals[i], rows->tupdesc, 1, &isnull);
			newest = Max(newest, made);
		}

		batch[0] = PointerGetDatum(construct_array(ids, (int) fetched, UUIDOID, UUID_LEN,
												   false, TYPALIGN_CHAR));
		batch[1] = TimestampTzGetDatum(newest);
		SPI_freetuptable(rows);
		forgotten += run_statement(&forget_commands, batch, NULL);
		pfree(DatumGetPointer(batch[0]));
	} while (fetched == FORGET_AT_ONCE);

	SPI_cursor_close(commands);
	SPI_finish();
	AtEOXact_GUC(true, guc_level);
	return forgotten;
}

/*
 * purge_creations(older_than interval DEFAULT '24 hours',
 *				   batch_size bigint DEFAULT 10000) returns bigint
 *
 * Forget the oldest creations, at most batch_size of those older than that;
 * the number forgotten.  A day is 24 hours, whatever TimeZone is.
 */
PG_FUNCTION_INFO_V1(idgen_purge_creations);
Datum
idgen_purge_creations(PG_FUNCTION_ARGS)
{
	Oid			argtypes[2] = {TIMESTAMPTZOID, INT8OID};
	int64		older_than_us;
	TimestampTz cutoff;
	Datum		values[2];

	require_argument(fcinfo, 0, "older_than");
	require_argument(fcinfo, 1, "batch_size");

	older_than_us = clock_interval_us(PG_GETARG_INTERVAL_P(0), "older_than");
	if (older_than_us < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("older_than must not be negative"),
				 errdetail("The value is %s.",
						   clock_interval_text(PG_GETARG_INTERVAL_P(0)))));
	if (PG_GETARG_INT64(1) < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("batch_size must be at least 1"),
				 errdetail("The value is %lld.",
						   (long long) PG_GETARG_INT64(1))));

	/* a value, as a distributed table's servers have clocks of their own */
	cutoff = Max(GetCurrentTransactionStartTimestamp() - older_than_us, MIN_TIMESTAMP);
	values[0] = TimestampTzGetDatum(cutoff);
	values[1] = PG_GETARG_DATUM(1);
	PG_RETURN_INT64(forget_selected(OLDER_COMMANDS, argtypes, values, NULL));
}

/* A number of things to keep, which must not be negative. */
static void
require_keep(int64 keep)
{
	if (keep < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("keep must not be negative"),
				 errdetail("The value is %lld.", (long long) keep)));
}

/*
 * trim_creations(keep bigint, command_name text DEFAULT NULL) returns bigint
 *
 * Forget all but the newest creations, of one command name or of all; the
 * number forgotten.
 */
PG_FUNCTION_INFO_V1(idgen_trim_creations);
Datum
idgen_trim_creations(PG_FUNCTION_ARGS)
{
	Oid			argtypes[2] = {INT8OID, TEXTOID};
	Datum		values[2];
	char		nulls[2] = {' ', ' '};

	require_argument(fcinfo, 0, "keep");
	require_keep(PG_GETARG_INT64(0));
	values[0] = PG_GETARG_DATUM(0);
	values[1] = PG_GETARG_DATUM(1);
	if (PG_ARGISNULL(1))
		nulls[1] = 'n';

	PG_RETURN_INT64(forget_selected(COMMANDS_BEYOND, argtypes, values, nulls));
}

/* ----------
 * The command history of an entity
 * ----------
 */

/*
 * The command ids in a history, oldest first, and their number.  A missing
 * history is an empty one; elements that are null do not count.
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

	/* a null takes no room among the elements, which need no alignment */
	ids = (const pg_uuid_t *) ARR_DATA_PTR(history);
	*count = (const pg_uuid_t *) ((char *) history + ARR_SIZE(history)) - ids;
	return ids;
}

/* The place of a command in a history, or -1. */
static int
history_place(const pg_uuid_t *ids, int count, const pg_uuid_t *command_id)
{
	/* a retry comes soon after the command, so look at the newest first */
	while (count-- > 0)
	{
		if (memcmp(&ids[count], command_id, sizeof(pg_uuid_t)) == 0)
			break;
	}
	return count;
}

/*
 * has_command(history uuid[], command_id uuid) returns boolean
 */
PG_FUNCTION_INFO_V1(idgen_has_command);
Datum
idgen_has_command(PG_FUNCTION_ARGS)
{
	const pg_uuid_t *ids;
	int			count;

	if (PG_ARGISNULL(1))
		PG_RETURN_NULL();

	ids = history_ids(fcinfo, 0, &count);
	PG_RETURN_BOOL(history_place(ids, count, PG_GETARG_UUID_P(1)) >= 0);
}

/*
 * remember_command(history uuid[], command_id uuid, keep int DEFAULT 20)
 *	returns uuid[]
 *
 * The history with the command at its end, cut at its beginning to "keep"
 * commands.  A command that is there already stays where it is, and is never
 * cut off unless "keep" is 0, which gives an empty history.
 */
PG_FUNCTION_INFO_V1(idgen_remember_command);
Datum
idgen_remember_command(PG_FUNCTION_ARGS)
{
	const pg_uuid_t *ids;
	pg_uuid_t  *command_id;
	int64		keep;
	int			count;
	int			place;
	int			total;
	int			dropped;
	Datum	   *elements;

	require_argument(fcinfo, 1, "command_id");
	require_argument(fcinfo, 2, "keep");
	command_id = PG_GETARG_UUID_P(1);
	keep = PG_GETARG_INT32(2);
	require_keep(keep);

	ids = history_ids(fcinfo, 0, &count);
	place = history_place(ids, count, command_id);
	total = place >= 0 ? count : count + 1;
	dropped = Max(total - keep, 0);

	elements = palloc(sizeof(Datum) * total);
	for (int i = 0; i < total; i++)
		elements[i] = UUIDPGetDatum(i < count ? &ids[i] : command_id);
	if (place >= 0 && place < dropped && dropped < total)
		elements[dropped] = UUIDPGetDatum(command_id);

	PG_RETURN_ARRAYTYPE_P(construct_array(elements + dropped, total - dropped,
										  UUIDOID, UUID_LEN, false, TYPALIGN_CHAR));
}
