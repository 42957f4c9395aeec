/*
 * A writer: recycler.get, then slot.update and retire, or Release of what it
 * got. It runs what readers never run: reset.
 */

#if READERS == 1
#define EACH_READER(do)	do(0)
#elif READERS == 2
#define EACH_READER(do)	do(0); do(1)
#else
#define EACH_READER(do)	do(0); do(1); do(2)
#endif
#define DISTURB(r)	undisturbed[r] = (undisturbed[r] == c+1 -> 0 : undisturbed[r])

/* take moves any clean spare into o. */
inline take(o) {
	if
	:: IN(clean, 1) -> o = 1
#if OBJECTS > 1
	:: IN(clean, 2) -> o = 2
#endif
#if OBJECTS > 2
	:: IN(clean, 3) -> o = 3
#endif
#if OBJECTS > 3
	:: IN(clean, 4) -> o = 4
#endif
#if OBJECTS > 4
	:: IN(clean, 5) -> o = 5
#endif
	fi;
	REMOVE(clean, o)
}

inline create(o) {
	created++;
	assert(created <= OBJECTS);
	o = created;
#ifdef FENCE_FAILS
	if
	:: failing -> portable = portable | (1 << o)
	:: else
	fi
#endif
}

#ifdef RACE		/* the loser meets a panic, as it should */
#define REFUSE		new = NONE; end_update
#else
#define REFUSE		NEVER(refused, true)
#endif

/* retire ends the life of o, which the caller has swapped out. */
inline retire(o) {
#if defined NO_RETIRING		/* planted bug: live until the fence is over */
	HEAVY_FENCE;
	phase[o] = RETIRED
#elif defined FENCE_BEFORE_RETIRING	/* planted bug */
	HEAVY_FENCE;
	phase[o] = RETIRING;
	phase[o] = RETIRED
#elif defined RETIRED_BEFORE_FENCE	/* planted bug */
	phase[o] = RETIRING;
	phase[o] = RETIRED;
	HEAVY_FENCE
#elif defined NO_MEMBARRIER	/* planted bug */
	phase[o] = RETIRING;
	phase[o] = RETIRED
#elif defined PLAIN_RETIRED	/* planted bug: visible to others after the sums below */
	phase[o] = RETIRING;
	HEAVY_FENCE;
	late_retired = o
#else
	phase[o] = RETIRING;	/* (T1) visible before the fence */
#ifdef FENCE_FAILS
	if
	:: atomic { PLAIN(o) -> failing = true; phase[o] = LOST; o = NONE; end_update }
	:: PLAIN(o) -> HEAVY_FENCE
	:: !PLAIN(o)
	fi;
#else
	HEAVY_FENCE;		/* (T2) */
#endif
	phase[o] = RETIRED	/* (T3) from here on anybody may sum */
#endif
}

/* end_update goes on with the next operation. */
#define end_update	next_update(updates, c)
inline next_update(updates, c) {
	if
	:: updates == 0 -> c = 0; ended++; goto end
	:: updates > 0 -> updates--; c = 0; goto get
#if CONTAINERS > 1
	:: updates > 0 -> updates--; c = 1; goto get
#endif
#ifdef EMPTYING
	:: updates > 0 -> updates--; c = 0; goto swap	/* Update(nil) */
#if CONTAINERS > 1
	:: updates > 0 -> updates--; c = 1; goto swap
#endif
#endif
	fi
}

proctype writer(byte me) {
	byte updates = UPDATES;
	byte c;			/* the container */
	byte new;
	byte old;
	byte life;
	byte at;
	byte after;
	short diff;

	atomic { end_update };
get:
#ifdef RACE
	/* All writers have been given the same object: a misuse that one wins. */
	if
	:: atomic { phase[CONTAINERS+1] == PRIVATE -> new = CONTAINERS+1 }
	:: atomic { phase[CONTAINERS+1] != PRIVATE -> end_update }
	fi;
#else
	if
	:: atomic {
		clean != 0 && UNLOCKED ->
		take(new);		/* (G1) ownership passes to this call */
		reborn(new)
	   }
	:: pop(new, after, clean == 0);
		if
		:: atomic { new != NONE -> reborn(new) }
		:: atomic { new == NONE -> create(new) }
		fi
	fi;
#endif

	if
#if defined GIVING_BACK || defined RACE
	:: atomic {			/* (B1) the owner gives it back */
		if
#ifdef GIVE_BACK_WITHOUT_CAS	/* planted bug: what was seen private is taken for it */
		:: true -> phase[new] = FREE
#else
		:: phase[new] == PRIVATE -> phase[new] = FREE
		:: phase[new] != PRIVATE -> REFUSE
#endif
		fi
	   };
	   atomic { UNLOCKED -> keep(new); new = NONE; end_update }
#endif
	:: atomic {			/* (U1) private to live */
		if
#ifdef PUBLISH_WITHOUT_CAS	/* planted bug: the same */
		:: true -> phase[new] = LIVE
#else
		:: phase[new] == PRIVATE -> phase[new] = LIVE
		:: phase[new] != PRIVATE -> REFUSE
#endif
		fi
	   }
	fi;

#ifdef VALIDATE_BY_VERSION
	disturbed = 255;
#endif
swap:
	atomic {
		old = current[c];	/* (U2) ownership of old passes to this call */
		current[c] = new;
		EACH_READER(DISTURB);
		new = NONE;
		c = 0;
		if
		:: old == NONE -> end_update
		:: old != NONE
		fi
	};

	retire(old);
#define OBJECT		old
#define OWN		true
#define FENCE		true
#define NOT_DRAINED	old = NONE; end_update
#include "reclaim.pml"
	atomic { UNLOCKED -> keep(old); old = NONE; end_update };

end:	false
}
