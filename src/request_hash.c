/*
 * request_hash.c
 *	  A hash of a request, which is a jsonb value.
 *
 * Values that are equal as jsonb have the same hash on every server version
 * and machine, and in every server encoding.  This is required because
 * create_once() stores the hash in a table that can be dumped, restored and
 * replicated.  docs/reference.md defines the hash.
 */
#include "postgres.h"

#include "common/cryptohash.h"
#include "common/sha2.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "mb/pg_wchar.h"
#include "port/pg_bswap.h"
#include "utils/fmgrprotos.h"
#include "utils/json.h"
#include "utils/numeric.h"

#include "arguments.h"
#include "request_hash.h"

#if PG_VERSION_NUM >= 190000
#define push_jsonb_value	pushJsonbValue
#else
typedef struct JsonbInState
{
	JsonbValue *result;
	JsonbParseState *levels;
} JsonbInState;

static inline void
push_jsonb_value(JsonbInState *state, JsonbIteratorToken token, JsonbValue *value)
{
	state->result = pushJsonbValue(&state->levels, token, value);
}
#endif

#define HASHED_AT_ONCE 8192		/* bytes */

/*
 * Maximum number of digits on each side of a number's decimal point.  A few
 * bytes of JSON can denote a number with more than 100,000 digits.
 */
#define MAX_DIGITS		1000

/* Add the contents of the buffer to the hash, and empty the buffer. */
static void
hash_text(pg_cryptohash_ctx *hash, StringInfo text)
{
	if (pg_cryptohash_update(hash, (uint8 *) text->data, text->len) < 0)
		elog(ERROR, "could not compute SHA-256 of the request: %s",
			 pg_cryptohash_error(hash));
	resetStringInfo(text);
}

/*
 * Copy a request, converting all strings to UTF-8.  The copy is built from its
 * parts, because jsonb sorts keys by length and bytes, and their order can be
 * different in UTF-8.
 */
static Jsonb *
request_in_utf8(Jsonb *request)
{
	JsonbIterator *iterator = JsonbIteratorInit(&request->root);
	JsonbValue	value;
	JsonbIteratorToken token = JsonbIteratorNext(&iterator, &value, false);
	JsonbInState converted = {0};

	do
	{
		bool		has_value = token == WJB_KEY || token == WJB_VALUE || token == WJB_ELEM;

		CHECK_FOR_INTERRUPTS();
		if (has_value && value.type == jbvString)
			value.val.string.val = utf8_text(value.val.string.val, &value.val.string.len);
		push_jsonb_value(&converted, token, has_value ? &value : NULL);
		token = JsonbIteratorNext(&iterator, &value, false);
	} while (token != WJB_DONE);

	/* a scalar is stored as a one-element array */
	if (JB_ROOT_IS_SCALAR(request))
		converted.result->val.array.rawScalar = true;
	return JsonbValueToJsonb(converted.result);
}

/* Append a number without an exponent and without trailing zeros after the decimal point. */
static void
append_number(StringInfo text, Numeric number)
{
	Datum		trimmed = DirectFunctionCall1(numeric_trim_scale, NumericGetDatum(number));
	char	   *digits = DatumGetCString(DirectFunctionCall1(numeric_out, trimmed));
	const char *whole = digits + (digits[0] == '-');
	size_t		before_point = strcspn(whole, ".");
	size_t		from_point = strlen(whole + before_point);

	if (before_point > MAX_DIGITS || from_point > 1 + MAX_DIGITS)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("request contains a number of more than %d digits", MAX_DIGITS),
				 errdetail("At most %d digits before and %d digits after the decimal point are allowed.",
						   MAX_DIGITS, MAX_DIGITS)));
	appendStringInfoString(text, digits);

	/* a request can contain millions of numbers */
	pfree(digits);
	pfree(DatumGetPointer(trimmed));
}

static void
append_scalar(StringInfo text, const JsonbValue *scalar)
{
	char	   *string;

	switch (scalar->type)
	{
		case jbvNull:
			appendStringInfoString(text, "null");
			break;
		case jbvBool:
			appendStringInfoString(text, scalar->val.boolean ? "true" : "false");
			break;
		case jbvString:
			string = pnstrdup(scalar->val.string.val, scalar->val.string.len);
			escape_json(text, string);
			pfree(string);
			break;
		case jbvNumeric:
			append_number(text, scalar->val.numeric);
			break;
		default:
			elog(ERROR, "unexpected jsonb scalar type %d", (int) scalar->type);
	}
}

/* Add the text of a request to the hash. */
static void
hash_request(pg_cryptohash_ctx *hash, Jsonb *request)
{
	JsonbIterator *iterator = JsonbIteratorInit(&request->root);
	JsonbIteratorToken token;
	JsonbValue	value;
	bool		is_scalar = JB_ROOT_IS_SCALAR(request);
	const char *separator = "";
	StringInfoData text;

	initStringInfo(&text);
	while ((token = JsonbIteratorNext(&iterator, &value, false)) != WJB_DONE)
	{
		/* a request can contain millions of tokens */
		CHECK_FOR_INTERRUPTS();

		if (token != WJB_END_ARRAY && token != WJB_END_OBJECT)
			appendStringInfoString(&text, separator);
		separator = ", ";

		switch (token)
		{
			case WJB_BEGIN_ARRAY:
				/* a scalar is stored as a one-element array */
				if (!is_scalar)
					appendStringInfoChar(&text, '[');
				separator = "";
				break;
			case WJB_BEGIN_OBJECT:
				appendStringInfoChar(&text, '{');
				separator = "";
				break;
			case WJB_END_ARRAY:
				if (!is_scalar)
					appendStringInfoChar(&text, ']');
				break;
			case WJB_END_OBJECT:
				appendStringInfoChar(&text, '}');
				break;
			case WJB_KEY:
				append_scalar(&text, &value);
				separator = ": ";
				break;
			case WJB_VALUE:
			case WJB_ELEM:
				append_scalar(&text, &value);
				break;
			default:
				elog(ERROR, "unexpected jsonb iterator token %d", (int) token);
		}
		if (text.len >= HASHED_AT_ONCE)
			hash_text(hash, &text);
	}
	hash_text(hash, &text);
	pfree(text.data);
}

/* Return the first 64 bits of the SHA-256 of a request's canonical text in UTF-8. */
int64
request_hash(Jsonb *request)
{
	pg_cryptohash_ctx *hash = pg_cryptohash_create(PG_SHA256);
	uint8		digest[PG_SHA256_DIGEST_LENGTH];
	uint64		first_half;

	if (hash == NULL || pg_cryptohash_init(hash) < 0)
		elog(ERROR, "could not compute SHA-256 of the request: %s",
			 pg_cryptohash_error(hash));

	if (GetDatabaseEncoding() != PG_UTF8)
		request = request_in_utf8(request);
	hash_request(hash, request);

	if (pg_cryptohash_final(hash, digest, sizeof(digest)) < 0)
		elog(ERROR, "could not compute SHA-256 of the request: %s",
			 pg_cryptohash_error(hash));
	pg_cryptohash_free(hash);

	memcpy(&first_half, digest, sizeof(first_half));
	return (int64) pg_ntoh64(first_half);
}
