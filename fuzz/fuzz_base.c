/*
 * fuzz_base.c
 *	  uuid_from_base() and bigint_from_base() on any text: each reads the text
 *	  of uuid_to_base() or bigint_to_base(); a bigint and a uuid of the same
 *	  digits are the same number; and only documented errors occur.
 */
#include "server.h"

#include "uuid_bits.h"

static const int32 some_bases[] = {16, 32, 36, 58, 62, 0, -1, 10, 64, PG_INT32_MIN};

void
fuzz_target(Input *input)
{
	uint8		way = take(input, 1);
	bool		known = way % lengthof(some_bases) < 5;
	NullableDatum base = int32_arg(some_bases[way % lengthof(some_bases)]);
	NullableDatum digits = text_arg((const char *) input->bytes, input->left, way & 0x80);
	Outcome		as_uuid = CALL(idgen_uuid_from_base, digits, base);
	Outcome		as_bigint = CALL(idgen_bigint_from_base, digits, base);
	pg_uuid_t	id = take_uuid(input);
	int64		number = uuid_half(&id, 1);
	Outcome		written;

	/* any number can be written, and read again */
	written = CALL(idgen_uuid_to_base, uuid_arg(&id), base);
	CHECK(written.sqlstate == (known ? 0 : ERRCODE_INVALID_PARAMETER_VALUE));
	if (known)
		CHECK(uuid_is(CALL_VALUE(idgen_uuid_from_base, value_arg(written.value), base), &id));
	written = CALL(idgen_bigint_to_base, int64_arg(number), base);
	CHECK(written.sqlstate == (known && number >= 0 ? 0 : ERRCODE_INVALID_PARAMETER_VALUE));
	if (written.sqlstate == 0)
		CHECK(DatumGetInt64(CALL_VALUE(idgen_bigint_from_base, value_arg(written.value), base)) == number);

	/* the text of the input */
	if (as_uuid.sqlstate != 0)
	{
		CHECK(as_uuid.sqlstate == (known ? ERRCODE_INVALID_TEXT_REPRESENTATION : ERRCODE_INVALID_PARAMETER_VALUE));
		CHECK(as_bigint.sqlstate == as_uuid.sqlstate);
		return;
	}
	CHECK(known);
	id = *DatumGetUUIDP(as_uuid.value);
	if (uuid_half(&id, 0) == 0 && uuid_half(&id, 1) <= PG_INT64_MAX)
		CHECK(DatumGetInt64(value_of(as_bigint)) == (int64) uuid_half(&id, 1));
	else
		CHECK(as_bigint.sqlstate == ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE);
}
