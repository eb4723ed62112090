/*
 * fuzz_object_id.c
 *	  ObjectId: an accepted text has 24 hexadecimal digits of either case, the
 *	  time of its first 8 digits, and lies between the bounds of its second.
 */
#include "server.h"

#include <ctype.h>
#include <strings.h>

#define DIGITS	24

static const char *
digits_of(Datum made)
{
	CHECK(VARSIZE_ANY_EXHDR(DatumGetPointer(made)) == DIGITS);
	return VARDATA_ANY(DatumGetPointer(made));
}

static void
check_text(const char *bytes, size_t length, bool short_header)
{
	NullableDatum id = text_arg(bytes, length, short_header);
	bool		form = DatumGetBool(CALL_VALUE(idgen_is_object_id, id));
	Outcome		read = CALL(idgen_object_id_timestamp, id);
	size_t		digits = 0;
	TimestampTz second;
	char		first[9] = "";

	while (digits < length && isxdigit((unsigned char) bytes[digits]))
		digits++;
	CHECK(form == (length == DIGITS && digits == DIGITS));
	CHECK(read.sqlstate == (form ? 0 : ERRCODE_INVALID_TEXT_REPRESENTATION));
	if (!form)
		return;

	second = DatumGetTimestampTz(read.value);
	memcpy(first, bytes, 8);
	CHECK(second == wide_instant((Wide) strtoll(first, NULL, 16) * 1000));
	CHECK(strncasecmp(digits_of(CALL_VALUE(idgen_object_id_floor, instant_arg(second))), bytes, DIGITS) <= 0);
	CHECK(strncasecmp(digits_of(CALL_VALUE(idgen_object_id_floor, instant_arg(second + USECS_PER_SEC - 1))), bytes, 8) == 0);
}

void
fuzz_target(Input *input)
{
	bool		short_header = take(input, 1) & 1;
	char		digits[DIGITS];

	check_text((const char *) input->bytes, input->left, short_header);

	/* any ObjectId */
	for (int i = 0; i < DIGITS; i++)
		digits[i] = "0123456789abcdef"[take(input, 1) % 16];
	check_text(digits, DIGITS, short_header);
}
