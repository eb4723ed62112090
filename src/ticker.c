/*
 * ticker.c
 *	  Counters in shared memory that follow the clock and never repeat a value.
 *
 * A value consists of Unix time in ticks of a layout and, in the bits below
 * it, a counter.  The next value is max(last + 1, now), as in a hybrid logical
 * clock.  It is stored by compare-and-swap, so values increase strictly across
 * all sessions without a lock.  Values can be up to a day ahead of the clock;
 * beyond that, calls wait.  Databases whose OIDs are equal modulo DATABASES
 * share a ticker, and therefore skip each other's values.
 *
 * Each database has one sequence per layout, which stores a high-water mark.
 * The mark consists of a Unix time in seconds that is later than all values
 * returned and, in the bits below it, the signature of the ticker that wrote
 * it.  It is written by setval(), and its WAL is flushed before values reach
 * the mark.  A new mark reserves RESERVED seconds, and is renewed when half of
 * them are used, so that a standby may lag behind by the other half.
 *
 * Signatures are random, and change with each start of the server.  If the
 * signature of a high-water mark is not the ticker's own, the mark was written
 * before a restart or promotion, in the database from which this one was
 * copied or restored, or by a user.  Values then continue above the mark, even
 * if the clock is behind it.
 *
 * For each ticker, a backend caches the value up to which it does not need to
 * read the sequence.  Any access to a catalog may reset the cached values.
 *
 * pg_atomic_read_u64() is not a memory barrier.  It may return an old value,
 * which is less than the newest one.  In ticker_next() and raise_ticker(),
 * pg_atomic_compare_exchange_u64() is a full barrier, and fails for an old
 * value.  next_second() relies on the lock on the sequence: it reads at least
 * the value that the last holder of the lock read, whose mark is flushed.
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

/* Before version 19, a system cache is identified by an int. */
#if PG_VERSION_NUM < 190000
#define SysCacheIdentifier	int
#endif

/* The name contains the version of TickerSegment, whose size is checked below. */
#define SEGMENT_NAME		"idgen tickers, layout 2"
#define DATABASES			64
/* how far values may be ahead of the clock, and how much time is reserved at once (in seconds) */
#define AHEAD				SECS_PER_DAY
#define RESERVED			10
#define WAIT_MS_MAX			INT64CONST(100) /* then the clock is read again */

/* High-water marks have 63 bits: Unix seconds (until 3058) and a signature */
#define SIGNATURE_BITS		28
#define SIGNATURE_MASK		((UINT64CONST(1) << SIGNATURE_BITS) - 1)
#define SECOND_MAX			((UINT64CONST(1) << (63 - SIGNATURE_BITS)) - 1)

typedef struct TickerSegment
{
	uint64		signature;		/* of ticker 0; ticker i adds i */
	pg_atomic_uint64 last[DATABASES * TICKERS]; /* the values returned last */
} TickerSegment;

StaticAssertDecl(sizeof(TickerSegment) == 2056, "another size requires another SEGMENT_NAME");

static TickerSegment *tickers = NULL;

/* the sequences that this backend has read, and the values at which it must read them again */
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

/* After DDL on a sequence, or its rollback, make the next call read the sequence again. */
static void
forget_sequence(Datum arg pg_attribute_unused(), Oid relation)
{
	for (int i = 0; i < TICKERS; i++)
	{
		if (!OidIsValid(relation) || relation == seen_sequence[i])
			renew_at[i] = 0;
	}
}

/* After DDL on a schema, another schema may be named idgen. */
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
	/* set this last, so that the next call starts again after an error */
	tickers = attached;
}

/* Return the index of this database's ticker in the segment. */
static inline int
ticker_index(const TickerLayout *layout)
{
	Assert(layout->number < TICKERS && MS_PER_SECOND % layout->ms_per_tick == 0);
	return (MyDatabaseId % DATABASES) * TICKERS + layout->number;
}

/* Return the difference between two values that are the given number of seconds apart. */
static inline uint64
values_of_seconds(const TickerLayout *layout, uint64 seconds)
{
	/* the division costs as much as the rest of a call */
	uint64		ticks = layout->ms_per_tick == 1 ? MS_PER_SECOND : MS_PER_SECOND / layout->ms_per_tick;

	return seconds * ticks << layout->counter_bits;
}

