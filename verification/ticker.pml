/*
 * ticker.pml: a model of the tickers, for Spin.  scripts/dev/verify.sh checks it
 * in several configurations, and with planted bugs, which it must find.
 *
 * Sessions take values from one ticker without a clock, whose errors no clock can
 * hide.  Meanwhile, depending on the macros,
 *
 *   CRASHES	the server crashes at any step, with unflushed WAL lost or not
 *   SETVAL		a role sets the sequence to a greater value or to none
 *   REPLACE	a transaction replaces the sequence, under a new OID (DROP and CREATE)
 *				or only its file (ALTER SEQUENCE), takes VALUES_REPLACING values or
 *				none, and commits or rolls back
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
#ifndef VALUES_REPLACING
#define VALUES_REPLACING 1
#endif
#ifndef CRASHES
#define CRASHES 0
#endif
#ifndef CANCELS
#define CANCELS 0
#endif

#define AHEAD		2			/* values_ahead() */
#define NONE		2			/* no OID */
#define MAX(a, b)	((a) > (b) -> (a) : (b))

/* TickerSlot (ticker_slots.h) */
byte last, reserved, renew_at;

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
byte cancels, generation;

/* what the assertions need */
byte greatest;					/* value of this run of the server */
byte promised;					/* value that a crash must not repeat */
bool lowered;

/* the variables of ticker_next() and ticker_reserve() */
#define TICKER_VARIABLES \
	byte l, nx, ra, rs, stored, mark, private_mark, own_mark; \
	byte o = NONE, f, n; \
	bool attached, must_reserve, failed, set_elsewhere, enough

inline fail_here(private) {
	if
	:: CANCELS > 0 && !private && cancels < CANCELS -> cancels++; failed = true
	:: true
	fi
}

/* ticker_mark.c: lock_relation(), which returns the OID in o.  "seen" is the catalog
 * cache, which is current after messages were processed, that is, once a lock is there.
 * A transaction that called before still has the lock, and the replacing one has its own. */
inline lock_relation(private) {
	if
	:: private || o != NONE
	:: else ->
		do
		:: atomic { o != NONE && o == seen -> break }
		:: atomic { o != seen && o != NONE -> users[o]--; o = NONE }
		:: atomic { o == NONE && !exclusive[seen] && !(exclusive_awaited && seen == 0) ->
			o = seen; users[o]++;
			seen = oid;
#ifdef BUG_NO_SECOND_LOOKUP
			break
#endif
			}
		od
	fi
}

/* ticker_mark.c: lock_renewal() */
inline lock_renewal(relation) {
#ifdef BUG_NO_RENEWAL_LOCK
	skip
#else
	atomic { !renewing[relation] -> renewing[relation] = true }
#endif
}

/* ticker_mark.c: publish_high_water_mark().  The order in which another processor sees
 * the two is not certain. */
inline publish() {
	if
	:: reserved = mark; renew_at = mark - AHEAD / 2
#ifdef WEAK_MEMORY
	:: renew_at = mark - AHEAD / 2; reserved = mark
#endif
	fi
}

/* ticker_mark.c: ticker_reserve(), for the value nx */
inline ticker_reserve(private) {
	fail_here(private);
#ifdef BUG_LOCK_ORDER
	if :: private -> skip :: else -> lock_renewal(seen) fi;
#endif
	if
	:: failed
	:: else -> lock_relation(private); fail_here(private)
	fi;
	if
	:: failed
	:: else ->
		atomic {
#ifdef BUG_LOCK_ORDER
			if :: private -> lock_renewal(o) :: else fi;
#else
			lock_renewal(o);
#endif
			/* the file of the OID; read_high_water_mark() */
			f = (private || o == 1 -> 1 : (oid == 0 -> file : 0));
			stored = MAX(mem[f], 1);
			rs = reserved;
			set_elsewhere = (stored != (private -> own_mark : rs))
		};
		atomic {				/* raise_last(), and choose_high_water_mark() */
			last = (set_elsewhere -> MAX(last, stored - 1) : last);
			enough = (private -> nx < stored && rs <= stored :
					  !set_elsewhere && nx + AHEAD / 2 < rs);
			mark = (enough -> stored : MAX(rs, MAX(nx, stored) + AHEAD));
			fail_here(private)
		};
		if
		:: failed
		:: else ->
			if					/* write_high_water_mark() */
			:: mark > stored ->
				mem[f] = mark;	/* setval_oid() */
#ifdef BUG_PUBLISH_FIRST
				if :: private :: else -> publish() fi;
#endif
#ifndef BUG_NO_FLUSH
				atomic {		/* XLogFlush() may flush a later setval(), too */
					if
					:: disk[f] = mark
					:: mem[f] != mark -> disk[f] = mem[f]
					fi;
					lowered = lowered && (private || f != file || mem[f] != mark)
				}
#endif
			:: else
			fi;
			if
			:: private -> atomic { own_mark = mark; private_mark = mark }
#ifdef BUG_PUBLISH_PRIVATE
				publish()
#endif
			:: else -> publish(); attached = true
			fi
		fi;
		atomic { renewing[o] = false; rs = 0; stored = 0; mark = 0; f = 0; set_elsewhere = false; enough = false }
	fi
}

