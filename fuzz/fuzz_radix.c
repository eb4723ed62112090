/*
 * fuzz_radix.c
 *	  Numbers as digits of a base: radix.c reads the same texts as a reader
 *	  that proceeds digit by digit, to the same numbers; it writes the digits
 *	  that it reads, in the order of the numbers.
 */
#include "fuzz.h"

#include "radix.c"

typedef unsigned __int128 Number;

#define TWO_CASES	"AaBbCcDdEeFfGgHhIiJjKkLlMmNnOoPpQqRrSsTtUuVvWwXxYyZz"

/* The digits of each base; "also" pairs further characters with digits. */
static const struct
{
	const Radix *radix;
	int			base;
	int			width;
	const char *digits;
	const char *also;
}			bases[] =
{
	{&base_16, 16, 32, "0123456789abcdef", TWO_CASES},
	{&base_32, 32, 26, "0123456789ABCDEFGHJKMNPQRSTVWXYZ",
	"aAbBcCdDeEfFgGhHjJkKmMnNpPqQrRsStTvVwWxXyYzZi1I1l1L1o0O0"},
	{&base_36, 36, 25, "0123456789abcdefghijklmnopqrstuvwxyz", TWO_CASES},
	{&base_58, 58, 22, "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", ""},
	{&base_62, 62, 22, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", ""}
};

/* The value of a character in a base, -1 if it is no digit. */
static int
digit_value(int which, char character)
{
	const char *digit;

	for (const char *pair = bases[which].also; *pair != '\0'; pair += 2)
	{
		if (*pair == character)
		{
			character = pair[1];
			break;
		}
	}
	digit = character == '\0' ? NULL : strchr(bases[which].digits, character);
	return digit == NULL ? -1 : (int) (digit - bases[which].digits);
}

static bool
read_slowly(int which, const char *digits, int length, Number *number)
{
	*number = 0;
	for (int i = 0; i < length; i++)
	{
		int			value = digit_value(which, digits[i]);

		if (value < 0 || *number > (~(Number) 0 - value) / bases[which].base)
			return false;
		*number = *number * bases[which].base + value;
	}
	return length >= 1 && length <= bases[which].width;
}

void
fuzz_target(Input *input)
{
	int			way = take(input, 1);
	int			which = way % lengthof(bases);
	bool		digits_only = way & 0x80;
	uint64		other_high = take(input, 8);
	uint64		other_low = take(input, 8);
	const Radix *radix = bases[which].radix;
	int			width = bases[which].width;
	int			length = Min(input->left, (size_t) width + 2);
	char	   *digits = palloc(length);
	char	   *written = palloc(width);
	char	   *other_written = palloc(width);
	char	   *problem = NULL;
	uint64		high;
	uint64		low;
	Number		number;

	for (int i = 0; i < length; i++)
	{
		digits[i] = take(input, 1);
		if (digits_only)
			digits[i] = bases[which].digits[(uint8) digits[i] % bases[which].base];
	}

	CHECK(radix_width(radix) == width);
	if (!read_slowly(which, digits, length, &number))
	{
		CHECK(!radix_decode(radix, digits, length, 1, &high, &low, &problem));
		CHECK(problem != NULL && strlen(problem) > 0);
		return;
	}
	CHECK(radix_decode(radix, digits, length, 1, &high, &low, &problem));
	CHECK(number == ((Number) high << 64 | low));

	/* all the digits are written, with leading zeros */
	radix_encode(radix, high, low, written);
	for (int i = 0; i < width; i++)
		CHECK(digit_value(which, written[i]) ==
			  (i < width - length ? 0 : digit_value(which, digits[i - width + length])));

	/* their order is that of the numbers */
	radix_encode(radix, other_high, other_low, other_written);
	CHECK((memcmp(written, other_written, width) < 0) ==
		  (number < ((Number) other_high << 64 | other_low)));
	CHECK(radix_decode(radix, other_written, width, 1, &high, &low, &problem));
	CHECK(high == other_high && low == other_low);
}
