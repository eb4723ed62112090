/*
 * radix.c
 *	  Positional notation for 128-bit numbers.
 *
 * A number consists of four limbs of 32 bits, and a chunk is the greatest
 * number of digits whose value fits a limb.  One pass over the limbs divides
 * or multiplies them by the value of a chunk, so that a uuid takes five passes
 * in any base.
 */
#include "postgres.h"

#include "radix.h"

#define LIMBS	4				/* most significant first */

/* the value of a character that is not a digit; values of digits lack its high bit */
#define NO_DIGIT		0xFF
#define NO_DIGIT_BIT	0x80

struct Radix
{
	int			base;
	int			width;			/* number of digits of 128 bits */
	void		(*encode) (uint32 *limbs, const char *alphabet, int width, char *digits);
	bool		(*decode) (const uint8 *values, const char *digits, int length, uint32 *limbs);
	const char *digits;
	bool		both_cases;		/* reads letters of either case */
	bool		confusable;		/* reads i, l and o as 1, 1 and 0 */
	uint8		values[256];	/* value of each character, once it is ready */
	bool		ready;
};

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

/* The two functions of a base, given the value of a chunk and its number of digits. */
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

/*
 * Digits are in ASCII order, so that in collation "C" the text order of numbers
 * of equal width is their numeric order.
 */
Radix		radix_16 =
{.base = 16,.width = 32,.encode = encode_16,.decode = decode_16,.both_cases = true,
.digits = "0123456789abcdef"};
Radix		radix_crockford =
{.base = 32,.width = 26,.encode = encode_32,.decode = decode_32,.both_cases = true,
.confusable = true,.digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"};
Radix		radix_typeid =
{.base = 32,.width = 26,.encode = encode_32,.decode = decode_32,
.digits = "0123456789abcdefghjkmnpqrstvwxyz"};
Radix		radix_36 =
{.base = 36,.width = 25,.encode = encode_36,.decode = decode_36,.both_cases = true,
.digits = "0123456789abcdefghijklmnopqrstuvwxyz"};
static Radix radix_58 =
{.base = 58,.width = 22,.encode = encode_58,.decode = decode_58,
.digits = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"};
static Radix radix_62 =
{.base = 62,.width = 22,.encode = encode_62,.decode = decode_62,
.digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"};

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

bool
radix_decode(const Radix *radix, const char *digits, int length, pg_uuid_t *number)
{
	uint32		limbs[LIMBS] = {0};

	if (length < 1 || length > radix->width ||
		!radix->decode(digit_values(radix), digits, length, limbs))
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
	const uint8 *values = digit_values(radix);

	if (length == 0)
		return psprintf("A digit of base %d is expected at position %d.",
						radix->base, first_position);

	for (int i = 0; i < length; i++)
	{
		if (values[(uint8) digits[i]] == NO_DIGIT)
			return psprintf("Invalid character at position %d; a digit of base %d is expected.",
							first_position + i, radix->base);
	}
	return length > radix->width ?
		psprintf("At most %d digits are allowed.", radix->width) : NULL;
}
