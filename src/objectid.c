/*-------------------------------------------------------------------------
 *
 * objectid.c
 *	  The type objectid: MongoDB's identifier of 96 bits, and its generator.
 *
 * From high to low, 32 bits of Unix seconds, 40 bits that are random for each
 * process, and a counter of 24 bits that begins at random.  They are stored
 * in this order, big-endian, so that byte order is the order of the type.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "common/hashfn.h"
#include "fmgr.h"
#include "lib/hyperloglog.h"
#include "libpq/pqformat.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "port/pg_bswap.h"
#include "utils/sortsupport.h"
#include "utils/timestamp.h"

#include "clock.h"
#include "entropy.h"
#include "radix.h"

/* Before version 16, bad input is always an error. */
#if PG_VERSION_NUM < 160000
#define ereturn(context, dummy_value, ...) ereport(ERROR, __VA_ARGS__)
#endif

#define OBJECTID_BYTES		12
#define OBJECTID_DIGITS		(2 * OBJECTID_BYTES)

#define COUNTER_BITS		24
#define COUNTER_MASK		((UINT64CONST(1) << COUNTER_BITS) - 1)

/*
 * Abbreviated keys are tried on so many rows at least, and kept where one in
 * so many is different.  These are uuid's figures, in PostgreSQL's uuid.c.
 */
#define ABBREVIATION_TRIAL			10000
#define ABBREVIATION_LEAST_SHARE	2000.0
#define HYPERLOGLOG_WIDTH			10

/* as much of a bad text as a message shows */
#define MAX_SHOWN_TEXT		64

/* pg_type says: 12 bytes, by reference, without alignment. */
typedef struct Objectid
{
	unsigned char data[OBJECTID_BYTES];
} Objectid;

#define DatumGetObjectidP(datum)	((Objectid *) DatumGetPointer(datum))
#define PG_GETARG_OBJECTID_P(n)		DatumGetObjectidP(PG_GETARG_DATUM(n))

/* Lay one out: the seconds, and the 64 bits behind them. */
static Datum
make_objectid(uint32 seconds, uint64 low)
{
	Objectid   *id = palloc(sizeof(Objectid));
	uint32		big_endian_seconds = pg_hton32(seconds);
	uint64		big_endian_low = pg_hton64(low);

	memcpy(id->data, &big_endian_seconds, sizeof(uint32));
	memcpy(id->data + sizeof(uint32), &big_endian_low, sizeof(uint64));
	PG_RETURN_POINTER(id);
}

static uint32
objectid_seconds(const Objectid *id)
{
	uint32		big_endian;

	memcpy(&big_endian, id->data, sizeof(uint32));
	return pg_ntoh32(big_endian);
}

static uint64
objectid_low(const Objectid *id)
{
	uint64		big_endian;

	memcpy(&big_endian, id->data + sizeof(uint32), sizeof(uint64));
	return pg_ntoh64(big_endian);
}

/* ----------
 * Input and output
 * ----------
 */

/*
 * objectid_in(cstring) returns objectid
 *
 * Exactly 24 hexadecimal digits of either case; anything else is an error
 * (22P02).
 */
PG_FUNCTION_INFO_V1(idgen_objectid_in);
Datum
idgen_objectid_in(PG_FUNCTION_ARGS)
{
	const char *digits = PG_GETARG_CSTRING(0);
	size_t		length = strlen(digits);
	uint64		high;
	uint64		low;
	char	   *problem;

	if (length != OBJECTID_DIGITS)
		problem = psprintf("It is %zu bytes long, not %d.", length, OBJECTID_DIGITS);
	else if (radix_decode(radix_of_base(16), digits, OBJECTID_DIGITS, 1,
						  &high, &low, &problem))
		return make_objectid((uint32) high, low);

	ereturn(fcinfo->context, (Datum) 0,
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
			 errmsg("invalid input syntax for type %s: \"%s\"", "objectid",
					pnstrdup(digits, pg_mbcliplen(digits, length, MAX_SHOWN_TEXT))),
			 errdetail_internal("%s", problem)));
}

