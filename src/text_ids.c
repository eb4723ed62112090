/*-------------------------------------------------------------------------
 *
 * text_ids.c
 *	  Identifiers as text: in a base, with a prefix, as TypeID and as ULID.
 *
 * Text that is not such an identifier is an error (22P02).  Its DETAIL counts
 * characters: it names the position of the first character that is invalid,
 * all before it being ASCII, and it compares with a limit only text that is
 * ASCII.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"
#include "utils/varlena.h"

#include "clock.h"
#include "entropy.h"
#include "radix.h"
#include "uuid_bits.h"

#define MAX_PREFIX_LENGTH	63	/* of prefixed ids and of TypeID alike */
#define SEPARATOR			'_'

/* as much of a text of any length as a message shows, in bytes */
#define MAX_SHOWN_LENGTH	96

#define ID_DOMAIN_CONSTRAINT	"prefixed_id_check"	/* documented */

/* Text that is being read: where it lies and what it is to be. */
typedef struct Reading
{
	const char *bytes;
	int			length;
	const char *noun;			/* "prefixed id", for messages */
} Reading;

/* Raise 22P02 for text that is not what it should be. */
static void
refuse_text(const Reading *reading, const char *problem)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
			 errmsg("invalid %s: \"%s\"", reading->noun,
					pnstrdup(reading->bytes, reading->length)),
			 errdetail_internal("%s", problem)));
}

/*
 * Begin to read argument 0.  Text that has more characters than any such
 * identifier, whatever they are, is refused without looking at it.
 */
static Reading
read_argument(FunctionCallInfo fcinfo, const char *noun, int max_characters)
{
	Size		length = toast_raw_datum_size(PG_GETARG_DATUM(0)) - VARHDRSZ;
	text	   *value;

	if (length > (Size) max_characters * pg_database_encoding_max_length())
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid %s", noun),
				 errdetail("At most %d characters are allowed.", max_characters)));

	value = PG_GETARG_TEXT_PP(0);
	return (Reading) {VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value), noun};
}

/* The same for text that can have a prefix. */
static Reading
read_prefixed_argument(FunctionCallInfo fcinfo, const char *noun, const Radix *radix)
{
	return read_argument(fcinfo, noun, MAX_PREFIX_LENGTH + 1 + radix_width(radix));
}

/* Read the digits from an offset to the end of the text. */
static void
read_digits(const Reading *reading, int offset, const Radix *radix,
			uint64 *high, uint64 *low)
{
	char	   *problem;

	if (!radix_decode(radix, reading->bytes + offset, reading->length - offset,
					  offset + 1, high, low, &problem))
		refuse_text(reading, problem);
}

static Datum
read_uuid(const Reading *reading, int offset, const Radix *radix)
{
	pg_uuid_t  *id;
	uint64		high;
	uint64		low;

	read_digits(reading, offset, radix, &high, &low);
	id = palloc(sizeof(pg_uuid_t));
	uuid_set_half(id, 0, high);
	uuid_set_half(id, 1, low);
	PG_RETURN_UUID_P(id);
}

/* The same where no digit may be left out. */
static Datum
read_full_uuid(const Reading *reading, int offset, const Radix *radix)
{
	Datum		id = read_uuid(reading, offset, radix);

	if (reading->length - offset < radix_width(radix))
		refuse_text(reading, psprintf("Exactly %d digits are required.", radix_width(radix)));
	return id;
}

/* Text of a prefix, a separator where there is a prefix, and a uuid's digits. */
static Datum
make_text(const char *prefix, int prefix_length, const pg_uuid_t *id,
		  const Radix *radix)
{
	int			body = prefix_length > 0 ? prefix_length + 1 : 0;
	Size		size = VARHDRSZ + body + radix_width(radix);
	text	   *result = palloc(size);

	SET_VARSIZE(result, size);
	if (prefix_length > 0)
	{
		memcpy(VARDATA(result), prefix, prefix_length);
		VARDATA(result)[prefix_length] = SEPARATOR;
	}
	radix_encode(radix, uuid_half(id, 0), uuid_half(id, 1), VARDATA(result) + body);
	PG_RETURN_TEXT_P(result);
}

/* ----------
 * Bases
 * ----------
 */

/*
 * uuid_to_base(id uuid, base int) returns text
 *
 * All the digits, with leading zeros, so that text order is uuid order.
 */
PG_FUNCTION_INFO_V1(idgen_uuid_to_base);
Datum
idgen_uuid_to_base(PG_FUNCTION_ARGS)
{
	return make_text(NULL, 0, PG_GETARG_UUID_P(0), radix_of_base(PG_GETARG_INT32(1)));
}

