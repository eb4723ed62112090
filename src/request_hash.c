/*-------------------------------------------------------------------------
 *
 * request_hash.c
 *	  A hash of a request, which is a jsonb value.
 *
 * Values that are equal as jsonb have the same hash, on every server version
 * and on every machine: create_once() stores it in a table that can be dumped,
 * restored and replicated.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/cryptohash.h"
#include "common/sha2.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "port/pg_bswap.h"
#include "utils/json.h"
#include "utils/numeric.h"

#include "request_hash.h"

#define HASHED_AT_ONCE 8192		/* bytes */

/* Add some of the text to the hash, and empty the buffer. */
static void
hash_text(pg_cryptohash_ctx *hash, StringInfo text)
{
	if (pg_cryptohash_update(hash, (uint8 *) text->data, text->len) < 0)
		elog(ERROR, "could not compute SHA-256 of the request: %s",
			 pg_cryptohash_error(hash));
	resetStringInfo(text);
}

static void
append_scalar(StringInfo text, const JsonbValue *scalar)
{
	char	   *value;

	switch (scalar->type)
	{
		case jbvNull:
			appendStringInfoString(text, "null");
			break;
		case jbvBool:
			appendStringInfoString(text, scalar->val.boolean ? "true" : "false");
			break;
		case jbvString:
			value = pnstrdup(scalar->val.string.val, scalar->val.string.len);
			escape_json(text, value);
			pfree(value);
			break;
		case jbvNumeric:
			/* equal numbers have the same text, whatever their scale */
			value = numeric_normalize(scalar->val.numeric);
			appendStringInfoString(text, value);
			pfree(value);
			break;
		default:
			elog(ERROR, "unexpected jsonb scalar type %d", (int) scalar->type);
	}
}

/*
 * The first 64 bits of the SHA-256 of the text of a jsonb value, as the server
 * prints it, but without zeros at the end of a fraction.
 */
int64
request_hash(Jsonb *request)
{
	JsonbIterator *iterator = JsonbIteratorInit(&request->root);
	JsonbIteratorToken token;
	JsonbValue	value;
	bool		is_scalar = JB_ROOT_IS_SCALAR(request);
	const char *separator = "";
	uint8		digest[PG_SHA256_DIGEST_LENGTH];
	uint64		first_half;
	StringInfoData text;
	pg_cryptohash_ctx *hash = pg_cryptohash_create(PG_SHA256);

	if (hash == NULL || pg_cryptohash_init(hash) < 0)
		elog(ERROR, "could not compute SHA-256 of the request: %s",
			 pg_cryptohash_error(hash));

	initStringInfo(&text);
	while ((token = JsonbIteratorNext(&iterator, &value, false)) != WJB_DONE)
	{
		/* a value can have millions of tokens */
		CHECK_FOR_INTERRUPTS();

		if (token != WJB_END_ARRAY && token != WJB_END_OBJECT)
			appendStringInfoString(&text, separator);
		separator = ", ";

		switch (token)
		{
			case WJB_BEGIN_ARRAY:
				/* a scalar is stored as an array of one element */
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

	if (pg_cryptohash_final(hash, digest, sizeof(digest)) < 0)
		elog(ERROR, "could not compute SHA-256 of the request: %s",
			 pg_cryptohash_error(hash));
	pg_cryptohash_free(hash);
	pfree(text.data);

	memcpy(&first_half, digest, sizeof(first_half));
	return (int64) pg_ntoh64(first_half);
}
