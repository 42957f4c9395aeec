/*
 * The pool: freelist.go, sweep.go, and keep of return.go. Clean objects
 * are a set, and a Get may take any of them. That allows more than the code,
 * which takes the last one, or the one that sync.Pool returns.
 */

byte clean;			/* clean objects, a set */
byte dirty_set;			/* objects in the dirty list, a set, for the properties */
byte dirty;			/* the head of the dirty list */
byte next[OBJECTS+1];		/* the links of the dirty list */
bool mu;			/* the mutex of the free list, held to pop */
bool sweeping;
byte sweepers;			/* sweepers that were started and have not ended */
byte startable;			/* sweepers that were started and do not run yet */

/* keep resets an object that the caller owns and makes it a clean one. */
inline keep(o) {
	NEVER(recycled_while_held, holders[o] != 0);
	NEVER(twice_in_pool, phase[o] != FREE || IN(clean, o) || IN(dirty_set, o));
#ifdef RESET_COUNTS	/* planted bug: the counters restart at zero */
	COUNT(o, 0, ACQUIRED) = 0;
	COUNT(o, 0, RELEASED) = 0;
#endif
	ADD(clean, o)		/* (K1) (K2) ownership of o passes to the Get that takes it */
}

/* next_generation makes a free object that the caller took private. */
inline next_generation(o) {
	NEVER(recycled_while_held, holders[o] != 0);
	phase[o] = PRIVATE;	/* (G2) a new generation, and private */
	count_generation(o);
#ifdef VALIDATE_OTHERWISE
	EACH_READER(END_GENERATION, o);
#endif
	skip
}

/*
 * pop_dirty waits for condition and moves the head of the dirty list to o, or
 * NONE if the list is empty. Its load and its compare-and-swap are one step,
 * since no other goroutine changes a link while it holds the mutex. STEPWISE
 * keeps them apart, to check that.
 */
#ifdef STEPWISE
#define UNLOCKED	(!mu)
inline pop_dirty(o, after, condition) {
#ifdef POP_WITHOUT_MUTEX	/* planted bug: two poppers at a time */
	atomic { (condition) -> o = dirty; after = next[o] };
#else
	atomic { (condition) && UNLOCKED -> mu = true; o = dirty; after = next[o] };
#endif
	do
#ifdef KEEP_MUTEX	/* planted bug: an early return that does not unlock */
	:: atomic { o == NONE -> break }
#else
	:: atomic { o == NONE -> mu = false; break }
#endif
	:: atomic {
		o != NONE && dirty == o ->	/* (P3) ownership of o passes to this call */
		dirty = after;
		next[o] = NONE;
		NEVER(twice_in_pool, !IN(dirty_set, o));
		REMOVE(dirty_set, o);
		after = NONE;
		mu = false;
		break
	   }
	:: atomic { o != NONE && dirty != o -> o = dirty; after = next[o] }
	od
}
#else
#define UNLOCKED	true
inline pop_dirty(o, after, condition) {
	atomic {
		(condition) ->
		o = dirty;		/* (P3) ownership of o passes to this call */
		dirty = next[o];
		next[o] = NONE;
		REMOVE(dirty_set, o)
	}
}
#endif

/* push_dirty pushes o, which the caller owns, onto the dirty list. */
inline push_dirty(o) {
#ifdef TORN_PUSH	/* planted bug: a load and a store */
	next[o] = dirty;
	atomic { dirty = o; ADD(dirty_set, o) }
#else
	atomic {
		NEVER(recycled_while_held, holders[o] != 0);
		NEVER(twice_in_pool, phase[o] != FREE || IN(clean, o) || IN(dirty_set, o));
		next[o] = dirty;
		dirty = o;			/* (P1) ownership of o passes to the goroutine that pops it */
		ADD(dirty_set, o)
	}
#endif
}

/* A sweeper that ends serves as the next one that is started. */
proctype sweeper() {
	byte o;
	byte after;

end:	atomic { startable > 0 -> startable-- };
sweep:	pop_dirty(o, after, true);
	if
	:: atomic { o != NONE && UNLOCKED -> keep(o); o = NONE; goto sweep }
	:: atomic { o == NONE -> sweeping = false }
	fi;
#ifndef SWEEP_WITHOUT_LOOK	/* planted bug: the last push waits for ever */
	if
	:: atomic { dirty == NONE -> sweepers--; goto end }
	:: dirty != NONE TAKEN	/* (P4) look again: a push before the store started no sweeper */
	fi;
	if
	:: atomic { !sweeping -> sweeping = true; goto sweep }
	:: atomic { sweeping -> sweepers--; goto end }
	fi
#else
	atomic { sweepers--; goto end }
#endif
}