/*
 * bigint_to_base(value bigint, base int) returns text
 *
 * As few digits as the value needs; it must not be negative (22023).
 */
PG_FUNCTION_INFO_V1(idgen_bigint_to_base);
Datum
idgen_bigint_to_base(PG_FUNCTION_ARGS)
{
	int64		value = PG_GETARG_INT64(0);
	const Radix *radix = radix_of_base(PG_GETARG_INT32(1));
	char		digits[RADIX_MAX_WIDTH];
	char		zero[RADIX_MAX_WIDTH];
	int			leading = 0;

	if (value < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("value must not be negative"),
				 errdetail("The value is %lld.", (long long) value)));

	radix_encode(radix, 0, 0, zero);
	radix_encode(radix, 0, value, digits);
	while (leading < radix_width(radix) - 1 && digits[leading] == zero[leading])
		leading++;
	PG_RETURN_TEXT_P(cstring_to_text_with_len(digits + leading,
											  radix_width(radix) - leading));
}

/*
 * uuid_from_base(digits text, base int) returns uuid
 *
 * Leading zeros can be left out.
 */
PG_FUNCTION_INFO_V1(idgen_uuid_from_base);
Datum
idgen_uuid_from_base(PG_FUNCTION_ARGS)
{
	const Radix *radix = radix_of_base(PG_GETARG_INT32(1));
	Reading		reading = read_argument(fcinfo, "uuid digits", radix_width(radix));

	return read_uuid(&reading, 0, radix);
}

/*
 * bigint_from_base(digits text, base int) returns bigint
 *
 * Leading zeros are read, up to the number of digits of a uuid.
 */
PG_FUNCTION_INFO_V1(idgen_bigint_from_base);
Datum
idgen_bigint_from_base(PG_FUNCTION_ARGS)
{
	const Radix *radix = radix_of_base(PG_GETARG_INT32(1));
	Reading		reading = read_argument(fcinfo, "bigint digits", radix_width(radix));
	uint64		high;
	uint64		low;

	read_digits(&reading, 0, radix, &high, &low);
	if (high != 0 || low > PG_INT64_MAX)
		refuse_text(&reading, "The value of the digits is out of range for type bigint.");
	PG_RETURN_INT64((int64) low);
}

/* ----------
 * Prefixes
 * ----------
 */

/*
 * What is wrong with a prefix, or NULL.  It is 1 to 63 lower-case letters,
 * underscores and, but for TypeID, digits; it begins with a letter and does
 * not end with an underscore.
 */
static const char *
prefix_problem(const char *prefix, int length, bool digits_allowed)
{
	int			i;

	if (length == 0)
		return "The prefix must not be empty.";
	if (prefix[0] < 'a' || prefix[0] > 'z')
		return "Invalid character at position 1; a prefix must begin with a lower-case letter.";

	for (i = 1; i < length && i <= MAX_PREFIX_LENGTH; i++)
	{
		if (!((prefix[i] >= 'a' && prefix[i] <= 'z') || prefix[i] == SEPARATOR ||
			  (digits_allowed && prefix[i] >= '0' && prefix[i] <= '9')))
			return psprintf("Invalid character at position %d; a prefix must consist of lower-case letters%s.",
							i + 1, digits_allowed ? ", digits and underscores" : " and underscores");
	}

	if (i > MAX_PREFIX_LENGTH)
		return psprintf("At most %d characters are allowed in a prefix.", MAX_PREFIX_LENGTH);
	if (prefix[length - 1] == SEPARATOR)
		return "A prefix must not end with an underscore.";
	return NULL;
}

/* As much of a text of any length as a message shows. */
static char *
clipped(const char *bytes, int length)
{
	return pnstrdup(bytes, pg_mbcliplen(bytes, length, MAX_SHOWN_LENGTH));
}

/* A prefix that the caller gives must be a good one (22023). */
static void
require_prefix(const char *prefix, int length, bool digits_allowed)
{
	const char *problem = prefix_problem(prefix, length, digits_allowed);

	if (problem != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid prefix: \"%s\"", clipped(prefix, length)),
				 errdetail_internal("%s", problem)));
}

/*
 * The length of the prefix in a text: up to the last underscore.  -1 where
 * there is none.
 */
static int
find_prefix(const Reading *reading)
{
	int			i = reading->length;

	while (--i >= 0 && reading->bytes[i] != SEPARATOR)
		;
	return i;
}

