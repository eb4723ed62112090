/*-------------------------------------------------------------------------
 *
 * radix.h
 *	  128-bit numbers as digits of a base, and back.
 *
 *-------------------------------------------------------------------------
 */
#ifndef IDGEN_RADIX_H
#define IDGEN_RADIX_H

#include "uuid_bits.h"

/* An alphabet: a base, its digits, and what reads as which of them. */
typedef struct Radix Radix;

extern const Radix *const radix_36; /* lower case; reads both */
extern const Radix *const radix_crockford;	/* upper case; reads both, and i,
											 * l, o as 1, 1, 0 */
extern const Radix *const radix_typeid; /* the same digits in lower case;
										 * reads nothing else */

/* the most digits of any base that a 128-bit number takes */
#define RADIX_MAX_WIDTH		32

/* The radix of a base that SQL names: 16, 32, 36, 58 or 62 (22023). */
extern const Radix *radix_of_base(int32 base);

/* How many digits a 128-bit number takes. */
extern int	radix_width(const Radix *radix);

/* Write exactly radix_width() digits, high to low. */
extern void radix_encode(const Radix *radix, uint64 high, uint64 low,
						 char *digits);

/*
 * Read digits; false, with *problem saying what is wrong and where, for an
 * empty text, a foreign character, too many digits, or more than 128 bits.
 * A foreign character is reported before anything else, so that all before its
 * position, which counts from first_position, is ASCII: a position in bytes is
 * one in characters.
 */
extern bool radix_decode(const Radix *radix, const char *digits, int length,
						 int first_position, uint64 *high, uint64 *low,
						 char **problem);

#endif							/* IDGEN_RADIX_H */
