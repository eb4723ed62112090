/*-------------------------------------------------------------------------
 *
 * convert.c
 *	  Conversions between layouts of UUIDs.
 *
 * No bit is lost: the conversions of a pair are exact inverses.  A conversion
 * for one version rejects all others, because the result would contain a wrong
 * time.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "arguments.h"

/* The identifier with another version and another order of its timestamp. */
static Datum
convert(FunctionCallInfo fcinfo, int from_version, int to_version,
		uint64 (*reorder) (uint64))
{
	const pg_uuid_t *id = require_uuid_version(fcinfo, 0, from_version);

	return uuid_datum(to_version, reorder(uuid_high(id)), uuid_low(id));
}

/* uuid_v1_to_v6(id uuid), uuid_v6_to_v1(id uuid) return uuid: RFC 9562 section 5.6 */
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

/*
 * uuid_v1_to_lambert_comb(id uuid), lambert_comb_to_uuid_v1(id uuid)
 *	return uuid
 */
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

static void
swap_bytes(pg_uuid_t *id, int one, int other, int count)
{
	for (int i = 0; i < count; i++)
	{
		unsigned char byte = id->data[one + i];

		id->data[one + i] = id->data[other + i];
		id->data[other + i] = byte;
	}
}

static pg_uuid_t *
copy_argument(FunctionCallInfo fcinfo)
{
	pg_uuid_t  *copy = palloc(sizeof(pg_uuid_t));

	*copy = *PG_GETARG_UUID_P(0);
	return copy;
}

/*
 * swap_guid_bytes(id uuid) returns uuid
 *	Reverses the bytes of the first three fields (4, 2 and 2 bytes), which SQL
 *	Server stores in little-endian order.  The function is its own inverse.
 */
PG_FUNCTION_INFO_V1(idgen_swap_guid_bytes);
Datum
idgen_swap_guid_bytes(PG_FUNCTION_ARGS)
{
	pg_uuid_t  *id = copy_argument(fcinfo);

	swap_bytes(id, 0, 3, 1);
	swap_bytes(id, 1, 2, 1);
	swap_bytes(id, 4, 5, 1);
	swap_bytes(id, 6, 7, 1);
	PG_RETURN_UUID_P(id);
}

/*
 * prefix_to_suffix(id uuid), suffix_to_prefix(id uuid) return uuid
 *	Exchanges bytes 0 to 5 with bytes 10 to 15: converts a COMB between
 *	PostgreSQL's order and SQL Server's.  The exchange is its own inverse; the two
 *	names document the direction.
 */
PG_FUNCTION_INFO_V1(idgen_prefix_to_suffix);
Datum
idgen_prefix_to_suffix(PG_FUNCTION_ARGS)
{
	pg_uuid_t  *id = copy_argument(fcinfo);

	swap_bytes(id, 0, 10, 6);
	PG_RETURN_UUID_P(id);
}

/*
 * short_prefix_to_suffix(id uuid), short_suffix_to_prefix(id uuid) return uuid
 *	The same for a short COMB: exchanges bytes 0 and 1 with bytes 10 and 11.
 */
PG_FUNCTION_INFO_V1(idgen_short_prefix_to_suffix);
Datum
idgen_short_prefix_to_suffix(PG_FUNCTION_ARGS)
{
	pg_uuid_t  *id = copy_argument(fcinfo);

	swap_bytes(id, 0, 10, 2);
	PG_RETURN_UUID_P(id);
}