/* Begin to read a prefixed id; the length of its prefix. */
static Reading
read_prefixed_id(FunctionCallInfo fcinfo, int *prefix_length)
{
	Reading		reading = read_prefixed_argument(fcinfo, "prefixed id", radix_36);
	const char *problem;

	*prefix_length = find_prefix(&reading);
	if (*prefix_length < 0)
		refuse_text(&reading, "An underscore must separate the prefix from the digits.");
	problem = prefix_problem(reading.bytes, *prefix_length, true);
	if (problem != NULL)
		refuse_text(&reading, problem);
	return reading;
}

/*
 * prefixed_id(prefix text, id uuid DEFAULT idgen.uuid_v7()) returns text
 *
 * The prefix, an underscore and the 25 digits of base 36.
 */
PG_FUNCTION_INFO_V1(idgen_prefixed_id);
Datum
idgen_prefixed_id(PG_FUNCTION_ARGS)
{
	text	   *prefix = PG_GETARG_TEXT_PP(0);

	require_prefix(VARDATA_ANY(prefix), VARSIZE_ANY_EXHDR(prefix), true);
	return make_text(VARDATA_ANY(prefix), VARSIZE_ANY_EXHDR(prefix),
					 PG_GETARG_UUID_P(1), radix_36);
}

/*
 * prefixed_id_to_uuid(id text, expected_prefix text DEFAULT NULL) returns uuid
 *
 * The uuid in a prefixed id; one with another prefix than expected is an
 * error (23514).  Leading zeros can be left out, and digits be of either case.
 */
PG_FUNCTION_INFO_V1(idgen_prefixed_id_to_uuid);
Datum
idgen_prefixed_id_to_uuid(PG_FUNCTION_ARGS)
{
	Reading		reading;
	int			prefix_length;
	text	   *expected = NULL;
	Datum		id;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (!PG_ARGISNULL(1))
	{
		expected = PG_GETARG_TEXT_PP(1);
		require_prefix(VARDATA_ANY(expected), VARSIZE_ANY_EXHDR(expected), true);
	}

	reading = read_prefixed_id(fcinfo, &prefix_length);
	id = read_uuid(&reading, prefix_length + 1, radix_36);

	if (expected != NULL &&
		((int) VARSIZE_ANY_EXHDR(expected) != prefix_length ||
		 memcmp(VARDATA_ANY(expected), reading.bytes, prefix_length) != 0))
		ereport(ERROR,
				(errcode(ERRCODE_CHECK_VIOLATION),
				 errmsg("prefixed id has the prefix \"%s\", not \"%s\"",
						pnstrdup(reading.bytes, prefix_length),
						pnstrdup(VARDATA_ANY(expected), VARSIZE_ANY_EXHDR(expected))),
				 errdetail("The prefixed id is \"%s\".",
						   pnstrdup(reading.bytes, reading.length))));
	return id;
}

/*
 * is_prefixed_id(id text, prefix text) returns boolean
 *
 * Whether the text is what prefixed_id() writes for this prefix and some uuid.
 * No other text is accepted, so that each uuid has one.
 */
PG_FUNCTION_INFO_V1(idgen_is_prefixed_id);
Datum
idgen_is_prefixed_id(PG_FUNCTION_ARGS)
{
	Size		length = toast_raw_datum_size(PG_GETARG_DATUM(0)) - VARHDRSZ;
	text	   *prefix = PG_GETARG_TEXT_PP(1);
	int			prefix_length = VARSIZE_ANY_EXHDR(prefix);
	int			width = radix_width(radix_36);
	char		canonical[RADIX_MAX_WIDTH];
	text	   *id;
	const char *digits;
	char	   *problem;
	uint64		high;
	uint64		low;

	require_prefix(VARDATA_ANY(prefix), prefix_length, true);
	if (length != (Size) prefix_length + 1 + width)
		PG_RETURN_BOOL(false);

	id = PG_GETARG_TEXT_PP(0);
	digits = VARDATA_ANY(id) + prefix_length + 1;
	if (memcmp(VARDATA_ANY(id), VARDATA_ANY(prefix), prefix_length) != 0 ||
		digits[-1] != SEPARATOR ||
		!radix_decode(radix_36, digits, width, prefix_length + 2, &high, &low, &problem))
		PG_RETURN_BOOL(false);

	radix_encode(radix_36, high, low, canonical);
	PG_RETURN_BOOL(memcmp(digits, canonical, width) == 0);
}

/*
 * prefixed_id_prefix(id text) returns text
 */
