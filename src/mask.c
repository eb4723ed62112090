/*
 * mask.c
 *	  Keys that are ordered inside the database and opaque outside.
 *
 * mask_uuid_v7() applies a keyed permutation to 122 bits of a version 7 UUID,
 * and returns the result as a version 4 UUID.  docs/masks.md defines the
 * permutation.  permute() is a keyed permutation of the numbers from 1 to a
 * given maximum.  Both are Feistel networks with SipHash-2-4 as the round
 * function.  The messages that they hash have different lengths.
 *
 * These functions are STABLE, because the secret keys may change when the
 * server reloads its configuration.
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "arguments.h"
#include "key_file.h"
#include "siphash.h"

StaticAssertDecl(sizeof(SecretKey) == SIPHASH_KEY_BYTES, "a key of the file is a key of SipHash");

/*
 * FF1 of NIST SP 800-38G has the same number of rounds.  Revision 1 of that
 * standard requires a domain of at least 10^6 numbers.  A network on a small
 * domain can be distinguished from a random permutation, regardless of the
 * number of rounds.  If the domain's size is a power of two, the parity of the
 * permutation is sufficient for this.
 */
#define FEISTEL_ROUNDS		10

/* the halves of a UUID */
#define UUID_HALF_BITS		61
#define UUID_HALF_MASK		((UINT64CONST(1) << UUID_HALF_BITS) - 1)

/* Return the key that the argument "key_name" specifies. */
static const uint8 *
key_argument(FunctionCallInfo fcinfo, int argno)
{
	require_not_null(fcinfo, argno, "key_name");
	return named_key(PG_GETARG_TEXT_PP(argno))->bytes;
}

/*
 * Mask or unmask a UUID, and change its version.  The 122 bits other than the
 * version and variant are divided into two 61-bit halves.  A round XORs one
 * half with a hash of the other half (8 bytes) and the round number (1 byte).
 * Even rounds replace the first half, and odd rounds the second.
 */
static Datum
exchange_version(FunctionCallInfo fcinfo, int from_version, int to_version, bool inverse)
{
	const pg_uuid_t *id;
	SipHash		start;
	uint64		halves[2];

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();

	id = require_uuid_version(fcinfo, 0, from_version);
	start = siphash_start(key_argument(fcinfo, 1));
	halves[0] = uuid_high(id) << 1 | uuid_low(id) >> UUID_HALF_BITS;
	halves[1] = uuid_low(id) & UUID_HALF_MASK;

	for (int i = 0; i < FEISTEL_ROUNDS; i++)
	{
		uint64		round = inverse ? FEISTEL_ROUNDS - 1 - i : i;
		int			replaced = round % 2;
		SipHash		hash = start;

		siphash_absorb(&hash, halves[1 - replaced]);
		siphash_absorb(&hash, siphash_last_word(8 + 1) | round);
		halves[replaced] ^= siphash_finish(hash) & UUID_HALF_MASK;
	}
	return uuid_datum(to_version, halves[0] >> 1, (halves[0] & 1) << UUID_HALF_BITS | halves[1]);
}

/* mask_uuid_v7(id uuid, key_name text DEFAULT 'default') returns uuid */
PG_FUNCTION_INFO_V1(idgen_mask_uuid_v7);
Datum
idgen_mask_uuid_v7(PG_FUNCTION_ARGS)
{
	return exchange_version(fcinfo, 7, 4, false);
}

/*
 * unmask_uuid_v7(masked uuid, key_name text DEFAULT 'default') returns uuid
 *	The inverse of mask_uuid_v7().  It accepts every version 4 UUID, even one
 *	that mask_uuid_v7() has not returned.
 */
PG_FUNCTION_INFO_V1(idgen_unmask_uuid_v7);
Datum
idgen_unmask_uuid_v7(PG_FUNCTION_ARGS)
{
	return exchange_version(fcinfo, 4, 7, true);
}

