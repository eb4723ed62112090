/*
 * fuzz_prefixed_id.c
 *	  Prefixed ids: all functions that read a text accept or reject it alike;
 *	  an accepted text can be written again from its prefix and its uuid; the
 *	  digits, but not the prefix, can have either case; and is_prefixed_id()
 *	  accepts exactly the text that prefixed_id() writes.
 */
#include "server.h"

#define WIDTH	25				/* digits of base 36 */

static bool short_header;

static NullableDatum
any_text(const char *bytes, size_t length)
{
	return text_arg(bytes, length, short_header);
}

/* The documented rule, for the first characters of a text. */
static bool
is_prefix(const char *text, size_t length)
{
	if (length < 1 || length > 63 || !(text[0] >= 'a' && text[0] <= 'z') || text[length - 1] == '_')
		return false;
	for (size_t i = 0; i < length; i++)
	{
		if (text[i] == '\0' || strchr("abcdefghijklmnopqrstuvwxyz0123456789_", text[i]) == NULL)
			return false;
	}
	return true;
}

static bool
is_canonical(const char *bytes, size_t length, const char *prefix, size_t prefix_length)
{
	return DatumGetBool(CALL_VALUE(idgen_is_prefixed_id, any_text(bytes, length), any_text(prefix, prefix_length)));
}

static void
check_written(const char *prefix, size_t prefix_length, const pg_uuid_t *id)
{
	Outcome		written = CALL(idgen_prefixed_id, any_text(prefix, prefix_length), uuid_arg(id));
	NullableDatum made = value_arg(written.value);
	const char *bytes;
	size_t		length = prefix_length + 1 + WIDTH;

	if (!is_prefix(prefix, prefix_length))
	{
		CHECK(written.sqlstate == ERRCODE_INVALID_PARAMETER_VALUE);
		return;
	}
	bytes = VARDATA_ANY(DatumGetTextPP(value_of(written)));
	CHECK(VARSIZE_ANY_EXHDR(DatumGetTextPP(written.value)) == length);
	CHECK(memcmp(bytes, prefix, prefix_length) == 0 && bytes[prefix_length] == '_');

	CHECK(uuid_is(CALL_VALUE(idgen_prefixed_id_to_uuid, made, text_arg(prefix, prefix_length, !short_header)), id));
	CHECK(CALL(idgen_prefixed_id_to_uuid, made, any_text(prefix, prefix_length - 1)).sqlstate ==
		  (is_prefix(prefix, prefix_length - 1) ? ERRCODE_CHECK_VIOLATION : ERRCODE_INVALID_PARAMETER_VALUE));
	CHECK(is_canonical(bytes, length, prefix, prefix_length));
	CHECK(!is_canonical(bytes, length - 1, prefix, prefix_length));
	CHECK(text_is(CALL_VALUE(idgen_prefixed_id_prefix, made), prefix, prefix_length));
}

void
fuzz_target(Input *input)
{
	char	   *bytes;
	size_t		length;
	size_t		separator;
	Outcome		id;
	Outcome		prefix;
	Datum		canonical;
	pg_uuid_t	uuid;

	short_header = take(input, 1) & 1;
	length = separator = input->left;
	bytes = memcpy(palloc(length), input->bytes, length);
	id = CALL(idgen_prefixed_id_to_uuid, any_text(bytes, length), null_arg());
	prefix = CALL(idgen_prefixed_id_prefix, any_text(bytes, length));
	CHECK(id.sqlstate == prefix.sqlstate);

	while (separator > 0 && bytes[separator - 1] != '_')
		separator--;

	if (id.sqlstate == 0)
	{
		CHECK(separator > 1);
		CHECK(is_prefix(bytes, separator - 1));
		CHECK(length - separator >= 1 && length - separator <= WIDTH);
		CHECK(text_is(prefix.value, bytes, separator - 1));
		uuid = *DatumGetUUIDP(id.value);
		canonical = CALL_VALUE(idgen_prefixed_id, value_arg(prefix.value), uuid_arg(&uuid));
		CHECK(is_canonical(bytes, length, bytes, separator - 1) == text_is(canonical, bytes, length));
		check_written(bytes, separator - 1, &uuid);

		/* digits of the other case mean the same, a prefix of it is invalid */
		for (size_t i = separator; i < length; i++)
		{
			if (bytes[i] > '9')
				bytes[i] ^= 0x20;
		}
		CHECK(uuid_is(CALL_VALUE(idgen_prefixed_id_to_uuid, any_text(bytes, length), null_arg()), &uuid));
		bytes[0] ^= 0x20;
		CHECK(CALL(idgen_prefixed_id_prefix, any_text(bytes, length)).sqlstate == ERRCODE_INVALID_TEXT_REPRESENTATION);
	}
	else
	{
		CHECK(id.sqlstate == ERRCODE_INVALID_TEXT_REPRESENTATION);
		CHECK(!is_canonical(bytes, length, "a", 1));
		/* the text is checked before its prefix is compared */
		CHECK(CALL(idgen_prefixed_id_to_uuid, any_text(bytes, length), any_text("a", 1)).sqlstate ==
			  ERRCODE_INVALID_TEXT_REPRESENTATION);
	}

	/* any prefix, and any uuid */
	uuid = take_uuid(input);
	check_written((const char *) input->bytes, input->left, &uuid);
}