/*
 * objectid_out(objectid) returns cstring: 24 digits in lower case
 */
PG_FUNCTION_INFO_V1(idgen_objectid_out);
Datum
idgen_objectid_out(PG_FUNCTION_ARGS)
{
	const Objectid *id = PG_GETARG_OBJECTID_P(0);
	char		digits[RADIX_MAX_WIDTH];

	/* of the 32 digits of 128 bits, the last 24 */
	radix_encode(radix_of_base(16), objectid_seconds(id), objectid_low(id), digits);
	PG_RETURN_CSTRING(pnstrdup(digits + RADIX_MAX_WIDTH - OBJECTID_DIGITS,
							   OBJECTID_DIGITS));
}

/*
 * objectid_recv(internal) returns objectid: the 12 bytes
 */
PG_FUNCTION_INFO_V1(idgen_objectid_recv);
Datum
idgen_objectid_recv(PG_FUNCTION_ARGS)
{
	Objectid   *id = palloc(sizeof(Objectid));

	pq_copymsgbytes((StringInfo) PG_GETARG_POINTER(0), (char *) id->data,
					OBJECTID_BYTES);
	PG_RETURN_POINTER(id);
}

/*
 * objectid_send(objectid) returns bytea: the 12 bytes
 */
PG_FUNCTION_INFO_V1(idgen_objectid_send);
Datum
idgen_objectid_send(PG_FUNCTION_ARGS)
{
	StringInfoData message;

	pq_begintypsend(&message);
	pq_sendbytes(&message, (char *) PG_GETARG_OBJECTID_P(0)->data, OBJECTID_BYTES);
	PG_RETURN_BYTEA_P(pq_endtypsend(&message));
}

/*
 * objectid_from_bytea(bytes bytea) returns objectid
 *
 * Another number of bytes than 12 is an error (22023), and long ones are not
 * read.
 */
PG_FUNCTION_INFO_V1(idgen_objectid_from_bytea);
Datum
idgen_objectid_from_bytea(PG_FUNCTION_ARGS)
{
	Size		length = toast_raw_datum_size(PG_GETARG_DATUM(0)) - VARHDRSZ;
	Objectid   *id;

	if (length != OBJECTID_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("an objectid has %d bytes", OBJECTID_BYTES),
				 errdetail("The value has %zu.", length)));

	id = palloc(sizeof(Objectid));
	memcpy(id->data, VARDATA_ANY(PG_GETARG_BYTEA_PP(0)), OBJECTID_BYTES);
	PG_RETURN_POINTER(id);
}

/*
 * objectid_to_bytea(id objectid) returns bytea
 */
PG_FUNCTION_INFO_V1(idgen_objectid_to_bytea);
Datum
idgen_objectid_to_bytea(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = palloc(VARHDRSZ + OBJECTID_BYTES);

	SET_VARSIZE(bytes, VARHDRSZ + OBJECTID_BYTES);
	memcpy(VARDATA(bytes), PG_GETARG_OBJECTID_P(0)->data, OBJECTID_BYTES);
	PG_RETURN_BYTEA_P(bytes);
}

/* ----------
 * Comparison: byte order
 * ----------
 */

static inline int
compare(Datum one, Datum other)
{
	return memcmp(DatumGetObjectidP(one)->data, DatumGetObjectidP(other)->data,
				  OBJECTID_BYTES);
}

PG_FUNCTION_INFO_V1(idgen_objectid_eq);
Datum
idgen_objectid_eq(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(PG_GETARG_DATUM(0), PG_GETARG_DATUM(1)) == 0);
}

PG_FUNCTION_INFO_V1(idgen_objectid_ne);
Datum
idgen_objectid_ne(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(PG_GETARG_DATUM(0), PG_GETARG_DATUM(1)) != 0);
}