PG_FUNCTION_INFO_V1(idgen_prefixed_id_prefix);
Datum
idgen_prefixed_id_prefix(PG_FUNCTION_ARGS)
{
	int			prefix_length;
	Reading		reading = read_prefixed_id(fcinfo, &prefix_length);

	(void) read_uuid(&reading, prefix_length + 1, radix_36);
	PG_RETURN_TEXT_P(cstring_to_text_with_len(reading.bytes, prefix_length));
}

/* Run a statement of create_id_domain(), under the caller's rights. */
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
 * Raise 23505 for a prefix in use.  The domain that has it is named where this
 * transaction can see it; as execute() runs each statement with a snapshot of
 * its own, READ COMMITTED sees also that of a session that has just committed.
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
			 isnull ? 0 : errdetail("It belongs to the domain %s.",
									format_type_be(DatumGetObjectId(domain))),
			 err_generic_string(PG_DIAG_SCHEMA_NAME, "idgen"),
			 err_generic_string(PG_DIAG_TABLE_NAME, "id_prefixes"),
			 err_generic_string(PG_DIAG_CONSTRAINT_NAME, "id_prefixes_pkey")));
}

/*
 * create_id_domain(domain_name text, prefix text) returns regtype
 *
 * A domain over text that accepts prefixed ids of one prefix, and that
 * prefix's row in idgen.id_prefixes.  A row whose domain was dropped is
 * removed here, where its prefix may be wanted again.
 */
PG_FUNCTION_INFO_V1(idgen_create_id_domain);
Datum
idgen_create_id_domain(PG_FUNCTION_ARGS)
{
	text	   *name = PG_GETARG_TEXT_PP(0);
	char	   *prefix = text_to_cstring(PG_GETARG_TEXT_PP(1));
	RangeVar   *domain;
	Oid			schema_oid;
	Oid			domain_oid;
	Oid			argtypes[2] = {TEXTOID, REGTYPEOID};
	Datum		values[2];

	require_prefix(prefix, strlen(prefix), true);

	/* the name as SQL would read it, the schema where CREATE would put it */
	domain = makeRangeVarFromNameList(textToQualifiedNameList(name));
	schema_oid = RangeVarGetCreationNamespace(domain);

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");

	execute(psprintf("CREATE DOMAIN %s AS pg_catalog.text COLLATE pg_catalog.\"C\""
					 " CONSTRAINT " ID_DOMAIN_CONSTRAINT
					 " CHECK (idgen.is_prefixed_id(VALUE, %s))",
					 quote_qualified_identifier(get_namespace_name(schema_oid),
												domain->relname),
					 quote_literal_cstr(prefix)),
			0, NULL, NULL);
	domain_oid = GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid,
								 CStringGetDatum(domain->relname),
								 ObjectIdGetDatum(schema_oid));

	values[0] = CStringGetTextDatum(prefix);
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
		refuse_prefix(prefix, argtypes, values);

	SPI_finish();
	PG_RETURN_OID(domain_oid);
}

/* ----------
 * TypeID, version 0.3 of its specification
 * ----------
 */

/*
 * typeid_from_uuid(prefix text, id uuid) returns text
 */
PG_FUNCTION_INFO_V1(idgen_typeid_from_uuid);
Datum
idgen_typeid_from_uuid(PG_FUNCTION_ARGS)
{
	text	   *prefix = PG_GETARG_TEXT_PP(0);
	int			length = VARSIZE_ANY_EXHDR(prefix);

	if (length > 0)
		require_prefix(VARDATA_ANY(prefix), length, false);
	return make_text(VARDATA_ANY(prefix), length, PG_GETARG_UUID_P(1), radix_typeid);
}

/* Read a TypeID: its prefix's length, 0 where it has none, and its uuid. */
static Reading
read_typeid(FunctionCallInfo fcinfo, int *prefix_length, Datum *id)
{
	Reading		reading = read_prefixed_argument(fcinfo, "TypeID", radix_typeid);
	int			separator = find_prefix(&reading);
	const char *problem;

	*prefix_length = Max(separator, 0);
	if (separator >= 0)
	{
		problem = prefix_problem(reading.bytes, separator, false);
		if (problem != NULL)
			refuse_text(&reading, problem);
	}
	*id = read_full_uuid(&reading, separator + 1, radix_typeid);
	return reading;
}

/*
 * typeid_to_uuid(id text) returns uuid
 */
PG_FUNCTION_INFO_V1(idgen_typeid_to_uuid);
Datum
idgen_typeid_to_uuid(PG_FUNCTION_ARGS)
{
	int			prefix_length;
	Datum		id;

	(void) read_typeid(fcinfo, &prefix_length, &id);
	PG_RETURN_DATUM(id);
}

