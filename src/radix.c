/*
 * radix.c
 *	  Positional notation for 128-bit numbers.
 *
 * A number is stored in four 32-bit limbs.  A chunk consists of n digits,
 * where n is the greatest number for which base^n fits into a limb.  One pass
 * over the limbs divides or multiplies the number by base^n, so a uuid takes
 * five passes in any base.
 */
#include "postgres.h"

#include "radix.h"

#define LIMBS	4				/* most significant first */

/* the value of a character that is not a digit; values of digits do not have the high bit set */
#define XX				0xFF
#define NO_DIGIT_BIT	0x80
#define NO_DIGITS(first, last)	[(first) ... (last)] = XX

struct Radix
{
	int			base;
	int			width;			/* digits of a 128-bit number */
	void		(*encode) (uint32 *limbs, const char *alphabet, int width, char *digits);
	bool		(*decode) (const uint8 *values, const char *digits, int length, uint32 *limbs);
	const char *digits;
	const uint8 *values;		/* value of each character */
};

/*
 * Write a number's digits, beginning with the last.  Every call passes
 * constants for base, chunk_value and chunk_digits, so the compiler can
 * replace divisions with multiplications.
 */
static pg_attribute_always_inline void
encode_limbs(uint32 *limbs, const char *alphabet, int width, char *digits,
			 uint32 base, uint32 chunk_value, int chunk_digits)
{
	int			first = 0;		/* all limbs before this one are zero */

	while (width > 0)
	{
		uint64		remainder = 0;
		uint32		chunk;

		for (int i = first; i < LIMBS; i++)
		{
			remainder = remainder << 32 | limbs[i];
			limbs[i] = (uint32) (remainder / chunk_value);
			remainder %= chunk_value;
		}
		if (first < LIMBS && limbs[first] == 0)
			first++;

		chunk = (uint32) remainder;
		for (int i = 0; i < chunk_digits && width > 0; i++)
		{
			digits[--width] = alphabet[chunk % base];
			chunk /= base;
		}
		Assert(width > 0 || chunk == 0);
	}
}

/*
 * Read digits into limbs.  Returns false if a character is invalid, or if the
 * number has more than 128 bits.
 */
static pg_attribute_always_inline bool
decode_limbs(const uint8 *values, const char *digits, int length, uint32 *limbs,
			 uint32 base, uint32 chunk_value, int chunk_digits)
{
	int			end = (length - 1) % chunk_digits + 1;	/* of the first chunk */
	int			i = 0;
	uint8		seen = 0;		/* bitwise OR of all values */

	while (i < length)
	{
		uint64		carry = 0;	/* the chunk, then the overflow of a limb */

		for (; i < end; i++)
		{
			uint8		value = values[(uint8) digits[i]];

			seen |= value;
			carry = carry * base + value;
		}
		end += chunk_digits;

		for (int limb = LIMBS - 1; limb >= 0; limb--)
		{
			carry += (uint64) limbs[limb] * chunk_value;
			limbs[limb] = (uint32) carry;
			carry >>= 32;
		}
		if (carry != 0)
			return false;
	}
	return (seen & NO_DIGIT_BIT) == 0;
}

/* Define the two functions of a base; chunk_value is base to the power of chunk_digits. */
#define DEFINE_BASE(base, chunk_value, chunk_digits) \
	static void \
	encode_##base(uint32 *limbs, const char *alphabet, int width, char *digits) \
	{ \
		encode_limbs(limbs, alphabet, width, digits, base, chunk_value, chunk_digits); \
	} \
	static bool \
	decode_##base(const uint8 *values, const char *digits, int length, uint32 *limbs) \
	{ \
		return decode_limbs(values, digits, length, limbs, base, chunk_value, chunk_digits); \
	}

DEFINE_BASE(16, 0x10000000U, 7)
DEFINE_BASE(32, 0x40000000U, 6)
DEFINE_BASE(36, 2176782336U, 6)
DEFINE_BASE(58, 656356768U, 5)
DEFINE_BASE(62, 916132832U, 5)

/* The value of each character.  In Crockford's base 32, I and L are read as 1, and O as 0. */
static const uint8 values_16[] = {
	NO_DIGITS(0, '/'), NO_DIGITS(':', '@'), NO_DIGITS('G', '`'), NO_DIGITS('g', 255),
	['0'] = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
	['A'] = 10, 11, 12, 13, 14, 15,
	['a'] = 10, 11, 12, 13, 14, 15
};

