/*
 * ticker.c
 *	  Counters in shared memory that follow the clock and never repeat.
 *
 * A value is Unix time in ticks of a layout, with a counter in the bits below
 * it.  The next value is max(last + 1, now), stored by compare-and-swap, so
 * that values increase strictly over all sessions without a lock: a hybrid
 * logical clock.  Values can be up to a day ahead of the clock; beyond that,
 * calls wait.  Databases whose OIDs are equal modulo DATABASES share a ticker,
 * and skip each other's values.
 *
 * Each database has one sequence per layout, which stores a high-water mark: a
 * Unix second that is later than all values returned, and in the bits below it
 * the signature of the ticker that wrote it.  The mark is written by setval()
 * and flushed to the WAL before values reach it.  It reserves RESERVED seconds
 * at a time, and is renewed when half of them are used, so that a standby may
 * lag behind by the other half.
 *
 * Signatures are random, and change with each start of the server.  If the
 * signature is not the ticker's own, the high-water mark was written before a
 * restart or promotion, in the database from which this one was copied or
 * restored, or by a user.  Values then continue above the mark, regardless of
 * the clock.
 *
 * A backend keeps only the values up to which it need not look at the
 * sequences.  Any access to a catalog may reset these.
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_authid_d.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "utils/fmgrprotos.h"
#include "utils/inval.h"
#include "utils/syscache.h"
#include "utils/wait_event.h"

#include "clock.h"
#include "own_sequence.h"
#include "ticker.h"

/* Before version 19, the number of a cache has no type of its own. */
#if PG_VERSION_NUM < 190000
#define SysCacheIdentifier	int
#endif

/* The name contains the version of the layout of TickerSegment. */
#define SEGMENT_NAME		"idgen tickers, layout 2"
#define DATABASES			64
/* seconds that values may be ahead of the clock, and that are reserved at a time */
#define AHEAD				SECS_PER_DAY
#define RESERVED			10
#define WAIT_MS_MAX			INT64CONST(100) /* then the clock is read again */

/* A high-water mark, of 63 bits: seconds until the year 3058, and a signature */
#define SIGNATURE_BITS		28
#define SIGNATURE_MASK		((UINT64CONST(1) << SIGNATURE_BITS) - 1)
#define SECOND_MAX			((UINT64CONST(1) << (63 - SIGNATURE_BITS)) - 1)

typedef struct TickerSegment
{
	uint64		signature;		/* of ticker 0; ticker i adds i */
	pg_atomic_uint64 last[DATABASES * TICKERS]; /* the values returned last */
} TickerSegment;

static TickerSegment *tickers = NULL;

/* the sequences that this backend has seen, and the values from which on it looks at them again */
static Oid	seen_sequence[TICKERS];
static uint64 renew_at[TICKERS];

static void
initialize_segment(void *segment, const uint8 *random)
{
	TickerSegment *new_segment = segment;

	memcpy(&new_segment->signature, random, sizeof(uint64));
	new_segment->signature &= SIGNATURE_MASK;
	for (int i = 0; i < DATABASES * TICKERS; i++)
		pg_atomic_init_u64(&new_segment->last[i], 0);
}

SharedSegment ticker_segment = {SEGMENT_NAME, sizeof(TickerSegment), initialize_segment, NULL};

/* After DDL on a sequence, and after its rollback, look at it again. */
static void
forget_sequence(Datum arg pg_attribute_unused(), Oid relation)
{
	for (int i = 0; i < TICKERS; i++)
	{
		if (!OidIsValid(relation) || relation == seen_sequence[i])
			renew_at[i] = 0;
	}
}

/* After DDL on a schema, or its rollback: another one may now have the name idgen. */
static void
forget_sequences(Datum arg, SysCacheIdentifier cache pg_attribute_unused(), uint32 hash pg_attribute_unused())
{
	forget_sequence(arg, InvalidOid);
}

static void
attach_segment(void)
{
	TickerSegment *attached = shared_segment(&ticker_segment);

	CacheRegisterRelcacheCallback(forget_sequence, (Datum) 0);
	CacheRegisterSyscacheCallback(NAMESPACEOID, forget_sequences, (Datum) 0);
	/* last, so that the next call starts again after an error */
	tickers = attached;
}

