/*
 * fuzz_ulid.c
 *	  ULID: what is accepted has all 26 digits of at most 128 bits, is written
 *	  again in upper case with its confusable characters mended, and tells the
 *	  time of its first 48 bits.
 */
#include "backend.h"

#include "clock.h"
#include "uuid_bits.h"

/* How the specification writes a character that it reads. */
static char
as_written(char character)
{
	if (character >= 'a' && character <= 'z')
		character ^= 0x20;
	return character == 'I' || character == 'L' ? '1' : character == 'O' ? '0' : character;
}

void
fuzz_target(Input *input)
{
	bool		short_header = take(input, 1) & 1;
	const char *bytes = (const char *) input->bytes;
	size_t		length = input->left;
	Outcome		id = CALL(idgen_ulid_to_uuid, text_arg(bytes, length, short_header));
	Outcome		instant = CALL(idgen_ulid_timestamp, text_arg(bytes, length, short_header));
	text	   *written;
	pg_uuid_t	uuid;

	CHECK(id.sqlstate == instant.sqlstate);
	if (id.sqlstate == 0)
	{
		written = DatumGetTextPP(CALL_VALUE(idgen_ulid_from_uuid, value_arg(id.value)));
		CHECK(length == 26 && VARSIZE_ANY_EXHDR(written) == 26);
		for (int i = 0; i < 26; i++)
			CHECK(VARDATA_ANY(written)[i] == as_written(bytes[i]));
		CHECK(clock_unix_ms(DatumGetTimestampTz(value_of(instant))) ==
			  (int64) uuid_first_48_bits(DatumGetUUIDP(id.value)));
	}
	else
		CHECK(id.sqlstate == ERRCODE_INVALID_TEXT_REPRESENTATION);

	/* any uuid */
	uuid = take_uuid(input);
	written = DatumGetTextPP(CALL_VALUE(idgen_ulid_from_uuid, uuid_arg(&uuid)));
	CHECK(memcmp(DatumGetUUIDP(CALL_VALUE(idgen_ulid_to_uuid, value_arg(PointerGetDatum(written)))), &uuid, UUID_LEN) == 0);
}
