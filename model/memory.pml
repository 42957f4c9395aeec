/*
 * Memory and processors: x86-TSO. Each CPU has a buffer of stores that no other
 * CPU sees yet, oldest first. Only the plain increments of the asymmetric mode
 * go through it. Everything else is a locked instruction, which waits until the
 * stores of its own CPU are visible. PORTABLE, the portable mode, has no
 * buffers.
 *
 * An entry is an increment, not a value; a stripe has one writer at a time, so
 * they amount to the same. A checker is not pinned, and still never needs to
 * read the buffer of its own CPU: README.md says why.
 *
 * MIGRATING readers run on any of CPUS processors and may change it at each pin.
 * Otherwise each reader has a CPU of its own, which allows every behaviour of
 * migrating readers: README.md says why.
 */

#if defined PORTABLE
#define BUFFERS_EMPTY	true
#define VISIBLE(me)	true
#else

#ifdef MIGRATING
#define BUFFERS		CPUS
#else
#define BUFFERS		READERS
#endif

byte buffer[BUFFERS*DEPTH];	/* NONE: no entry */

#define ENTRY(me, o, which)	((me)*16 + (o)*2 + (which))
#define ENTRY_AT(c, i)		buffer[(c)*DEPTH+(i)]
#define EMPTY(c)		(ENTRY_AT(c, 0) == NONE)
#define FULL(c)			(ENTRY_AT(c, DEPTH-1) != NONE)

#if BUFFERS == 1
#define BUFFERS_EMPTY	EMPTY(0)
#elif BUFFERS == 2
#define BUFFERS_EMPTY	(EMPTY(0) && EMPTY(1))
#else
#define BUFFERS_EMPTY	(EMPTY(0) && EMPTY(1) && EMPTY(2))
#endif

/* store puts an entry behind those in the buffer of c, which is not full. */
inline store(c, e) {
	if
	:: EMPTY(c) -> ENTRY_AT(c, 0) = e
#if DEPTH > 1
	:: !EMPTY(c) && ENTRY_AT(c, 1) == NONE -> ENTRY_AT(c, 1) = e
#endif
#if DEPTH > 2
	:: !EMPTY(c) && ENTRY_AT(c, 1) != NONE -> ENTRY_AT(c, 2) = e
#endif
	fi
}

hidden byte flushed;

/* flush makes the oldest store of c visible to all. */
inline flush(c) {
	flushed = ENTRY_AT(c, 0);
#if DEPTH > 1
	ENTRY_AT(c, 0) = ENTRY_AT(c, 1);
#endif
#if DEPTH > 2
	ENTRY_AT(c, 1) = ENTRY_AT(c, 2);
#endif
	ENTRY_AT(c, DEPTH-1) = NONE;
	commit_flushed(c)
}

inline commit_flushed(c) {
	if
	:: flushed%2 == ACQUIRED -> commit_acquired((flushed%16)/2, c)
	:: flushed%2 == RELEASED -> commit_released((flushed%16)/2, c)
	fi;
	flushed = 0
}

/* The hardware: the oldest store of a CPU may become visible at any time. */
proctype memory() {
end:
	do
	:: STEP { !EMPTY(0) -> flush(0) }
#if BUFFERS > 1
	:: STEP { !EMPTY(1) -> flush(1) }
#endif
#if BUFFERS > 2
	:: STEP { !EMPTY(2) -> flush(2) }
#endif
#ifdef OUT_OF_ORDER	/* planted bug, with DEPTH=2: a younger store overtakes, as on arm64 */
	:: STEP { ENTRY_AT(0, 1) != NONE -> flushed = ENTRY_AT(0, 1); ENTRY_AT(0, 1) = NONE; commit_flushed(0) }
	:: STEP { ENTRY_AT(1, 1) != NONE -> flushed = ENTRY_AT(1, 1); ENTRY_AT(1, 1) = NONE; commit_flushed(1) }
#endif
#ifdef PLAIN_RETIRED	/* planted bug: a buffer for the writers' store */
	:: STEP { late_retired != NONE -> phase[late_retired] = RETIRED; late_retired = NONE }
#endif
	od
}
#endif /* PORTABLE */

