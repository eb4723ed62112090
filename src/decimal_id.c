/*
 * decimal_id.c
 *	  64-bit identifiers with decimal fields: counter, generator and launch.
 *
 * The launch is the number of a deployment of the application.  The
 * administrator sets it on the server (idgen.launch_id).  Servers that
 * generate identifiers for the same tables must have different launch numbers.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "commands/sequence.h"
#include "funcapi.h"
#include "miscadmin.h"

#include "own_sequence.h"
#include "settings.h"

/* five digits for the generator and five for the launch follow the counter */
#define DECIMAL_COUNTERS	922337202
#define DECIMAL_GENERATORS	100000
#define DECIMAL_LAUNCHES	(LAUNCH_MAX + 1)

/* Get the next value of the extension's sequence, regardless of the caller's privileges. */
static int64
next_number(void)
{
	PreventCommandDuringRecovery("decimal_id()");
	PreventCommandIfReadOnly("decimal_id()");
	PreventCommandIfParallelMode("decimal_id()");
	return nextval_internal(lock_own_sequence("decimal_id_counter", "decimal_id"), false);
}

/*
 * decimal_id() returns bigint
 *	The last counter of a generator is followed by the first counter of the
 *	next generator.
 */
PG_FUNCTION_INFO_V1(idgen_decimal_id);
Datum
idgen_decimal_id(PG_FUNCTION_ARGS pg_attribute_unused())
{
	uint64		number;
	int64		counter;
	int64		generator;

	if (unlikely(launch_id_setting == SETTING_UNSET))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("idgen.launch_id is not set"),
				 errdetail("An identifier of decimal_id() contains the number of the launch, that is, of the deployment that generated it."),
				 errhint("Set idgen.launch_id to a number that no other server uses, from 1 to %d, or to 0 for tests. "
						 HINT_WHERE_TO_SET,
						 LAUNCH_MAX)));

	number = (uint64) next_number() - 1;
	if (number >= (uint64) DECIMAL_COUNTERS * DECIMAL_GENERATORS)
		ereport(ERROR,
				(errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
				 errmsg("decimal_id() reached its maximum value")));
	counter = number % DECIMAL_COUNTERS + 1;
	generator = number / DECIMAL_COUNTERS;
	PG_RETURN_INT64((counter * DECIMAL_GENERATORS + generator) * DECIMAL_LAUNCHES +
					launch_id_setting);
}

/* Split an identifier into its parts.  Returns false if it is not valid. */
static bool
decimal_id_split(int64 id, int32 *parts)
{
	int64		counter = id / DECIMAL_LAUNCHES / DECIMAL_GENERATORS;

	if (counter < 1 || counter > DECIMAL_COUNTERS)
		return false;

	parts[0] = counter;
	parts[1] = id / DECIMAL_LAUNCHES % DECIMAL_GENERATORS;
	parts[2] = id % DECIMAL_LAUNCHES;
	return true;
}

/* decimal_id_parts(id bigint, OUT counter int, OUT generator int, OUT launch_id int) */
PG_FUNCTION_INFO_V1(idgen_decimal_id_parts);
Datum
idgen_decimal_id_parts(PG_FUNCTION_ARGS)
{
	int32		parts[3];
	TupleDesc	tupdesc;
	Datum		values[3];
	bool		nulls[3] = {false, false, false};

	if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	if (!decimal_id_split(PG_GETARG_INT64(0), parts))
		PG_RETURN_NULL();

	for (int i = 0; i < 3; i++)
		values[i] = Int32GetDatum(parts[i]);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(tupdesc), values, nulls)));
}