/* ticker.c: ticker_next(), and ticker_mark.c: ticker_attach() */
inline ticker_next(private) {
	do
	:: atomic { must_reserve -> must_reserve = false };
		ticker_reserve(private);
		if :: failed -> break :: else fi
	:: atomic { !must_reserve && !attached && private_mark == 0 -> nx = last + 1; must_reserve = true }
	:: atomic { !must_reserve && (attached || private_mark != 0) ->
			/* The two reads have no order; a private mark is no shared memory. */
			if
			:: l = last
#ifdef WEAK_MEMORY
			:: !private -> ra = renew_at
#endif
			fi }
		atomic {
			if
			:: ra == 0 -> ra = (private_mark != 0 -> private_mark : renew_at)
			:: else -> l = last
			fi;
			nx = l + 1 }
		if
		:: atomic { nx < ra && last == l ->		/* compare-and-swap */
			last = nx;
			assert(nx > greatest);
			assert(lowered || nx < disk[(private -> 1 : file)]);
			greatest = nx;
			promised = (private -> promised : nx);
			break }
		:: atomic { nx < ra && last != l -> l = 0; ra = 0; nx = 0 }
		:: atomic { nx >= ra -> l = 0; rs = reserved;
			if
			:: private_mark != 0 || nx >= rs -> must_reserve = true
			:: else
			fi }
			if
			:: atomic { must_reserve -> rs = 0; ra = 0 }
			:: atomic { !must_reserve && renew_at == ra -> renew_at = rs; rs = 0; ra = 0; must_reserve = true }
			:: atomic { !must_reserve && renew_at != ra -> rs = 0; ra = 0; nx = 0 }
			fi
		fi
	od
}

proctype session() {
	TICKER_VARIABLES;
	bit seen, noticed;
	byte g;

restart:
	atomic {
		g = generation; l = 0; nx = 0; ra = 0; rs = 0; stored = 0; mark = 0; private_mark = 0; f = 0; o = NONE;
		attached = false; must_reserve = false; failed = false; set_elsewhere = false; enough = false; seen = 0; noticed = 0
	}
	{
		atomic { n < VALUES -> connections++; seen = oid; noticed = file };
		do
		:: atomic { n < VALUES ->
				if				/* detach(), if the statement processes messages */
				:: noticed != file -> noticed = file; seen = oid; attached = false
				:: true
				fi }
			ticker_next(false);
			atomic { n++; nx = 0; l = 0; ra = 0;
				if				/* the end of the transaction */
				:: o != NONE -> users[o]--; o = NONE
#ifdef LONG_TRANSACTIONS
				:: n < VALUES && !failed
#endif
				:: o == NONE
				fi;
				failed = false }
		/* a crash has disconnected all already */
		:: atomic { n == VALUES -> connections = (g == generation -> connections - 1 : connections);
				attached = false; seen = 0; noticed = 0; g = 0; break }
		od
	} unless { g != generation && n < VALUES -> goto restart }
}

/* A transaction that replaces the sequence; a crash ends it. */
proctype replacing() {
	TICKER_VARIABLES;
	bit seen;
	bool any;

	{
		atomic { connections++; exclusive_awaited = true };
		atomic { users[0] == 0 -> exclusive[0] = true; exclusive_awaited = false };
		atomic {
			if
			:: o = 0			/* ALTER SEQUENCE, also with RESTART */
			:: o = 1; exclusive[1] = true	/* DROP, or RENAME, and CREATE */
			fi;
			if
			:: mem[1] = mem[0]
			:: mem[1] = 0
			fi
		}
		do
		:: n < VALUES_REPLACING ->
			ticker_next(true);
			atomic { n++; any = true; private_mark = 0; nx = 0; l = 0; ra = 0 }
		:: break
		od;
		atomic {
			if
			:: oid = o; file = 1; disk[1] = mem[1];
				if
				:: any -> promised = greatest
				:: else
				fi;
				lowered = lowered || mem[1] < reserved
			:: mem[1] = 0; disk[1] = 0
			fi;
			exclusive[0] = false; exclusive[1] = false; connections--;
		}
	} unless { generation > 0 }
}

/* Recovery: the WAL that was not flushed is lost, or not. */
proctype crash() {
	if
	:: atomic { generation++;
		if
		:: mem[file] = disk[file]
		:: disk[file] = mem[file]
		fi;
		if
		:: file == 0 -> mem[1] = 0; disk[1] = 0
		:: else
		fi;
		last = 0; reserved = 0; renew_at = 0; connections = 0;
		users[0] = 0; users[1] = 0; exclusive[0] = false; exclusive[1] = false; exclusive_awaited = false;
		renewing[0] = false; renewing[1] = false;
		promised = (lowered -> 0 : promised);
		lowered = false; greatest = promised
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
			greatest = (reserved == 0 -> 0 : greatest)	/* nothing is left */
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
		renew_at = 0;
		if
		:: true
		:: last = 0; reserved = 0
		fi
	}
}

init {
	atomic {
		byte i;
		for (i : 1 .. SESSIONS) { run session() }
		i = 0;
		if :: CRASHES -> run crash() :: else fi;
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
