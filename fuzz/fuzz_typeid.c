/*
 * fuzz_typeid.c
 *	  TypeID has one writing: what is accepted is just what is written from
 *	  its prefix and its uuid, so no other case and no leading zero left out.
 */
#include "backend.h"

void
fuzz_target(Input *input)
{
	bool		short_header = take(input, 1) & 1;
	const char *bytes = (const char *) input->bytes;
	size_t		length = input->left;
	Outcome		id = CALL(idgen_typeid_to_uuid, text_arg(bytes, length, short_header));
	Outcome		prefix = CALL(idgen_typeid_prefix, text_arg(bytes, length, short_header));
	Outcome		written;
	pg_uuid_t	uuid;

	CHECK(id.sqlstate == prefix.sqlstate);
	if (id.sqlstate == 0)
	{
		text	   *again = DatumGetTextPP(CALL_VALUE(idgen_typeid_from_uuid, value_arg(prefix.value), value_arg(id.value)));

		CHECK(VARSIZE_ANY_EXHDR(again) == length);
		CHECK(memcmp(VARDATA_ANY(again), bytes, length) == 0);
	}
	else
		CHECK(id.sqlstate == ERRCODE_INVALID_TEXT_REPRESENTATION);

	/* any prefix, and any uuid */
	uuid = take_uuid(input);
	bytes = (const char *) input->bytes;
	length = input->left;
	written = CALL(idgen_typeid_from_uuid, text_arg(bytes, length, short_header), uuid_arg(&uuid));
	if (written.sqlstate == 0)
	{
		text	   *result = DatumGetTextPP(written.value);

		CHECK(length <= 63);
		CHECK(VARSIZE_ANY_EXHDR(result) == (length > 0 ? length + 1 : 0) + 26);
		for (size_t i = 0; i < length; i++)
			CHECK((bytes[i] >= 'a' && bytes[i] <= 'z') || (bytes[i] == '_' && i > 0 && i + 1 < length));
		CHECK(memcmp(DatumGetUUIDP(CALL_VALUE(idgen_typeid_to_uuid, value_arg(written.value))), &uuid, UUID_LEN) == 0);
		result = DatumGetTextPP(CALL_VALUE(idgen_typeid_prefix, value_arg(written.value)));
		CHECK(VARSIZE_ANY_EXHDR(result) == length && memcmp(VARDATA_ANY(result), bytes, length) == 0);
	}
	else
		CHECK(written.sqlstate == ERRCODE_INVALID_PARAMETER_VALUE);
}
