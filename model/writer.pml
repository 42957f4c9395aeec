/*
 * A writer: Pool.Get, then Slot.Update and retire, or Release of the private
 * object. Unlike a reader it resets objects.
 */

/*
 * take moves any clean object to o. Clean objects to which no goroutine refers
 * are interchangeable, so take considers the first of those only.
 */
#ifdef COUNTED
#define REFERENCED(o)	true
#else
#if READERS == 1
#define REFERS(o)	(ref[0] == o)
#elif READERS == 2
#define REFERS(o)	(ref[0] == o || ref[1] == o)
#else
#define REFERS(o)	(ref[0] == o || ref[1] == o || ref[2] == o)
#endif
#if WRITERS == 1
#define RETIRES(o)	(ref[READERS] == o)
#else
#define RETIRES(o)	(ref[READERS] == o || ref[READERS+1] == o)
#endif
#define REFERENCED(o)	(outstanding[o] != 0 || REFERS(o) || RETIRES(o))
#endif
#define UNREFERENCED(o)	(IN(clean, o) && !REFERENCED(o))
#define MAY_TAKE(o, first)	(IN(clean, o) && (REFERENCED(o) || first))

inline take(o) {
	if
	:: MAY_TAKE(1, true) -> o = 1
#if OBJECTS > 1
	:: MAY_TAKE(2, !UNREFERENCED(1)) -> o = 2
#endif
#if OBJECTS > 2
	:: MAY_TAKE(3, !UNREFERENCED(1) && !UNREFERENCED(2)) -> o = 3
#endif
#if OBJECTS > 3
	:: MAY_TAKE(4, !UNREFERENCED(1) && !UNREFERENCED(2) && !UNREFERENCED(3)) -> o = 4
#endif
#if OBJECTS > 4
	:: MAY_TAKE(5, !UNREFERENCED(1) && !UNREFERENCED(2) && !UNREFERENCED(3) && !UNREFERENCED(4)) -> o = 5
#endif
#if OBJECTS > 5
	:: MAY_TAKE(6, !UNREFERENCED(1) && !UNREFERENCED(2) && !UNREFERENCED(3) && !UNREFERENCED(4) && !UNREFERENCED(5)) -> o = 6
#endif
	fi;
	REMOVE(clean, o)
}

inline create(o) {
	NEVER(too_many, created == OBJECTS);
	created++;		/* (G3) counted before it exists */
	o = created;		/* (N1) (N2) private; no other goroutine has a pointer */
#ifdef FENCE_FAILS
	if
	:: failing -> portable = portable | (1 << o)
	:: else TAKEN
	fi
#endif
}

/*
 * leave_private is what (U1) and (B1) do to the state. The owner always finds
 * the object private. In a RACE the loser panics, as it should.
 */
#ifdef RACE
inline leave_private(to) {
	if
	:: phase[new] == PRIVATE -> phase[new] = to
	:: phase[new] != PRIVATE -> new = NONE; end_update()
	fi
}
#else
inline leave_private(to) {
	NEVER(panicked, phase[new] != PRIVATE);
	phase[new] = to
}
#endif

/*
 * begin_retiring is (T1). In a correct program it finds the object live: only
 * the writer that swapped the object out writes its state.
 */
inline begin_retiring(o) {
	atomic {
		NEVER(panicked, phase[o] != LIVE);
		phase[o] = RETIRING	/* (T1) visible before the fence */
	}
}

/* retire begins the end of a generation of o, which the caller swapped out. */
inline retire(o) {
#if defined NO_RETIRING		/* planted bug: live until the fence is over */
	HEAVY_FENCE;
	phase[o] = RETIRED
#elif defined FENCE_BEFORE_RETIRING	/* planted bug */
	HEAVY_FENCE;
	begin_retiring(o);
	phase[o] = RETIRED
#elif defined RETIRED_BEFORE_FENCE	/* planted bug */
	begin_retiring(o);
	phase[o] = RETIRED;
	HEAVY_FENCE
#elif defined NO_MEMBARRIER	/* planted bug */
	begin_retiring(o);
	phase[o] = RETIRED
#elif defined PLAIN_RETIRED	/* planted bug: others see it after the sums below */
	begin_retiring(o);
	HEAVY_FENCE;
	late_retired = o
#else
	begin_retiring(o);
#ifdef FENCE_FAILS
	if
	:: atomic { PLAIN(o) -> failing = true; phase[o] = LOST; /* (L1) */ o = NONE; end_update() }
	:: PLAIN(o) -> HEAVY_FENCE
	:: !PLAIN(o) TAKEN
	fi;
#elif !defined PORTABLE
	HEAVY_FENCE;		/* (T2) */
#endif
	phase[o] = RETIRED	/* (T3) from here on anyone may sum */
#endif
}

