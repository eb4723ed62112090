/*
 * fuzz_ulid.c
 *	  ULID: an accepted text has all 26 digits of at most 128 bits, is written
 *	  again in upper case with its confusable characters replaced, and has the
 *	  time of its first 48 bits.
 */
#include "server.h"

/* The character that the specification writes for one that it reads. */
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
	char		expected[26];
	size_t		length = input->left;
	NullableDatum any = text_arg((const char *) input->bytes, length, short_header);
	Outcome		id = CALL(idgen_ulid_to_uuid, any);
	Outcome		instant = CALL(idgen_ulid_timestamp, any);
	pg_uuid_t	uuid;

	CHECK(id.sqlstate == instant.sqlstate);
	if (id.sqlstate == 0)
	{
		CHECK(length == sizeof(expected));
		for (size_t i = 0; i < length; i++)
			expected[i] = as_written(input->bytes[i]);
		CHECK(text_is(CALL_VALUE(idgen_ulid_from_uuid, value_arg(id.value)), expected, length));
		CHECK(DatumGetTimestampTz(value_of(instant)) == wide_instant(wide_bytes(DatumGetUUIDP(id.value), 0, 6)));
	}
	else
		CHECK(id.sqlstate == ERRCODE_INVALID_TEXT_REPRESENTATION);

	/* any uuid */
	uuid = take_uuid(input);
	CHECK(uuid_is(CALL_VALUE(idgen_ulid_to_uuid, value_arg(CALL_VALUE(idgen_ulid_from_uuid, uuid_arg(&uuid)))), &uuid));
}
