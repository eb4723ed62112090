/*
 * siphash.h
 *	  SipHash-2-4 with a 128-bit key, by Aumasson and Bernstein (2012).
 *
 * A message is absorbed as eight-byte little-endian words.  The last word
 * contains the remaining bytes, at most seven, and the message's length modulo
 * 256 in its highest byte.
 */
#ifndef IDGEN_SIPHASH_H
#define IDGEN_SIPHASH_H

#define SIPHASH_KEY_BYTES	16

typedef struct SipHash
{
	uint64		v0;
	uint64		v1;
	uint64		v2;
	uint64		v3;
} SipHash;

/* Read an eight-byte word, least significant byte first. */
static inline uint64
siphash_word(const uint8 *bytes)
{
	uint64		word = 0;

	for (int i = 0; i < 8; i++)
		word |= (uint64) bytes[i] << (8 * i);
	return word;
}

/* Return the last word of a message; the caller must add the remaining bytes. */
static inline uint64
siphash_last_word(int message_length)
{
	return (uint64) message_length << 56;
}

static inline uint64
siphash_rotate(uint64 word, int bits)
{
	return word << bits | word >> (64 - bits);
}

static inline void
siphash_round(SipHash *state)
{
	state->v0 += state->v1;
	state->v2 += state->v3;
	state->v1 = siphash_rotate(state->v1, 13) ^ state->v0;
	state->v3 = siphash_rotate(state->v3, 16) ^ state->v2;
	state->v0 = siphash_rotate(state->v0, 32);
	state->v2 += state->v1;
	state->v0 += state->v3;
	state->v1 = siphash_rotate(state->v1, 17) ^ state->v2;
	state->v3 = siphash_rotate(state->v3, 21) ^ state->v0;
	state->v2 = siphash_rotate(state->v2, 32);
}

/* The constants are the bytes of "somepseudorandomlygeneratedbytes". */
static inline SipHash
siphash_start(const uint8 *key)
{
	uint64		k0 = siphash_word(key);
	uint64		k1 = siphash_word(key + 8);

	return (SipHash)
	{
		k0 ^ UINT64CONST(0x736f6d6570736575),
			k1 ^ UINT64CONST(0x646f72616e646f6d),
			k0 ^ UINT64CONST(0x6c7967656e657261),
			k1 ^ UINT64CONST(0x7465646279746573)
	};
}

static inline void
siphash_absorb(SipHash *state, uint64 word)
{
	state->v3 ^= word;
	siphash_round(state);
	siphash_round(state);
	state->v0 ^= word;
}

/* Return the hash after the last word has been absorbed. */
static inline uint64
siphash_finish(SipHash state)
{
	state.v2 ^= 0xFF;
	siphash_round(&state);
	siphash_round(&state);
	siphash_round(&state);
	siphash_round(&state);
	return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

/* Return the hash of a message. */
static inline uint64
siphash_bytes(const uint8 *key, const char *bytes, int length)
{
	SipHash		hash = siphash_start(key);
	uint8		last[8] = {0};
	int			i;

	for (i = 0; i + 8 <= length; i += 8)
		siphash_absorb(&hash, siphash_word((const uint8 *) bytes + i));
	memcpy(last, bytes + i, length - i);
	siphash_absorb(&hash, siphash_last_word(length) | siphash_word(last));
	return siphash_finish(hash);
}

#endif							/* IDGEN_SIPHASH_H */
