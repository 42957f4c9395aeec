/*
 * The counters in memory, behind all store buffers, and who is summing them.
 * Only the sums over all stripes are ever looked at, so only they are here;
 * README.md says why a sum, which takes many loads, is one step.
 */

#define ACQUIRED	0
#define RELEASED	1
#define CHECKERS	(READERS+WRITERS)

#ifndef COUNTED
/*
 * Folded: of the two sums only the difference is kept, and of a checker between
 * (S2) and (S4) only whether it can still win. The number of operations then has
 * no bound. README.md says why that loses nothing.
 */
byte outstanding[OBJECTS+1];	/* acquired less released */
byte checking[CHECKERS];	/* NONE: nothing, or its compare-and-swap will fail;
				   o: released has not grown since it was summed;
				   SUMMED(o): the sums were equal */
#define SUMMED(o)	((o)+8)

#define OUTDATE(p, o)	checking[p] = (checking[p] == (o) -> NONE : checking[p])
#define OUTLIVE(p, o)	checking[p] = (checking[p]%8 == (o) -> NONE : checking[p])
#if READERS+WRITERS == 2
#define ALL_CHECKERS(DO, o)	DO(0, o); DO(1, o)
#elif READERS+WRITERS == 3
#define ALL_CHECKERS(DO, o)	DO(0, o); DO(1, o); DO(2, o)
#else
#define ALL_CHECKERS(DO, o)	DO(0, o); DO(1, o); DO(2, o); DO(3, o)
#endif

/* What others see of (A3), (A5) and (R3), of stripe c. */
inline show_acquired(o, c) {
	outstanding[o]++
}
inline show_released(o, c) {
	NEVER(accused, outstanding[o] == 0);
	outstanding[o]--;
	ALL_CHECKERS(OUTDATE, o)
}

#ifdef NO_GENERATION	/* planted bug: all lives look alike */
#define begin_life(o)	skip
#else
#define begin_life(o)	ALL_CHECKERS(OUTLIVE, o)
#endif

/* The steps of reclaim in reclaim.pml, by checker me. */
#define SUM_RELEASED(me, o)	checking[me] = o
#define EQUAL(me, o)		(checking[me] == (o) && outstanding[o] == 0)
#define SUM_ACQUIRED(me, o)	checking[me] = (EQUAL(me, o) -> SUMMED(o) : NONE)
#define DRAINED(me, o)		(checking[me] == SUMMED(o))
#ifdef SUM_RETIRING
#define SAME_LIFE(me, o)	((phase[o] == RETIRED || phase[o] == RETIRING) && checking[me] == SUMMED(o))
#else
#define SAME_LIFE(me, o)	(phase[o] == RETIRED && checking[me] == SUMMED(o))
#endif
#define FORGET(me)		checking[me] = NONE

#else
/*
 * Counted: as in the code. For bugs that the folding does not know, and to
 * compare the two.
 */
#ifdef ONE_COUNTER
#define STRIPES		CPUS
#define STRIPE(c)	(c)
#else
#define STRIPES		1
#define STRIPE(c)	0
#endif
byte counter[(OBJECTS+1)*STRIPES*2];
byte generation[OBJECTS+1];
byte life[CHECKERS];		/* the generation that the sums are about */
short diff[CHECKERS];		/* released less acquired, so far */
#define COUNT(o, c, which)	counter[((o)*STRIPES+STRIPE(c))*2+(which)]

inline show_acquired(o, c) {
	COUNT(o, c, ACQUIRED)++
}
inline show_released(o, c) {
	COUNT(o, c, RELEASED)++
}

#define begin_life(o)	generation[o]++

#define STRIPE_OF(o, c)		(COUNT(o, c, RELEASED) - COUNT(o, c, ACQUIRED))
#if defined NO_FENCE		/* its own pending stores are visible to the checker alone */
#define OWN(me, o, which)	((SLOT(me, 0) == ENTRY(me, o, which)) + (SLOT(me, 1) == ENTRY(me, o, which)))
#define PENDING(me, o, which)	((me) < READERS -> OWN(me, o, which) : 0)
#define FIRST(me, o)	COUNT(o, 0, RELEASED) + PENDING(me, o, RELEASED)
#define THEN(me, o)	(-COUNT(o, 0, ACQUIRED) - PENDING(me, o, ACQUIRED))
#elif defined SUMS_SWAPPED	/* planted bug: the other way round */
#define FIRST(me, o)	(-COUNT(o, 0, ACQUIRED))
#define THEN(me, o)		COUNT(o, 0, RELEASED)
#elif defined ONE_COUNTER	/* planted bug: one word on each stripe, up and down */
#define FIRST(me, o)	STRIPE_OF(o, 0)
#define THEN(me, o)		STRIPE_OF(o, 1)
#else
#define FIRST(me, o)	COUNT(o, 0, RELEASED)
#define THEN(me, o)		(-COUNT(o, 0, ACQUIRED))
#endif
#define SUM_RELEASED(me, o)	life[me] = generation[o]; diff[me] = FIRST(me, o)
#define SUM_ACQUIRED(me, o)	diff[me] = diff[me] + THEN(me, o); \
				NEVER(accused, diff[me] > 0 && SAME_LIFE(me, o))
#define DRAINED(me, o)		(diff[me] == 0)
#define SAME_LIFE(me, o)	(phase[o] == RETIRED && generation[o] == life[me])
#define FORGET(me)		life[me] = 0; diff[me] = 0
#endif
