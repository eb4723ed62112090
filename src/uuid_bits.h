/*
 * uuid_bits.h
 *	  The fields of a 128-bit identifier.
 *
 * An identifier of RFC 9562 (section 4) consists, from the high to the low
 * bits, of 48 bits, a 4-bit version, 12 bits, a 2-bit variant and 62 bits.  A
 * scheme defines the 48 + 12 bits, called "high" here, and the 62 bits, called
 * "low".  Only this file knows the positions of these bits.  The file of each
 * scheme defines the scheme's own fields.
 */
#ifndef IDGEN_UUID_BITS_H
#define IDGEN_UUID_BITS_H

#include "fmgr.h"
#include "port/pg_bswap.h"
#include "utils/fmgrprotos.h"
#include "utils/uuid.h"

#define UUID_HIGH_BITS	60		/* custom_a and custom_b of section 5.8 */
#define UUID_LOW_BITS	62		/* custom_c */

#define UUID_HIGH_MAX	((UINT64CONST(1) << UUID_HIGH_BITS) - 1)
#define UUID_LOW_MAX	((UINT64CONST(1) << UUID_LOW_BITS) - 1)

/* The low bits of "high", which follow the version. */
#define UUID_CUSTOM_B_BITS	12
#define UUID_CUSTOM_B_MASK	((UINT64CONST(1) << UUID_CUSTOM_B_BITS) - 1)

/* The value of the 2-bit variant field (section 4.1). */
#define UUID_VARIANT_RFC	2

/* M. Lambert's time-ordered UUID has a version that RFC 9562 does not assign. */
#define UUID_VERSION_LAMBERT	13

/*
 * In versions 1 and 6, a 14-bit clock sequence and a 48-bit node follow the
 * variant.  The lowest bit of the node's first octet distinguishes a random
 * node from a MAC address (section 6.10).
 */
#define UUID_NODE_MULTICAST	(UINT64CONST(1) << 40)

/* Return bytes 0 to 7 (half 0) or 8 to 15 (half 1) as one number. */
static inline uint64
uuid_half(const pg_uuid_t *id, int half)
{
	uint64		big_endian;

	memcpy(&big_endian, id->data + half * sizeof(uint64), sizeof(uint64));
	return pg_ntoh64(big_endian);
}

static inline void
uuid_set_half(pg_uuid_t *id, int half, uint64 value)
{
	uint64		big_endian = pg_hton64(value);

	memcpy(id->data + half * sizeof(uint64), &big_endian, sizeof(uint64));
}

/* Write an identifier with the RFC's variant. */
static inline void
uuid_pack(pg_uuid_t *id, int version, uint64 high, uint64 low)
{
	Assert(version >> 4 == 0 && high <= UUID_HIGH_MAX && low <= UUID_LOW_MAX);

	uuid_set_half(id, 0,
				  (high >> UUID_CUSTOM_B_BITS) << 16 |
				  (uint64) version << UUID_CUSTOM_B_BITS |
				  (high & UUID_CUSTOM_B_MASK));
	uuid_set_half(id, 1, (uint64) UUID_VARIANT_RFC << UUID_LOW_BITS | low);
}

/* Return a new identifier with the RFC's variant. */
static inline Datum
uuid_datum(int version, uint64 high, uint64 low)
{
	pg_uuid_t  *id = palloc(sizeof(pg_uuid_t));

	uuid_pack(id, version, high, low);
	return UUIDPGetDatum(id);
}

/* Return a "high" that begins with Unix milliseconds, as in a COMB and in version 7. */
static inline uint64
uuid_high_of_ms(uint64 ms, uint64 custom_b)
{
	return ms << UUID_CUSTOM_B_BITS | custom_b;
}

/* Return "high": the 48 bits before the version and the 12 bits after it. */
static inline uint64
uuid_high(const pg_uuid_t *id)
{
	uint64		half = uuid_half(id, 0);

	return (half >> 16) << UUID_CUSTOM_B_BITS | (half & UUID_CUSTOM_B_MASK);
}

/* Return "low": the 62 bits after the variant. */
static inline uint64
uuid_low(const pg_uuid_t *id)
{
	return uuid_half(id, 1) & UUID_LOW_MAX;
}

/*
 * Version 1 contains the same 60-bit timestamp as version 6, but in a
 * different order (section 5.1): the low 32 bits (time_low), the next 16 bits
 * (time_mid), and the high 12 bits (time_high).  These functions convert a
 * timestamp to the "high" of version 1, and back.
 */
static inline uint64
uuid_v1_high(uint64 ticks)
{
	return (ticks & 0xFFFFFFFF) << 28 | (ticks >> 32 & 0xFFFF) << 12 | ticks >> 48;
}

static inline uint64
uuid_v1_ticks(uint64 high)
{
	return (high & 0xFFF) << 48 | (high >> 12 & 0xFFFF) << 32 | high >> 28;
}

/* Return the first 48 bits, which are Unix milliseconds in a COMB and in version 7. */
static inline uint64
uuid_first_48_bits(const pg_uuid_t *id)
{
	return uuid_half(id, 0) >> 16;
}

/* Return the last 48 bits, which SQL Server compares first. */
static inline uint64
uuid_last_48_bits(const pg_uuid_t *id)
{
	return uuid_half(id, 1) & ((UINT64CONST(1) << 48) - 1);
}

/* Return the version nibble, which is meaningful only for the RFC's variant. */
static inline int
uuid_version_nibble(const pg_uuid_t *id)
{
	return id->data[6] >> 4;
}

static inline bool
uuid_is_rfc_variant(const pg_uuid_t *id)
{
	return id->data[8] >> 6 == UUID_VARIANT_RFC;
}

static inline bool
uuid_is_version(const pg_uuid_t *id, int version)
{
	return uuid_is_rfc_variant(id) && uuid_version_nibble(id) == version;
}

/* Return the name of the variant, which takes up to three bits (RFC 9562 section 4.1). */
static inline const char *
uuid_variant_name(const pg_uuid_t *id)
{
	static const char *const names[] = {
		"NCS", "NCS", "NCS", "NCS", "RFC 9562", "RFC 9562", "Microsoft", "future"
	};

	return names[id->data[8] >> 5];
}

/* Return the canonical text of a UUID, for messages. */
static inline char *
uuid_text(const pg_uuid_t *id)
{
	return DatumGetCString(DirectFunctionCall1(uuid_out, UUIDPGetDatum(id)));
}

#endif							/* IDGEN_UUID_BITS_H */
