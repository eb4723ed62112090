/*
 * fuzz_base.c
 *	  uuid_to_base(), bigint_to_base(), uuid_from_base() and bigint_from_base() on any text: what one
 *	  reads, the other writes; a bigint and a uuid of the same digits are the
 *	  same number; and only documented errors.
 */
#include "backend.h"

#include "uuid_bits.h"

static const int32 some_bases[] = {16, 32, 36, 58, 62, 0, -1, 10, 64, PG_INT32_MIN};

/* Read a text again that uuid_to_base() or bigint_to_base() wrote. */
static Outcome
read_again(PGFunction reader, Datum written, int32 base)
{
	return CALL(reader, value_arg(written), int32_arg(base));
}

void
fuzz_target(Input *input)
{
	uint8		way = take(input, 1);
	int32		base = some_bases[way % lengthof(some_bases)];
	bool		known = way % lengthof(some_bases) < 5;
	const char *digits = (const char *) input->bytes;
	size_t		length = input->left;
	bool		short_header = way & 0x80;
	Outcome		as_uuid = CALL(idgen_uuid_from_base, text_arg(digits, length, short_header), int32_arg(base));
	Outcome		as_bigint = CALL(idgen_bigint_from_base, text_arg(digits, length, short_header), int32_arg(base));
	pg_uuid_t	id = take_uuid(input);
	int64		number = uuid_half(&id, 1);
	Outcome		written;

	/* any number can be written, and read again */
	written = CALL(idgen_uuid_to_base, uuid_arg(&id), int32_arg(base));
	CHECK(written.sqlstate == (known ? 0 : ERRCODE_INVALID_PARAMETER_VALUE));
	if (known)
	{
		Datum		again = value_of(read_again(idgen_uuid_from_base, written.value, base));

		CHECK(memcmp(DatumGetUUIDP(again), &id, UUID_LEN) == 0);
	}
	written = CALL(idgen_bigint_to_base, int64_arg(number), int32_arg(base));
	CHECK(written.sqlstate == (known && number >= 0 ? 0 : ERRCODE_INVALID_PARAMETER_VALUE));
	if (written.sqlstate == 0)
		CHECK(DatumGetInt64(value_of(read_again(idgen_bigint_from_base, written.value, base))) == number);

	/* what was read */
	if (!known)
	{
		CHECK(as_uuid.sqlstate == ERRCODE_INVALID_PARAMETER_VALUE);
		CHECK(as_bigint.sqlstate == ERRCODE_INVALID_PARAMETER_VALUE);
		return;
	}
	if (as_uuid.sqlstate != 0)
	{
		CHECK(as_uuid.sqlstate == ERRCODE_INVALID_TEXT_REPRESENTATION);
		CHECK(as_bigint.sqlstate == ERRCODE_INVALID_TEXT_REPRESENTATION);
		return;
	}
	id = *DatumGetUUIDP(as_uuid.value);
	if (uuid_half(&id, 0) == 0 && uuid_half(&id, 1) <= PG_INT64_MAX)
		CHECK(DatumGetInt64(value_of(as_bigint)) == (int64) uuid_half(&id, 1));
	else
		CHECK(as_bigint.sqlstate == ERRCODE_INVALID_TEXT_REPRESENTATION);
}
