/*
 * fuzz_typeid.c
 *	  A TypeID has one text: the text that is accepted is the one that is
 *	  written for its prefix and its uuid, so no other case and no missing
 *	  leading zero; is_typeid() accepts the same texts as the readers.
 */
#include "server.h"

void
fuzz_target(Input *input)
{
	bool		short_header = take(input, 1) & 1;
	const char *bytes = (const char *) input->bytes;
	size_t		length = input->left;
	NullableDatum any = text_arg(bytes, length, short_header);
	Outcome		id = CALL(idgen_typeid_to_uuid, any);
	Outcome		prefix = CALL(idgen_typeid_prefix, any);
	Outcome		written;
	pg_uuid_t	uuid;

	CHECK(id.sqlstate == prefix.sqlstate);
	CHECK(DatumGetBool(CALL_VALUE(idgen_is_typeid, any, null_arg())) == (id.sqlstate == 0));
	if (id.sqlstate == 0)
		CHECK(text_is(CALL_VALUE(idgen_typeid_from_uuid, value_arg(prefix.value), value_arg(id.value)), bytes, length));
	else
		CHECK(id.sqlstate == ERRCODE_INVALID_TEXT_REPRESENTATION);

	/* any prefix, and any uuid */
	uuid = take_uuid(input);
	bytes = (const char *) input->bytes;
	length = input->left;
	written = CALL(idgen_typeid_from_uuid, text_arg(bytes, length, short_header), uuid_arg(&uuid));
	if (written.sqlstate == 0)
	{
		CHECK(length <= 63);
		CHECK(VARSIZE_ANY_EXHDR(DatumGetTextPP(written.value)) == (length > 0 ? length + 1 : 0) + 26);
		for (size_t i = 0; i < length; i++)
			CHECK((bytes[i] >= 'a' && bytes[i] <= 'z') || (bytes[i] == '_' && i > 0 && i + 1 < length));
		CHECK(uuid_is(CALL_VALUE(idgen_typeid_to_uuid, value_arg(written.value)), &uuid));
		CHECK(text_is(CALL_VALUE(idgen_typeid_prefix, value_arg(written.value)), bytes, length));
	}
	else
		CHECK(written.sqlstate == ERRCODE_INVALID_PARAMETER_VALUE);
}
