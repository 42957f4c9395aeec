/*
 * The writer's side of internal/refcount: publishers that build on the object that is
 * current, versions, waiting for one, and how containers and pools drain and
 * close. protocol.pml is about readers and the counting of references; here a
 * reference is a number that changes in one step.
 *
 * Everything here is done with locked instructions or under a mutex, so there
 * are no store buffers. One transition is one step of the code that others can
 * see; README.md lists the merged ones. Operations are bounded. run.sh sets
 * every bound and every planted bug by a macro; these are the bounds.
 */

#ifndef CONTAINERS
#define CONTAINERS 1		/* on the one pool, at most 2 */
#endif
#ifndef OBJECTS
#define OBJECTS 3		/* that can come into being, at most 7 */
#endif
#ifndef MAXLIVE
#define MAXLIVE OBJECTS		/* Options.MaxLive */
#endif
#ifndef PUBLISHERS
#define PUBLISHERS 0		/* goroutines that call Publish */
#endif
#ifndef PUBLISHES
#define PUBLISHES 1		/* calls of each */
#endif
#ifndef UPDATERS
#define UPDATERS 0		/* goroutines that call Update, or give an object back */
#endif
#ifndef UPDATES
#define UPDATES 1		/* operations of each */
#endif
#ifndef READERS
#define READERS 0		/* goroutines that hold an object for a while */
#endif
#ifndef ROUNDS
#define ROUNDS 1		/* of each */
#endif
#ifndef WAITERS
#define WAITERS 0		/* goroutines that wait for each version */
#endif
#ifndef DRAINERS
#define DRAINERS 0		/* goroutines that call Pool.Drain */
#endif
#ifndef CLOSERS
#define CLOSERS 0		/* goroutines that call Close of container 0 */
#endif
#ifndef POOL_CLOSERS
#define POOL_CLOSERS 0		/* goroutines that call Pool.Close */
#endif
#ifndef TRIMMERS
#define TRIMMERS 0		/* goroutines that call Pool.Trim */
#endif

/* The phases of object.go, as far as a reference count in one step needs them. */
#define UNBORN		0
#define PRIVATE		1
#define LIVE		2
#define RETIRED		3
#define FREE		4
#define DISCARDED	5
#define LOST		6

#define NONE	0		/* the nil pointer: objects are 1 to OBJECTS */

/* Sets of objects, or of goroutines. */
#define IN(set, o)	((set >> (o)) & 1)
#define ADD(set, o)	set = set | (1 << (o))
#define REMOVE(set, o)	set = set & ~(1 << (o))

/* Objects. */
byte phase[OBJECTS+1];
#ifdef MISUSE
byte generation[OBJECTS+1];	/* without misuse no object leaves the generation that its owner saw */
#define GENERATION(o)		generation[o]
#define NEXT_GENERATION(o)	generation[o]++
#else
#define GENERATION(o)		0
#define NEXT_GENERATION(o)	skip
#endif
byte refs[OBJECTS+1];
byte mark[OBJECTS+1];		/* Publication.Leaving */
byte number[OBJECTS+1];		/* Publication.Version */
byte home[OBJECTS+1];		/* Publication.Container */

/* Containers. */
byte current[CONTAINERS];
byte swaps[CONTAINERS];
byte version[CONTAINERS];
bool closed[CONTAINERS];
bool mu[CONTAINERS];
bool turn[CONTAINERS];
bool fired[CONTAINERS];		/* the signal closing */
byte changed[CONTAINERS];	/* goroutines that have the signal of changed, a set */

/* The pool. */
byte versions;			/* the numbers given last */
byte leavings;
#if DRAINERS || defined MISUSE
#define NEXT_LEAVING		leavings++
#else
#define NEXT_LEAVING		leavings = 1	/* marks are not compared */
#endif
byte back;			/* goroutines that have the signal of back, a set */
byte clean;			/* sets of objects */
byte dirty;
bool list_mu;			/* the mutex of the free list, where a step leaves it taken */
bool list_closed;
byte creating;
byte live;			/* the two numbers of stats.objects, one word */
byte filled;

byte after[WAITERS+1];		/* the version that each waiter wants to see exceeded */
bool waiting[WAITERS+1];
#ifdef MISUSE
byte given;			/* an object that fill gave away, or NONE */
byte given_generation;
#endif

