/*
 * prefixed_id.c
 *	  Prefixed ids and TypeIDs, and the domains that accept prefixed ids.
 *
 * A prefixed id consists of a prefix, which names the type of the entity, an
 * underscore, and the 25 digits of a uuid in base 36.  Functions that read it
 * are lenient: leading zeros can be omitted, and letters can be of either
 * case.  A domain accepts only the canonical text, so that each identifier has
 * exactly one text form.
 *
 * A TypeID (version 0.3 of its specification) consists of an optional prefix
 * with an underscore, and the 26 digits of a uuid in base 32.  Each TypeID has
 * only one text form.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "arguments.h"
#include "id_text.h"
#include "kept_statement.h"

#define PREFIX_MAX_LENGTH	63

/* the maximum length of a prefix, an underscore and the digits together */
#define TEXT_MAX_LENGTH(kind)	(PREFIX_MAX_LENGTH + 1 + radix_width((kind)->radix))

/* enough for a schema and a name that consist of doubled quotation marks */
#define MAX_DOMAIN_NAME_BYTES	(8 * NAMEDATALEN)

#define ID_DOMAIN_CONSTRAINT	"prefixed_id_check" /* documented */

/* A kind of text that consists of a prefix, an underscore and the digits of a uuid. */
typedef struct PrefixedKind
{
	const char *noun;			/* for messages */
	const Radix *radix;
	bool		is_typeid;		/* follows the rules of TypeIDs */
} PrefixedKind;

static const PrefixedKind prefixed_id = {"prefixed id", &radix_36, false};
static const PrefixedKind type_id = {"TypeID", &radix_typeid, true};

/*
 * Return the problem with a prefix as a sentence, or NULL if there is none.  A
 * prefix consists of 1 to 63 lower-case letters, digits and underscores; the
 * prefix of a TypeID contains no digits.  A prefix begins with a letter and
 * does not end with an underscore.
 */
static const char *
prefix_problem(const PrefixedKind *kind, const char *prefix, int length)
{
	int			i;

	if (length == 0)
		return "The prefix must not be empty.";
	if (prefix[0] < 'a' || prefix[0] > 'z')
		return "Invalid character at position 1; a prefix must begin with a lower-case letter.";

	for (i = 1; i < length && i <= PREFIX_MAX_LENGTH; i++)
	{
		bool		is_digit = prefix[i] >= '0' && prefix[i] <= '9';
		bool		is_letter = prefix[i] >= 'a' && prefix[i] <= 'z';

		if (!is_letter && prefix[i] != ID_PREFIX_SEPARATOR &&
			!(is_digit && !kind->is_typeid))
			return psprintf("Invalid character at position %d; a prefix must consist of lower-case letters%s.",
							i + 1, kind->is_typeid ? " and underscores" : ", digits and underscores");
	}

	if (i > PREFIX_MAX_LENGTH)
		return psprintf("At most %d characters are allowed in a prefix.", PREFIX_MAX_LENGTH);
	if (prefix[length - 1] == ID_PREFIX_SEPARATOR)
		return "A prefix must not end with an underscore.";
	return NULL;
}

/* Return the prefix in an argument, or NULL.  Raises 22023 for an invalid prefix. */
static const text *
prefix_argument(FunctionCallInfo fcinfo, int argno, const PrefixedKind *kind)
{
	const text *prefix;
	const char *problem;

	if (PG_ARGISNULL(argno))
		return NULL;
	prefix = PG_GETARG_TEXT_PP(argno);
	/* a TypeID can have an empty prefix */
	if (kind->is_typeid && VARSIZE_ANY_EXHDR(prefix) == 0)
		return prefix;
	problem = prefix_problem(kind, VARDATA_ANY(prefix), VARSIZE_ANY_EXHDR(prefix));
	if (problem != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid prefix: \"%s\"",
						shown_text(VARDATA_ANY(prefix), VARSIZE_ANY_EXHDR(prefix), 96)),
				 errdetail_internal("%s", problem)));
	return prefix;
}

