/*
 * ticker.pml: a model of the tickers, for Spin.  dev/verify.sh checks it
 * in several configurations, and with planted bugs, which it must find.
 *
 * Sessions take values from one ticker without a clock, whose errors no clock can
 * hide.  Meanwhile, depending on the macros,
 *
 *   CRASH		the server crashes at any step, with unflushed WAL lost or not
 *   SETVAL		a role sets the sequence to a greater value or to none
 *   REPLACE	a transaction replaces the sequence, under a new OID (DROP and CREATE)
 *				or only its file (ALTER SEQUENCE), takes a value or none, and
 *				commits or rolls back
 *   EVICT		the ticker loses its slot when no session is connected
 *   CANCELS	calls fail where they wait for a lock, or before they write
 *
 * Checked: a value is greater than all before, over crashes, and below the flushed
 * high-water mark; no session waits forever, for a lock (an invalid end state) or
 * in a loop (a non-progress cycle).
 *
 * docs/tickers.md names what is not promised.  "lowered" says that a role removed
 * the mark from the sequence and no call has written it since: then a crash may
 * repeat values.  Values of a replacing transaction count from its commit on.
 */
#ifndef SESSIONS
#define SESSIONS 2
#endif
#ifndef VALUES
#define VALUES 3				/* calls of each session */
#endif
#ifndef CANCELS
#define CANCELS 0
#endif

#define AHEAD		2			/* values_ahead() */
#define NONE		2			/* no OID */
#define MAX(a, b)	((a) > (b) -> (a) : (b))

/* TickerSlot (ticker_internal.h) */
byte last, reserved, renew_at, private_mark;

/* the sequence's files: the value in shared buffers, and what the flushed WAL has */
byte mem[2], disk[2];

/* the committed catalog: the sequence's OID, and its file.  The other OID and file
 * are those of before a replacement, or not yet committed. */
bit oid, file;

/* heavyweight locks by OID: on the sequence RowExclusiveLock (number of sessions),
 * AccessExclusiveLock (held, and awaited: later requests queue), and the renewal */
byte users[2];
bool exclusive[2], exclusive_awaited, renewing[2];

byte connections;				/* CountDBBackends() */
byte cancels;
bool crashed;

/* what the assertions need */
byte greatest;					/* value of this run of the server */
byte promised;					/* value that a crash must not repeat */
bool lowered;

/* a process's variables; those that are not needed are 0, to have fewer states */
#define TICKER_VARIABLES \
	byte n, nx, l, ra, rs, stored, mark; \
	byte o = NONE, f; \
	bit seen; \
	bool attached, must_reserve, is_ours

/* choose_high_water_mark(): half is left */
#ifdef BUG_NO_RENEWAL
#define ENOUGH			(nx <= reserved)
#else
#define ENOUGH			(nx + AHEAD / 2 < reserved)
#endif

#define LOCKED_OUT(relation) \
	(exclusive[relation] || (exclusive_awaited && relation == 0))

/* canceled where it waits, or failed to write; the end of the transaction */
inline fail() {
	cancels++;
	nx = 0; stored = 0; mark = 0; f = 0; must_reserve = false;
	goto end_of_call
}

/* ticker_mark.c: unlock_renewal(), and the end of ticker_reserve() */
inline unlock_renewal() {
	renewing[o] = false;
	nx = 0; mark = 0; must_reserve = false;
	attached = true
}

/* ticker_mark.c: ticker_reserve(), for the value nx.  Each atomic step here and below
 * has one access to what another process may change at that moment; lock_renewal() is
 * in one step with the first access that it protects, and unlock_renewal() with the
 * last.  raise_last() is in one step with the reads before it: what changes the
 * sequence does not change last. */
