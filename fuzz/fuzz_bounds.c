/*
 * fuzz_bounds.c
 *	  Range bounds of any two instants: an error where the identifier has no
 *	  room for one; otherwise what is made at an instant lies between its
 *	  bounds, bounds tell their instant, and they have the order of time.
 */
#include "wide.h"

/* What there is on a kind of identifier, but for its bytes. */
typedef struct Kind
{
	PGFunction	make;			/* with a clock, or NULL */
	PGFunction	floor;
	PGFunction	ceil;
	PGFunction	read;
	int			length;			/* bytes, with a text's header; 0: a bigint */
	bool		has_epoch;
	int			ms_per_tick;
	Wide		max_tick;
} Kind;

static const Kind kinds[] =
{
	{idgen_uuid_v7, idgen_uuid_v7_floor, idgen_uuid_v7_ceil, idgen_uuid_timestamp, 16, false, 1, ((Wide) 1 << 48) - 1},
	{idgen_comb, idgen_comb_floor, idgen_comb_ceil, idgen_comb_timestamp, 16, false, 1, ((Wide) 1 << 48) - 1},
	/* text, with the header that all of one length have */
	{NULL, idgen_ulid_floor, idgen_ulid_ceil, idgen_ulid_timestamp, VARHDRSZ + 26, false, 1, ((Wide) 1 << 48) - 1},
	{NULL, idgen_object_id_floor, idgen_object_id_ceil, idgen_object_id_timestamp, VARHDRSZ + 24, false, 1000, ((Wide) 1 << 32) - 1},
	{NULL, idgen_snowflake_floor, idgen_snowflake_ceil, idgen_snowflake_timestamp, 0, true, 1, ((Wide) 1 << 41) - 1},
	{NULL, idgen_js_id_floor, idgen_js_id_ceil, idgen_js_id_timestamp, 0, true, 1000, ((Wide) 1 << 32) - 1}
};

static int
compare(const Kind *kind, Datum one, Datum other)
{
	if (kind->length > 0)
		return memcmp(DatumGetPointer(one), DatumGetPointer(other), kind->length);
	return (DatumGetInt64(one) > DatumGetInt64(other)) - (DatumGetInt64(one) < DatumGetInt64(other));
}

static Outcome
call_with_epoch(const Kind *kind, PGFunction function, NullableDatum argument, TimestampTz epoch)
{
	return kind->has_epoch ? CALL(function, argument, instant_arg(epoch)) : CALL(function, argument);
}

/* The bounds of an instant's tick; false, with the tick, where it has none. */
static bool
bounds(const Kind *kind, TimestampTz instant, TimestampTz epoch, Wide *tick, Datum *low, Datum *high)
{
	Wide		begin = kind->has_epoch ? wide_floor(wide_unix_ms(epoch), kind->ms_per_tick) * kind->ms_per_tick : 0;
	Outcome		floor = call_with_epoch(kind, kind->floor, instant_arg(instant), epoch);
	Outcome		ceil = call_with_epoch(kind, kind->ceil, instant_arg(instant), epoch);

	*tick = wide_floor(wide_unix_ms(instant) - begin, kind->ms_per_tick);
	if (*tick < 0 || *tick > kind->max_tick)
	{
		CHECK(floor.sqlstate == ERRCODE_DATETIME_VALUE_OUT_OF_RANGE);
		CHECK(ceil.sqlstate == ERRCODE_DATETIME_VALUE_OUT_OF_RANGE);
		return false;
	}
	*low = value_of(floor);
	*high = value_of(ceil);
	CHECK(compare(kind, *low, *high) < 0);

	/* 0 is no identifier, though it bounds some */
	if (kind->length > 0 || DatumGetInt64(*low) > 0)
		CHECK(DatumGetTimestampTz(value_of(call_with_epoch(kind, kind->read, value_arg(*low), epoch))) ==
			  wide_instant(begin + *tick * kind->ms_per_tick));
	CHECK(DatumGetTimestampTz(value_of(call_with_epoch(kind, kind->read, value_arg(*high), epoch))) ==
		  wide_instant(begin + *tick * kind->ms_per_tick));
	return true;
}

void
fuzz_target(Input *input)
{
	uint8		way = take(input, 1);
	const Kind *kind = &kinds[way % lengthof(kinds)];
	TimestampTz one = take_instant(input);
	TimestampTz other = way & 0x80 ? take_instant(input) : one + (int64) take(input, 3);
	TimestampTz epoch = way & 0x40 ? take_instant(input) : one - (int64) take(input, 7);
	Wide		one_tick;
	Wide		other_tick;
	Datum		low;
	Datum		high;
	Datum		other_low;
	Datum		other_high;
	pg_uuid_t  *suffix;

	other = Min(other, END_TIMESTAMP - 1);
	epoch = Max(epoch, MIN_TIMESTAMP);
	if (!bounds(kind, one, epoch, &one_tick, &low, &high))
		return;

	if (kind->make != NULL)
	{
		Datum		made = CALL_VALUE(kind->make, instant_arg(one));

		CHECK(compare(kind, low, made) <= 0 && compare(kind, made, high) <= 0);

		suffix = DatumGetUUIDP(CALL_VALUE(idgen_suffix_comb, instant_arg(one)));
		CHECK(is_version(suffix, 4));
		CHECK(wide_bytes(suffix, 10, 6) == one_tick);
		CHECK(DatumGetTimestampTz(CALL_VALUE(idgen_suffix_comb_timestamp, uuid_arg(suffix))) == wide_instant(one_tick));
	}

	if (!bounds(kind, other, epoch, &other_tick, &other_low, &other_high))
		return;
	if (one_tick == other_tick)
		CHECK(compare(kind, low, other_low) == 0 && compare(kind, high, other_high) == 0);
	else if (one_tick < other_tick)
		CHECK(compare(kind, high, other_low) < 0);
	else
		CHECK(compare(kind, other_high, low) < 0);
}