/* Make a text value from the prefix in argument 0 and the uuid in argument 1. */
static Datum
make_prefixed(FunctionCallInfo fcinfo, const PrefixedKind *kind)
{
	const text *prefix;

	require_not_null(fcinfo, 0, "prefix");
	prefix = prefix_argument(fcinfo, 0, kind);
	if (PG_ARGISNULL(1))
		PG_RETURN_NULL();
	return id_text_make(prefix, PG_GETARG_UUID_P(1), kind->radix);
}

/* Parse argument 0.  Its prefix ends before the last underscore. */
static IdText
read_prefixed(FunctionCallInfo fcinfo, const PrefixedKind *kind,
			  int *prefix_length, pg_uuid_t **uuid)
{
	IdText		id = id_text_argument(fcinfo, kind->noun, TEXT_MAX_LENGTH(kind));
	int			separator = id.length - 1;
	const char *problem = NULL;

	while (separator >= 0 && id.bytes[separator] != ID_PREFIX_SEPARATOR)
		separator--;
	if (separator >= 0)
		problem = prefix_problem(kind, id.bytes, separator);
	else if (!kind->is_typeid)
		problem = "An underscore must separate the prefix from the digits.";
	if (problem != NULL)
		id_text_refuse(&id, problem);

	*prefix_length = Max(separator, 0);
	*uuid = id_text_number(&id, separator + 1, kind->radix, kind->is_typeid);
	return id;
}

/* Return argument 0 as a uuid.  Argument 1 must be its prefix or NULL. */
static Datum
prefixed_to_uuid(FunctionCallInfo fcinfo, const PrefixedKind *kind)
{
	const text *expected;
	IdText		id;
	int			prefix_length;
	pg_uuid_t  *uuid;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	expected = prefix_argument(fcinfo, 1, kind);
	id = read_prefixed(fcinfo, kind, &prefix_length, &uuid);
	if (expected != NULL && !text_is_bytes(expected, id.bytes, prefix_length))
		ereport(ERROR,
				(errcode(ERRCODE_CHECK_VIOLATION),
				 errmsg("%s has the prefix \"%.*s\", not \"%.*s\"", id.noun,
						prefix_length, id.bytes,
						(int) VARSIZE_ANY_EXHDR(expected), VARDATA_ANY(expected)),
				 errdetail("The %s is \"%.*s\".", id.noun, id.length, id.bytes)));
	PG_RETURN_UUID_P(uuid);
}

/* Return the prefix of argument 0. */
static Datum
prefix_of(FunctionCallInfo fcinfo, const PrefixedKind *kind)
{
	int			prefix_length;
	pg_uuid_t  *uuid;
	IdText		id = read_prefixed(fcinfo, kind, &prefix_length, &uuid);

	PG_RETURN_TEXT_P(cstring_to_text_with_len(id.bytes, prefix_length));
}

/*
 * Is argument 0 a value that make_prefixed() can return, for the prefix in
 * argument 1 or, if that is NULL, for any prefix?  Text that is too long is
 * not detoasted.
 */
static Datum
is_prefixed(FunctionCallInfo fcinfo, const PrefixedKind *kind)
{
	int			width = radix_width(kind->radix);
	const text *prefix;
	const text *id;
	const char *bytes;
	const char *digits;
	int			offset;			/* of the digits */
	int			prefix_length;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	prefix = prefix_argument(fcinfo, 1, kind);
	if (toast_raw_datum_size(PG_GETARG_DATUM(0)) > (Size) VARHDRSZ + TEXT_MAX_LENGTH(kind))
		PG_RETURN_BOOL(false);

	id = PG_GETARG_TEXT_PP(0);
	bytes = VARDATA_ANY(id);
	offset = (int) VARSIZE_ANY_EXHDR(id) - width;
	if (offset < (kind->is_typeid ? 0 : 1))
		PG_RETURN_BOOL(false);

	digits = bytes + offset;
	prefix_length = Max(offset - 1, 0);
	if ((prefix != NULL && !text_is_bytes(prefix, bytes, prefix_length)) ||
		(offset > 0 && (digits[-1] != ID_PREFIX_SEPARATOR ||
						prefix_problem(kind, bytes, prefix_length) != NULL)))
		PG_RETURN_BOOL(false);
	PG_RETURN_BOOL(radix_is_canonical(kind->radix, digits, width));
}

