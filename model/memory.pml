/*
 * The memory and the processors: x86-TSO. Each CPU that has a stripe has a
 * buffer of stores that nobody else sees yet, oldest first. Only the plain
 * increments of the asymmetric way go through it; everything else is a locked
 * instruction, which waits until the stores of its own goroutine are visible.
 *
 * An entry is an increment, not a value: a stripe has one writer at a time, so
 * value and increment say the same. It carries its reader because a goroutine
 * that leaves its CPU does so through the scheduler's locked instructions:
 * its own stores are visible before it runs elsewhere, those of the goroutine
 * that follows it on the old CPU need not be.
 */

#ifdef PORTABLE
#define BUFFERS_EMPTY	true
#else

byte buffer[CPUS*DEPTH];	/* 0: no entry */
bool pinned[CPUS];		/* somebody is pinned there: nobody else runs */

#define ENTRY(me, o, which)	((me)*16 + (o)*2 + (which))
#define SLOT(c, i)		buffer[(c)*DEPTH+(i)]
#define EMPTY(c)		(SLOT(c, 0) == 0)
#define FULL(c)			(SLOT(c, DEPTH-1) != 0)
#define MY(c, i, me)		(SLOT(c, i) != 0 && SLOT(c, i)/16 == me)
#define THE(c, i, o, which)	(SLOT(c, i)%16 == (o)*2 + (which))

#if DEPTH == 1
#define MINE(c, me)		MY(c, 0, me)
#define PENDING(c, o, which)	THE(c, 0, o, which)
#elif DEPTH == 2
#define MINE(c, me)		(MY(c, 0, me) || MY(c, 1, me))
#define PENDING(c, o, which)	(THE(c, 0, o, which) + THE(c, 1, o, which))
#else
#define MINE(c, me)		(MY(c, 0, me) || MY(c, 1, me) || MY(c, 2, me))
#define PENDING(c, o, which)	(THE(c, 0, o, which) + THE(c, 1, o, which) + THE(c, 2, o, which))
#endif

/* VISIBLE: the stores of reader me are; true after any of its fences.
   ELSEWHERE(c): those on all CPUs but c are, so it may run on c. */
#if CPUS == 1
#define VISIBLE(me)		(!MINE(0, me))
#define ELSEWHERE(c, me)	true
#define BUFFERS_EMPTY		EMPTY(0)
#elif CPUS == 2
#define VISIBLE(me)		(!MINE(0, me) && !MINE(1, me))
#define ELSEWHERE(c, me)	(!MINE(1-(c), me))
#define BUFFERS_EMPTY		(EMPTY(0) && EMPTY(1))
#else
#define VISIBLE(me)		(!MINE(0, me) && !MINE(1, me) && !MINE(2, me))
#define ELSEWHERE(c, me)	(!MINE(((c)+1)%3, me) && !MINE(((c)+2)%3, me))
#define BUFFERS_EMPTY		(EMPTY(0) && EMPTY(1) && EMPTY(2))
#endif

/* store puts an entry behind those in the buffer of c, which is not full. */
inline store(c, e) {
	if
	:: EMPTY(c) -> SLOT(c, 0) = e
#if DEPTH > 1
	:: !EMPTY(c) && SLOT(c, 1) == 0 -> SLOT(c, 1) = e
#endif
#if DEPTH > 2
	:: !EMPTY(c) && SLOT(c, 1) != 0 -> SLOT(c, 2) = e
#endif
	fi
}

hidden byte leaving;

/* drain makes entry i of the buffer of c visible. */
inline drain(c, i) {
	leaving = SLOT(c, i);
#if DEPTH > 1
	if
	:: i == 0 -> SLOT(c, 0) = SLOT(c, 1)
	:: else
	fi;
#endif
#if DEPTH > 2
	if
	:: i <= 1 -> SLOT(c, 1) = SLOT(c, 2)
	:: else
	fi;
#endif
	SLOT(c, DEPTH-1) = 0;
	COUNT((leaving%16)/2, c, leaving%2)++;
	leaving = 0
}
#endif /* PORTABLE */

#ifdef PLAIN_RETIRED
byte late_retired;		/* the one store of a writer that can be pending */
#endif

