/*
 * fuzz_prefixed_id.c
 *	  Prefixed ids: a text is accepted or refused alike by all functions that
 *	  read it; an accepted text can be written again from its prefix and its
 *	  uuid, and the digits but not the prefix can be of either case.
 *	  is_prefixed_id() accepts exactly what prefixed_id() writes.
 */
#include "backend.h"

#define WIDTH	25				/* digits of base 36 */

/* The rule of the documentation, read from a text's beginning. */
static bool
is_prefix(const char *text, size_t length)
{
	if (length < 1 || length > 63 || strchr("abcdefghijklmnopqrstuvwxyz", text[0]) == NULL ||
		text[length - 1] == '_')
		return false;
	for (size_t i = 0; i < length; i++)
	{
		if (text[i] == '\0' || strchr("abcdefghijklmnopqrstuvwxyz0123456789_", text[i]) == NULL)
			return false;
	}
	return text[0] != '\0';
}

/* is_prefixed_id() of two texts, the second being a prefix */
static bool
is_canonical(const char *bytes, size_t length, const char *prefix, size_t prefix_length, bool short_header)
{
	return DatumGetBool(CALL_VALUE(idgen_is_prefixed_id, text_arg(bytes, length, short_header),
								   text_arg(prefix, prefix_length, short_header)));
}

static void
check_written(const char *prefix, size_t prefix_length, const pg_uuid_t *id, bool short_header)
{
	Outcome		written = CALL(idgen_prefixed_id, text_arg(prefix, prefix_length, short_header), uuid_arg(id));
	text	   *result;
	Datum		again;

	if (!is_prefix(prefix, prefix_length))
	{
		CHECK(written.sqlstate == ERRCODE_INVALID_PARAMETER_VALUE);
		return;
	}
	result = DatumGetTextPP(value_of(written));
	CHECK(VARSIZE_ANY_EXHDR(result) == prefix_length + 1 + WIDTH);
	CHECK(memcmp(VARDATA_ANY(result), prefix, prefix_length) == 0);
	CHECK(VARDATA_ANY(result)[prefix_length] == '_');

	again = CALL_VALUE(idgen_prefixed_id_to_uuid, value_arg(written.value), text_arg(prefix, prefix_length, !short_header));
	CHECK(memcmp(DatumGetUUIDP(again), id, UUID_LEN) == 0);
	CHECK(CALL(idgen_prefixed_id_to_uuid, value_arg(written.value), text_arg(prefix, prefix_length - 1, short_header)).sqlstate ==
		  (is_prefix(prefix, prefix_length - 1) ? ERRCODE_CHECK_VIOLATION : ERRCODE_INVALID_PARAMETER_VALUE));
	CHECK(is_canonical(VARDATA_ANY(result), VARSIZE_ANY_EXHDR(result), prefix, prefix_length, short_header));
	CHECK(!is_canonical(VARDATA_ANY(result), VARSIZE_ANY_EXHDR(result) - 1, prefix, prefix_length, short_header));
	again = CALL_VALUE(idgen_prefixed_id_prefix, value_arg(written.value));
	CHECK(VARSIZE_ANY_EXHDR(DatumGetTextPP(again)) == prefix_length);
	CHECK(memcmp(VARDATA_ANY(DatumGetTextPP(again)), prefix, prefix_length) == 0);
}

void
fuzz_target(Input *input)
{
	bool		short_header = take(input, 1) & 1;
	char	   *bytes = palloc(input->left);
	size_t		length = input->left;
	size_t		separator = length;
	Outcome		id;
	Outcome		prefix;
	text	   *canonical;
	pg_uuid_t	uuid;

	memcpy(bytes, input->bytes, length);
	id = CALL(idgen_prefixed_id_to_uuid, text_arg(bytes, length, short_header), null_arg());
	prefix = CALL(idgen_prefixed_id_prefix, text_arg(bytes, length, short_header));
	CHECK(id.sqlstate == prefix.sqlstate);

	while (separator > 0 && bytes[separator - 1] != '_')
		separator--;

	if (id.sqlstate == 0)
	{
		CHECK(separator > 1);
		CHECK(is_prefix(bytes, separator - 1));
		CHECK(length - separator >= 1 && length - separator <= WIDTH);
		CHECK(VARSIZE_ANY_EXHDR(DatumGetTextPP(prefix.value)) == separator - 1);
		CHECK(memcmp(VARDATA_ANY(DatumGetTextPP(prefix.value)), bytes, separator - 1) == 0);
		uuid = *DatumGetUUIDP(id.value);
		canonical = DatumGetTextPP(CALL_VALUE(idgen_prefixed_id, value_arg(prefix.value), uuid_arg(&uuid)));
		CHECK(is_canonical(bytes, length, bytes, separator - 1, short_header) ==
			  (VARSIZE_ANY_EXHDR(canonical) == length && memcmp(VARDATA_ANY(canonical), bytes, length) == 0));
		check_written(bytes, separator - 1, &uuid, short_header);

		/* the digits in the other case are the same */
		for (size_t i = separator; i < length; i++)
		{
			if (bytes[i] > '9')
				bytes[i] ^= 0x20;
		}
		CHECK(memcmp(DatumGetUUIDP(CALL_VALUE(idgen_prefixed_id_to_uuid, text_arg(bytes, length, short_header), null_arg())),
					 &uuid, UUID_LEN) == 0);

		/* an upper-case letter in the prefix is none of it */
		bytes[0] ^= 0x20;
		CHECK(CALL(idgen_prefixed_id_prefix, text_arg(bytes, length, short_header)).sqlstate ==
			  ERRCODE_INVALID_TEXT_REPRESENTATION);
	}
	else
	{
		CHECK(id.sqlstate == ERRCODE_INVALID_TEXT_REPRESENTATION);
		CHECK(!is_canonical(bytes, length, "a", 1, short_header));
		/* also with an expected prefix, even another one */
		CHECK(CALL(idgen_prefixed_id_to_uuid, text_arg(bytes, length, short_header), text_arg("a", 1, short_header)).sqlstate ==
			  ERRCODE_INVALID_TEXT_REPRESENTATION);
	}

	/* any prefix, and any uuid */
	uuid = take_uuid(input);
	check_written((const char *) input->bytes, input->left, &uuid, short_header);
}
