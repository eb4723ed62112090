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
	uint64		mask;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();

	id = require_uuid_version(fcinfo, 0, from_version);
	mask = time_mask(key_argument(fcinfo, 1), id);
	return uuid_datum(to_version, uuid_high(id) ^ mask << UUID_CUSTOM_B_BITS, uuid_low(id));
}

/*
 * mask_uuid_v7(id uuid, key_name text DEFAULT 'default') returns uuid
 *	A UUID of another version is an error (22023).
 */
SQL_FUNCTION(idgen_mask_uuid_v7, exchange_time(fcinfo, 7, 4))

/*
 * unmask_uuid_v7(masked uuid, key_name text DEFAULT 'default') returns uuid
 *	The inverse of mask_uuid_v7().  It accepts every UUID of version 4, whether
 *	or not that was masked.
 */
SQL_FUNCTION(idgen_unmask_uuid_v7, exchange_time(fcinfo, 4, 7))

/*
 * A Feistel network, which permutes the numbers from 0 to 2^bits - 1.  If the
 * number of bits is odd, the right half has one more.  Even rounds replace the
 * left half, odd ones the right half.
 */
typedef struct Feistel
{
	SipHash		hash;			/* of the domain's size so far */
	int			right_bits;
	uint64		masks[2];		/* of the left and the right half */
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
 * The number that the network permutes to, or the inverse, which has the same
 * rounds in the opposite order.  A round XORs one half with SipHash-2-4 of the
 * domain's size (8 bytes), the other half (4 bytes) and the round (1 byte),
 * little-endian.
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

		siphash_absorb(&hash, siphash_last_word(8 + 4 + 1) | round << 32 | halves[1 - replaced]);
		halves[replaced] = (halves[replaced] ^ siphash_finish(hash)) & feistel->masks[replaced];
	}
	return halves[0] << feistel->right_bits | halves[1];
}

static Datum
permute(FunctionCallInfo fcinfo, bool inverse)
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
		number = feistel_permute(&feistel, number, inverse);
	while (number >= (uint64) max_value);
	PG_RETURN_INT64(number + 1);
}

/*
 * permute(id bigint, max_value bigint, key_name text) returns bigint,
 * unpermute(permuted bigint, max_value bigint, key_name text) returns bigint
 *	An id outside 1 to max_value is an error (22003).
 */
SQL_FUNCTION(idgen_permute, permute(fcinfo, false))
SQL_FUNCTION(idgen_unpermute, permute(fcinfo, true))
