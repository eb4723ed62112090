/*-------------------------------------------------------------------------
 *
 * uuid_random.c
 *	  UUID version 4: all random.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"

#include "entropy.h"
#include "uuid_bits.h"

/*
 * uuid_v4() returns uuid
 *
 * 122 random bits, RFC 9562 section 5.4.
 */
PG_FUNCTION_INFO_V1(idgen_uuid_v4);
Datum
idgen_uuid_v4(PG_FUNCTION_ARGS)
{
	pg_uuid_t  *id = palloc(sizeof(pg_uuid_t));

	(void) fcinfo;
	uuid_pack(id, 4,
			  entropy_uint64() >> (64 - UUID_HIGH_BITS),
			  entropy_uint64() >> (64 - UUID_LOW_BITS));
	PG_RETURN_UUID_P(id);
}