/*
 * typeid_prefix(id text) returns text
 */
PG_FUNCTION_INFO_V1(idgen_typeid_prefix);
Datum
idgen_typeid_prefix(PG_FUNCTION_ARGS)
{
	int			prefix_length;
	Datum		id;
	Reading		reading = read_typeid(fcinfo, &prefix_length, &id);

	PG_RETURN_TEXT_P(cstring_to_text_with_len(reading.bytes, prefix_length));
}

/* ----------
 * ULID
 * ----------
 */

#define ULID_RANDOM_HIGH_BITS	16	/* of the 80, beside the 48 of time */

/*
 * ulid() returns text
 *
 * 48 bits of Unix milliseconds and 80 random bits.  Within a millisecond of
 * this backend, and where the clock steps back, one more than the last: the
 * specification's monotonic mode.  Its overflow, which needs 80 random bits
 * that are all but ones, goes on in the next millisecond.
 */
PG_FUNCTION_INFO_V1(idgen_ulid);
Datum
idgen_ulid(PG_FUNCTION_ARGS)
{
	static uint64 high = 0;
	static uint64 low = 0;
	uint64		now = clock_wall_submillis() >> SUBMS_BITS;
	pg_uuid_t	id;

	(void) fcinfo;
	if (now > high >> ULID_RANDOM_HIGH_BITS)
	{
		uint64		random = entropy_uint64();

		low = entropy_uint64();
		high = now << ULID_RANDOM_HIGH_BITS | random >> (64 - ULID_RANDOM_HIGH_BITS);
	}
	else if (++low == 0)
		high++;

	uuid_set_half(&id, 0, high);
	uuid_set_half(&id, 1, low);
	return make_text(NULL, 0, &id, radix_crockford);
}

static Datum
read_ulid(FunctionCallInfo fcinfo)
{
	Reading		reading = read_argument(fcinfo, "ULID", radix_width(radix_crockford));

	return read_full_uuid(&reading, 0, radix_crockford);
}

/*
 * ulid_to_uuid(id text) returns uuid: the ULID's 16 bytes
 */
PG_FUNCTION_INFO_V1(idgen_ulid_to_uuid);
Datum
idgen_ulid_to_uuid(PG_FUNCTION_ARGS)
{
	return read_ulid(fcinfo);
}

/*
 * ulid_from_uuid(id uuid) returns text
 */
PG_FUNCTION_INFO_V1(idgen_ulid_from_uuid);
Datum
idgen_ulid_from_uuid(PG_FUNCTION_ARGS)
{
	return make_text(NULL, 0, PG_GETARG_UUID_P(0), radix_crockford);
}

/*
 * ulid_timestamp(id text) returns timestamptz
 */
PG_FUNCTION_INFO_V1(idgen_ulid_timestamp);
Datum
idgen_ulid_timestamp(PG_FUNCTION_ARGS)
{
	pg_uuid_t  *id = DatumGetUUIDP(read_ulid(fcinfo));
	TimestampTz instant = 0;

	/* 48 bits of milliseconds always fit timestamptz */
	(void) clock_from_unix_ms(uuid_first_48_bits(id), &instant);
	PG_RETURN_TIMESTAMPTZ(instant);
}

/* The ULID of an instant's millisecond whose other bits are all 0 or all 1. */
static Datum
ulid_bound(TimestampTz instant, uint64 other_bits)
{
	pg_uuid_t	id;

	uuid_set_half(&id, 0,
				  (uint64) clock_unix_ms48(instant) << ULID_RANDOM_HIGH_BITS |
				  other_bits >> (64 - ULID_RANDOM_HIGH_BITS));
	uuid_set_half(&id, 1, other_bits);
	return make_text(NULL, 0, &id, radix_crockford);
}

/*
 * ulid_floor(instant timestamptz) returns text
 *
 * The smallest ULID of the instant's millisecond.
 */
PG_FUNCTION_INFO_V1(idgen_ulid_floor);
Datum
idgen_ulid_floor(PG_FUNCTION_ARGS)
{
	return ulid_bound(PG_GETARG_TIMESTAMPTZ(0), 0);
}

/*
 * ulid_ceil(instant timestamptz) returns text
 *
 * The greatest ULID of the instant's millisecond.
 */
PG_FUNCTION_INFO_V1(idgen_ulid_ceil);
Datum
idgen_ulid_ceil(PG_FUNCTION_ARGS)
{
	return ulid_bound(PG_GETARG_TIMESTAMPTZ(0), PG_UINT64_MAX);
}
