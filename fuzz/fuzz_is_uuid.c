/*
 * fuzz_is_uuid.c
 *	  is_uuid() on any text: true for the 36 characters that the pattern
 *	  describes, and an error only for a version out of range.
 */
#include "server.h"

#define PATTERN "xxxxxxxx-xxxx-Vxxx-Wxxx-xxxxxxxxxxxx"

static const char *const hex_digits = "0123456789abcdefABCDEF";

void
fuzz_target(Input *input)
{
	uint8		way = take(input, 1);
	bool		any_version = way & 0x80;
	int32		version = (way & 0x1F) - 4;
	char	   *bytes = memcpy(palloc(input->left), input->bytes, input->left);
	size_t		length = input->left;
	bool		expected = length == strlen(PATTERN);
	Outcome		outcome;

	/* most texts of the right length get the pattern's form */
	for (size_t i = 0; expected && way & 0x20 && i < length; i++)
		bytes[i] = PATTERN[i] == '-' ? '-' : hex_digits[(uint8) bytes[i] % strlen(hex_digits)];

	for (size_t i = 0; expected && i < length; i++)
	{
		char		here = bytes[i];

		if (PATTERN[i] == '-')
			expected = here == '-';
		else if (here == '\0' || strchr(hex_digits, here) == NULL)
			expected = false;
		else if (PATTERN[i] == 'W')
			expected = strchr("89abAB", here) != NULL;
		else if (PATTERN[i] == 'V')
			expected = any_version ? here >= '1' && here <= '8' :
				version == (here <= '9' ? here - '0' : (here & 0xF) + 9);
	}

	outcome = CALL(idgen_is_uuid, text_arg(bytes, length, way & 0x40),
				   any_version ? null_arg() : int32_arg(version));
	if (!any_version && (version < 0 || version > 15))
		CHECK(outcome.sqlstate == ERRCODE_INVALID_PARAMETER_VALUE);
	else
		CHECK(DatumGetBool(value_of(outcome)) == expected);
}
