/*
 * fuzz_radix.c
 *	  Numbers as digits of a base, and back: beside a reader that goes digit by
 *	  digit, radix.c accepts the same texts and gives the same numbers; it
 *	  writes what it reads, in the order of the numbers.
 */
#include "backend.h"

#include "radix.h"

typedef unsigned __int128 Number;

/* What each base's digits are; a second writing reads as the first. */
static const struct
{
	int32		base;
	int			width;
	const char *digits;
	const char *also;			/* pairs: what is read, and as which digit */
}			bases[] =
{
	{16, 32, "0123456789abcdef", "AaBbCcDdEeFf"},
	{32, 26, "0123456789ABCDEFGHJKMNPQRSTVWXYZ",
	"aAbBcCdDeEfFgGhHjJkKmMnNpPqQrRsStTvVwWxXyYzZi1I1l1L1o0O0"},
	{36, 25, "0123456789abcdefghijklmnopqrstuvwxyz",
	"AaBbCcDdEeFfGgHhIiJjKkLlMmNnOoPpQqRrSsTtUuVvWwXxYyZz"},
	{58, 22, "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", ""},
	{62, 22, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", ""}
};

/* The value of a character in a base, -1 where it is no digit. */
static int
value_of_character(int which, char character)
{
	const char *digit;

	if (character == '\0')
		return -1;
	for (const char *pair = bases[which].also; *pair != '\0'; pair += 2)
	{
		if (*pair == character)
			character = pair[1];
	}
	digit = strchr(bases[which].digits, character);
	return digit == NULL ? -1 : (int) (digit - bases[which].digits);
}

static bool
read_slowly(int which, const char *digits, int length, Number *number)
{
	*number = 0;
	if (length < 1 || length > bases[which].width)
		return false;
	for (int i = 0; i < length; i++)
	{
		int			value = value_of_character(which, digits[i]);
		Number		next = *number * bases[which].base + Max(value, 0);

		if (value < 0 || (next - value) / bases[which].base != *number || next < (Number) value)
			return false;
		*number = next;
	}
	return true;
}

void
fuzz_target(Input *input)
{
	int			way = take(input, 1);
	int			which = way % lengthof(bases);
	bool		digits_only = way & 0x80;
	uint64		other_high = take(input, 8);
	uint64		other_low = take(input, 8);
	const Radix *radix = radix_of_base(bases[which].base);
	int			width = radix_width(radix);
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

	CHECK(width == bases[which].width);
	if (!read_slowly(which, digits, length, &number))
	{
		CHECK(!radix_decode(radix, digits, length, 1, &high, &low, &problem));
		CHECK(problem != NULL && strlen(problem) > 0);
		return;
	}
	CHECK(radix_decode(radix, digits, length, 1, &high, &low, &problem));
	CHECK(number == ((Number) high << 64 | low));

	/* what it writes are all the digits, with leading zeros */
	radix_encode(radix, high, low, written);
	for (int i = 0; i < width - length; i++)
		CHECK(written[i] == bases[which].digits[0]);
	for (int i = 0; i < length; i++)
		CHECK(value_of_character(which, digits[i]) ==
			  value_of_character(which, written[width - length + i]));

	/* and they have the order of the numbers */
	radix_encode(radix, other_high, other_low, other_written);
	CHECK((memcmp(written, other_written, width) < 0) ==
		  (number < ((Number) other_high << 64 | other_low)));
	CHECK(radix_decode(radix, other_written, width, 1, &high, &low, &problem));
	CHECK(high == other_high && low == other_low);
}
