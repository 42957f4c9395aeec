/*
 * The protocol of package poolswap: objects that are read while they are
 * replaced, and reused when their last reader has let go.
 *
 * One transition is one step of the code that others can see; what is merged
 * into one, and why that loses nothing, is in README.md. A comment (A1) names
 * the step of the sources with the same label. Every bound and every planted
 * bug is a macro that run.sh sets; the defaults are the smallest configuration.
 */

#ifndef READERS
#define READERS 2		/* goroutines that read */
#endif
#ifndef ROUNDS
#define ROUNDS 2		/* Acquire and Release pairs of each of them */
#endif
#ifndef WRITERS
#define WRITERS 1		/* goroutines that update */
#endif
#ifndef UPDATES
#define UPDATES 2		/* operations of each of them */
#endif
#ifndef CONTAINERS
#define CONTAINERS 1		/* that share the pool */
#endif
#ifndef OBJECTS
#define OBJECTS 3		/* that can come into being, at most 7 */
#endif
#ifndef CPUS
#define CPUS 2			/* Ps that have a stripe, 1 to 3 */
#endif
#ifndef DEPTH
#define DEPTH 2			/* of a store buffer, 1 to 3 */
#endif
#ifndef SWEEPERS
#define SWEEPERS 1		/* sweepers at a time, one of them at its end */
#endif

/* The phases of phase.go; nobody here has a name before it is private. */
#define LIVE		0
#define RETIRING	1
#define RETIRED		2
#define PRIVATE		3
#define FREE		4
#define LOST		5

#define NONE	0		/* the nil pointer: objects are 1 to OBJECTS */

/* The state word of each object, read and written as one. */
byte phase[OBJECTS+1];
byte generation[OBJECTS+1];

/*
 * The counters in memory, behind all store buffers: the sums over all stripes,
 * for only these are ever looked at. README.md says why a sum, which takes many
 * loads, is one step here. In the bug of the single counter it is not.
 */
#ifdef ONE_COUNTER
#define STRIPES		CPUS
#define STRIPE(c)	(c)
#else
#define STRIPES		1
#define STRIPE(c)	0
#endif
byte counter[(OBJECTS+1)*STRIPES*2];
#define ACQUIRED	0
#define RELEASED	1
#define COUNT(o, c, which)	counter[((o)*STRIPES+STRIPE(c))*2+(which)]

byte current[CONTAINERS];

/* How far the run is: who has begun, who has ended, what exists. */
byte created = CONTAINERS;
byte begun;
byte ended;

/* For the properties only: the references that readers have and may use. */
byte holders[OBJECTS+1];

/* For the properties only: between (A2) and (A4), container+1 while no update
   of it has completed. */
byte undisturbed[READERS];

/*
 * The properties. Each is the name of a flag that is set and asserted in one
 * step, so that the checker's message names it; they are no part of the state.
 */
hidden byte recycled_while_held;	/* reused under a reader */
hidden byte twice_in_pool;		/* or in the pool and in use */
hidden byte acquired_not_current;	/* Acquire returned what was not current during the call */
hidden byte retried_without_update;	/* Acquire went round for another reason */
hidden byte leaked;			/* drained, but in nobody's hands */
hidden byte accused;			/* of a Release too many, and innocent */
hidden byte refused;			/* another panic in a correct program */
#ifdef ONLY				/* one of them alone, to see a worse end of a planted bug */
#define NEVER(flag, condition)	flag = (condition); assert(!ONLY)
#else
#define NEVER(flag, condition)	flag = (condition); assert(!flag)
#endif

#include "memory.pml"
#include "pool.pml"
#include "sums.pml"
#include "reader.pml"
#include "writer.pml"

/* in_order checks what must be true of object o when everything has ended. */
inline in_order(o) {
	place = (current[0] == o)
#if CONTAINERS > 1
		+ (current[1] == o)
#endif
		;
	NEVER(twice_in_pool, place + IN(clean, o) > 1);
	NEVER(leaked, o <= created && place + IN(clean, o) == 0 && phase[o] != LOST);
	NEVER(leaked, place == 1 && phase[o] != LIVE);
	NEVER(leaked, IN(clean, o) && phase[o] != FREE);
	NEVER(leaked, holders[o] != 0)
}

init {
	byte o;
	byte place;
	atomic {
		for (o : 1 .. OBJECTS) {
			phase[o] = PRIVATE
		}
		for (o : 1 .. CONTAINERS) {
			current[o-1] = o;
			phase[o] = LIVE
		}
#ifdef RACE
		created++;		/* the object that all writers believe is theirs */
#endif
		run memory();
		for (o : 1 .. SWEEPERS) {
			run sweeper()
		}
		for (o : 1 .. WRITERS) {
			run writer(o-1)
		}
		for (o : 1 .. READERS) {
			run reader(o-1)
		}
		o = 0
	}
	/* No leak: what is not current is in the pool, clean, and not awaiting. */
	atomic {
		ended == READERS+WRITERS && sweepers == 0 && BUFFERS_EMPTY ->
		NEVER(leaked, awaiting != NONE);
		for (o : 1 .. OBJECTS) {
			in_order(o)
		}
	}
}