/* The hardware: at any time the oldest store of a CPU may become visible. */
proctype memory() {
end:
	do
#ifndef PORTABLE
	:: d_step { !EMPTY(0) -> drain(0, 0) }
#if CPUS > 1
	:: d_step { !EMPTY(1) -> drain(1, 0) }
#endif
#if CPUS > 2
	:: d_step { !EMPTY(2) -> drain(2, 0) }
#endif
#ifdef OUT_OF_ORDER	/* planted bug: as on arm64, a younger store overtakes */
	:: d_step { SLOT(0, 1) != 0 -> drain(0, 1) }
#if CPUS > 1
	:: d_step { SLOT(1, 1) != 0 -> drain(1, 1) }
#endif
#endif
#endif
#ifdef PLAIN_RETIRED
	:: d_step { late_retired != NONE -> phase[late_retired] = RETIRED; late_retired = NONE }
#endif
	:: false -> skip
	od
}

#ifdef FENCE_FAILS
bool failing;			/* membarrier has failed: new objects count the portable way */
byte portable;			/* the objects that do, a set */
#define PLAIN(o)	(!(portable & (1 << (o))))
#else
#define PLAIN(o)	true
#endif

/*
 * count adds one to a counter of stripe k, where its goroutine is pinned. The
 * portable way needs no pin: any stripe will do for anybody.
 */
#ifdef PORTABLE
#define MAY_PIN(k, me)		true
#define MAY_COUNT(k, me, o)	true
#define PIN(k)			skip
#define UNPIN(k)		skip
#define FENCED(me)		true
#else
#define MAY_PIN(k, me)		(!pinned[k] && ELSEWHERE(k, me))
#define MAY_COUNT(k, me, o)	(k == CPUS || (PLAIN(o) -> !FULL(k) : VISIBLE(me)))
#define PIN(k)			pinned[k] = true
#ifdef OVERFLOW
#define UNPIN(k)		if :: k < CPUS -> pinned[k] = false :: else fi
#else
#define UNPIN(k)		pinned[k] = false
#endif
#define FENCED(me)		VISIBLE(me)
#endif

#ifdef PORTABLE
inline count(k, me, o, which) {
	COUNT(o, k, which)++
}
#else
inline count(k, me, o, which) {
	if
	:: k < CPUS && PLAIN(o) -> store(k, ENTRY(me, o, which))
	:: else -> COUNT(o, k, which)++
	fi
}
#endif

/*
 * choose_cpu leaves in k where the goroutine runs next, and pins it there; it
 * waits for room in the buffer if o, which it will count on at once, is not
 * NONE. CPUs are alike: the first of all to be chosen is number 0.
 */
#define ROOM(k, me, o)		(o == NONE || MAY_COUNT(k, me, o))

inline choose_cpu(k, me, o) {
	if
	:: MAY_PIN(0, me) && ROOM(0, me, o) -> k = 0; PIN(0)
#if CPUS > 1
	:: begun > 0 && MAY_PIN(1, me) && ROOM(1, me, o) -> k = 1; PIN(1)
#endif
#if CPUS > 2
	:: begun > 0 && MAY_PIN(2, me) && ROOM(2, me, o) -> k = 2; PIN(2)
#endif
#ifdef OVERFLOW
	:: FENCED(me) -> k = CPUS
#endif
	fi
}

/*
 * heavy_fence is membarrier: every CPU fences at some moment of the call, in
 * any order. A CPU has fenced when its buffer was seen empty.
 */
#define BOTH(c, d)	if :: EMPTY(c) -> EMPTY(d) :: EMPTY(d) -> EMPTY(c) fi
#if defined PORTABLE
#define HEAVY_FENCE	skip
#elif CPUS == 1
#define HEAVY_FENCE	EMPTY(0)
#elif CPUS == 2
#define HEAVY_FENCE	BOTH(0, 1)
#else
#define HEAVY_FENCE	if :: EMPTY(0) -> BOTH(1, 2) :: EMPTY(1) -> BOTH(0, 2) :: EMPTY(2) -> BOTH(0, 1) fi
#endif