/*
 * Where a goroutine runs. A CPU passes from one goroutine to the next with
 * locked instructions, so its buffer holds stores of one goroutine only, and a
 * goroutine leaves none behind when it moves on.
 */
#ifdef MIGRATING

bool pinned[CPUS];		/* a goroutine is pinned there; no other runs */

#define MINE(c, me)	(!EMPTY(c) && ENTRY_AT(c, 0)/16 == (me))
#if CPUS == 2
#define VISIBLE(me)	(!MINE(0, me) && !MINE(1, me))
#define ELSEWHERE(c, me) MINE(1-(c), me)
#else
#define VISIBLE(me)	(!MINE(0, me) && !MINE(1, me) && !MINE(2, me))
#define ELSEWHERE(c, me) (MINE(((c)+1)%3, me) || MINE(((c)+2)%3, me))
#endif
#define MAY_RUN(c, me)	(!pinned[c] && !ELSEWHERE(c, me) && (EMPTY(c) || MINE(c, me)))

/*
 * pin sets k to the CPU on which the goroutine runs next. If o is not NONE the
 * goroutine counts on o in the same step, and waits for room in the buffer.
 */
#define ROOM(c, o)	((o) == NONE || !FULL(c))
inline pin(k, me, o) {
	if
	:: MAY_RUN(0, me) && ROOM(0, o) -> k = 0
	:: MAY_RUN(1, me) && ROOM(1, o) -> k = 1
#if CPUS > 2
	:: MAY_RUN(2, me) && ROOM(2, o) -> k = 2
#endif
	fi;
	pinned[k] = true
}

inline unpin(k) {
	pinned[k] = false;
	k = 0
}

#else
#ifndef PORTABLE
#define VISIBLE(me)	EMPTY(me)
#endif
inline pin(k, me, o) {
	skip
}
inline unpin(k) {
	skip
}
#endif

/*
 * The steps (A3), (A5) and (R3) on stripe c: a plain store, or a locked
 * instruction on the overflow stripe and on objects in the portable mode.
 */
#ifdef FENCE_FAILS
bool failing;			/* membarrier has failed: new objects are portable */
byte portable;			/* the objects in the portable mode, a set */
#define PLAIN(o)	(!IN(portable, o))
#define ATOMIC(o)	IN(portable, o)
#elif defined OVERFLOW
#define PLAIN(o)	true
#define ATOMIC(o)	true
#else
#define PLAIN(o)	true
#define ATOMIC(o)	false
#endif

#if defined PORTABLE
inline count_acquired(c, who, o) {
	commit_acquired(o, c)
}
inline count_released(c, who, o) {
	commit_released(o, c)
}
#else
inline count_acquired(c, who, o) {
	if
	:: PLAIN(o) && !FULL(c) -> store(c, ENTRY(who, o, ACQUIRED))
#if defined FENCE_FAILS || defined OVERFLOW
	:: ATOMIC(o) && VISIBLE(who) -> commit_acquired(o, c)
#endif
	fi
}
inline count_released(c, who, o) {
	if
	:: PLAIN(o) && !FULL(c) -> store(c, ENTRY(who, o, RELEASED))
#if defined FENCE_FAILS || defined OVERFLOW
	:: ATOMIC(o) && VISIBLE(who) -> commit_released(o, c)
#endif
	fi
}
#endif

/*
 * HEAVY_FENCE is membarrier: every CPU fences at some moment of the call, in any
 * order. A CPU has fenced once its buffer was seen empty.
 */
#ifndef PORTABLE
#define BOTH(c, d)	if :: EMPTY(c) -> EMPTY(d) :: EMPTY(d) -> EMPTY(c) fi
#if BUFFERS == 1
#define HEAVY_FENCE	EMPTY(0)
#elif BUFFERS == 2
#define HEAVY_FENCE	BOTH(0, 1)
#else
#define HEAVY_FENCE	if :: EMPTY(0) -> BOTH(1, 2) :: EMPTY(1) -> BOTH(0, 2) :: EMPTY(2) -> BOTH(0, 1) fi
#endif
#endif
