/*
 * radix.h
 *	  Positional notation for 128-bit numbers, which are stored as uuids.
 */
#ifndef IDGEN_RADIX_H
#define IDGEN_RADIX_H

#include "uuid_bits.h"

/* A base, its digits, and the characters that are read as each digit. */
typedef struct Radix Radix;

/* writes lower case; reads both cases */
extern const Radix radix_16;
extern const Radix radix_36;

/* writes upper case; reads both cases, I and L as 1, and O as 0 */
extern const Radix radix_crockford;

/* writes the digits of radix_crockford in lower case; reads only these */
extern const Radix radix_typeid;

/* the greatest radix_width() */
#define RADIX_MAX_WIDTH		32

/* Return the given base: 16, 32, 36, 58 or 62.  Raises 22023 for any other. */
extern const Radix *radix_of_base(int32 base);

/* Return the number of digits of the greatest 128-bit number. */
extern int	radix_width(const Radix *radix);

/* Write exactly radix_width() digits, most significant first. */
extern void radix_encode(const Radix *radix, const pg_uuid_t *number, char *digits);

/*
 * Read digits; leading zeros can be omitted.  Returns false if there is no digit,
 * a character is invalid, there are too many digits, or the number has more than
 * 128 bits.
 */
extern bool radix_decode(const Radix *radix, const char *digits, int length,
						 pg_uuid_t *number);

/* Are the digits as radix_encode() writes them, with or without leading zeros? */
extern bool radix_is_canonical(const Radix *radix, const char *digits, int length);

/*
 * Return a sentence that says why radix_decode() returned false, or NULL if
 * the number has more than 128 bits.  first_position is the position of the
 * first digit in the caller's text.  An invalid character is reported before
 * any other problem.
 */
extern const char *radix_problem(const Radix *radix, const char *digits, int length,
								 int first_position);

#endif							/* IDGEN_RADIX_H */
