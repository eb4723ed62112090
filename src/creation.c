/*-------------------------------------------------------------------------
 *
 * creation.c
 *	  Creation commands that are safe to retry.
 *
 * A client that got no answer sends its command again, under the same command
 * id.  The table idgen.creation_identifiers remembers which identifier the
 * first call was given; create_once() gives it back to every later one.  What
 * is asked of the table goes through SPI with plans kept for the session, so
 * that the caller's rights, policies and triggers apply; only a replay, which
 * shall cost no more than a SELECT, reads the primary key's index itself where
 * none of these has a say.
 *
 * The history functions do the same for later commands on one entity, which
 * keeps the ids of its last commands in an array of its own row.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "common/cryptohash.h"
#include "common/sha2.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "port/pg_bswap.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/jsonb.h"
#include "utils/memutils.h"
#include "utils/numeric.h"
#include "utils/rel.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "clock.h"
#include "uuid_bits.h"

/*
 * Operators are written out, so that no schema in front of pg_catalog in the
 * caller's search_path can slip in one of its own.
 */
#define FIND_COMMAND \
	"SELECT command_id::pg_catalog.uuid, command_name::pg_catalog.text," \
	" entity_id::pg_catalog.uuid, entity_number::pg_catalog.int8," \
	" request_hash::pg_catalog.int8" \
	" FROM idgen.creation_identifiers" \
	" WHERE command_id OPERATOR(pg_catalog.=) $1"

#define RECORD_COMMAND \
	"INSERT INTO idgen.creation_identifiers" \
	" (command_id, entity_id, entity_number, command_name, request_hash)" \
	" VALUES ($1, $2, $3, $4, $5)" \
	" ON CONFLICT (command_id) DO NOTHING"

#define PURGE_OLDER \
	"DELETE FROM idgen.creation_identifiers" \
	" WHERE command_id OPERATOR(pg_catalog.=) ANY (ARRAY(" \
	"  SELECT command_id FROM idgen.creation_identifiers" \
	"  WHERE created_at OPERATOR(pg_catalog.<)" \
	"   (pg_catalog.now() OPERATOR(pg_catalog.-) $1)" \
	"  ORDER BY created_at LIMIT $2))"

#define TRIM_BEYOND \
	"DELETE FROM idgen.creation_identifiers" \
	" WHERE command_id OPERATOR(pg_catalog.=) ANY (ARRAY(" \
	"  SELECT command_id FROM idgen.creation_identifiers" \
	"  WHERE $2 IS NULL OR command_name OPERATOR(pg_catalog.=) $2" \
	"  ORDER BY created_at DESC, command_id DESC OFFSET $1))"

/* The table's columns, and those of FIND_COMMAND. */
#define ATTNUM_COMMAND_ID		1
#define ATTNUM_COMMAND_NAME		2
#define ATTNUM_ENTITY_ID		3
#define ATTNUM_ENTITY_NUMBER	4
#define ATTNUM_REQUEST_HASH		5

static const struct
{
	const char *name;
	Oid			type;
}			table_columns[] =
{
	{"command_id", UUIDOID},
	{"command_name", TEXTOID},
	{"entity_id", UUIDOID},
	{"entity_number", INT8OID},
	{"request_hash", INT8OID},
};

/* A statement, planned at its first use and kept. */
typedef struct KeptStatement
{
	const char *text;
	int			nargs;
	Oid			argtypes[5];
	SPIPlanPtr	plan;
} KeptStatement;

static KeptStatement find_command =
{FIND_COMMAND, 1, {UUIDOID}, NULL};
static KeptStatement record_command =
{RECORD_COMMAND, 5, {UUIDOID, UUIDOID, INT8OID, TEXTOID, INT8OID}, NULL};
static KeptStatement purge_older =
{PURGE_OLDER, 2, {INTERVALOID, INT8OID}, NULL};
static KeptStatement trim_beyond =
{TRIM_BEYOND, 2, {INT8OID, TEXTOID}, NULL};

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
	text	   *command_name;
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
 * it returned or changed.  Its plan is made without regard to the values.
 */
