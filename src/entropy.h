/*
 * entropy.h
 *	  Random bits from the server's cryptographic generator, drawn in blocks.
 */
#ifndef IDGEN_ENTROPY_H
#define IDGEN_ENTROPY_H

extern void entropy_fill(void *bytes, Size size);
extern uint64 entropy_uint64(void);

/* Return the given number of random bits, from 1 to 64. */
static inline uint64
entropy_bits(int bits)
{
	Assert(bits >= 1 && bits <= 64);
	return entropy_uint64() >> (64 - bits);
}

#endif							/* IDGEN_ENTROPY_H */
