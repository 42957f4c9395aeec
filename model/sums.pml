/*
 * The counters in memory, without those still in store buffers, and the
 * checkers: goroutines between (S2) and (S4). The protocol looks only at sums
 * over all stripes, so only those are here; README.md says why a sum, which
 * takes many loads, is one step.
 */

#define ACQUIRED	0
#define RELEASED	1
#define CHECKERS	(READERS+WRITERS)

#ifndef COUNTED
/*
 * Folded: the model keeps the difference of the two sums, and for each checker
 * whether it can still win (S4). So the number of operations needs no bound.
 * README.md says why that loses nothing.
 */
byte outstanding[OBJECTS+1];	/* acquired less released */
byte checking[CHECKERS];	/* NONE: no check, or one that will fail;
				   o: released has not grown since (S2);
				   SUMMED(o): the sums were equal at (S3) */
#define SUMMED(o)	((o)+8)

/* A release after released was summed, or a new generation, makes a checker fail. */
#define MISS_RELEASE(p, o)	checking[p] = (checking[p] == (o) -> NONE : checking[p])
#define MISS_GENERATION(p, o)	checking[p] = (checking[p]%8 == (o) -> NONE : checking[p])
#if READERS+WRITERS == 2
#define ALL_CHECKERS(DO, o)	DO(0, o); DO(1, o)
#elif READERS+WRITERS == 3
#define ALL_CHECKERS(DO, o)	DO(0, o); DO(1, o); DO(2, o)
#else
#define ALL_CHECKERS(DO, o)	DO(0, o); DO(1, o); DO(2, o); DO(3, o)
#endif

/* Counts on stripe c become visible. */
inline commit_acquired(o, c) {
	outstanding[o]++
}
inline commit_released(o, c) {
	NEVER(over_released, outstanding[o] == 0);
	outstanding[o]--;
	ALL_CHECKERS(MISS_RELEASE, o)
}

#ifdef NO_GENERATION	/* planted bug: generations look alike */
#define count_generation(o)	skip
#else
#define count_generation(o)	ALL_CHECKERS(MISS_GENERATION, o)
#endif

/* The steps of checker me in reclaim.pml. */
#define SUM_RELEASED(me, o)	checking[me] = o
#define EQUAL(me, o)		(checking[me] == (o) && outstanding[o] == 0)
#define SUM_ACQUIRED(me, o)	checking[me] = (EQUAL(me, o) -> SUMMED(o) : NONE)
#define DRAINED(me, o)		(checking[me] == SUMMED(o))
#ifdef SUM_RETIRING
#define SAME_GENERATION(me, o)	((phase[o] == RETIRED || phase[o] == RETIRING) && checking[me] == SUMMED(o))
#else
#define SAME_GENERATION(me, o)	(phase[o] == RETIRED && checking[me] == SUMMED(o))
#endif
#define FORGET(me)		checking[me] = NONE

#else
/*
 * COUNTED: counters and generations as in the code, for bugs that folding would
 * hide, and to compare the two.
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
byte summed_generation[CHECKERS];		/* the generation that (S1) loaded */
short diff[CHECKERS];		/* released less acquired, so far */
#define COUNT(o, c, which)	counter[((o)*STRIPES+STRIPE(c))*2+(which)]

inline commit_acquired(o, c) {
	COUNT(o, c, ACQUIRED)++
}
inline commit_released(o, c) {
	COUNT(o, c, RELEASED)++
}

#define count_generation(o)	generation[o]++

#define STRIPE_OF(o, c)		(COUNT(o, c, RELEASED) - COUNT(o, c, ACQUIRED))
#if defined NO_FENCE		/* only the checker sees its own pending stores */
#define OWN(me, o, which)	((ENTRY_AT(me, 0) == ENTRY(me, o, which)) + (ENTRY_AT(me, 1) == ENTRY(me, o, which)))
#define PENDING(me, o, which)	((me) < READERS -> OWN(me, o, which) : 0)
#define FIRST(me, o)	COUNT(o, 0, RELEASED) + PENDING(me, o, RELEASED)
#define THEN(me, o)	(-COUNT(o, 0, ACQUIRED) - PENDING(me, o, ACQUIRED))
#elif defined SUMS_SWAPPED	/* planted bug: acquired first */
#define FIRST(me, o)	(-COUNT(o, 0, ACQUIRED))
#define THEN(me, o)		COUNT(o, 0, RELEASED)
#elif defined ONE_COUNTER	/* planted bug: one word per stripe, up and down */
#define FIRST(me, o)	STRIPE_OF(o, 0)
#define THEN(me, o)		STRIPE_OF(o, 1)
#else
#define FIRST(me, o)	COUNT(o, 0, RELEASED)
#define THEN(me, o)		(-COUNT(o, 0, ACQUIRED))
#endif
#define SUM_RELEASED(me, o)	summed_generation[me] = generation[o]; diff[me] = FIRST(me, o)
#define SUM_ACQUIRED(me, o)	diff[me] = diff[me] + THEN(me, o); \
				NEVER(over_released, diff[me] > 0 && SAME_GENERATION(me, o))
#define DRAINED(me, o)		(diff[me] == 0)
#define SAME_GENERATION(me, o)	(phase[o] == RETIRED && generation[o] == summed_generation[me])
#define FORGET(me)		summed_generation[me] = 0; diff[me] = 0
#endif
