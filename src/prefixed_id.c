/*-------------------------------------------------------------------------
 *
 * prefixed_id.c
 *	  Prefixed ids, and the domains that accept them.
 *
 * A prefixed id is a prefix, which names the type of the entity, an underscore
 * and the 25 digits of a uuid in base 36.  Reading is lenient: leading zeros
 * can be omitted, and digits can be of either case.  A domain accepts the
 * canonical text only, so that each identifier has exactly one text.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "arguments.h"
#include "id_text.h"

#define ID_DOMAIN_CONSTRAINT	"prefixed_id_check" /* documented */

/* Read argument 0 up to the end of its prefix. */
static IdText
read_prefixed_id(FunctionCallInfo fcinfo, int *prefix_length)
{
	IdText		id = id_text_argument(fcinfo, "prefixed id", ID_TEXT_MAX_LENGTH(radix_36));

	*prefix_length = id_text_prefix(&id, true);
	if (*prefix_length < 0)
		id_text_refuse(&id, "An underscore must separate the prefix from the digits.");
	return id;
}

/* prefixed_id(prefix text, id uuid DEFAULT idgen.short_comb()) returns text */
PG_FUNCTION_INFO_V1(idgen_prefixed_id);
Datum
idgen_prefixed_id(PG_FUNCTION_ARGS)
{
	text	   *prefix;

	require_not_null(fcinfo, 0, "prefix");
	prefix = PG_GETARG_TEXT_PP(0);
	id_prefix_require(prefix, true);
	if (PG_ARGISNULL(1))
		PG_RETURN_NULL();
	return id_text_make(prefix, PG_GETARG_UUID_P(1), radix_36);
}

/*
 * prefixed_id_to_uuid(id text, expected_prefix text DEFAULT NULL) returns uuid
 *	A prefix other than the expected one is an error (23514).
 */
PG_FUNCTION_INFO_V1(idgen_prefixed_id_to_uuid);
Datum
idgen_prefixed_id_to_uuid(PG_FUNCTION_ARGS)
{
	const text *expected = PG_ARGISNULL(1) ? NULL : PG_GETARG_TEXT_PP(1);
	IdText		id;
	int			prefix_length;
	pg_uuid_t  *uuid;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (expected != NULL)
		id_prefix_require(expected, true);

	id = read_prefixed_id(fcinfo, &prefix_length);
	uuid = id_text_uuid(&id, prefix_length + 1, radix_36);
	id_text_require_prefix(&id, prefix_length, expected);
	PG_RETURN_UUID_P(uuid);
}

/*
 * is_prefixed_id(id text, prefix text DEFAULT NULL) returns boolean
 *	Whether the text is exactly the result of prefixed_id() for this prefix, or
 *	for any, and some uuid.  No text raises an error, and one that is too long is
 *	not detoasted.
 */
PG_FUNCTION_INFO_V1(idgen_is_prefixed_id);
Datum
idgen_is_prefixed_id(PG_FUNCTION_ARGS)
{
	const text *prefix = PG_ARGISNULL(1) ? NULL : PG_GETARG_TEXT_PP(1);
	int			width = radix_width(radix_36);
	char		canonical[RADIX_MAX_WIDTH];
	int			prefix_length;
	const text *id;
	const char *bytes;
	const char *digits;
	const char *problem;
	uint64		high;
	uint64		low;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (prefix != NULL)
		id_prefix_require(prefix, true);
	if (toast_raw_datum_size(PG_GETARG_DATUM(0)) > (Size) VARHDRSZ + ID_TEXT_MAX_LENGTH(radix_36))
		PG_RETURN_BOOL(false);

	id = PG_GETARG_TEXT_PP(0);
	bytes = VARDATA_ANY(id);
	prefix_length = (int) VARSIZE_ANY_EXHDR(id) - width - 1;
	if (prefix_length < 1 ||
		(prefix != NULL ? !text_is_bytes(prefix, bytes, prefix_length) :
		 id_prefix_problem(bytes, prefix_length, true) != NULL))
		PG_RETURN_BOOL(false);

	digits = bytes + prefix_length + 1;
	if (digits[-1] != ID_PREFIX_SEPARATOR ||
		!radix_decode(radix_36, digits, width, 0, &high, &low, &problem))
		PG_RETURN_BOOL(false);

	radix_encode(radix_36, high, low, canonical);
	PG_RETURN_BOOL(memcmp(digits, canonical, width) == 0);
}

/* prefixed_id_prefix(id text) returns text */
PG_FUNCTION_INFO_V1(idgen_prefixed_id_prefix);
Datum
idgen_prefixed_id_prefix(PG_FUNCTION_ARGS)
{
	int			prefix_length;
	IdText		id = read_prefixed_id(fcinfo, &prefix_length);

	(void) id_text_uuid(&id, prefix_length + 1, radix_36);
	PG_RETURN_TEXT_P(cstring_to_text_with_len(id.bytes, prefix_length));
}