/* Return the Unix time of a value in seconds. */
static uint64
second_of_value(const TickerLayout *layout, uint64 value)
{
	return ticker_tick(layout, value) * layout->ms_per_tick / MS_PER_SECOND;
}

/*
 * Return the value for the current time.  Its counter is 0, unless the layout
 * stores the fraction of the tick in the counter.
 */
static inline uint64
present_value(const TickerLayout *layout)
{
	uint64		ms;

	if (layout->counter_is_fraction)
		return clock_wall_submillis();

	ms = clock_wall_unix_ms();
	return (layout->ms_per_tick == 1 ? ms : ms / layout->ms_per_tick) << layout->counter_bits;
}

/* Advance the ticker, so that it returns only values of this second or later. */
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

/* Return the last value of a sequence, or 0 if it has none. */
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

/* Return the first value that is greater than "last" and at least "now". */
static inline uint64
value_after(const TickerLayout *layout, uint64 last, uint64 now)
{
	uint64		next = Max(last + 1, now);

	Assert(next > last);
	return ticker_counter(layout, next) < (uint64) layout->min_counter ? next + 1 : next;
}

/*
 * Return the Unix time of the next value in seconds.  Read the last value
 * again, because other sessions may have returned values meanwhile.
 */
static uint64
next_second(const TickerLayout *layout)
{
	uint64		last = pg_atomic_read_u64(&tickers->last[ticker_index(layout)]);

	return second_of_value(layout, value_after(layout, last, present_value(layout)));
}

/*
 * Return the high-water mark that a ticker writes if its next value is in this
 * second: RESERVED seconds after the start of the following second.
 */
static inline uint64
mark_at(uint64 second)
{
	return second + 1 + RESERVED;
}

/* If the next value is in this second, has the ticker used half of the reserved seconds? */
static inline bool
is_half_used(uint64 mark, uint64 second)
{
	return mark <= second + RESERVED / 2;
}

/*
 * Make sure that the high-water mark is later than the next value by more than
 * half of RESERVED, and that the ticker is ahead of any other writer's mark.
 * Returns the value at which this function must be called again.  Must run
 * with the privileges of a superuser.
 */
static uint64
reserve_values(const TickerLayout *layout, Oid sequence)
{
	/* the signature is unique among the tickers of the server */
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
		/* do this before other sessions see a mark of this ticker */
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
	Assert(!is_half_used(mark, second));
	return values_of_seconds(layout, mark - RESERVED / 2);
}

/*
 * Call reserve_values() as the bootstrap superuser, because the caller and the
 * owner may lack privileges.  No code of another role is executed.  All waits
 * are for heavyweight locks, so they can be canceled, and deadlocks are
 * detected.  After an error, the server releases the locks and restores the
 * user.
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
	 * setval() reads this row.  Read it here, too: if this session has to
	 * wait for a lock on the catalog, it must do so before it blocks others.
	 */
	(void) SearchSysCacheExists1(SEQRELID, ObjectIdGetDatum(sequence));

	/* admit one session at a time; the server takes no locks of this kind */
	LockDatabaseObject(RelationRelationId, sequence, 0, ExclusiveLock);
	result = reserve_values(layout, sequence);
	UnlockDatabaseObject(RelationRelationId, sequence, 0, ExclusiveLock);

	seen_sequence[layout->number] = sequence;
	renew_at[layout->number] = result;

	SetUserIdAndSecContext(caller, security);
	return result;
}

/*
 * Wait for the time that corresponds to a difference between values, but not
 * longer than WAIT_MS_MAX.  If the whole wait will take more than a second and
 * *warned is false, issues a WARNING and sets *warned.
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
 * Return a new value, which is greater than every value that any session of
 * the database obtained before the call.  May wait for the clock.
 */
uint64
ticker_next(const TickerLayout *layout)
{
	pg_atomic_uint64 *last;
	uint64		reserved;
	bool		warned = false;

	/* raise the same errors as nextval() */
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
