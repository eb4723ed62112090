/*
 * fuzz_clock_steps.c
 *	  A clock that steps anywhere: identifiers with order within a session go
 *	  on strictly increasing, and have the version that they should.
 */
#include <time.h>

#include "wide.h"

#define KINDS 6

#define NS_PER_SECOND	1000000000
#define LAST_SECOND		INT64CONST(4290000000)	/* ObjectId ends in 2106 */

/* What each generator made last, over all inputs, in its own order. */
static uint8 last[KINDS][32];
static struct timespec latest = {1577836800, 0};	/* 2020 */

static void
check_increases(int kind, const void *made, size_t length)
{
	CHECK(memcmp(made, last[kind], length) > 0);
	memcpy(last[kind], made, length);
}

void
fuzz_target(Input *input)
{
	while (input->left > 0)
	{
		uint8		way = take(input, 1);
		int64		step_ns = take(input, 5);
		pg_uuid_t  *id;

		/* to either side of the latest time, by a millisecond or half a minute */
		step_ns /= way & 0x40 ? 32 : 1000000;
		step_ns = latest.tv_nsec + (way & 0x80 ? -step_ns : step_ns);
		backend_clock.tv_sec = latest.tv_sec + (int64) wide_floor(step_ns, NS_PER_SECOND);
		backend_clock.tv_nsec = (int64) wide_modulo(step_ns, NS_PER_SECOND);
		if (backend_clock.tv_sec > LAST_SECOND)
			return;
		if (backend_clock.tv_sec > latest.tv_sec ||
			(backend_clock.tv_sec == latest.tv_sec && backend_clock.tv_nsec > latest.tv_nsec))
			latest = backend_clock;

		for (int kind = 0; kind < KINDS; kind++)
		{
			if ((way >> kind & 1) == 0)
				continue;
			switch (kind)
			{
				case 0:
					id = DatumGetUUIDP(CALL_VALUE(idgen_uuid_v7, null_arg()));
					CHECK(is_version(id, 7));
					check_increases(kind, id, UUID_LEN);
					break;
				case 1:
					id = DatumGetUUIDP(CALL_VALUE(idgen_uuid_v6));
					CHECK(is_version(id, 6));
					check_increases(kind, id, 8);
					break;
				case 2:
					id = DatumGetUUIDP(CALL_VALUE(idgen_lambert_comb));
					CHECK(is_version(id, 13));
					check_increases(kind, id, 8);
					break;
				case 3:
					id = DatumGetUUIDP(CALL_VALUE(idgen_uuid_v1));
					CHECK(is_version(id, 1));
					id = DatumGetUUIDP(CALL_VALUE(idgen_uuid_v1_to_v6, uuid_arg(id)));
					check_increases(kind, id, 8);
					break;
				case 4:
					check_increases(kind, VARDATA_ANY(DatumGetTextPP(CALL_VALUE(idgen_ulid))), 26);
					break;
				case 5:
					check_increases(kind, VARDATA_ANY(DatumGetTextPP(CALL_VALUE(idgen_object_id))), 24);
					break;
			}
			CHECK(is_version(DatumGetUUIDP(CALL_VALUE(idgen_uuid_v4)), 4));
		}
	}
}
