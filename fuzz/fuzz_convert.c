/*
 * fuzz_convert.c
 *	  Conversions lose no bit: each has an inverse, keeps the time, and rejects
 *	  a uuid of another version.
 */
#include "server.h"

static const struct
{
	int			from;
	int			to;
	PGFunction	forth;
	PGFunction	back;
}			versions[] =
{
	{1, 6, idgen_uuid_v1_to_v6, idgen_uuid_v6_to_v1},
	{6, 1, idgen_uuid_v6_to_v1, idgen_uuid_v1_to_v6},
	{1, 13, idgen_uuid_v1_to_lambert_comb, idgen_lambert_comb_to_uuid_v1},
	{13, 1, idgen_lambert_comb_to_uuid_v1, idgen_uuid_v1_to_lambert_comb}
};

/* The byte of the argument that becomes each byte of the result; self-inverse. */
static const struct
{
	PGFunction	function;
	int			source[UUID_LEN];
}			exchanges[] =
{
	{idgen_swap_guid_bytes, {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15}},
	{idgen_prefix_to_suffix, {10, 11, 12, 13, 14, 15, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5}},
	{idgen_short_prefix_to_suffix, {10, 11, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 12, 13, 14, 15}}
};

void
fuzz_target(Input *input)
{
	pg_uuid_t	id = take_uuid(input);
	bool		is_rfc = id.data[8] >> 6 == 2;
	Outcome		version = CALL(idgen_uuid_version, uuid_arg(&id));

	CHECK(version.sqlstate == 0 && version.isnull == !is_rfc);
	CHECK(version.isnull || DatumGetInt32(version.value) == id.data[6] >> 4);
	CHECK(VARSIZE_ANY_EXHDR(DatumGetTextPP(CALL_VALUE(idgen_uuid_variant, uuid_arg(&id)))) >= 3);

	for (int i = 0; i < (int) lengthof(versions); i++)
	{
		Outcome		forth = CALL(versions[i].forth, uuid_arg(&id));
		pg_uuid_t  *result;

		if (!is_version(&id, versions[i].from))
		{
			CHECK(forth.sqlstate == ERRCODE_INVALID_PARAMETER_VALUE);
			continue;
		}
		result = DatumGetUUIDP(value_of(forth));
		CHECK(result->data[6] >> 4 == versions[i].to);
		CHECK(memcmp(result->data + 8, id.data + 8, 8) == 0);
		CHECK(uuid_is(CALL_VALUE(versions[i].back, uuid_arg(result)), &id));
		CHECK(DatumGetTimestampTz(CALL_VALUE(idgen_uuid_timestamp, uuid_arg(&id))) ==
			  DatumGetTimestampTz(CALL_VALUE(idgen_uuid_timestamp, uuid_arg(result))));
	}

	for (int i = 0; i < (int) lengthof(exchanges); i++)
	{
		pg_uuid_t  *result = DatumGetUUIDP(CALL_VALUE(exchanges[i].function, uuid_arg(&id)));

		for (int byte = 0; byte < UUID_LEN; byte++)
			CHECK(result->data[byte] == id.data[exchanges[i].source[byte]]);
		CHECK(uuid_is(CALL_VALUE(exchanges[i].function, uuid_arg(result)), &id));
	}
}