static uint64
run_statement(KeptStatement *statement, Datum *values, const char *nulls)
{
	int			result;

	if (statement->plan == NULL)
	{
		SPIPlanPtr	plan = SPI_prepare_cursor(statement->text, statement->nargs,
											  statement->argtypes,
											  CURSOR_OPT_GENERIC_PLAN);

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

/*
 * The same for a statement that looks for rows, with sequential scans
 * discouraged.  A session keeps its plan while the table grows from nothing
 * to millions of rows, perhaps within one transaction, before any statistics
 * tell; and what it looks for has an index.
 */
static uint64
run_search(KeptStatement *statement, Datum *values, const char *nulls)
{
	int			guc_level = NewGUCNestLevel();
	uint64		processed;

	(void) set_config_option("enable_seqscan", "off", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	processed = run_statement(statement, values, nulls);
	AtEOXact_GUC(true, guc_level);
	return processed;
}

static void
connect_spi(void)
{
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
}

/*
 * A row of the table as a Creation, in the current memory context.
 */
static void
read_creation(HeapTuple row, TupleDesc columns, Creation *found)
{
	Datum		value;
	bool		isnull;

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
	found->command_name = isnull ? cstring_to_text("") : DatumGetTextPCopy(value);

	found->request_hash = DatumGetInt64(heap_getattr(row, ATTNUM_REQUEST_HASH,
													 columns, &isnull));
	found->has_request = !isnull;
}

/*
 * Is it a table as the extension makes it?  Its owner, who need not be a
 * superuser, may have put another one in its place: partitioned, or with
 * columns of other types.
 */
static bool
is_as_made(Relation table)
{
	TupleDesc	columns = RelationGetDescr(table);
	Bitmapset  *key;
	bool		as_made;

	if (table->rd_rel->relkind != RELKIND_RELATION || table->rd_rel->relhassubclass ||
		columns->natts < (int) lengthof(table_columns))
		return false;

	for (int i = 0; i < (int) lengthof(table_columns); i++)
	{
		Form_pg_attribute column = TupleDescAttr(columns, i);

		if (column->attisdropped || column->atttypid != table_columns[i].type ||
			strcmp(NameStr(column->attname), table_columns[i].name) != 0)
			return false;
	}

	key = RelationGetIndexAttrBitmap(table, INDEX_ATTR_BITMAP_PRIMARY_KEY);
	as_made = bms_membership(key) == BMS_SINGLETON &&
		bms_is_member(ATTNUM_COMMAND_ID - FirstLowInvalidHeapAttributeNumber, key);
	bms_free(key);
	return as_made;
}

/*
 * The table's primary key's index, if reading it is all that a SELECT would
 * do for this user: a table with its primary key in place, SELECT granted as
 * a whole, no policy, and no module that watches what is read.
 */
static Oid
index_to_read(Relation table)
{
	Oid			relid = RelationGetRelid(table);

	if (ExecutorCheckPerms_hook != NULL ||
		pg_class_aclcheck(relid, GetUserId(), ACL_SELECT) != ACLCHECK_OK ||
		check_enable_rls(relid, InvalidOid, true) == RLS_ENABLED ||
		!is_as_made(table))
		return InvalidOid;

	list_free(RelationGetIndexList(table));
	return table->rd_pkindex;
}

/*
 * A SERIALIZABLE transaction that records a command anew, which its snapshot
 * still holds but somebody else has forgotten since, sees both rows.  Which of
 * them is right depends on who came first, so nobody did (40001).
 */
static void
refuse_second_row(Datum command_id)
{
	ereport(ERROR,
			(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			 errmsg("could not serialize access due to concurrent delete"),
			 errdetail("Command id \"%s\" was forgotten while this transaction recorded it.",
					   uuid_text(DatumGetUUIDP(command_id)))));
}

/* What the table says about a command, from the index and the row. */
static bool
read_index(Relation table, Oid index, Datum command_id, Creation *found)
{
	ScanKeyData key;
	Snapshot	snapshot;
	SysScanDesc scan;
	HeapTuple	row;
	bool		known;

	/* see what this statement did before, as a statement of SPI does */
	CommandCounterIncrement();
	snapshot = RegisterSnapshot(GetTransactionSnapshot());

	ScanKeyInit(&key, ATTNUM_COMMAND_ID, BTEqualStrategyNumber, F_UUID_EQ, command_id);
	scan = systable_beginscan(table, index, true, snapshot, 1, &key);
	row = systable_getnext(scan);
	known = HeapTupleIsValid(row);
	if (known)
	{
		read_creation(row, RelationGetDescr(table), found);
		if (IsolationUsesXactSnapshot() && HeapTupleIsValid(systable_getnext(scan)))
			refuse_second_row(command_id);
	}

	systable_endscan(scan);
	UnregisterSnapshot(snapshot);
	return known;
}

/* What the table says about a command; false if it does not know it. */
static bool
find_creation(Datum command_id, Creation *found)
{
	Relation	table = table_openrv(makeRangeVar("idgen", "creation_identifiers", -1),
									 AccessShareLock);
	Oid			index = index_to_read(table);
	MemoryContext caller = CurrentMemoryContext;
	bool		known;

	if (OidIsValid(index))
		known = read_index(table, index, command_id, found);
	else
	{
		connect_spi();
		known = run_search(&find_command, &command_id, NULL) > 0;
		if (known)
		{
			MemoryContext spi = MemoryContextSwitchTo(caller);

			if (SPI_processed > 1)
				refuse_second_row(command_id);
			read_creation(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, found);
			MemoryContextSwitchTo(spi);
		}
		SPI_finish();
	}

	table_close(table, NoLock);
	return known;
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
	uint64		recorded;

	values[0] = command_id;
	values[1] = UUIDPGetDatum(&creation->entity_id);
	values[2] = Int64GetDatum(creation->entity_number);
	values[3] = PointerGetDatum(creation->command_name);
	values[4] = Int64GetDatum(creation->request_hash);
	memset(nulls, ' ', sizeof(nulls));
	nulls[creation->kind == ENTITY_UUID ? 2 : 1] = 'n';
	if (!creation->has_request)
		nulls[4] = 'n';

	connect_spi();
	recorded = run_statement(&record_command, values, nulls);
	SPI_finish();
	return recorded == 1;
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
			 errhint("A retry repeats the command as it was; a new command needs a new command id.")));
}

/*
 * Record the proposed creation, or replace it by the one recorded before.
 * Returns whether it was recorded now.
 *
 * Looking first makes a replay as cheap as a SELECT, and lets it through in a
 * read-only transaction.  Where somebody else records the command after we
 * looked, the INSERT waits for that transaction: it commits, and we look
 * again, or it rolls back, and the row is ours.  In a REPEATABLE READ
 * transaction the INSERT raises 40001 instead of looking past its snapshot.
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

	created = create_or_replay(PG_GETARG_DATUM(0), &creation);

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

/* Run a DELETE of two arguments; the number of rows that are gone. */
static Datum
delete_rows(KeptStatement *statement, Datum *values, const char *nulls)
{
	uint64		deleted;

	connect_spi();
	deleted = run_search(statement, values, nulls);
	SPI_finish();

	PG_RETURN_INT64((int64) deleted);
}

/*
 * purge_creations(older_than interval DEFAULT '24 hours',
 *				   batch_size bigint DEFAULT 10000) returns bigint
 *
 * Forget the oldest creations, at most batch_size of those older than that;
 * the number forgotten.
 */
PG_FUNCTION_INFO_V1(idgen_purge_creations);
Datum
idgen_purge_creations(PG_FUNCTION_ARGS)
{
	Interval	zero = {0};
	Datum		values[2];

	require_argument(fcinfo, 0, "older_than");
	require_argument(fcinfo, 1, "batch_size");
	values[0] = PG_GETARG_DATUM(0);
	values[1] = PG_GETARG_DATUM(1);

	if (DatumGetBool(DirectFunctionCall2(interval_lt, values[0],
										 IntervalPGetDatum(&zero))))
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

	return delete_rows(&purge_older, values, NULL);
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
	Datum		values[2];
	char		nulls[2] = {' ', ' '};

	require_argument(fcinfo, 0, "keep");
	require_keep(PG_GETARG_INT64(0));
	values[0] = PG_GETARG_DATUM(0);
	values[1] = PG_GETARG_DATUM(1);
	if (PG_ARGISNULL(1))
		nulls[1] = 'n';

	return delete_rows(&trim_beyond, values, nulls);
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

static bool
history_has(const pg_uuid_t *ids, int count, const pg_uuid_t *command_id)
{
	/* a retry comes soon after the command, so look at the newest first */
	while (count-- > 0)
	{
		if (memcmp(&ids[count], command_id, sizeof(pg_uuid_t)) == 0)
			return true;
	}
	return false;
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
	PG_RETURN_BOOL(history_has(ids, count, PG_GETARG_UUID_P(1)));
}

/*
 * remember_command(history uuid[], command_id uuid, keep int DEFAULT 20)
 *	returns uuid[]
 *
 * The history with the command at its end, cut at its beginning to the newest
 * "keep".  A command that is there already stays where it is.
 */
PG_FUNCTION_INFO_V1(idgen_remember_command);
Datum
idgen_remember_command(PG_FUNCTION_ARGS)
{
	const pg_uuid_t *ids;
	pg_uuid_t  *command_id;
	int64		keep;
	int			count;
	int			total;
	int			dropped;
	Datum	   *elements;

	require_argument(fcinfo, 1, "command_id");
	require_argument(fcinfo, 2, "keep");
	command_id = PG_GETARG_UUID_P(1);
	keep = PG_GETARG_INT32(2);
	require_keep(keep);

	ids = history_ids(fcinfo, 0, &count);
	total = history_has(ids, count, command_id) ? count : count + 1;
	dropped = Max(total - keep, 0);

	elements = palloc(sizeof(Datum) * total);
	for (int i = 0; i < total; i++)
		elements[i] = UUIDPGetDatum(i < count ? &ids[i] : command_id);

	PG_RETURN_ARRAYTYPE_P(construct_array(elements + dropped, total - dropped,
										  UUIDOID, UUID_LEN, false, TYPALIGN_CHAR));
}
