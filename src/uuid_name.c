/*
 * uuid_name.c
 *	  UUIDs that are computed from a namespace and a name: version 5, and
 *	  version 7 with a given time.
 */
#include "postgres.h"

#include "common/cryptohash.h"
#include "common/sha1.h"
#include "common/sha2.h"

#include "arguments.h"

/* Hash a namespace followed by a name in UTF-8, and return the first 128 bits of the hash. */
static pg_uuid_t
hash_name(pg_cryptohash_type type, const pg_uuid_t *namespace, text *name)
{
	int			length = VARSIZE_ANY_EXHDR(name);
	char	   *utf8_name = utf8_text(VARDATA_ANY(name), &length);
	uint8		digest[PG_SHA256_DIGEST_LENGTH];
	size_t		digest_length = type == PG_SHA1 ? SHA1_DIGEST_LENGTH : PG_SHA256_DIGEST_LENGTH;
	pg_cryptohash_ctx *hash = pg_cryptohash_create(type);
	pg_uuid_t	first;

	if (hash == NULL ||
		pg_cryptohash_init(hash) < 0 ||
		pg_cryptohash_update(hash, namespace->data, UUID_LEN) < 0 ||
		pg_cryptohash_update(hash, (const uint8 *) utf8_name, length) < 0 ||
		pg_cryptohash_final(hash, digest, digest_length) < 0)
		elog(ERROR, "could not compute %s of the name: %s",
			 type == PG_SHA1 ? "SHA-1" : "SHA-256", pg_cryptohash_error(hash));
	pg_cryptohash_free(hash);

	memcpy(first.data, digest, UUID_LEN);
	return first;
}

/* uuid_v5(namespace uuid, name text) returns uuid (RFC 9562 section 5.5) */
PG_FUNCTION_INFO_V1(idgen_uuid_v5);
Datum
idgen_uuid_v5(PG_FUNCTION_ARGS)
{
	pg_uuid_t	hash = hash_name(PG_SHA1, PG_GETARG_UUID_P(0), PG_GETARG_TEXT_PP(1));

	return uuid_datum(5, uuid_high(&hash), uuid_low(&hash));
}

/*
 * named_uuid_v7(instant timestamptz, namespace uuid, name text) returns uuid
 *	Returns a version 7 UUID.  The first 12 bits of the hash follow the
 *	version, and the first 62 bits of its second half follow the variant.
 */
PG_FUNCTION_INFO_V1(idgen_named_uuid_v7);
Datum
idgen_named_uuid_v7(PG_FUNCTION_ARGS)
{
	uint64		ms = clock_unix_ms48(PG_GETARG_TIMESTAMPTZ(0));
	pg_uuid_t	hash = hash_name(PG_SHA256, PG_GETARG_UUID_P(1), PG_GETARG_TEXT_PP(2));

	return uuid_datum(7, uuid_high_of_ms(ms, uuid_half(&hash, 0) >> (64 - UUID_CUSTOM_B_BITS)),
					  uuid_half(&hash, 1) >> (64 - UUID_LOW_BITS));
}