/* prefixed_id_from_uuid(prefix text, id uuid) returns text */
PG_FUNCTION_INFO_V1(idgen_prefixed_id_from_uuid);
Datum
idgen_prefixed_id_from_uuid(PG_FUNCTION_ARGS)
{
	return make_prefixed(fcinfo, &prefixed_id);
}

/* prefixed_id_to_uuid(id text, expected_prefix text DEFAULT NULL) returns uuid */
PG_FUNCTION_INFO_V1(idgen_prefixed_id_to_uuid);
Datum
idgen_prefixed_id_to_uuid(PG_FUNCTION_ARGS)
{
	return prefixed_to_uuid(fcinfo, &prefixed_id);
}

/* prefixed_id_prefix(id text) returns text */
PG_FUNCTION_INFO_V1(idgen_prefixed_id_prefix);
Datum
idgen_prefixed_id_prefix(PG_FUNCTION_ARGS)
{
	return prefix_of(fcinfo, &prefixed_id);
}

/* is_prefixed_id(id text, prefix text DEFAULT NULL) returns boolean */
PG_FUNCTION_INFO_V1(idgen_is_prefixed_id);
Datum
idgen_is_prefixed_id(PG_FUNCTION_ARGS)
{
	return is_prefixed(fcinfo, &prefixed_id);
}

/* the corresponding functions for TypeIDs */
PG_FUNCTION_INFO_V1(idgen_typeid_from_uuid);
Datum
idgen_typeid_from_uuid(PG_FUNCTION_ARGS)
{
	return make_prefixed(fcinfo, &type_id);
}

PG_FUNCTION_INFO_V1(idgen_typeid_to_uuid);
Datum
idgen_typeid_to_uuid(PG_FUNCTION_ARGS)
{
	return prefixed_to_uuid(fcinfo, &type_id);
}

PG_FUNCTION_INFO_V1(idgen_typeid_prefix);
Datum
idgen_typeid_prefix(PG_FUNCTION_ARGS)
{
	return prefix_of(fcinfo, &type_id);
}

PG_FUNCTION_INFO_V1(idgen_is_typeid);
Datum
idgen_is_typeid(PG_FUNCTION_ARGS)
{
	return is_prefixed(fcinfo, &type_id);
}

/* The statements of create_id_domain(), which run with the caller's privileges */
static KeptStatement find_prefix =
{"SELECT p.domain FROM idgen.id_prefixes p WHERE p.prefix OPERATOR(pg_catalog.=) $1",
0, 1, {TEXTOID}, NULL};
static KeptStatement forget_dropped_domain =
{"DELETE FROM idgen.id_prefixes p WHERE p.prefix OPERATOR(pg_catalog.=) $1 AND NOT EXISTS"
	" (SELECT FROM pg_catalog.pg_type t WHERE t.oid OPERATOR(pg_catalog.=) p.domain)",
0, 1, {TEXTOID}, NULL};
static KeptStatement record_prefix =
{"INSERT INTO idgen.id_prefixes (prefix, domain) VALUES ($1, $2) ON CONFLICT (prefix) DO NOTHING",
0, 2, {TEXTOID, REGTYPEOID}, NULL};

/*
 * Raise 23505 for a prefix that is already in use.  The DETAIL names its
 * domain if this transaction can see the row in idgen.id_prefixes.  Under READ
 * COMMITTED, a row that another session has just committed is visible, too,
 * because each statement has its own snapshot.
 */
