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
#include "miscadmin.h"
#include "port/pg_bswap.h"
#include "utils/numeric.h"

#include "request_hash.h"

/* Add one token of a jsonb value: its kind, its length and its bytes. */
static void
hash_token(pg_cryptohash_ctx *hash, uint8 kind, const char *bytes, uint32 length)
{
	uint32		length_be = pg_hton32(length);

	if (pg_cryptohash_update(hash, &kind, sizeof(kind)) < 0 ||
		pg_cryptohash_update(hash, (uint8 *) &length_be, sizeof(length_be)) < 0 ||
		pg_cryptohash_update(hash, (const uint8 *) bytes, length) < 0)
		elog(ERROR, "could not compute SHA-256 of the request: %s",
			 pg_cryptohash_error(hash));
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
			/* equal numbers have the same text, whatever their scale */
			number = numeric_normalize(scalar->val.numeric);
			hash_token(hash, '#', number, strlen(number));
			pfree(number);
			break;
		default:
			elog(ERROR, "unexpected jsonb scalar type %d", (int) scalar->type);
	}
}

/*
 * The first 64 bits of the SHA-256 of the tokens of a jsonb value.
 */
int64
request_hash(Jsonb *request)
{
	JsonbIterator *iterator = JsonbIteratorInit(&request->root);
	JsonbIteratorToken token;
	JsonbValue	value;
	uint8		digest[PG_SHA256_DIGEST_LENGTH];
	uint64		first_half;
	pg_cryptohash_ctx *hash = pg_cryptohash_create(PG_SHA256);

	if (hash == NULL || pg_cryptohash_init(hash) < 0)
		elog(ERROR, "could not compute SHA-256 of the request: %s",
			 pg_cryptohash_error(hash));

	while ((token = JsonbIteratorNext(&iterator, &value, false)) != WJB_DONE)
	{
		/* a value can have millions of tokens */
		CHECK_FOR_INTERRUPTS();

		switch (token)
		{
			case WJB_BEGIN_ARRAY:
				/* a scalar is stored as an array of one element */
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
		elog(ERROR, "could not compute SHA-256 of the request: %s",
			 pg_cryptohash_error(hash));
	pg_cryptohash_free(hash);

	memcpy(&first_half, digest, sizeof(first_half));
	return (int64) pg_ntoh64(first_half);
}
