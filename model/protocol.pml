/*
 * The protocol of package poolswap: objects that are read while they are
 * replaced, and reused when their last reader has let go.
 *
 * One transition is one step of the code that others can see; what is merged
 * into one, and why that loses nothing, is in README.md. A comment (A1) behind a
 * statement names the step of the sources with the same label; no statement of a
 * planted bug has one. Every bound and every planted bug is a macro that run.sh
 * sets; these are the bounds.
 */

#ifndef READERS
#define READERS 2		/* goroutines that read, at most 3 */
#endif
#ifndef WRITERS
#define WRITERS 1		/* goroutines that update */
#endif
/*
 * ROUNDS, if set, is how many Acquire and Release pairs each reader does, and
 * UPDATES how many operations each writer; else any number, until it stops.
 */
#ifndef CONTAINERS
#define CONTAINERS 1		/* that share the pool, at most 2 */
#endif
#ifndef OBJECTS
#define OBJECTS 4		/* that can come into being, at most 6 */
#endif
#ifndef CPUS
#define CPUS 2			/* of MIGRATING readers, 2 or 3 */
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

/* Sets of objects, or of readers. */
#define IN(set, o)	((set >> (o)) & 1)
#define ADD(set, o)	set = set | (1 << (o))
#define REMOVE(set, o)	set = set & ~(1 << (o))

byte phase[OBJECTS+1];		/* of the state word; for the generation see sums.pml */
byte current[CONTAINERS];

/* How far the run is: who has ended, what exists. */
byte created = CONTAINERS;
byte ended;

/* For the properties only: the references that readers have and may use. */
byte holders[OBJECTS+1];

/* What each reader works on, and what each writer has swapped out. */
byte ref[READERS+WRITERS];

/*
 * For the properties only, of each reader between (A2) and (A4): container+1
 * while no update of it has taken effect.
 */
byte undisturbed[READERS];
#define DISTURB(r, c)		undisturbed[r] = (undisturbed[r] == c+1 -> 0 : undisturbed[r])

#if defined NO_REVALIDATION || defined VALIDATE_BY_PHASE || defined VALIDATE_BY_VERSION
#define VALIDATE_OTHERWISE
bool same_life[READERS];	/* of the candidate, as when it was loaded */
#define LEAVE_LIFE(r, o)	same_life[r] = same_life[r] && ref[r] != o
#endif

#if READERS == 1
#define EACH_READER(DO, x)	DO(0, x)
#elif READERS == 2
#define EACH_READER(DO, x)	DO(0, x); DO(1, x)
#else
#define EACH_READER(DO, x)	DO(0, x); DO(1, x); DO(2, x)
#endif

#ifdef PLAIN_RETIRED
byte late_retired;		/* the one store of a writer that can be pending */
#endif

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
hidden byte too_many;			/* more objects came into being than can be in use */
#ifdef ONLY				/* one of them alone, to see a worse end of a planted bug */
#define NEVER(flag, condition)	flag = (condition); assert(!ONLY)
#else
#define NEVER(flag, condition)	flag = (condition); assert(!flag)
#endif

/*
 * Of statements in a d_step Spin does not say whether they are reached, and it
 * counts a guard as reached once it is tried, whatever its value. So with COVER
 * no step is a d_step, and behind each guard that has no statement is one. More
 * intermediate states are stored then; what can happen is the same.
 */
#ifdef COVER
hidden byte taken;
#define STEP	atomic
#define TAKEN	-> taken = 1
#else
#define STEP	d_step
#define TAKEN
#endif

#include "sums.pml"
#include "memory.pml"
#include "pool.pml"
#include "reader.pml"
#include "writer.pml"

/* What is in nobody's hands at the end and may be. */
#ifdef RACE
#define GONE(o)		(phase[o] == PRIVATE)	/* nobody took it */
#else
#define GONE(o)		(phase[o] == LOST)
#endif

/* in_order checks what must be true of object o when everything has ended. */
inline in_order(o) {
	place = (current[0] == o);
#if CONTAINERS > 1
	place = place + (current[1] == o);
#endif
	NEVER(twice_in_pool, place + IN(clean, o) > 1);
	NEVER(leaked, o <= created && place + IN(clean, o) == 0 && !GONE(o));
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
		created++;		/* the first object that is taken without being owned */
#endif
#ifndef PORTABLE
		run memory();
#endif
		for (o : 1 .. SWEEPERS) {
			run sweeper()
		}
		for (o : 1 .. WRITERS) {
			run writer(READERS+o-1)
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
