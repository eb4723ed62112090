/*-------------------------------------------------------------------------
 *
 * text_ids.c
 *	  Identifiers as text: in a base, with a prefix, as TypeID and as ULID.
 *
 * Reading is strict.  What is not exactly such an identifier is an error
 * (22P02) that says at which position.
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

/* prefix, separator and the longest body */
#define MAX_PREFIXED_LENGTH	(MAX_PREFIX_LENGTH + 1 + RADIX_MAX_WIDTH)

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
 * Begin to read an argument.  One that is longer than any such identifier is
 * refused without looking at it.
 */
static Reading
read_argument(FunctionCallInfo fcinfo, int argno, const char *noun, int longest)
{
	Size		length = toast_raw_datum_size(PG_GETARG_DATUM(argno)) - VARHDRSZ;
	text	   *value;

	if (length > (Size) longest)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid %s", noun),
				 errdetail("It is %zu bytes long; position %d is beyond the longest one.",
						   length, longest + 1)));

	value = PG_GETARG_TEXT_PP(argno);
	return (Reading) {VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value), noun};
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
	int			digits = reading->length - offset;

	if (digits < radix_width(radix))
		refuse_text(reading,
					psprintf("The number of digits from position %d on is %d, not %d.",
							 offset + 1, digits, radix_width(radix)));
	return read_uuid(reading, offset, radix);
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
	Reading		reading = read_argument(fcinfo, 0, "uuid digits", radix_width(radix));

	return read_uuid(&reading, 0, radix);
}

/*
 * bigint_from_base(digits text, base int) returns bigint
 */
PG_FUNCTION_INFO_V1(idgen_bigint_from_base);
Datum
idgen_bigint_from_base(PG_FUNCTION_ARGS)
{
	const Radix *radix = radix_of_base(PG_GETARG_INT32(1));
	Reading		reading = read_argument(fcinfo, 0, "bigint digits", radix_width(radix));
	uint64		high;
	uint64		low;

	read_digits(&reading, 0, radix, &high, &low);
	if (high != 0 || low > PG_INT64_MAX)
		refuse_text(&reading, "The digits from position 1 on are more than a bigint holds.");
	PG_RETURN_INT64((int64) low);
}

/* ----------
 * Prefixes
 * ----------
 */

/*
 * What is wrong with a prefix, or NULL.  It is 1 to 63 lower-case letters,
 * underscores and, but for TypeID, digits; it begins with a letter and does
 * not end in an underscore.
 */
static const char *
prefix_problem(const char *prefix, int length, bool digits_allowed)
{
	if (length == 0)
		return "There is no prefix at position 1.";
	if (length > MAX_PREFIX_LENGTH)
		return psprintf("The prefix has %d characters; position %d is beyond the longest one.",
						length, MAX_PREFIX_LENGTH + 1);
	if (prefix[0] < 'a' || prefix[0] > 'z')
		return "A prefix begins with a lower-case letter, not with the character at position 1.";

	for (int i = 1; i < length; i++)
	{
		if (!((prefix[i] >= 'a' && prefix[i] <= 'z') || prefix[i] == SEPARATOR ||
			  (digits_allowed && prefix[i] >= '0' && prefix[i] <= '9')))
			return psprintf("A prefix has no character like the one at position %d.", i + 1);
	}

	if (prefix[length - 1] == SEPARATOR)
		return psprintf("A prefix does not end in an underscore, as at position %d.", length);
	return NULL;
}

/* As much of a text of any length as a message should show. */
static char *
clipped(const char *bytes, int length)
{
	return pnstrdup(bytes, pg_mbcliplen(bytes, length, MAX_PREFIXED_LENGTH));
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
	Reading		reading = read_argument(fcinfo, 0, "prefixed id", MAX_PREFIXED_LENGTH);
	const char *problem;

	*prefix_length = find_prefix(&reading);
	if (*prefix_length < 0)
		refuse_text(&reading, psprintf("There is no underscore up to position %d.",
									   reading.length));
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
 * error (23514).
 */
PG_FUNCTION_INFO_V1(idgen_prefixed_id_to_uuid);
Datum
idgen_prefixed_id_to_uuid(PG_FUNCTION_ARGS)
{
	Reading		reading;
	int			prefix_length;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();

	reading = read_prefixed_id(fcinfo, &prefix_length);
	if (!PG_ARGISNULL(1))
	{
		text	   *expected = PG_GETARG_TEXT_PP(1);

		if ((int) VARSIZE_ANY_EXHDR(expected) != prefix_length ||
			memcmp(VARDATA_ANY(expected), reading.bytes, prefix_length) != 0)
			ereport(ERROR,
					(errcode(ERRCODE_CHECK_VIOLATION),
					 errmsg("prefixed id has the prefix \"%s\", not \"%s\"",
							pnstrdup(reading.bytes, prefix_length),
							clipped(VARDATA_ANY(expected), VARSIZE_ANY_EXHDR(expected))),
					 errdetail("The prefixed id is \"%s\".",
							   pnstrdup(reading.bytes, reading.length))));
	}
	return read_uuid(&reading, prefix_length + 1, radix_36);
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
 * create_id_domain(domain_name text, prefix text) returns regtype
 *
 * A domain over text that accepts prefixed ids of one prefix, and that
 * prefix's row in idgen.id_prefixes.  A row whose domain was dropped is
 * cleared away here, where its prefix may be wanted again.
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
					 " CHECK (VALUE IS NULL OR"
					 " idgen.prefixed_id_to_uuid(VALUE, %s) IS NOT NULL)",
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
	execute("INSERT INTO idgen.id_prefixes (prefix, domain) VALUES ($1, $2)",
			2, argtypes, values);

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
	Reading		reading = read_argument(fcinfo, 0, "TypeID", MAX_PREFIXED_LENGTH);
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
	Reading		reading = read_argument(fcinfo, 0, "ULID", radix_width(radix_crockford));

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