/* For the properties only. */
byte truth[OBJECTS+1];		/* the version under which it was last current, or 0 */
byte changes[CONTAINERS];	/* publications and emptyings that took effect */
byte out;			/* replaced objects that are not reset or discarded, a set */
byte hooks;			/* objects that a hook works on, a set */
byte awaited[DRAINERS+1];	/* those of out when Drain was called, a set */
byte filling[CONTAINERS];	/* publishers between (V2) and the end */
bool shut[CONTAINERS];		/* the last swap was made */
bool over[CONTAINERS];		/* Close has returned */
bool pool_over;
byte ended;			/* publishers that have stopped */

hidden byte lost_update;		/* built on an object that was not current until the swap */
hidden byte two_current;		/* published twice, or not live */
hidden byte version_not_growing;	/* along a container */
hidden byte wrong_version;		/* a holder reads a number that is not its object's */
hidden byte lost_wakeup;		/* a goroutine waits for an object that is there */
hidden byte busy_waiting;		/* a goroutine that waits wakes itself */
hidden byte drained_early;		/* Drain returned before a replaced object was back */
hidden byte closed_early;		/* Close returned, and something is held or goes on */
hidden byte published_after_close;
hidden byte refused_in_vain;		/* ErrLimit at once, though an object will come back */
hidden byte taken_back;			/* an object that is not the caller's was given back */
hidden byte recycled_while_held;
hidden byte leaked;			/* in no place, or held, when all goroutines have stopped */
hidden byte deadlock;			/* for ONLY: never set, since Spin finds these itself */
#ifdef ONLY				/* assert one property alone: a bug may break others sooner */
#define NEVER(flag, condition)	flag = (condition); assert(!ONLY)
#else
#define NEVER(flag, condition)	flag = (condition); assert(!flag)
#endif

/* As in protocol.pml: a statement behind each guard, so that Spin tells whether it was taken. */
hidden byte taken;
#define TAKEN	-> taken = 1

/* How often o is current or clean. */
#define PLACES(o)	((current[0] == (o)) + (CONTAINERS > 1 && current[CONTAINERS-1] == (o)) + IN(clean, o))

#include "await.pml"
#include "spares.pml"
#include "put.pml"
#include "publisher.pml"
#include "closer.pml"

/* check_object checks object o when no goroutine can go on. */
inline check_object(o) {
	NEVER(leaked, refs[o] != 0 || (mark[o] != 0 && phase[o] != LOST));
	NEVER(leaked, PLACES(o) != (phase[o] == LIVE || phase[o] == FREE));
	NEVER(leaked, phase[o] == PRIVATE || phase[o] == RETIRED)
}

init {
	byte o;
	byte id;
	atomic {
		for (o : 1 .. CONTAINERS) {
#ifndef EMPTY
			current[o-1] = o;
			phase[o] = LIVE;
			home[o] = o-1;
			created++;
			live++;
			filled++;
			versions++;
			number[o] = versions;
			truth[o] = versions;
			version[o-1] = versions;
#endif
			skip
		}
		run sweeper();
#define START(n, goroutine) \
		for (o : 1 .. n) { \
			run goroutine(id, o-1); \
			id++ \
		}
#if PUBLISHERS
		START(PUBLISHERS, publisher)
#endif
#if UPDATERS
		START(UPDATERS, updater)
#endif
#if READERS
		START(READERS, reader)
#endif
#if WAITERS
		START(WAITERS, waiter)
#endif
#if DRAINERS
		START(DRAINERS, drainer)
#endif
#if CLOSERS
		START(CLOSERS, closer)
#endif
#if POOL_CLOSERS
		START(POOL_CLOSERS, pool_closer)
#endif
#if TRIMMERS
		START(TRIMMERS, trimmer)
#endif
		o = 0;
		id = 0
	}
	/* When no goroutine can go on. One that then waits for something other than
	   a version waits for ever, which Spin reports as an invalid end state. */
	atomic {
		timeout ->
#if WAITERS
		for (id : 0 .. WAITERS-1) {
			NEVER(lost_wakeup, waiting[id] && (closed[0] || version[0] > after[id]))
		}
#endif
		for (o : 1 .. OBJECTS) {
			check_object(o)
		}
	}
}