/* Run a statement of create_id_domain(), with the caller's rights. */
static void
execute(const char *statement, int nargs, Oid *argtypes, Datum *values)
{
	int			result = SPI_execute_with_args(statement, nargs, argtypes, values,
											   NULL, false, 0);

	if (result < 0)
		elog(ERROR, "could not run \"%s\": %s", statement,
			 SPI_result_code_string(result));
}

/*
 * Raise 23505 for a prefix in use.  DETAIL names its domain if this transaction
 * can see the row in idgen.id_prefixes.  Each statement has its own snapshot,
 * so that under READ COMMITTED a row that another session has just committed
 * is visible, too.
 */
static void
refuse_prefix(const char *prefix, Oid *argtypes, Datum *values)
{
	bool		isnull = true;
	Datum		domain = 0;

	execute("SELECT p.domain FROM idgen.id_prefixes p"
			" WHERE p.prefix OPERATOR(pg_catalog.=) $1",
			1, argtypes, values);
	if (SPI_processed > 0)
		domain = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull);

	ereport(ERROR,
			(errcode(ERRCODE_UNIQUE_VIOLATION),
			 errmsg("prefix \"%s\" is already in use", prefix),
			 isnull ? 0 : errdetail("The prefix belongs to domain %s.",
									format_type_be(DatumGetObjectId(domain))),
			 err_generic_string(PG_DIAG_SCHEMA_NAME, "idgen"),
			 err_generic_string(PG_DIAG_TABLE_NAME, "id_prefixes"),
			 err_generic_string(PG_DIAG_CONSTRAINT_NAME, "id_prefixes_pkey")));
}

/*
 * create_id_domain(domain_name text, prefix text) returns regtype
 *	Create a domain over text that accepts prefixed ids of one prefix, and
 *	record the prefix in idgen.id_prefixes.  DROP DOMAIN leaves its row there;
 *	the row is deleted when its prefix is used again.
 */
PG_FUNCTION_INFO_V1(idgen_create_id_domain);
Datum
idgen_create_id_domain(PG_FUNCTION_ARGS)
{
	text	   *prefix;
	char	   *prefix_string;
	RangeVar   *domain;
	Oid			schema_oid;
	Oid			domain_oid;
	Oid			argtypes[2] = {TEXTOID, REGTYPEOID};
	Datum		values[2];

	require_not_null(fcinfo, 0, "domain_name");
	require_not_null(fcinfo, 1, "prefix");
	prefix = PG_GETARG_TEXT_PP(1);
	prefix_string = text_to_cstring(prefix);
	id_prefix_require(prefix, true);

	/* parse the name and choose the schema as CREATE DOMAIN does */
	domain = makeRangeVarFromNameList(textToQualifiedNameList(PG_GETARG_TEXT_PP(0)));
	schema_oid = RangeVarGetCreationNamespace(domain);
	if (isAnyTempNamespace(schema_oid))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot register domain \"%s\" of a temporary schema", domain->relname),
				 errdetail("Its prefix would be registered for all sessions, and in dumps.")));

	SPI_connect();
	execute(psprintf("CREATE DOMAIN %s AS pg_catalog.text COLLATE pg_catalog.\"C\""
					 " CONSTRAINT " ID_DOMAIN_CONSTRAINT
					 " CHECK (idgen.is_prefixed_id(VALUE, %s))",
					 quote_qualified_identifier(get_namespace_name(schema_oid),
												domain->relname),
					 quote_literal_cstr(prefix_string)),
			0, NULL, NULL);
	domain_oid = GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid,
								 CStringGetDatum(domain->relname),
								 ObjectIdGetDatum(schema_oid));

	values[0] = PointerGetDatum(prefix);
	values[1] = ObjectIdGetDatum(domain_oid);
	execute("DELETE FROM idgen.id_prefixes p"
			" WHERE p.prefix OPERATOR(pg_catalog.=) $1 AND NOT EXISTS"
			" (SELECT FROM pg_catalog.pg_type t"
			"  WHERE t.oid OPERATOR(pg_catalog.=) p.domain)",
			1, argtypes, values);
	execute("INSERT INTO idgen.id_prefixes (prefix, domain) VALUES ($1, $2)"
			" ON CONFLICT (prefix) DO NOTHING",
			2, argtypes, values);
	if (SPI_processed == 0)
		refuse_prefix(prefix_string, argtypes, values);

	SPI_finish();
	PG_RETURN_OID(domain_oid);
}
