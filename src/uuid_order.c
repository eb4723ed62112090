/*-------------------------------------------------------------------------
 *
 * uuid_order.c
 *	  The transition functions of the aggregates min(uuid) and max(uuid), which
 *	  PostgreSQL has from version 19 on.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "uuid_bits.h"

/* uuid_smaller(uuid, uuid) returns uuid */
PG_FUNCTION_INFO_V1(idgen_uuid_smaller);
Datum
idgen_uuid_smaller(PG_FUNCTION_ARGS)
{
	pg_uuid_t  *one = PG_GETARG_UUID_P(0);
	pg_uuid_t  *other = PG_GETARG_UUID_P(1);

	PG_RETURN_UUID_P(memcmp(one->data, other->data, UUID_LEN) < 0 ? one : other);
}

/* uuid_larger(uuid, uuid) returns uuid */
PG_FUNCTION_INFO_V1(idgen_uuid_larger);
Datum
idgen_uuid_larger(PG_FUNCTION_ARGS)
{
	pg_uuid_t  *one = PG_GETARG_UUID_P(0);
	pg_uuid_t  *other = PG_GETARG_UUID_P(1);

	PG_RETURN_UUID_P(memcmp(one->data, other->data, UUID_LEN) > 0 ? one : other);
}