/* end_update starts another operation, or stops the writer. */
#ifdef UPDATES
#define MORE_UPDATES	updates > 0 -> updates--
#else
#define MORE_UPDATES	true
#endif
inline end_update() {
	if
	:: c = 0; ended++; goto end
	:: MORE_UPDATES -> c = 0; goto get
#if CONTAINERS > 1
	:: MORE_UPDATES -> c = 1; goto get
#endif
#ifdef EMPTYING
	:: MORE_UPDATES -> c = 0; goto swap	/* Update(nil) */
#if CONTAINERS > 1
	:: MORE_UPDATES -> c = 1; goto swap
#endif
#endif
	fi
}

proctype writer(byte me) {
#ifdef UPDATES
	byte updates = UPDATES;
#endif
	byte c;			/* the container */
	byte new;
	byte after;
#ifdef TORN_SWAP
	byte seen;
#endif

	atomic { end_update() };
get:
	if
	:: atomic {
		clean != 0 && UNLOCKED ->
		take(new);		/* (G1) ownership passes to this call */
		next_generation(new)
	   }
#ifdef RACE	/* misuse: a writer uses a private object that it does not own */
	:: atomic { phase[CONTAINERS+1] == PRIVATE -> new = CONTAINERS+1 }
#endif
	:: pop_dirty(new, after, clean == 0);
		if
		:: atomic { new != NONE -> next_generation(new) }
#ifdef LIMITED			/* Options.MaxLive: TryGet returns an error */
		:: atomic { new == NONE && created == OBJECTS -> end_update() }
		:: atomic { new == NONE && created < OBJECTS -> create(new) }
#else
		:: atomic { new == NONE -> create(new) }
#endif
		fi
	fi;

	if
#if defined GIVING_BACK || defined RACE
#ifdef GIVE_BACK_WITHOUT_CAS	/* planted bug: a store in place of the compare-and-swap */
	:: phase[new] = FREE;
#else
	:: atomic { leave_private(FREE) };	/* (B1) the owner gives it back */
#endif
	   atomic { UNLOCKED -> keep(new); new = NONE; end_update() }
#endif
#if defined PUBLISH_WITHOUT_CAS	/* planted bug: likewise */
	:: phase[new] = LIVE
#elif defined PUBLISH_LATE	/* planted bug: (U1) after (U2) */
	:: skip
#else
	:: atomic { leave_private(LIVE) }	/* (U1) private to live */
#endif
	fi;

#ifdef VALIDATE_BY_VERSION
	update_begun = 255;
#endif
swap:
#ifdef TORN_SWAP	/* planted bug: a load and a store */
	seen = current[c];
#endif
	atomic {
		ref[me] = current[c];	/* (U2) ownership of old passes to this call */
#ifdef TORN_SWAP
		ref[me] = seen;
		seen = NONE;
#endif
		current[c] = new;
		EACH_READER(MARK_UPDATED, c);
#ifndef PUBLISH_LATE
		new = NONE;
#endif
		c = 0;
#ifdef EMPTYING
		if
		:: ref[me] == NONE -> end_update()
		:: ref[me] != NONE TAKEN
		fi
#endif
	};

#ifdef PUBLISH_LATE
	atomic { leave_private(LIVE); new = NONE };
#endif
	retire(ref[me]);
#define OBJECT		ref[me]
#define FENCED		true
#ifdef PLAIN_RETIRED
#define IS_RETIRED(o)	(phase[o] == RETIRED || late_retired == o)
#define CAS_ENABLED		(late_retired == NONE)
#else
#define IS_RETIRED(o)	(phase[o] == RETIRED)
#define CAS_ENABLED		true
#endif
#define NOT_DRAINED	ref[me] = NONE; end_update()
#define NOT_FREED	NOT_DRAINED
#include "reclaim.pml"
	atomic { UNLOCKED -> keep(ref[me]); ref[me] = NONE; end_update() };

end:	false
}