/* The place of this database's ticker in the segment */
static inline int
ticker_index(const TickerLayout *layout)
{
	return (MyDatabaseId % DATABASES) * TICKERS + layout->number;
}

/* The difference between two values that are the given number of seconds apart */
static inline uint64
values_of_seconds(const TickerLayout *layout, uint64 seconds)
{
	/* a division costs as much as the rest of a call */
	uint64		ticks = layout->ms_per_tick == 1 ? MS_PER_SECOND : MS_PER_SECOND / layout->ms_per_tick;

	return seconds * ticks << layout->counter_bits;
}

/* The Unix second that a value is in */
static uint64
second_of_value(const TickerLayout *layout, uint64 value)
{
	return ticker_tick(layout, value) * layout->ms_per_tick / MS_PER_SECOND;
}

/* The first value of the present tick, or of the fraction of it */
static inline uint64
present_value(const TickerLayout *layout)
{
	uint64		ms;

	if (layout->counter_is_fraction)
		return clock_wall_submillis();

	ms = clock_wall_unix_ms();
	return (layout->ms_per_tick == 1 ? ms : ms / layout->ms_per_tick) << layout->counter_bits;
}

/* From now on, return values of this second or of later ones. */
static void
raise_ticker(const TickerLayout *layout, uint64 second)
{
	pg_atomic_uint64 *last = &tickers->last[ticker_index(layout)];
	uint64		first = values_of_seconds(layout, second);
	uint64		value = pg_atomic_read_u64(last);

	while (value + 1 < first &&
		   !pg_atomic_compare_exchange_u64(last, &value, first - 1))
		;
}

/* The last value of a sequence; 0 if it has none. */
static int64
last_value(Oid sequence)
{
	LOCAL_FCINFO(call, 1);
	Datum		result;

	InitFunctionCallInfoData(*call, NULL, 1, InvalidOid, NULL, NULL);
	call->args[0].value = ObjectIdGetDatum(sequence);
	call->args[0].isnull = false;
	result = pg_sequence_last_value(call);
	return call->isnull ? 0 : DatumGetInt64(result);
}

/* The first value after "last", and not before "now" */
static inline uint64
value_after(const TickerLayout *layout, uint64 last, uint64 now)
{
	uint64		next = Max(last + 1, now);

	return ticker_counter(layout, next) < (uint64) layout->min_counter ? next + 1 : next;
}

/* The second of the next value; other sessions may have returned values while this one waited. */
static uint64
next_second(const TickerLayout *layout)
{
	uint64		last = pg_atomic_read_u64(&tickers->last[ticker_index(layout)]);

	return second_of_value(layout, value_after(layout, last, present_value(layout)));
}

/*
 * The high-water mark that a ticker writes when its next value is in this
 * second: RESERVED seconds after the start of the next second.
 */
static inline uint64
mark_at(uint64 second)
{
	return second + 1 + RESERVED;
}

/* Has a ticker with its next value in this second used half of the reserved seconds? */
static inline bool
is_half_used(uint64 mark, uint64 second)
{
	return mark <= second + RESERVED / 2;
}

/*
 * Make sure that the high-water mark is later than the next value by more than
 * half of RESERVED, and that the ticker is ahead of a mark of another writer.
 * Returns the value at which the caller must call this again.  Must run with
 * the rights of a superuser.
 *
 * A sequence without a value, such as a new one, has no high-water mark.
 */
static uint64
reserve_values(const TickerLayout *layout, Oid sequence)
{
	/* unique among the tickers of the server */
	uint64		signature = (tickers->signature + ticker_index(layout)) & SIGNATURE_MASK;
	uint64		stored = last_value(sequence);
	uint64		mark = stored >> SIGNATURE_BITS;
	uint64		second = next_second(layout);

	/* a later mark was set by a user, or has this signature by chance */
	bool		is_own = (stored & SIGNATURE_MASK) == signature && mark <= mark_at(second);

	if (!is_own)
	{
		if (mark > mark_at(second_of_value(layout, present_value(layout)) + AHEAD))
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("value of sequence \"idgen.%s_mark\" is more than a day ahead of the clock", layout->name),
					 errhint("If the clock is right and no identifier has such a time, use ALTER SEQUENCE idgen.%s_mark RESTART.",
							 layout->name)));
		/* before other sessions see a mark of this ticker */
		raise_ticker(layout, mark);
		second = next_second(layout);
	}

	if (!is_own || is_half_used(mark, second))
	{
		mark = mark_at(second);
		if (mark > SECOND_MAX)
			ereport(ERROR,
					(errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
					 errmsg("%s() reached its maximum value", layout->name)));
		DirectFunctionCall2(setval_oid, ObjectIdGetDatum(sequence),
							Int64GetDatum(mark << SIGNATURE_BITS | signature));
		XLogFlush(XactLastRecEnd);	/* before values reach the mark */
	}
	return values_of_seconds(layout, mark - RESERVED / 2);
}