static const uint8 values_crockford[] = {
	NO_DIGITS(0, '/'), NO_DIGITS(':', '@'), NO_DIGITS('[', '`'), NO_DIGITS('{', 255),
	['0'] = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
	['A'] = 10, 11, 12, 13, 14, 15, 16, 17, 1, 18, 19, 1, 20, 21, 0, 22, 23, 24, 25, 26, XX, 27, 28, 29, 30, 31,
	['a'] = 10, 11, 12, 13, 14, 15, 16, 17, 1, 18, 19, 1, 20, 21, 0, 22, 23, 24, 25, 26, XX, 27, 28, 29, 30, 31
};

static const uint8 values_typeid[] = {
	NO_DIGITS(0, '/'), NO_DIGITS(':', '`'), NO_DIGITS('{', 255),
	['0'] = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
	['a'] = 10, 11, 12, 13, 14, 15, 16, 17, XX, 18, 19, XX, 20, 21, XX, 22, 23, 24, 25, 26, XX, 27, 28, 29, 30, 31
};

static const uint8 values_36[] = {
	NO_DIGITS(0, '/'), NO_DIGITS(':', '@'), NO_DIGITS('[', '`'), NO_DIGITS('{', 255),
	['0'] = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
	['A'] = 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35,
	['a'] = 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35
};

static const uint8 values_58[] = {
	NO_DIGITS(0, '0'), NO_DIGITS(':', '@'), NO_DIGITS('[', '`'), NO_DIGITS('{', 255),
	['1'] = 0, 1, 2, 3, 4, 5, 6, 7, 8,
	['A'] = 9, 10, 11, 12, 13, 14, 15, 16, XX, 17, 18, 19, 20, 21, XX, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32,
	['a'] = 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, XX, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57
};

static const uint8 values_62[] = {
	NO_DIGITS(0, '/'), NO_DIGITS(':', '@'), NO_DIGITS('[', '`'), NO_DIGITS('{', 255),
	['0'] = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
	['A'] = 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35,
	['a'] = 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61
};

/* Digits are in ASCII order, so strings of equal width sort by value in "C". */
const Radix radix_16 =
{16, 32, encode_16, decode_16, "0123456789abcdef", values_16};
const Radix radix_crockford =
{32, 26, encode_32, decode_32, "0123456789ABCDEFGHJKMNPQRSTVWXYZ", values_crockford};
const Radix radix_typeid =
{32, 26, encode_32, decode_32, "0123456789abcdefghjkmnpqrstvwxyz", values_typeid};
const Radix radix_36 =
{36, 25, encode_36, decode_36, "0123456789abcdefghijklmnopqrstuvwxyz", values_36};
static const Radix radix_58 =
{58, 22, encode_58, decode_58, "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", values_58};
static const Radix radix_62 =
{62, 22, encode_62, decode_62, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", values_62};

const Radix *
radix_of_base(int32 base)
{
	static const Radix *const bases[] = {&radix_16, &radix_crockford, &radix_36, &radix_58, &radix_62};

	for (int i = 0; i < (int) lengthof(bases); i++)
	{
		if (bases[i]->base == base)
			return bases[i];
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("base %d is not supported", base),
			 errhint("Supported bases are 16, 32, 36, 58 and 62.")));
}

int
radix_width(const Radix *radix)
{
	return radix->width;
}

void
radix_encode(const Radix *radix, const pg_uuid_t *number, char *digits)
{
	uint64		high = uuid_half(number, 0);
	uint64		low = uuid_half(number, 1);
	uint32		limbs[LIMBS] = {high >> 32, high, low >> 32, low};

	radix->encode(limbs, radix->digits, radix->width, digits);
}

bool
radix_decode(const Radix *radix, const char *digits, int length, pg_uuid_t *number)
{
	uint32		limbs[LIMBS] = {0};

	if (length < 1 || length > radix->width ||
		!radix->decode(radix->values, digits, length, limbs))
		return false;

	uuid_set_half(number, 0, (uint64) limbs[0] << 32 | limbs[1]);
	uuid_set_half(number, 1, (uint64) limbs[2] << 32 | limbs[3]);
	return true;
}

bool
radix_is_canonical(const Radix *radix, const char *digits, int length)
{
	pg_uuid_t	number;

	if (!radix_decode(radix, digits, length, &number))
		return false;
	for (int i = 0; i < length; i++)
	{
		if (radix->digits[radix->values[(uint8) digits[i]]] != digits[i])
			return false;
	}
	return true;
}

const char *
radix_problem(const Radix *radix, const char *digits, int length, int first_position)
{
	if (length == 0)
		return psprintf("A digit of base %d is expected at position %d.",
						radix->base, first_position);

	for (int i = 0; i < length; i++)
	{
		if (radix->values[(uint8) digits[i]] == XX)
			return psprintf("Invalid character at position %d; a digit of base %d is expected.",
							first_position + i, radix->base);
	}
	return length > radix->width ?
		psprintf("At most %d digits are allowed.", radix->width) : NULL;
}
