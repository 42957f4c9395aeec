/*
 * The pool: spares.go, sweeper.go and the part of recycler.go that others see.
 * Spares are a set here, any of which a Get may take: more than the code does,
 * which takes the last, or whichever sync.Pool gives it.
 */

byte clean;			/* a set of objects */
byte queued;			/* those that await their reset, a set, for the properties */
byte awaiting;			/* the head of the list of those */
byte next[OBJECTS+1];		/* its links */
bool mu;			/* held by whoever pops from it */
bool sweeping;
byte sweepers;			/* goroutines started and not ended */
byte startable;			/* of those, not yet running */

/* keep resets an object that the caller owns and puts it with the spares. */
inline keep(o) {
	NEVER(recycled_while_held, holders[o] != 0);
	NEVER(twice_in_pool, phase[o] != FREE || IN(clean, o) || IN(queued, o));
#ifdef RESET_COUNTS	/* planted bug: the counters begin anew */
	COUNT(o, 0, ACQUIRED) = 0;
	COUNT(o, 0, RELEASED) = 0;
#endif
	ADD(clean, o)		/* (K1) (K2) ownership of o passes to whoever takes it */
}

/* reborn begins a new life of a free object that the caller has taken. */
inline reborn(o) {
	NEVER(recycled_while_held, holders[o] != 0);
	phase[o] = PRIVATE;	/* (G2) a new generation, and private */
	begin_life(o);
#ifdef VALIDATE_OTHERWISE
	EACH_READER(LEAVE_LIFE, o);
#endif
	skip
}

/*
 * pop takes the head of the awaiting list into o, or leaves NONE there, once
 * condition is true. Under the mutex its load and its compare-and-swap are one
 * step, for nobody else changes a link meanwhile; STEPWISE keeps them apart,
 * to check that.
 */
#ifdef STEPWISE
#define UNLOCKED	(!mu)
inline pop(o, after, condition) {
#ifdef POP_WITHOUT_MUTEX	/* planted bug: two pop at a time */
	atomic { (condition) -> o = awaiting; after = next[o] };
#else
	atomic { (condition) && UNLOCKED -> mu = true; o = awaiting; after = next[o] };
#endif
	do
#ifdef KEEP_MUTEX	/* planted bug: an early return that does not unlock */
	:: atomic { o == NONE -> break }
#else
	:: atomic { o == NONE -> mu = false; break }
#endif
	:: atomic {
		o != NONE && awaiting == o ->	/* (P3) ownership of o passes to this call */
		awaiting = after;
		next[o] = NONE;
		NEVER(twice_in_pool, !IN(queued, o));
		REMOVE(queued, o);
		after = NONE;
		mu = false;
		break
	   }
	:: atomic { o != NONE && awaiting != o -> o = awaiting; after = next[o] }
	od
}
#else
#define UNLOCKED	true
inline pop(o, after, condition) {
	atomic {
		(condition) ->
		o = awaiting;		/* (P3) ownership of o passes to this call */
		awaiting = next[o];
		next[o] = NONE;
		REMOVE(queued, o)
	}
}
#endif

/* hand_over pushes o, which the caller owns. */
inline hand_over(o) {
#ifdef TORN_PUSH	/* planted bug: a load and a store */
	next[o] = awaiting;
	atomic { awaiting = o; ADD(queued, o) }
#else
	atomic {
		NEVER(recycled_while_held, holders[o] != 0);
		NEVER(twice_in_pool, phase[o] != FREE || IN(clean, o) || IN(queued, o));
		next[o] = awaiting;
		awaiting = o;			/* (P1) ownership of o passes to whoever pops it */
		ADD(queued, o)
	}
#endif
}

/* A sweeper that ends becomes the next one that is started. */
proctype sweeper() {
	byte o;
	byte after;

end:	atomic { startable > 0 -> startable-- };
sweep:	pop(o, after, true);
	if
	:: atomic { o != NONE && UNLOCKED -> keep(o); o = NONE; goto sweep }
	:: atomic { o == NONE -> sweeping = false }
	fi;
#ifndef SWEEP_WITHOUT_LOOK	/* planted bug: what came last waits for ever */
	if
	:: atomic { awaiting == NONE -> sweepers--; goto end }
	:: awaiting != NONE TAKEN	/* (P4) look again: who pushed before the store started nobody */
	fi;
	if
	:: atomic { !sweeping -> sweeping = true; goto sweep }
	:: atomic { sweeping -> sweepers--; goto end }
	fi
#else
	atomic { sweepers--; goto end }
#endif
}