PG_FUNCTION_INFO_V1(idgen_objectid_lt);
Datum
idgen_objectid_lt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(PG_GETARG_DATUM(0), PG_GETARG_DATUM(1)) < 0);
}

PG_FUNCTION_INFO_V1(idgen_objectid_le);
Datum
idgen_objectid_le(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(PG_GETARG_DATUM(0), PG_GETARG_DATUM(1)) <= 0);
}

PG_FUNCTION_INFO_V1(idgen_objectid_gt);
Datum
idgen_objectid_gt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(PG_GETARG_DATUM(0), PG_GETARG_DATUM(1)) > 0);
}

PG_FUNCTION_INFO_V1(idgen_objectid_ge);
Datum
idgen_objectid_ge(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(PG_GETARG_DATUM(0), PG_GETARG_DATUM(1)) >= 0);
}

/*
 * objectid_cmp(objectid, objectid) returns int: less than, equal to, or
 * greater than 0, as the first is to the second
 */
PG_FUNCTION_INFO_V1(idgen_objectid_cmp);
Datum
idgen_objectid_cmp(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(compare(PG_GETARG_DATUM(0), PG_GETARG_DATUM(1)));
}

/*
 * objectid_smaller(objectid, objectid) and objectid_larger(objectid,
 * objectid) return objectid: the transition functions of min() and max()
 */
PG_FUNCTION_INFO_V1(idgen_objectid_smaller);
Datum
idgen_objectid_smaller(PG_FUNCTION_ARGS)
{
	Datum		one = PG_GETARG_DATUM(0);
	Datum		other = PG_GETARG_DATUM(1);

	PG_RETURN_DATUM(compare(one, other) <= 0 ? one : other);
}

PG_FUNCTION_INFO_V1(idgen_objectid_larger);
Datum
idgen_objectid_larger(PG_FUNCTION_ARGS)
{
	Datum		one = PG_GETARG_DATUM(0);
	Datum		other = PG_GETARG_DATUM(1);

	PG_RETURN_DATUM(compare(one, other) >= 0 ? one : other);
}

PG_FUNCTION_INFO_V1(idgen_objectid_hash);
Datum
idgen_objectid_hash(PG_FUNCTION_ARGS)
{
	return hash_any(PG_GETARG_OBJECTID_P(0)->data, OBJECTID_BYTES);
}

PG_FUNCTION_INFO_V1(idgen_objectid_hash_extended);
Datum
idgen_objectid_hash_extended(PG_FUNCTION_ARGS)
{
	return hash_any_extended(PG_GETARG_OBJECTID_P(0)->data, OBJECTID_BYTES,
							 PG_GETARG_INT64(1));
}

/* ----------
 * Sorting
 * ----------
 */

static int
compare_full(Datum one, Datum other, SortSupport ssup)
{
	(void) ssup;
	return compare(one, other);
}

/* From version 15 on the server has this one, and sorts faster with it. */
#if PG_VERSION_NUM < 150000
static int
ssup_datum_unsigned_cmp(Datum one, Datum other, SortSupport ssup)
{
	(void) ssup;
	return (one > other) - (one < other);
}
#endif

/*
 * An abbreviated key is the first 8 bytes as a number.  It decides nothing
 * between identifiers that one process made in one second, so the different
 * keys are counted.
 */
static Datum
abbreviate(Datum original, SortSupport ssup)
{
	const unsigned char *data = DatumGetObjectidP(original)->data;
	uint64		big_endian;

	addHyperLogLog(ssup->ssup_extra, hash_bytes(data, sizeof(uint64)));
	memcpy(&big_endian, data, sizeof(uint64));
	return (Datum) pg_ntoh64(big_endian);
}

