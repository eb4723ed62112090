/*
 * fuzz_objectid.c
 *	  The type objectid: text, bytes and binary form of the same 12 bytes;
 *	  operators, sort support and hashes that agree on their order; and the
 *	  second that it was made in.
 */
#include "backend.h"

#include <strings.h>

#include "lib/stringinfo.h"
#include "utils/sortsupport.h"

#include "clock.h"

#define BYTES	12

/* objectid_in() of a text that a zero may end early */
static Outcome
read_text(const char *bytes, size_t length)
{
	return CALL(idgen_objectid_in, value_arg(CStringGetDatum(pnstrdup(bytes, length))));
}

static void
check_forms(const uint8 *id)
{
	Datum		value = CALL_VALUE(idgen_objectid_from_bytea, text_arg((const char *) id, BYTES, true));
	char	   *written;
	bytea	   *bytes;
	StringInfoData message = {0};
	StringInfo	source = &message;

	CHECK(memcmp(DatumGetPointer(value), id, BYTES) == 0);
	written = DatumGetCString(CALL_VALUE(idgen_objectid_out, value_arg(value)));
	CHECK(strlen(written) == 2 * BYTES && strspn(written, "0123456789abcdef") == 2 * BYTES);
	CHECK(memcmp(DatumGetPointer(value_of(read_text(written, 2 * BYTES))), id, BYTES) == 0);
	bytes = DatumGetByteaPP(CALL_VALUE(idgen_objectid_to_bytea, value_arg(value)));
	CHECK(VARSIZE_ANY_EXHDR(bytes) == BYTES && memcmp(VARDATA_ANY(bytes), id, BYTES) == 0);
	bytes = DatumGetByteaPP(CALL_VALUE(idgen_objectid_send, value_arg(value)));
	CHECK(VARSIZE_ANY_EXHDR(bytes) == BYTES);
	message.data = VARDATA_ANY(bytes);
	message.len = BYTES;
	CHECK(memcmp(DatumGetPointer(CALL_VALUE(idgen_objectid_recv, value_arg(PointerGetDatum(source)))), id, BYTES) == 0);
	CHECK(message.cursor == BYTES);
}

static void
check_order(const uint8 *one, const uint8 *other, uint64 seed)
{
	NullableDatum a = value_arg(PointerGetDatum(one));
	NullableDatum b = value_arg(PointerGetDatum(other));
	int			order = memcmp(one, other, BYTES);
	int			found = DatumGetInt32(CALL_VALUE(idgen_objectid_cmp, a, b));
	SortSupportData ssup = {0};
	SortSupport ssup_pointer = &ssup;
	int			by_key;

	CHECK((order < 0) == (found < 0) && (order > 0) == (found > 0));
	CHECK(DatumGetBool(CALL_VALUE(idgen_objectid_eq, a, b)) == (order == 0));
	CHECK(DatumGetBool(CALL_VALUE(idgen_objectid_ne, a, b)) == (order != 0));
	CHECK(DatumGetBool(CALL_VALUE(idgen_objectid_lt, a, b)) == (order < 0));
	CHECK(DatumGetBool(CALL_VALUE(idgen_objectid_le, a, b)) == (order <= 0));
	CHECK(DatumGetBool(CALL_VALUE(idgen_objectid_gt, a, b)) == (order > 0));
	CHECK(DatumGetBool(CALL_VALUE(idgen_objectid_ge, a, b)) == (order >= 0));
	CHECK(memcmp(DatumGetPointer(CALL_VALUE(idgen_objectid_smaller, a, b)), order <= 0 ? one : other, BYTES) == 0);
	CHECK(memcmp(DatumGetPointer(CALL_VALUE(idgen_objectid_larger, a, b)), order >= 0 ? one : other, BYTES) == 0);
	if (order == 0)
	{
		CHECK(CALL_VALUE(idgen_objectid_hash, a) == CALL_VALUE(idgen_objectid_hash, b));
		CHECK(CALL_VALUE(idgen_objectid_hash_extended, a, int64_arg(seed)) ==
			  CALL_VALUE(idgen_objectid_hash_extended, b, int64_arg(seed)));
	}

	/* abbreviated keys never contradict the order */
	ssup.abbreviate = true;
	CHECK(CALL(idgen_objectid_sortsupport, value_arg(PointerGetDatum(ssup_pointer))).sqlstate == 0);
	CHECK(ssup.abbrev_converter != NULL);
	by_key = ssup.comparator(ssup.abbrev_converter(a.value, &ssup), ssup.abbrev_converter(b.value, &ssup), &ssup);
	CHECK(order < 0 ? by_key <= 0 : order > 0 ? by_key >= 0 : by_key == 0);
	found = ssup.abbrev_full_comparator(a.value, b.value, &ssup);
	CHECK((order < 0) == (found < 0) && (order > 0) == (found > 0));
}

static void
check_second(const uint8 *id)
{
	TimestampTz second = DatumGetTimestampTz(CALL_VALUE(idgen_objectid_timestamp, value_arg(PointerGetDatum(id))));

	CHECK(clock_unix_seconds(second) == ((int64) id[0] << 24 | id[1] << 16 | id[2] << 8 | id[3]));
	CHECK(second % USECS_PER_SEC == 0);
	CHECK(memcmp(DatumGetPointer(CALL_VALUE(idgen_objectid_floor, instant_arg(second))), id, BYTES) <= 0);
	CHECK(memcmp(DatumGetPointer(CALL_VALUE(idgen_objectid_ceil, instant_arg(second + USECS_PER_SEC - 1))), id, BYTES) >= 0);
}

void
fuzz_target(Input *input)
{
	uint64		seed = take(input, 1);
	Outcome		read = read_text((const char *) input->bytes, input->left);
	Outcome		outcome;
	StringInfoData message = {0};
	StringInfo	source = &message;
	uint8	   *one = palloc(BYTES);
	uint8	   *other = palloc(BYTES);

	/* text: 24 digits of either case */
	if (read.sqlstate == 0)
	{
		CHECK(input->left >= 2 * BYTES);
		CHECK(strncasecmp(DatumGetCString(CALL_VALUE(idgen_objectid_out, value_arg(read.value))),
							 (const char *) input->bytes, 2 * BYTES) == 0);
	}
	else
		CHECK(read.sqlstate == ERRCODE_INVALID_TEXT_REPRESENTATION);

	/* bytes: no more and no less than 12 */
	outcome = CALL(idgen_objectid_from_bytea, text_arg((const char *) input->bytes, input->left, seed & 1));
	CHECK(outcome.sqlstate == (input->left == BYTES ? 0 : ERRCODE_INVALID_PARAMETER_VALUE));

	/* a message: no less than 12 */
	message.data = (char *) input->bytes;
	message.len = input->left;
	outcome = CALL(idgen_objectid_recv, value_arg(PointerGetDatum(source)));
	CHECK(outcome.sqlstate == (input->left >= BYTES ? 0 : ERRCODE_PROTOCOL_VIOLATION));

	for (int i = 0; i < BYTES; i++)
		one[i] = take(input, 1);
	memcpy(other, one, BYTES);
	for (int i = seed % (BYTES + 1); i < BYTES; i++)
		other[i] = take(input, 1);

	check_forms(one);
	check_order(one, other, seed);
	check_order(other, one, seed);
	check_second(one);
}