/*
 * A Feistel network, which permutes the numbers from 0 to 2^bits - 1.  If the
 * number of bits is odd, the right half has one bit more than the left half.
 * Even rounds replace the left half, and odd rounds the right half.
 */
typedef struct Feistel
{
	SipHash		hash;			/* state after hashing size and area */
	int			message_length;
	int			right_bits;
	uint64		masks[2];		/* of the left and right halves */
} Feistel;

/* Make the smallest network that permutes at least "count" numbers. */
static Feistel
feistel_make(const uint8 *key, uint64 count, const text *area)
{
	int			area_length = VARSIZE_ANY_EXHDR(area);
	int			bits = pg_leftmost_one_pos64(count - 1) + 1;
	int			left_bits = bits / 2;
	Feistel		feistel;

	feistel.hash = siphash_start(key);
	siphash_absorb(&feistel.hash, count);
	if (area_length > 0)
		siphash_absorb(&feistel.hash, siphash_bytes(key, VARDATA_ANY(area), area_length));
	feistel.message_length = (area_length > 0 ? 16 : 8) + 4 + 1;
	feistel.right_bits = bits - left_bits;
	feistel.masks[0] = (UINT64CONST(1) << left_bits) - 1;
	feistel.masks[1] = (UINT64CONST(1) << feistel.right_bits) - 1;
	return feistel;
}

/*
 * Permute a number, or invert the permutation by executing the rounds in
 * reverse order.  A round XORs one half with a SipHash-2-4 hash.  The hashed
 * message consists of the domain's size (8 bytes), the SipHash-2-4 hash of the
 * area in UTF-8 (8 bytes, omitted if the area is empty), the other half (4
 * bytes), and the round number (1 byte).  All numbers are little-endian.
 */
static uint64
feistel_permute(const Feistel *feistel, uint64 number, bool inverse)
{
	uint64		halves[2] = {number >> feistel->right_bits, number & feistel->masks[1]};

	for (int i = 0; i < FEISTEL_ROUNDS; i++)
	{
		uint64		round = inverse ? FEISTEL_ROUNDS - 1 - i : i;
		int			replaced = round % 2;
		SipHash		hash = feistel->hash;

		siphash_absorb(&hash, siphash_last_word(feistel->message_length) | round << 32 | halves[1 - replaced]);
		halves[replaced] = (halves[replaced] ^ siphash_finish(hash)) & feistel->masks[replaced];
	}
	return halves[0] << feistel->right_bits | halves[1];
}

static Datum
permute(FunctionCallInfo fcinfo, bool inverse)
{
	int64		id;
	int64		max_value;
	const text *area;
	Feistel		feistel;
	uint64		number;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	require_not_null(fcinfo, 2, "max_value");
	id = PG_GETARG_INT64(0);
	max_value = PG_GETARG_INT64(2);

	require_at_least(max_value, 2, "max_value");
	if (id < 1 || id > max_value)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("id must be between 1 and " INT64_FORMAT, max_value),
				 errdetail("The value is " INT64_FORMAT ".", id)));

	area = area_argument(fcinfo, 1);
	feistel = feistel_make(key_argument(fcinfo, 3), max_value, area);

	/*
	 * The network permutes up to twice as many numbers as the domain has.
	 * Repeat the permutation until its result is in the domain.
	 */
	number = id - 1;
	do
		number = feistel_permute(&feistel, number, inverse);
	while (number >= (uint64) max_value);
	PG_RETURN_INT64(number + 1);
}

/*
 * permute(id bigint, area text, max_value bigint, key_name text) returns bigint,
 * unpermute(permuted bigint, area text, max_value bigint, key_name text) returns bigint
 */
PG_FUNCTION_INFO_V1(idgen_permute);
Datum
idgen_permute(PG_FUNCTION_ARGS)
{
	return permute(fcinfo, false);
}

PG_FUNCTION_INFO_V1(idgen_unpermute);
Datum
idgen_unpermute(PG_FUNCTION_ARGS)
{
	return permute(fcinfo, true);
}