/*
 * Call reserve_values() as the bootstrap superuser, because caller and owner
 * may lack rights; no code of another role runs.  All waits are for
 * heavyweight locks: they can be canceled, and deadlocks are detected.  Errors
 * release the locks and restore the user.
 */
static uint64
look_at_sequence(const TickerLayout *layout)
{
	Oid			caller;
	int			security;
	Oid			sequence;
	uint64		result;

	GetUserIdAndSecContext(&caller, &security);
	SetUserIdAndSecContext(BOOTSTRAP_SUPERUSERID, security | SECURITY_LOCAL_USERID_CHANGE);

	sequence = lock_own_sequence(psprintf("%s_mark", layout->name), layout->name);

	/*
	 * setval() reads this row.  If that has to wait for a lock on the
	 * catalog, it should do so before it makes other sessions wait.
	 */
	(void) SearchSysCacheExists1(SEQRELID, ObjectIdGetDatum(sequence));

	/* one session at a time; the server takes no such locks on relations */
	LockDatabaseObject(RelationRelationId, sequence, 0, ExclusiveLock);
	result = reserve_values(layout, sequence);
	UnlockDatabaseObject(RelationRelationId, sequence, 0, ExclusiveLock);

	seen_sequence[layout->number] = sequence;
	renew_at[layout->number] = result;

	SetUserIdAndSecContext(caller, security);
	return result;
}

/*
 * Wait for the time in a difference of values, but not longer than WAIT_MS_MAX.
 * If the caller's whole wait takes long, *warned becomes true after one WARNING.
 */
static void
wait_for_clock(const TickerLayout *layout, uint64 values, bool *warned)
{
	int64		ms = (ticker_tick(layout, values) + 1) * layout->ms_per_tick;

	if (ms > MS_PER_SECOND && !*warned)
	{
		*warned = true;
		ereport(WARNING,
				(errmsg("%s() is waiting because it is a day ahead of the clock", layout->name),
				 errdetail("It can continue in " INT64_FORMAT " seconds.", ms / MS_PER_SECOND)));
	}

	CHECK_FOR_INTERRUPTS();
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					 Min(ms, WAIT_MS_MAX), PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
}

/*
 * A new value, greater than every value that any session of the database got
 * before the call.  May wait for the clock.
 */
uint64
ticker_next(const TickerLayout *layout)
{
	pg_atomic_uint64 *last;
	uint64		reserved;
	bool		warned = false;

	/* as nextval() */
	if (unlikely(XactReadOnly || IsInParallelMode()))
	{
		char	   *function = psprintf("%s()", layout->name);

		PreventCommandDuringRecovery(function);
		PreventCommandIfReadOnly(function);
		PreventCommandIfParallelMode(function);
	}
	if (unlikely(tickers == NULL))
		attach_segment();

	last = &tickers->last[ticker_index(layout)];
	reserved = renew_at[layout->number];
	for (;;)
	{
		uint64		now = present_value(layout);
		uint64		too_far = now + values_of_seconds(layout, AHEAD);
		uint64		value = pg_atomic_read_u64(last);
		uint64		next;

		while ((next = value_after(layout, value, now)) < Min(reserved, too_far))
		{
			if (likely(pg_atomic_compare_exchange_u64(last, &value, next)))
				return next;
		}

		if (next >= too_far)
		{
			wait_for_clock(layout, next - too_far, &warned);
			reserved = renew_at[layout->number];
		}
		else
			reserved = look_at_sequence(layout);
	}
}