inline ticker_reserve(private) {
#ifdef BUG_LOCK_ORDER
	atomic { private || !renewing[seen] -> renewing[seen] = renewing[seen] || !private };
#endif
	do
	/* lock_relation(), whose result is o.  "seen" is the catalog cache, which is current
	 * once a lock is there.  A transaction that called before still has the lock, and the
	 * replacing one has its own. */
	:: atomic { o == NONE && !LOCKED_OUT(seen) ->
		if
#ifdef BUG_NO_SECOND_LOOKUP
		:: true ->
#else
		:: seen != oid -> seen = oid
		:: seen == oid ->
#endif
			o = seen; users[o]++; seen = oid
		fi }
	/* lock_renewal(), read_high_water_mark(), raise_last(), choose_high_water_mark() */
	:: atomic { o != NONE &&
#if defined(BUG_LOCK_ORDER)
		(!private || !renewing[o]) ->
#elif defined(BUG_NO_RENEWAL_LOCK)
		true ->
#else
		!renewing[o] ->
#endif
		renewing[o] = true;
		f = (private || o == 1 -> 1 : (oid == 0 -> file : 0));
		stored = MAX(mem[f], 1);
		is_ours = (stored == reserved || (stored > reserved && stored == private_mark));
		last = (is_ours -> last : MAX(last, stored - 1));
		mark = ((private -> nx < stored && reserved <= stored :
				 stored == reserved && ENOUGH) -> stored :
				MAX(reserved, MAX(nx, stored) + AHEAD));
		is_ours = false;
		break }
	:: atomic { cancels < CANCELS -> fail() }
	od;

	/* write_high_water_mark(): setval_oid(), and XLogFlush(), which may flush a later
	 * setval(), too */
	if
	:: atomic { mark <= stored -> stored = 0; f = 0 }
	:: atomic { cancels < CANCELS -> renewing[o] = false; fail() }
	:: atomic { mark > stored -> mem[f] = mark; stored = 0;
#ifdef BUG_PUBLISH_FIRST
		if :: private :: else -> reserved = mark; renew_at = mark - AHEAD / 2 fi;
#endif
		};
		atomic {
#ifndef BUG_NO_FLUSH
			if
			:: disk[f] = mark
			:: mem[f] != mark -> disk[f] = mem[f]
			fi;
			lowered = lowered && (private || f != file || mem[f] != mark);
#endif
			f = 0 }
	fi;

	/* publish_high_water_mark(), where the order in which other processors see the two
	 * is not certain; or a private mark */
	if
	:: atomic { private -> private_mark = mark;
#ifdef BUG_PUBLISH_PRIVATE
		reserved = mark; renew_at = mark - AHEAD / 2;
#endif
		unlock_renewal() }
	:: atomic { !private -> reserved = mark };
		atomic { renew_at = mark - AHEAD / 2; unlock_renewal() }
	:: atomic { !private -> renew_at = mark - AHEAD / 2 };
		atomic { reserved = mark; unlock_renewal() }
	fi
}

/* ticker.c: ticker_next().  nx is 0 until it is computed. */
inline ticker_next(private) {
	do
	/* ticker_mark.c: ticker_attach() */
	:: atomic { !attached && !must_reserve -> nx = last + 1; must_reserve = true }
	:: must_reserve -> ticker_reserve(private)
	/* the reads of last and renew_at, in either order */
	:: atomic { attached && nx == 0 && private -> l = last; ra = private_mark; nx = l + 1 }
	:: atomic { attached && nx == 0 && !private -> l = last };
		atomic { ra = renew_at; nx = l + 1 }
	:: atomic { attached && nx == 0 && !private -> ra = renew_at };
		atomic { l = last; nx = l + 1 }
	/* the compare-and-swap of last */
	:: atomic { attached && nx != 0 && !must_reserve && nx < ra ->
		ra = 0;
		if
		:: last != l -> l = 0; nx = 0
		:: last == l -> l = 0;
			last = nx;
			assert(nx > greatest);
			/* the commit flushes mem[1] before values in it count */
			assert(lowered || nx < (private -> mem[1] : disk[file]));
			greatest = nx;
			promised = (private || crashed -> promised : nx);
			goto end_of_call
		fi }
	/* the read of reserved, and the compare-and-swap of renew_at */
	:: atomic { attached && nx != 0 && !must_reserve && nx >= ra && (private || nx >= reserved) ->
		l = 0; ra = 0; must_reserve = true }
	:: atomic { attached && nx != 0 && !must_reserve && nx >= ra && !private && nx < reserved ->
		l = 0; rs = reserved };
		atomic {
			if
			:: renew_at == ra -> renew_at = rs; must_reserve = true
			:: renew_at != ra -> nx = 0
			fi;
			ra = 0; rs = 0 }
	od
}

