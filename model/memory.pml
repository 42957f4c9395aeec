/*
 * The memory and the processors: x86-TSO. Each CPU has a buffer of stores that
 * nobody else sees yet, oldest first. Only the plain increments of the
 * asymmetric way go through it; everything else is a locked instruction, which
 * waits until the stores of its own CPU are visible. The portable way has no
 * buffers: PORTABLE.
 *
 * An entry is an increment, not a value: a stripe has one writer at a time, so
 * value and increment say the same. Whoever sums is not pinned, yet no buffer
 * is read by its own CPU: README.md says why.
 *
 * MIGRATING readers run on any of CPUS processors, and on another one each time
 * they are pinned. Else each has a CPU of its own, which allows more than any
 * placement on fewer does: README.md says why.
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
#define SLOT(c, i)		buffer[(c)*DEPTH+(i)]
#define EMPTY(c)		(SLOT(c, 0) == NONE)
#define FULL(c)			(SLOT(c, DEPTH-1) != NONE)

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
	:: EMPTY(c) -> SLOT(c, 0) = e
#if DEPTH > 1
	:: !EMPTY(c) && SLOT(c, 1) == NONE -> SLOT(c, 1) = e
#endif
#if DEPTH > 2
	:: !EMPTY(c) && SLOT(c, 1) != NONE -> SLOT(c, 2) = e
#endif
	fi
}

hidden byte leaving;

/* drain makes the oldest store of c visible. */
inline drain(c) {
	leaving = SLOT(c, 0);
#if DEPTH > 1
	SLOT(c, 0) = SLOT(c, 1);
#endif
#if DEPTH > 2
	SLOT(c, 1) = SLOT(c, 2);
#endif
	SLOT(c, DEPTH-1) = NONE;
	count_leaving(c)
}

inline count_leaving(c) {
	if
	:: leaving%2 == ACQUIRED -> show_acquired((leaving%16)/2, c)
	:: leaving%2 == RELEASED -> show_released((leaving%16)/2, c)
	fi;
	leaving = 0
}

/* The hardware: at any time the oldest store of a CPU may become visible. */
proctype memory() {
end:
	do
	:: STEP { !EMPTY(0) -> drain(0) }
#if BUFFERS > 1
	:: STEP { !EMPTY(1) -> drain(1) }
#endif
#if BUFFERS > 2
	:: STEP { !EMPTY(2) -> drain(2) }
#endif
#ifdef OUT_OF_ORDER	/* planted bug, with DEPTH=2: as on arm64, a younger store overtakes */
	:: STEP { SLOT(0, 1) != NONE -> leaving = SLOT(0, 1); SLOT(0, 1) = NONE; count_leaving(0) }
	:: STEP { SLOT(1, 1) != NONE -> leaving = SLOT(1, 1); SLOT(1, 1) = NONE; count_leaving(1) }
#endif
#ifdef PLAIN_RETIRED	/* planted bug: the writers are not alone in this buffer */
	:: STEP { late_retired != NONE -> phase[late_retired] = RETIRED; late_retired = NONE }
#endif
	od
}
#endif /* PORTABLE */

/*
 * Where a goroutine runs. A CPU passes from one to another with locked
 * instructions, so its buffer has stores of one goroutine only; and whoever
 * leaves a CPU leaves no store behind.
 */
#ifdef MIGRATING

bool pinned[CPUS];		/* somebody is pinned there: nobody else runs */

#define MINE(c, me)	(!EMPTY(c) && SLOT(c, 0)/16 == (me))
#if CPUS == 2
#define VISIBLE(me)	(!MINE(0, me) && !MINE(1, me))
#define ELSEWHERE(c, me) MINE(1-(c), me)
#else
#define VISIBLE(me)	(!MINE(0, me) && !MINE(1, me) && !MINE(2, me))
#define ELSEWHERE(c, me) (MINE(((c)+1)%3, me) || MINE(((c)+2)%3, me))
#endif
#define MAY_RUN(c, me)	(!pinned[c] && !ELSEWHERE(c, me) && (EMPTY(c) || MINE(c, me)))

/*
 * pin leaves in k where the goroutine runs next; where o is not NONE it will
 * count on o at once, and waits for room.
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
 * The steps (A3), (A5) and (R3) on stripe c: plainly, or with a locked
 * instruction on the overflow and where the object counts the portable way.
 */
#ifdef FENCE_FAILS
bool failing;			/* membarrier has failed: new objects count the portable way */
byte portable;			/* the objects that do, a set */
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
	show_acquired(o, c)
}
inline count_released(c, who, o) {
	show_released(o, c)
}
#else
inline count_acquired(c, who, o) {
	if
	:: PLAIN(o) && !FULL(c) -> store(c, ENTRY(who, o, ACQUIRED))
#if defined FENCE_FAILS || defined OVERFLOW
	:: ATOMIC(o) && VISIBLE(who) -> show_acquired(o, c)
#endif
	fi
}
inline count_released(c, who, o) {
	if
	:: PLAIN(o) && !FULL(c) -> store(c, ENTRY(who, o, RELEASED))
#if defined FENCE_FAILS || defined OVERFLOW
	:: ATOMIC(o) && VISIBLE(who) -> show_released(o, c)
#endif
	fi
}
#endif

/*
 * heavy_fence is membarrier: every CPU fences at some moment of the call, in
 * any order. A CPU has fenced when its buffer was seen empty.
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
