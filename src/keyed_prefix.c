/*
 * keyed_prefix.c
 *	  The prefix of keyed COMBs: a keyed hash of the time.
 *
 * docs/keyed-comb.md defines the prefix.  Its first 24 bits depend on the
 * period (by default, an hour) that contains the time.  Its last 8 bits depend
 * on the twelfth of the period.  Each part consists of the first bits of the
 * HMAC-SHA-256 of a string "LEVEL PERIOD NUMBER AREA".  LEVEL is 1 for the
 * period and 2 for the twelfth, PERIOD is the length of the period in
 * milliseconds, and NUMBER is the number of the period or twelfth, counted
 * from the Unix epoch.  In an index, the keys of a period are adjacent, and so
 * are the keys of each twelfth within it.  The order of the periods is random.
 *
 * hmac_comb() uses a key from the key file.  keyed_comb() uses a key of the
 * server, which is the HMAC-SHA-256 of the database's OID, or of this OID and
 * " clock" if a clock is given.  The key of that HMAC is a random secret that
 * is drawn when the shared memory segment is created.  Because a call with a
 * clock returns a different prefix, a role that may call keyed_comb() obtains
 * only the current prefix of its own database.  No function interprets such a
 * prefix, so losing the secret when the server stops does no harm.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "common/hmac.h"
#include "common/sha2.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "arguments.h"
#include "keyed_prefix.h"

/* The name contains the version of the segment's layout. */
#define SEGMENT_NAME		"idgen keyed, layout 3"
#define SECRET_BYTES		SEGMENT_RANDOM_BYTES
StaticAssertDecl(SECRET_BYTES == 16, "another size requires another SEGMENT_NAME");

#define PERIOD_BITS			24
#define PART_BITS			8
#define PERIOD_KNOWN		(1 << 15)
#define ALL_KNOWN			(PERIOD_KNOWN | ((1 << PARTS_OF_PERIOD) - 1))

/* Maximum number of cached areas (2 MB, most of which is usually unused).  A full cache is emptied. */
#define MAX_AREAS			1024

static KeyedArea areas[MAX_AREAS];
static int	area_count = 0;

/* A hash table of area numbers, which begin at 1 */
static uint16 places[4 * MAX_AREAS];

static void
hmac_sha256(const uint8 *key, int key_length, const char *message, uint8 *digest)
{
	pg_hmac_ctx *hmac = pg_hmac_create(PG_SHA256);

	if (hmac == NULL || pg_hmac_init(hmac, key, key_length) < 0 ||
		pg_hmac_update(hmac, (const uint8 *) message, strlen(message)) < 0 ||
		pg_hmac_final(hmac, digest, PG_SHA256_DIGEST_LENGTH) < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not compute HMAC-SHA-256: %s", pg_hmac_error(hmac))));
	pg_hmac_free(hmac);
}

static void
initialize_segment(void *segment, const uint8 *random)
{
	memcpy(segment, random, SECRET_BYTES);
}

SharedSegment keyed_segment = {SEGMENT_NAME, SECRET_BYTES, initialize_segment, NULL};

/* Return the server's key for this database.  The key is PG_SHA256_DIGEST_LENGTH bytes long. */
static const uint8 *
server_key(bool clock_given)
{
	static uint8 keys[2][PG_SHA256_DIGEST_LENGTH];
	static bool known = false;

	if (unlikely(!known))
	{
		const uint8 *secret = shared_segment(&keyed_segment);
		char		database[16];

		snprintf(database, sizeof(database), "%u", MyDatabaseId);
		hmac_sha256(secret, SECRET_BYTES, database, keys[false]);
		hmac_sha256(secret, SECRET_BYTES, psprintf("%s clock", database), keys[true]);
		known = true;
	}
	return keys[clock_given];
}

/*
 * Compute HMAC-SHA-256 with an area's key.  A key from the key file is looked
 * up each time, so that only key_file.c stores it and can erase it.
 */
static void
hmac_of_area(const KeyedArea *area, const char *message, uint8 *digest)
{
	if (area->source == KEY_OF_FILE)
	{
		const text *name = cstring_to_text_with_len(area->key_name, area->key_name_length);

		hmac_sha256(named_key(name)->bytes, SECRET_KEY_BYTES, message, digest);
	}
	else
		hmac_sha256(server_key(area->source == KEY_OF_SERVER_CLOCK), PG_SHA256_DIGEST_LENGTH,
					message, digest);
}

/* Return the first bits of the hash of the given period or twelfth. */
static uint32
hash_bits(const KeyedArea *area, int level, int64 number, int bits)
{
	char	   *message = psprintf("%d " INT64_FORMAT " " INT64_FORMAT " %.*s",
								   level, area->period_ms, number, area->name_length, area->name);
	uint8		digest[PG_SHA256_DIGEST_LENGTH];
	uint32		first;

	hmac_of_area(area, message, digest);
	memcpy(&first, digest, sizeof(first));
	return pg_ntoh32(first) >> (32 - bits);
}

static bool
is_area_of(const KeyedArea *kept, KeySource source, const text *key_name, const text *name,
		   int64 period_ms)
{
	return kept->period_ms == period_ms && kept->source == source &&
		text_is_bytes(name, kept->name, kept->name_length) &&
		(source != KEY_OF_FILE ||
		 text_is_bytes(key_name, kept->key_name, kept->key_name_length));
}

/* Set the name of an area's key.  Raises 22023 for a list of names. */
static void
set_key_name(KeyedArea *area, const text *key_name)
{
	const char *name = text_to_cstring(key_name);

	if (name[strcspn(name, KEY_FILE_WHITESPACE)] != '\0')
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("key_name must not contain white space")));
	(void) named_key(key_name);
	area->key_name_length = VARSIZE_ANY_EXHDR(key_name);
	memcpy(area->key_name, VARDATA_ANY(key_name), area->key_name_length);
}

