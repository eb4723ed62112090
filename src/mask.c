/*-------------------------------------------------------------------------
 *
 * mask.c
 *	  Ordered keys inside the database, opaque ones outside.
 *
 * mask_uuid_v7() is the published scheme UUIDv47: it encrypts the time of a UUID
 * version 7 with a keyed hash of the random bits, and changes the version to 4.
 * permute() is a keyed permutation of the numbers from 1 to a given one.
 *
 * These functions are STABLE, because the keys may change when the server
 * reloads its configuration.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "arguments.h"
#include "compat.h"
#include "mask_keys.h"
#include "siphash.h"

/*
 * The known generic attacks on Feistel networks reach fewer rounds.  FF1 of
 * NIST SP 800-38G has ten, too.
 */
#define FEISTEL_ROUNDS		10

/* The key that the argument "key_name" names. */
static const uint8 *
key_argument(FunctionCallInfo fcinfo, int argno)
{
	const text *name;

	require_not_null(fcinfo, argno, "key_name");
	name = PG_GETARG_TEXT_PP(argno);
	return mask_key(VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name));
}

/* ------------------------------------------------------------------------
 * UUID version 7
 * ------------------------------------------------------------------------
 */

/*
 * The 48 bits that are XORed onto the time: the low ones of SipHash-2-4 over
 * the random fields, which the mask does not change.  The message is the bytes
 * from b6 to b15 without version and variant.
 */
static uint64
time_mask(const uint8 *key, const pg_uuid_t *id)
{
	SipHash		hash = siphash_start(key);
	uint8		message[16] = {0};

	memcpy(message, id->data + 6, 10);
	message[0] &= 0x0F;
	message[2] &= 0x3F;
	siphash_absorb(&hash, siphash_word(message));
	siphash_absorb(&hash, siphash_last_word(10) | siphash_word(message + 8));
	return siphash_finish(hash) & ((UINT64CONST(1) << 48) - 1);
}

/* Mask or unmask a UUID: XOR its time with the mask, and change its version. */
static Datum
exchange_time(FunctionCallInfo fcinfo, int from_version, int to_version)
{
	const pg_uuid_t *id;
	const uint8 *key;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();

	id = require_uuid_version(fcinfo, 0, from_version);
	key = key_argument(fcinfo, 1);
	return uuid_datum(to_version,
					  uuid_high(id) ^ time_mask(key, id) << UUID_CUSTOM_B_BITS,
					  uuid_low(id));
}

/*
 * mask_uuid_v7(id uuid, key_name text DEFAULT 'default') returns uuid
 *	A UUID of another version is an error (22023).
 */
PG_FUNCTION_INFO_V1(idgen_mask_uuid_v7);
Datum
idgen_mask_uuid_v7(PG_FUNCTION_ARGS)
{
	return exchange_time(fcinfo, 7, 4);
}

/*
 * unmask_uuid_v7(masked uuid, key_name text DEFAULT 'default') returns uuid
 *	The inverse of mask_uuid_v7().  It accepts every UUID of version 4, whether
 *	or not that was masked.
 */
PG_FUNCTION_INFO_V1(idgen_unmask_uuid_v7);
Datum
idgen_unmask_uuid_v7(PG_FUNCTION_ARGS)
{
	return exchange_time(fcinfo, 4, 7);
}

/* ------------------------------------------------------------------------
 * Numbers
 * ------------------------------------------------------------------------
 */

/*
 * A Feistel network, which permutes the numbers from 0 to 2^bits - 1.  If the
 * number of bits is odd, the right half has one more.  A round replaces the
 * left half, and then exchanges the halves.
 */
typedef struct Feistel
{
	SipHash		hash;			/* of the domain's size so far */
	int			right_bits;
	uint64		masks[2];		/* of the half replaced in even and odd rounds */
} Feistel;

/* The smallest network that permutes at least "count" numbers. */
static Feistel
feistel_make(const uint8 *key, uint64 count)
{
	int			bits = pg_leftmost_one_pos64(count - 1) + 1;
	int			left_bits = bits / 2;
	Feistel		feistel;

	feistel.hash = siphash_start(key);
	siphash_absorb(&feistel.hash, count);
	feistel.right_bits = bits - left_bits;
	feistel.masks[0] = (UINT64CONST(1) << left_bits) - 1;
	feistel.masks[1] = (UINT64CONST(1) << feistel.right_bits) - 1;
	return feistel;
}

/*
 * The half that a round replaces: XORed with SipHash-2-4 of the domain's size
 * (8 bytes), the other half (4 bytes) and the round (1 byte), little-endian.
 */
static inline uint64
feistel_round(const Feistel *feistel, int round, uint64 replaced, uint64 other)
{
	SipHash		hash = feistel->hash;

	siphash_absorb(&hash, siphash_last_word(8 + 4 + 1) | (uint64) round << 32 | other);
	return (replaced ^ siphash_finish(hash)) & feistel->masks[round % 2];
}

static uint64
feistel_forward(const Feistel *feistel, uint64 number)
{
	uint64		left = number >> feistel->right_bits;
	uint64		right = number & feistel->masks[1];

	for (int round = 0; round < FEISTEL_ROUNDS; round++)
	{
		uint64		next = feistel_round(feistel, round, left, right);

		left = right;
		right = next;
	}
	return left << feistel->right_bits | right;
}

static uint64
feistel_backward(const Feistel *feistel, uint64 number)
{
	uint64		left = number >> feistel->right_bits;
	uint64		right = number & feistel->masks[1];

	for (int round = FEISTEL_ROUNDS - 1; round >= 0; round--)
	{
		uint64		previous = feistel_round(feistel, round, right, left);

		right = left;
		left = previous;
	}
	return left << feistel->right_bits | right;
}

static Datum
permute(FunctionCallInfo fcinfo, uint64 (*step) (const Feistel *, uint64))
{
	int64		id;
	int64		max_value;
	Feistel		feistel;
	uint64		number;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	require_not_null(fcinfo, 1, "max_value");
	id = PG_GETARG_INT64(0);
	max_value = PG_GETARG_INT64(1);

	require_at_least(max_value, 2, "max_value");
	if (id < 1 || id > max_value)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("id must be between 1 and " INT64_FORMAT, max_value),
				 errdetail("The value is " INT64_FORMAT ".", id)));

	feistel = feistel_make(key_argument(fcinfo, 2), max_value);

	/*
	 * The network permutes up to twice as many numbers as the domain has.
	 * Repeat the permutation until its result is in the domain.
	 */
	number = id - 1;
	do
		number = step(&feistel, number);
	while (number >= (uint64) max_value);
	PG_RETURN_INT64(number + 1);
}

/*
 * permute(id bigint, max_value bigint DEFAULT 9223372036854775807,
 *		   key_name text DEFAULT 'default') returns bigint
 *
 * An id outside 1 to max_value is an error (22003).
 */
PG_FUNCTION_INFO_V1(idgen_permute);
Datum
idgen_permute(PG_FUNCTION_ARGS)
{
	return permute(fcinfo, feistel_forward);
}

/*
 * unpermute(permuted bigint, max_value bigint DEFAULT 9223372036854775807,
 *			 key_name text DEFAULT 'default') returns bigint
 */
PG_FUNCTION_INFO_V1(idgen_unpermute);
Datum
idgen_unpermute(PG_FUNCTION_ARGS)
{
	return permute(fcinfo, feistel_backward);
}
