/*
 * fuzz_clock_steps.c
 *	  A clock that steps by any amount: identifiers ordered within a session
 *	  still increase strictly, and have their version.
 */
#include <time.h>

#include "server.h"

#define NS_PER_SECOND	1000000000
#define LAST_SECOND		INT64CONST(4290000000)	/* ObjectId ends in 2106 */

static const struct
{
	PGFunction	function;
	int			version;		/* 0: text */
	int			length;			/* of the part that increases */
}			generators[] =
{
	{idgen_uuid_v7, 7, UUID_LEN},
	{idgen_uuid_v6, 6, 8},
	{idgen_lambert_comb, 13, 8},
	{idgen_uuid_v1, 1, 8},
	{idgen_ulid, 0, 26},
	{idgen_object_id, 0, 24}
};

/* The last result of each generator, over all inputs, and the latest time. */
static uint8 last[lengthof(generators)][32];
static struct timespec latest = {1577836800, 0};	/* 2020 */

void
fuzz_target(Input *input)
{
	while (input->left > 0)
	{
		uint8		way = take(input, 1);
		int64		step_ns = take(input, 5);

		/* before or after the latest time, by a millisecond or half a minute */
		step_ns /= way & 0x40 ? 32 : 1000000;
		step_ns = latest.tv_nsec + (way & 0x80 ? -step_ns : step_ns);
		server_clock.tv_sec = latest.tv_sec + (int64) wide_floor(step_ns, NS_PER_SECOND);
		server_clock.tv_nsec = (int64) wide_modulo(step_ns, NS_PER_SECOND);
		if (server_clock.tv_sec > LAST_SECOND)
			return;
		if (server_clock.tv_sec > latest.tv_sec ||
			(server_clock.tv_sec == latest.tv_sec && server_clock.tv_nsec > latest.tv_nsec))
			latest = server_clock;

		for (int i = 0; i < (int) lengthof(generators); i++)
		{
			Datum		made;
			void	   *bytes;

			if ((way >> i & 1) == 0)
				continue;
			made = CALL_VALUE(generators[i].function, null_arg());
			CHECK(generators[i].version == 0 || is_version(DatumGetUUIDP(made), generators[i].version));
			if (generators[i].version == 1)
				made = CALL_VALUE(idgen_uuid_v1_to_v6, value_arg(made));
			bytes = generators[i].version == 0 ? VARDATA_ANY(DatumGetTextPP(made)) : DatumGetPointer(made);
			CHECK(memcmp(bytes, last[i], generators[i].length) > 0);
			memcpy(last[i], bytes, generators[i].length);
		}
		CHECK(is_version(DatumGetUUIDP(CALL_VALUE(idgen_uuid_v4, null_arg())), 4));
	}
}