proctype session() {
	TICKER_VARIABLES;
	bit noticed;
	bool restarted;

restart:
	{
		atomic { connections++; seen = oid; noticed = file };
		do
		/* ticker_mark.c: detach(), if a statement processes messages */
		:: atomic { noticed != file -> noticed = file; seen = oid; attached = false }
		:: ticker_next(false);
end_of_call:
			atomic {
				n = (nx != 0 -> n + 1 : n);
				if				/* the end of the transaction */
				:: o == NONE
				:: o != NONE -> users[o]--; o = NONE
#ifdef LONG_TRANSACTIONS
				:: o != NONE && nx != 0 && n < VALUES
#endif
				fi;
				nx = 0;
				if
				:: n < VALUES
				:: n == VALUES -> connections--; seen = 0; noticed = 0; attached = false;
					restarted = true; break
				fi }
		od
	} unless {					/* the client connects again */
		atomic { crashed && !restarted -> restarted = true; o = NONE; nx = 0; l = 0; ra = 0; rs = 0;
			stored = 0; mark = 0; f = 0; attached = false; must_reserve = false; goto restart }
	}
}

/* A transaction that replaces the sequence; a crash ends it. */
proctype replacing() {
	TICKER_VARIABLES;
	bool failed;

	{
		atomic { connections++; exclusive_awaited = true };
		atomic { users[0] == 0 -> exclusive[0] = true; exclusive_awaited = false;
			if
			:: o = 0			/* ALTER SEQUENCE, also with RESTART */
			:: o = 1; exclusive[1] = true	/* DROP, or RENAME, and CREATE */
			fi;
			if
			:: mem[1] = mem[0]
			:: mem[1] = 0
			fi };
		do
		:: n == 0 && !failed -> ticker_next(true);
end_of_call:
			atomic {
				failed = (nx == 0);
				n = (nx != 0 -> n + 1 : n);
				nx = 0; attached = false }
		:: atomic {
			if
			:: !failed ->
				oid = o; file = 1; disk[1] = mem[1];
				promised = (n > 0 && !crashed -> greatest : promised);
				lowered = lowered || mem[1] < reserved;
#ifndef BUG_NO_SECOND_LOOKUP
				mem[0] = 0; disk[0] = 0
#endif
			:: mem[1] = 0; disk[1] = 0
			fi;
			exclusive[0] = false; exclusive[1] = false; connections--;
			n = 0; failed = false;
			break }
		od
	} unless { crashed }
}

/* Neither memory nor sequence has a mark: values may repeat. */
inline forget() {
	greatest = (lowered -> 0 : greatest);
	promised = (lowered -> 0 : promised)
}

/* Recovery: the WAL that was not flushed is lost, or not. */
proctype crash() {
	if
	:: atomic { crashed = true;
		if
		:: mem[file] = disk[file]
		:: disk[file] = mem[file]
		fi;
		if
		:: file == 0 -> mem[1] = 0; disk[1] = 0
		:: else
		fi;
		last = 0; reserved = 0; renew_at = 0; private_mark = 0; connections = 0;
		users[0] = 0; users[1] = 0;
		exclusive[0] = false; exclusive[1] = false; exclusive_awaited = false;
		renewing[0] = false; renewing[1] = false;
		greatest = promised;
		forget();
		lowered = false; promised = 0
		}
	:: true						/* without it, a deadlock would end with the crash */
	fi
}

/* setval() and ALTER SEQUENCE ... RESTART take no renewal lock. */
proctype set_elsewhere_() {
	atomic { !exclusive[oid] && !(exclusive_awaited && oid == 0) ->
		if
		:: mem[file] = MAX(mem[file], reserved) + AHEAD + 1
		:: mem[file] = 0; lowered = true;
			if :: reserved == 0 -> forget() :: else fi
		fi
	}
}

/* ticker_slots.c: take_slot() and fill_slot().  The evicted values are remembered, or
 * overwritten by those of another ticker. */
proctype evict() {
	atomic {
#ifndef BUG_EVICT_CONNECTED
		connections == 0 ->
#endif
		renew_at = 0; private_mark = 0;
		if
		:: true
		:: last = 0; reserved = 0; forget()
		fi
	}
}

init {
	atomic {
		byte i;
		for (i : 1 .. SESSIONS) { run session() }
		i = 0;
#ifdef CRASH
		run crash();
#endif
#ifdef SETVAL
		run set_elsewhere_();
#endif
#ifdef REPLACE
		run replacing();
#endif
#ifdef EVICT
		run evict()
#endif
	}
}