static void
refuse_prefix(const char *prefix, Datum *values)
{
	char	   *domain = NULL;

	/* the OID if the domain has been dropped since the snapshot */
	if (run_statement(&find_prefix, values, NULL) > 0)
		domain = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);

	ereport(ERROR,
			(errcode(ERRCODE_UNIQUE_VIOLATION),
			 errmsg("prefix \"%s\" is already in use", prefix),
			 domain ? errdetail("The prefix belongs to domain %s.", domain) : 0,
			 err_generic_string(PG_DIAG_SCHEMA_NAME, "idgen"),
			 err_generic_string(PG_DIAG_TABLE_NAME, "id_prefixes"),
			 err_generic_string(PG_DIAG_CONSTRAINT_NAME, "id_prefixes_pkey")));
}

/*
 * create_id_domain(domain_name text, prefix text) returns regtype
 *	Creates a domain over text that accepts prefixed ids with one prefix, and
 *	records the prefix in idgen.id_prefixes.  DROP DOMAIN does not delete that
 *	row; it is deleted when the prefix is used again.
 */
PG_FUNCTION_INFO_V1(idgen_create_id_domain);
Datum
idgen_create_id_domain(PG_FUNCTION_ARGS)
{
	const text *prefix;
	char	   *prefix_string;
	RangeVar   *domain;
	Oid			schema_oid;
	Oid			domain_oid;
	char	   *create;
	Datum		values[2];

	require_not_null(fcinfo, 0, "domain_name");
	require_not_null(fcinfo, 1, "prefix");
	prefix = prefix_argument(fcinfo, 1, &prefixed_id);
	prefix_string = text_to_cstring(prefix);

	/* parsing a very long name takes a long time and cannot be interrupted */
	if (toast_raw_datum_size(PG_GETARG_DATUM(0)) > MAX_DOMAIN_NAME_BYTES + VARHDRSZ)
		ereport(ERROR,
				(errcode(ERRCODE_NAME_TOO_LONG),
				 errmsg("domain_name must have at most %d bytes", MAX_DOMAIN_NAME_BYTES)));

	/* parse the name and choose the schema as CREATE DOMAIN does */
	domain = makeRangeVarFromNameList(textToQualifiedNameList(PG_GETARG_TEXT_PP(0)));
	schema_oid = RangeVarGetCreationNamespace(domain);
	if (isAnyTempNamespace(schema_oid))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot register domain \"%s\" of a temporary schema", domain->relname),
				 errdetail("Its prefix would be registered for all sessions, and in dumps.")));

	create = psprintf("CREATE DOMAIN %s AS pg_catalog.text COLLATE pg_catalog.\"C\""
					  " CONSTRAINT " ID_DOMAIN_CONSTRAINT
					  " CHECK (idgen.is_prefixed_id(VALUE, %s))",
					  quote_qualified_identifier(get_namespace_name(schema_oid),
												 domain->relname),
					  quote_literal_cstr(prefix_string));
	SPI_connect();
	if (SPI_execute(create, false, 0) != SPI_OK_UTILITY)
		elog(ERROR, "could not run \"%s\"", create);
	domain_oid = GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid,
								 CStringGetDatum(domain->relname),
								 ObjectIdGetDatum(schema_oid));

	/* an event trigger may have dropped, moved or renamed the domain */
	if (!OidIsValid(domain_oid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("domain \"%s\" was dropped or renamed by an event trigger", domain->relname)));

	values[0] = PointerGetDatum(prefix);
	values[1] = ObjectIdGetDatum(domain_oid);
	run_statement(&forget_dropped_domain, values, NULL);
	if (run_statement(&record_prefix, values, NULL) == 0)
		refuse_prefix(prefix_string, values);

	SPI_finish();
	PG_RETURN_OID(domain_oid);
}