/* Return an area's place in the hash table.  It contains 0 if the area is not cached. */
static inline uint16 *
find_place(KeySource source, const text *key_name, const text *name, int64 period_ms)
{
	for (uint32 hash = hash_bytes((const unsigned char *) VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name));; hash++)
	{
		uint16	   *place = &places[hash % lengthof(places)];

		if (*place == 0 || is_area_of(&areas[*place - 1], source, key_name, name, period_ms))
			return place;
	}
}

static void
make_area(KeyedArea *made, KeySource source, const text *key_name, const text *name, int64 period_ms)
{
	memset(made, 0, sizeof(KeyedArea));
	made->source = source;
	if (source == KEY_OF_FILE)
		set_key_name(made, key_name);
	made->name_length = VARSIZE_ANY_EXHDR(name);
	memcpy(made->name, VARDATA_ANY(name), made->name_length);
	made->period_ms = period_ms;
}

/*
 * Return the cached state for one key, area and period.  It is valid until the
 * next call or reload of the configuration.  After a reload, the name may
 * denote a different key.  The area's name is in UTF-8.  key_name is NULL
 * unless the key is in the key file.
 */
KeyedArea *
keyed_area(KeySource source, const text *key_name, const text *name, int64 period_ms)
{
	static TimestampTz kept_since = 0;
	uint16	   *place = find_place(source, key_name, name, period_ms);

	if (unlikely(kept_since != PgReloadTime || (*place == 0 && area_count == MAX_AREAS)))
	{
		memset(places, 0, sizeof(places));
		area_count = 0;
		kept_since = PgReloadTime;
		place = find_place(source, key_name, name, period_ms);
	}
	if (unlikely(*place == 0))
	{
		make_area(&areas[area_count], source, key_name, name, period_ms);
		*place = ++area_count;
	}
	return &areas[*place - 1];
}

/* Return the given period, after computing its hash if necessary. */
static HashedPeriod *
hashed_period(KeyedArea *area, int64 number)
{
	HashedPeriod *period = &area->periods[(uint64) number % HASHED_PERIODS];

	if (period->number != number || !(period->known & PERIOD_KNOWN))
	{
		period->known = 0;		/* in case the next line raises an error */
		period->bits = hash_bits(area, 1, number, PERIOD_BITS);
		period->number = number;
		period->known = PERIOD_KNOWN;
	}
	return period;
}

/* Return the hash of a twelfth of this period.  Twelfths are numbered from the Unix epoch. */
static uint8
hashed_part(KeyedArea *area, HashedPeriod *period, int64 number)
{
	int			part = number - period->number * PARTS_OF_PERIOD;

	Assert(part >= 0 && part < PARTS_OF_PERIOD);
	if (!(period->known & 1 << part))
	{
		period->parts[part] = hash_bits(area, 2, number, PART_BITS);
		period->known |= 1 << part;
	}
	return period->parts[part];
}

/* Return the first millisecond of the given twelfth, rounded up. */
static int64
begin_of_part(const KeyedArea *area, int64 number)
{
	return -floor_div(-number * area->period_ms, PARTS_OF_PERIOD);
}

/*
 * Switch to the twelfth that contains the given time.  Returns false if it is
 * already the present one.
 */
bool
keyed_area_move_to(KeyedArea *area, int64 unix_ms)
{
	PresentTwelfth *present = &area->present;
	int64		number;
	HashedPeriod *period;

	if (likely(unix_ms >= present->begin_ms && unix_ms < present->end_ms))
		return false;

	/* no overflow: timestamps are below 2^54 ms, and periods below 2^45 ms */
	number = floor_div(unix_ms * PARTS_OF_PERIOD, area->period_ms);
	period = hashed_period(area, floor_div(number, PARTS_OF_PERIOD));
	present->prefix = (uint64) period->bits << PART_BITS | hashed_part(area, period, number);
	present->begin_ms = begin_of_part(area, number);
	present->end_ms = begin_of_part(area, number + 1);
	Assert(unix_ms >= present->begin_ms && unix_ms < present->end_ms);
	return true;
}

/*
 * Is this the prefix of a twelfth that contains one of these milliseconds?
 * All hashes of a period are computed at once, so that the number of hashes
 * does not depend on the prefix.
 */
bool
keyed_area_has_prefix(KeyedArea *area, uint32 prefix, int64 first_ms, int64 last_ms)
{
	int64		first = floor_div(first_ms * PARTS_OF_PERIOD, area->period_ms);
	int64		last = floor_div(last_ms * PARTS_OF_PERIOD, area->period_ms);
	bool		found = false;

	for (int64 number = floor_div(first, PARTS_OF_PERIOD);
		 number <= floor_div(last, PARTS_OF_PERIOD); number++)
	{
		HashedPeriod *period = hashed_period(area, number);
		int64		begin = number * PARTS_OF_PERIOD;
		int64		end = begin + PARTS_OF_PERIOD;

		for (int64 part = begin; part < end && period->known != ALL_KNOWN; part++)
			hashed_part(area, period, part);
		if (period->bits != prefix >> PART_BITS)
			continue;
		for (int64 part = Max(first, begin); part <= Min(last, end - 1); part++)
			found |= hashed_part(area, period, part) == (uint8) prefix;
	}
	return found;
}
