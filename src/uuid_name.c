/*
 * uuid_name.c
 *	  Version 5 UUIDs, which are computed from a namespace and a name.
 */
#include "postgres.h"

#include "common/cryptohash.h"
#include "common/sha1.h"

#include "arguments.h"

/* uuid_v5(namespace uuid, name text) returns uuid (RFC 9562 section 5.5) */
PG_FUNCTION_INFO_V1(idgen_uuid_v5);
Datum
idgen_uuid_v5(PG_FUNCTION_ARGS)
{
	pg_uuid_t  *namespace = PG_GETARG_UUID_P(0);
	text	   *name = PG_GETARG_TEXT_PP(1);
	int			length = VARSIZE_ANY_EXHDR(name);
	char	   *utf8_name = utf8_text(VARDATA_ANY(name), &length);
	uint8		digest[SHA1_DIGEST_LENGTH];
	pg_cryptohash_ctx *hash = pg_cryptohash_create(PG_SHA1);
	pg_uuid_t  *id = palloc(sizeof(pg_uuid_t));

	if (hash == NULL ||
		pg_cryptohash_init(hash) < 0 ||
		pg_cryptohash_update(hash, namespace->data, UUID_LEN) < 0 ||
		pg_cryptohash_update(hash, (const uint8 *) utf8_name, length) < 0 ||
		pg_cryptohash_final(hash, digest, sizeof(digest)) < 0)
		elog(ERROR, "could not compute SHA-1 of the name: %s",
			 pg_cryptohash_error(hash));
	pg_cryptohash_free(hash);

	memcpy(id->data, digest, UUID_LEN);
	uuid_pack(id, 5, uuid_high(id), uuid_low(id));
	PG_RETURN_UUID_P(id);
}