/* Give abbreviation up where it costs more than it saves, as uuid does. */
static bool
abort_abbreviation(int memtupcount, SortSupport ssup)
{
	return memtupcount >= ABBREVIATION_TRIAL &&
		estimateHyperLogLog(ssup->ssup_extra) < memtupcount / ABBREVIATION_LEAST_SHARE;
}

/*
 * objectid_sortsupport(internal) returns void
 */
PG_FUNCTION_INFO_V1(idgen_objectid_sortsupport);
Datum
idgen_objectid_sortsupport(PG_FUNCTION_ARGS)
{
	SortSupport ssup = (SortSupport) PG_GETARG_POINTER(0);

	ssup->comparator = compare_full;
	if (ssup->abbreviate && sizeof(Datum) >= sizeof(uint64))
	{
		MemoryContext caller = MemoryContextSwitchTo(ssup->ssup_cxt);

		ssup->ssup_extra = palloc(sizeof(hyperLogLogState));
		initHyperLogLog(ssup->ssup_extra, HYPERLOGLOG_WIDTH);
		MemoryContextSwitchTo(caller);

		ssup->comparator = ssup_datum_unsigned_cmp;
		ssup->abbrev_converter = abbreviate;
		ssup->abbrev_abort = abort_abbreviation;
		ssup->abbrev_full_comparator = compare_full;
	}
	PG_RETURN_VOID();
}

/* ----------
 * Making and reading
 * ----------
 */

/*
 * object_id() returns objectid
 *
 * Greater than every one that this process made before.  When the clock's
 * second is over, the seconds follow it and the counter goes on by one, from
 * its highest value to zero; within the second, and where the clock steps
 * back, the counter's carry goes into the seconds.
 */
PG_FUNCTION_INFO_V1(idgen_object_id);
Datum
idgen_object_id(PG_FUNCTION_ARGS)
{
	static int	owner = 0;		/* process that drew what follows */
	static uint64 process = 0;	/* 40 random bits, above the counter's */
	static uint64 last = 0;		/* seconds and counter */
	int64		now = clock_wall_unix_seconds();
	uint64		next;

	(void) fcinfo;
	if (unlikely(owner != MyProcPid))
	{
		uint64		random = entropy_uint64();

		process = random & ~COUNTER_MASK;
		last = random & COUNTER_MASK;
		owner = MyProcPid;
	}

	next = last + 1;
	if (now > (int64) (last >> COUNTER_BITS))
		next = (uint64) now << COUNTER_BITS | (next & COUNTER_MASK);
	if (unlikely(now < 0 || next >> COUNTER_BITS > UNIX_SECONDS32_MAX))
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("timestamp is out of range for the identifier")));
	last = next;
	return make_objectid(next >> COUNTER_BITS, process | (next & COUNTER_MASK));
}

/*
 * objectid_timestamp(id objectid) returns timestamptz
 */
PG_FUNCTION_INFO_V1(idgen_objectid_timestamp);
Datum
idgen_objectid_timestamp(PG_FUNCTION_ARGS)
{
	PG_RETURN_TIMESTAMPTZ(clock_from_unix_seconds32(objectid_seconds(PG_GETARG_OBJECTID_P(0))));
}

/*
 * objectid_floor(instant timestamptz) returns objectid
 *
 * The smallest objectid of the instant's second.
 */
PG_FUNCTION_INFO_V1(idgen_objectid_floor);
Datum
idgen_objectid_floor(PG_FUNCTION_ARGS)
{
	return make_objectid(clock_unix_seconds32(PG_GETARG_TIMESTAMPTZ(0)), 0);
}

/*
 * objectid_ceil(instant timestamptz) returns objectid
 *
 * The greatest objectid of the instant's second.
 */
PG_FUNCTION_INFO_V1(idgen_objectid_ceil);
Datum
idgen_objectid_ceil(PG_FUNCTION_ARGS)
{
	return make_objectid(clock_unix_seconds32(PG_GETARG_TIMESTAMPTZ(0)), PG_UINT64_MAX);
}
