/*
 * The protocol of internal/refcount: readers use an object while a writer
 * replaces it, and the pool reuses it after its last reader released it.
 *
 * One transition is one step of the code that others can see; README.md lists
 * the merged steps and says why merging them loses nothing. A comment (A1)
 * behind a statement names the step of the code with the same label; statements
 * of planted bugs have no label. run.sh sets every bound and every planted bug
 * by a macro; these are the bounds.
 */

#ifndef READERS
#define READERS 2		/* goroutines that read, at most 3 */
#endif
#ifndef WRITERS
#define WRITERS 1		/* goroutines that update, at most 2 */
#endif
/*
 * ROUNDS and UPDATES, if set, bound the Acquire and Release pairs of each reader
 * and the operations of each writer. Without them each does any number.
 */
#ifndef CONTAINERS
#define CONTAINERS 1		/* on the one pool, at most 2 */
#endif
#ifndef OBJECTS
#define OBJECTS 4		/* that can exist, at most 6 */
#endif
#ifndef CPUS
#define CPUS 2			/* for MIGRATING readers, 2 or 3 */
#endif
#ifndef DEPTH
#define DEPTH 2			/* entries of a store buffer, 1 to 3 */
#endif
#ifndef SWEEPERS
#define SWEEPERS 1		/* at a time; all but one are about to end */
#endif

/* The phases of object.go. There is no unborn: objects start out private. */
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

byte phase[OBJECTS+1];		/* from the state word; sums.pml has the generation */
byte current[CONTAINERS];

byte created = CONTAINERS;	/* objects that exist */
byte ended;			/* readers and writers that have stopped */

/* For the properties only: how many readers validated o and may use it. */
byte holders[OBJECTS+1];

/* The object that each reader counted on, and that each writer swapped out. */
byte ref[READERS+WRITERS];

/*
 * For the properties only: container+1 for a reader between (A2) and (A4) while
 * no update of that container has taken effect, else 0.
 */
byte not_updated[READERS];
#define MARK_UPDATED(r, c)		not_updated[r] = (not_updated[r] == c+1 -> 0 : not_updated[r])

#if defined NO_REVALIDATION || defined VALIDATE_BY_PHASE || defined VALIDATE_BY_VERSION
#define VALIDATE_OTHERWISE
bool same_generation[READERS];	/* the candidate is in the generation that (A2) loaded */
#define END_GENERATION(r, o)	same_generation[r] = same_generation[r] && ref[r] != o
#endif

#if READERS == 1
#define EACH_READER(DO, x)	DO(0, x)
#elif READERS == 2
#define EACH_READER(DO, x)	DO(0, x); DO(1, x)
#else
#define EACH_READER(DO, x)	DO(0, x); DO(1, x); DO(2, x)
#endif

#ifdef PLAIN_RETIRED
byte late_retired;		/* the only store of a writer that can be pending */
#endif

/*
 * The properties. Each is a flag that is set and asserted in one step, so that
 * Spin's message names it. Flags are not part of the state.
 */
hidden byte recycled_while_held;	/* reused while a reader holds it */
hidden byte twice_in_pool;		/* or in the pool and current */
hidden byte acquired_not_current;	/* Acquire returned an object that was not */
hidden byte retried_without_update;	/* Acquire repeated without an Update */
hidden byte leaked;			/* drained, not current and not in the pool */
hidden byte over_released;			/* more released than acquired in a correct program */
hidden byte panicked;			/* any other panic in a correct program */
hidden byte too_many;			/* more objects than can be in use */
hidden byte deadlock;			/* for ONLY: never set, since Spin finds it itself */
#ifdef ONLY				/* assert one property alone: a bug may break others sooner */
#define NEVER(flag, condition)	flag = (condition); assert(!ONLY)
#else
#define NEVER(flag, condition)	flag = (condition); assert(!flag)
#endif

/*
 * Spin does not tell which statements of a d_step are reached, and it counts a
 * guard as reached even if it was false. With COVER there are no d_steps, and
 * each guard is followed by a statement. Spin then stores more intermediate
 * states; the behaviour is the same.
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

/* Objects that need not be current or in the pool at the end. */
#ifdef RACE
#define ABSENT_LEGALLY(o)		(phase[o] == PRIVATE)	/* no writer took it */
#else
#define ABSENT_LEGALLY(o)		(phase[o] == LOST)
#endif

/* check_object checks object o when all goroutines have stopped. */
inline check_object(o) {
	places = (current[0] == o);
#if CONTAINERS > 1
	places = places + (current[1] == o);
#endif
	NEVER(twice_in_pool, places + IN(clean, o) > 1);
	NEVER(leaked, o <= created && places + IN(clean, o) == 0 && !ABSENT_LEGALLY(o));
	NEVER(leaked, places == 1 && phase[o] != LIVE);
	NEVER(leaked, IN(clean, o) && phase[o] != FREE);
	NEVER(leaked, holders[o] != 0)
}

init {
	byte o;
	byte places;
	atomic {
		for (o : 1 .. OBJECTS) {
			phase[o] = PRIVATE
		}
		for (o : 1 .. CONTAINERS) {
			current[o-1] = o;
			phase[o] = LIVE
		}
#ifdef RACE
		created++;		/* the private object that two writers race for */
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
	/* No leak: every object is current, or clean in the pool. */
	atomic {
		ended == READERS+WRITERS && sweepers == 0 && BUFFERS_EMPTY ->
		NEVER(leaked, dirty != NONE);
		for (o : 1 .. OBJECTS) {
			check_object(o)
		}
	}
}
