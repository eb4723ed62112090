/*
 * fuzz_bounds.c
 *	  Range bounds of any two instants: an error if the identifier has no room
 *	  for the instant; otherwise an identifier made at an instant is not below
 *	  its bound, the bound contains the instant's tick, and the order of bounds
 *	  and identifiers is that of time.
 */
#include "server.h"

#define MS48_MAX		(((Wide) 1 << 48) - 1)
#define SECONDS32_MAX	(((Wide) 1 << 32) - 1)

/* The bounds of a kind of identifier; "make" has an argument "clock". */
static const struct Kind
{
	PGFunction	make;
	PGFunction	floor;
	PGFunction	read;
	int			length;			/* bytes with a text's header; 0: a bigint */
	bool		has_epoch;
	int			ms_per_tick;
	Wide		max_tick;
}			kinds[] =
{
	{idgen_uuid_v7, idgen_uuid_v7_floor, idgen_uuid_timestamp, 16, false, 1, MS48_MAX},
	{idgen_comb, idgen_comb_floor, idgen_comb_timestamp, 16, false, 1, MS48_MAX},
	{NULL, idgen_ulid_floor, idgen_ulid_timestamp, VARHDRSZ + 26, false, 1, MS48_MAX},
	{NULL, idgen_object_id_floor, idgen_object_id_timestamp, VARHDRSZ + 24, false, 1000, SECONDS32_MAX},
	{NULL, idgen_snowflake_floor, idgen_snowflake_timestamp, 0, true, 1, ((Wide) 1 << 41) - 1},
	{NULL, idgen_js_id_floor, idgen_js_id_timestamp, 0, true, 1000, SECONDS32_MAX}
};

static const struct Kind *kind;
static NullableDatum epoch;

static int
compare(Datum one, Datum other)
{
	if (kind->length > 0)
		return memcmp(DatumGetPointer(one), DatumGetPointer(other), kind->length);
	return (DatumGetInt64(one) > DatumGetInt64(other)) - (DatumGetInt64(one) < DatumGetInt64(other));
}

static Outcome
call(PGFunction function, Datum argument)
{
	return kind->has_epoch ? CALL(function, value_arg(argument), epoch) : CALL(function, value_arg(argument));
}

/* The bound of an instant's tick, and the tick; false if the tick has none. */
static bool
bound(TimestampTz instant, Wide *tick, Datum *low)
{
	Wide		begin = kind->has_epoch ? wide_floor(wide_unix_ms(DatumGetTimestampTz(epoch.value)), kind->ms_per_tick) : 0;
	Outcome		floor = call(kind->floor, TimestampTzGetDatum(instant));
	TimestampTz start;

	*tick = wide_floor(wide_unix_ms(instant), kind->ms_per_tick) - begin;
	if (*tick < 0 || *tick > kind->max_tick)
	{
		CHECK(floor.sqlstate == ERRCODE_DATETIME_VALUE_OUT_OF_RANGE);
		return false;
	}
	*low = value_of(floor);

	/* 0 is a bound, but not an identifier */
	start = wide_instant((begin + *tick) * kind->ms_per_tick);
	if (kind->length > 0 || DatumGetInt64(*low) > 0)
		CHECK(DatumGetTimestampTz(value_of(call(kind->read, *low))) == start);
	return true;
}

void
fuzz_target(Input *input)
{
	uint8		way = take(input, 1);
	TimestampTz one = take_instant(input);
	TimestampTz other = way & 0x80 ? take_instant(input) : one + (int64) take(input, 3);
	TimestampTz begin = way & 0x40 ? take_instant(input) : one - (int64) take(input, 7);
	Wide		one_tick;
	Wide		other_tick;
	Datum		made = 0;
	Datum		low;
	Datum		other_low;

	kind = &kinds[way % lengthof(kinds)];
	epoch = instant_arg(Max(begin, MIN_TIMESTAMP));
	if (!bound(one, &one_tick, &low))
		return;

	if (kind->make != NULL)
	{
		pg_uuid_t  *suffix = DatumGetUUIDP(CALL_VALUE(idgen_suffix_comb, instant_arg(one)));

		made = CALL_VALUE(kind->make, instant_arg(one));
		CHECK(compare(low, made) <= 0);
		CHECK(is_version(suffix, 4));
		CHECK(wide_bytes(suffix, 10, 6) == one_tick);
		CHECK(DatumGetTimestampTz(CALL_VALUE(idgen_suffix_comb_timestamp, uuid_arg(suffix))) == wide_instant(one_tick));
	}

	if (!bound(Min(other, END_TIMESTAMP - 1), &other_tick, &other_low))
		return;
	if (one_tick == other_tick)
		CHECK(compare(low, other_low) == 0);
	else if (one_tick < other_tick)
		CHECK(compare(kind->make != NULL ? made : low, other_low) < 0);
	else
		CHECK(compare(other_low, low) < 0);
}
