/*-------------------------------------------------------------------------
 *
 * radix.c
 *	  Positional notation for 128-bit numbers.
 *
 * A number consists of four limbs of 32 bits, and a chunk is the greatest
 * number of digits whose value fits a limb.  One pass over the limbs divides
 * or multiplies them by the value of a chunk, so that a uuid takes five passes
 * in any base.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "radix.h"

#define LIMBS	4				/* most significant first */

/* the value of a character that is not a digit; values of digits lack its high bit */
#define NO_DIGIT		0xFF
#define NO_DIGIT_BIT	0x80

/* Each base, the value of a chunk, and the number of digits in a chunk. */
#define BASE_16		16, 0x10000000U, 7
#define BASE_32		32, 0x40000000U, 6
#define BASE_36		36, 2176782336U, 6
#define BASE_58		58, 656356768U, 5
#define BASE_62		62, 916132832U, 5

struct Radix
{
	int			base;
	int			width;			/* number of digits of 128 bits */
	const char *digits;
	bool		both_cases;		/* reads letters of either case */
	bool		confusable;		/* reads i, l and o as 1, 1 and 0 */
	uint8		values[256];	/* value of each character, once it is ready */
	bool		ready;
};

/*
 * Digits are in ASCII order, so that in collation "C" the text order of numbers
 * of equal width is their numeric order.
 */
static Radix base_16 =
{.base = 16, .width = 32, .both_cases = true,
.digits = "0123456789abcdef"};
static Radix base_32 =
{.base = 32, .width = 26, .both_cases = true, .confusable = true,
.digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"};
static Radix base_32_typeid =
{.base = 32, .width = 26,
.digits = "0123456789abcdefghjkmnpqrstvwxyz"};
static Radix base_36 =
{.base = 36, .width = 25, .both_cases = true,
.digits = "0123456789abcdefghijklmnopqrstuvwxyz"};
static Radix base_58 =
{.base = 58, .width = 22,
.digits = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"};
static Radix base_62 =
{.base = 62, .width = 22,
.digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"};

const Radix *const radix_36 = &base_36;
const Radix *const radix_crockford = &base_32;
const Radix *const radix_typeid = &base_32_typeid;

const Radix *
radix_of_base(int32 base)
{
	switch (base)
	{
		case 16:
			return &base_16;
		case 32:
			return &base_32;
		case 36:
			return &base_36;
		case 58:
			return &base_58;
		case 62:
			return &base_62;
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

/*
 * Write a number's digits, last to first.  base, chunk_value and chunk_digits
 * are constants in every call, so that the compiler replaces division by
 * multiplication.
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
	}
}

void
radix_encode(const Radix *radix, uint64 high, uint64 low, char *digits)
{
	uint32		limbs[LIMBS] = {high >> 32, high, low >> 32, low};

	switch (radix->base)
	{
		case 16:
			encode_limbs(limbs, radix->digits, radix->width, digits, BASE_16);
			break;
		case 32:
			encode_limbs(limbs, radix->digits, radix->width, digits, BASE_32);
			break;
		case 36:
			encode_limbs(limbs, radix->digits, radix->width, digits, BASE_36);
			break;
		case 58:
			encode_limbs(limbs, radix->digits, radix->width, digits, BASE_58);
			break;
		case 62:
			encode_limbs(limbs, radix->digits, radix->width, digits, BASE_62);
			break;
	}
}

/* The value of each character; computed once per process. */
static const uint8 *
digit_values(const Radix *radix)
{
	Radix	   *own = unconstify(Radix *, radix);

	if (own->ready)
		return own->values;

	memset(own->values, NO_DIGIT, sizeof(own->values));
	for (int i = 0; i < own->base; i++)
	{
		uint8		digit = own->digits[i];

		own->values[digit] = i;
		if (own->both_cases && digit > '9')
			own->values[digit ^ 0x20] = i;
	}
	if (own->confusable)
	{
		own->values['i'] = own->values['I'] = 1;
		own->values['l'] = own->values['L'] = 1;
		own->values['o'] = own->values['O'] = 0;
	}
	own->ready = true;
	return own->values;
}

/*
 * Read digits into limbs; false for an invalid character or more than 128
 * bits.  As in encode_limbs(), the last three arguments are constants.
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

bool
radix_decode(const Radix *radix, const char *digits, int length,
			 int first_position, uint64 *high, uint64 *low, char **problem)
{
	const uint8 *values = digit_values(radix);
	uint32		limbs[LIMBS] = {0};
	bool		good = false;

	if (length == 0)
	{
		*problem = psprintf("A digit of base %d is expected at position %d.",
							radix->base, first_position);
		return false;
	}

	switch (radix->base)
	{
		case 16:
			good = decode_limbs(values, digits, length, limbs, BASE_16);
			break;
		case 32:
			good = decode_limbs(values, digits, length, limbs, BASE_32);
			break;
		case 36:
			good = decode_limbs(values, digits, length, limbs, BASE_36);
			break;
		case 58:
			good = decode_limbs(values, digits, length, limbs, BASE_58);
			break;
		case 62:
			good = decode_limbs(values, digits, length, limbs, BASE_62);
			break;
	}

	if (!good || length > radix->width)
	{
		for (int i = 0; i < length; i++)
		{
			if (values[(uint8) digits[i]] == NO_DIGIT)
			{
				*problem = psprintf("Invalid character at position %d; a digit of base %d is expected.",
									first_position + i, radix->base);
				return false;
			}
		}
		if (length > radix->width)
			*problem = psprintf("At most %d digits are allowed.", radix->width);
		else
			*problem = pstrdup("The value of the digits exceeds 128 bits.");
		return false;
	}

	*high = (uint64) limbs[0] << 32 | limbs[1];
	*low = (uint64) limbs[2] << 32 | limbs[3];
	return true;
}
