/*
 * fuzz_object_id.c
 *	  ObjectId: what is accepted is 24 hexadecimal digits of either case, has
 *	  the time of its first 8 digits, and lies between the bounds of its second.
 */
#include "backend.h"

#include <ctype.h>
#include <strings.h>

#include "clock.h"

#define DIGITS	24

static const char *
digits_of(Datum made)
{
	text	   *id = DatumGetTextPP(made);

	CHECK(VARSIZE_ANY_EXHDR(id) == DIGITS);
	return VARDATA_ANY(id);
}

/* The same text to all that read it, with a header of one length or another. */
static void
check_text(const char *bytes, size_t length, bool short_header)
{
	bool		form = DatumGetBool(CALL_VALUE(idgen_is_object_id, text_arg(bytes, length, short_header)));
	Outcome		read = CALL(idgen_object_id_timestamp, text_arg(bytes, length, short_header));
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
	CHECK(clock_unix_seconds(second) == strtoll(first, NULL, 16));
	CHECK(second % USECS_PER_SEC == 0);
	CHECK(strncasecmp(digits_of(CALL_VALUE(idgen_object_id_floor, instant_arg(second))), bytes, DIGITS) <= 0);
	CHECK(strncasecmp(digits_of(CALL_VALUE(idgen_object_id_ceil, instant_arg(second + USECS_PER_SEC - 1))), bytes, DIGITS) >= 0);
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
