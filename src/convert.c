/*
 * convert.c
 *	  Conversions between layouts of UUIDs.
 *
 * No bit is lost: the two conversions of a pair are exact inverses.  A
 * conversion from one version rejects UUIDs of other versions, because the
 * result would contain a wrong time.
 */
#include "postgres.h"

#include "arguments.h"

/* Return argument 0 with a different version, and with the bits of its timestamp reordered. */
static Datum
convert(FunctionCallInfo fcinfo, int from_version, int to_version,
		uint64 (*reorder) (uint64))
{
	const pg_uuid_t *id = require_uuid_version(fcinfo, 0, from_version);

	return uuid_datum(to_version, reorder(uuid_high(id)), uuid_low(id));
}

/* uuid_v1_to_v6(id uuid), uuid_v6_to_v1(id uuid) return uuid (RFC 9562 section 5.6) */
PG_FUNCTION_INFO_V1(idgen_uuid_v1_to_v6);
Datum
idgen_uuid_v1_to_v6(PG_FUNCTION_ARGS)
{
	return convert(fcinfo, 1, 6, uuid_v1_ticks);
}

PG_FUNCTION_INFO_V1(idgen_uuid_v6_to_v1);
Datum
idgen_uuid_v6_to_v1(PG_FUNCTION_ARGS)
{
	return convert(fcinfo, 6, 1, uuid_v1_high);
}

/* uuid_v1_to_lambert_comb(id uuid), lambert_comb_to_uuid_v1(id uuid) return uuid */
PG_FUNCTION_INFO_V1(idgen_uuid_v1_to_lambert_comb);
Datum
idgen_uuid_v1_to_lambert_comb(PG_FUNCTION_ARGS)
{
	return convert(fcinfo, 1, UUID_VERSION_LAMBERT, uuid_v1_ticks);
}

PG_FUNCTION_INFO_V1(idgen_lambert_comb_to_uuid_v1);
Datum
idgen_lambert_comb_to_uuid_v1(PG_FUNCTION_ARGS)
{
	return convert(fcinfo, UUID_VERSION_LAMBERT, 1, uuid_v1_high);
}

/* Return argument 0 with its bytes in the given order. */
static Datum
reorder_bytes(FunctionCallInfo fcinfo, const uint8 *order)
{
	const pg_uuid_t *id = PG_GETARG_UUID_P(0);
	pg_uuid_t  *result = palloc(sizeof(pg_uuid_t));

	for (int i = 0; i < UUID_LEN; i++)
		result->data[i] = id->data[order[i]];
	PG_RETURN_UUID_P(result);
}

/* each of these orders is its own inverse */
static const uint8 guid_order[UUID_LEN] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
static const uint8 suffix_order[UUID_LEN] = {10, 11, 12, 13, 14, 15, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5};
static const uint8 short_order[UUID_LEN] = {10, 11, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 12, 13, 14, 15};

/*
 * swap_guid_bytes(id uuid) returns uuid
 *	Reverses the bytes within each of the first three fields (4, 2 and 2
 *	bytes), which SQL Server stores in little-endian order.
 */
PG_FUNCTION_INFO_V1(idgen_swap_guid_bytes);
Datum
idgen_swap_guid_bytes(PG_FUNCTION_ARGS)
{
	return reorder_bytes(fcinfo, guid_order);
}

/* comb_to_suffix_comb(id uuid), suffix_comb_to_comb(id uuid) return uuid */
PG_FUNCTION_INFO_V1(idgen_comb_to_suffix_comb);
Datum
idgen_comb_to_suffix_comb(PG_FUNCTION_ARGS)
{
	return reorder_bytes(fcinfo, suffix_order);
}

/* short_comb_to_short_suffix_comb(id uuid), short_suffix_comb_to_short_comb(id uuid) return uuid */
PG_FUNCTION_INFO_V1(idgen_short_comb_to_short_suffix_comb);
Datum
idgen_short_comb_to_short_suffix_comb(PG_FUNCTION_ARGS)
{
	return reorder_bytes(fcinfo, short_order);
}
