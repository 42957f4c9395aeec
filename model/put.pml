/*
 * Publication and what follows: put, swap, retire and giveBack. The goroutines
 * that include these steps declare c, the container; new and owned, the object
 * and its generation; old, the object that was swapped out; num, m and result.
 */

/* What (V3) compares. */
#define ANY	255
#if defined NO_CONFLICT_CHECK		/* planted bug */
#define CONFLICTING	false
#elif defined CONFLICT_BY_ADDRESS	/* planted bug */
#define CONFLICTING	(seen != ANY && current[c] != held)
#else
#define CONFLICTING	(seen != ANY && swaps[c] != seen)
#endif
#ifdef PUT_WITHOUT_CLOSED_CHECK		/* planted bug */
#define PUT_CLOSED	false
#else
#define PUT_CLOSED	closed[c]
#endif

/* mark_old marks the object that is about to be swapped out. */
inline mark_old() {
	old = current[c];		/* it stays, since all swaps are under mu[c] */
	if
	:: old != NONE -> leave(old, m); m = 0
	:: old == NONE TAKEN
	fi
}

/* note_swap is for the properties. */
inline note_swap() {
	changes[c]++;
	shut[c] = closed[c];
	if
	:: old != NONE -> ADD(out, old)
	:: old == NONE TAKEN
	fi
}

/* make_empty makes the container empty. It is under mu[c], which it unlocks. */
inline make_empty() {
	mark_old();
	if
	:: old != NONE -> filled--		/* (G4) */
	:: old == NONE TAKEN
	fi;
	atomic {
		current[c] = NONE;		/* (U2) */
		swaps[c]++;
		note_swap()
	};
	version[c] = 0;				/* (V5) */
	mu[c] = false
}

/* swap makes new, which is live, current. It is under mu[c], which it unlocks. */
inline swap() {
#ifdef MARK_AFTER_SWAP
	old = current[c];
#else
	mark_old();
#endif
	if
#ifdef COUNT_AFTER_WAKE			/* planted bug: a publisher at the limit looks in between */
	:: old == NONE -> wake_back(); filled++
#else
	:: old == NONE -> filled++;		/* (G4) one more is current */
	   wake_back()
#endif
#ifdef COUNTED_TWICE			/* planted bug: two count as current for a moment */
	:: old != NONE -> filled++
#else
	:: old != NONE TAKEN
#endif
	fi;
#ifdef VERSION_BEFORE_SWAP			/* planted bug: (V5) before (U2) */
	version[c] = num;
#endif
	atomic {
		NEVER(lost_update, seen != ANY && changes[c] != base);
		NEVER(published_after_close, shut[c]);
		NEVER(two_current, phase[new] != LIVE || PLACES(new) != 0);
		NEVER(version_not_growing, num <= last_version[c]);
		current[c] = new;		/* (U2) */
		swaps[c]++;
		last_version[c] = num;
		truth[new] = num;
		note_swap()
	};
#ifdef COUNTED_TWICE
	filled = filled - (old != NONE);
#endif
#ifdef MARK_AFTER_SWAP				/* planted bug: (D1) after (U2) */
	if
	:: old != NONE -> leave(old, m); m = 0
	:: old == NONE TAKEN
	fi;
#endif
#ifdef NUMBER_AFTER_SWAP			/* planted bug: (V4) after (U2) */
	number[new] = num;
#endif
#ifndef VERSION_BEFORE_SWAP
	version[c] = num;			/* (V5) */
#endif
	atomic {
#ifndef WAKE_EARLY
		changed[c] = 0;			/* (W2) after (V5) */
#endif
		mu[c] = false
	}
}

byte last_version[CONTAINERS];		/* for version_not_growing only */

#define STILL_OWNED	(phase[new] == PRIVATE && GENERATION(new) == owned)
#ifdef LIVE_BY_STORE			/* planted bug: a store in place of the compare-and-swap */
#define MAY_GO_LIVE	true
#else
#define MAY_GO_LIVE	STILL_OWNED
#endif

/* put makes new current, if result is OK afterwards. */
inline put() {
#ifdef NUMBER_OUTSIDE_MUTEX		/* planted bug: two can swap in the other order */
	atomic { versions++; num = versions };
#endif
#ifdef WAKE_EARLY			/* planted bug: (W2) before the mutex is taken */
	changed[c] = 0;
#endif
	atomic {
		!mu[c] ->
		result = (PUT_CLOSED -> IS_CLOSED : (CONFLICTING -> CONFLICT : OK));	/* (V3) */
		mu[c] = (result == OK)
	};
	if
	:: atomic {
		result == OK && MAY_GO_LIVE ->
		phase[new] = LIVE		/* (U1) */
	   };
	   atomic {
#ifndef NUMBER_OUTSIDE_MUTEX
		versions++;
		num = versions;
#endif
#ifndef NUMBER_AFTER_SWAP
		number[new] = num;		/* (V4) */
#endif
		home[new] = c
	   };
	   swap()
#ifdef MISUSE
	:: atomic {
		result == OK && !MAY_GO_LIVE ->
		mu[c] = false;
		result = REFUSED
	   }
#endif
	:: result != OK TAKEN
	fi
}

/* retire leaves old to the caller if it is free, and otherwise sets it to NONE. */
inline retire() {
	phase[old] = RETIRED;
	atomic {
		if
		:: phase[old] == RETIRED && refs[old] == 0 -> phase[old] = FREE
		:: !(phase[old] == RETIRED && refs[old] == 0) -> old = NONE
		fi
	}
}

/* release gives back a reference to o, unless it is NONE, and sets it to NONE. */
inline release(o) {
	if
	:: o != NONE ->
		refs[o]--;
		if
		:: atomic { phase[o] == RETIRED && refs[o] == 0 -> phase[o] = FREE };
		   atomic { ADD(dirty, o); o = NONE }
		:: atomic { !(phase[o] == RETIRED && refs[o] == 0) -> o = NONE }
		fi
	:: o == NONE TAKEN
	fi
}

/*
 * give_back makes new, which the caller got in generation owned, free and the
 * caller's, or sets it to NONE.
 */
#if defined GIVE_BACK_WITHOUT_CAS	/* planted bug: a store */
#define MAY_GIVE_BACK	true
#elif defined GIVE_BACK_ANY		/* planted bug: from private of any generation */
#define MAY_GIVE_BACK	(phase[new] == PRIVATE)
#else
#define MAY_GIVE_BACK	STILL_OWNED
#endif
inline give_back() {
#ifdef MARK_OF_A_LOSER			/* planted bug: marked whether it is given back or not */
	leave(new, m);
#endif
	if
	:: atomic {			/* under the mutex of the registry */
		MAY_GIVE_BACK ->
		NEVER(taken_back, !STILL_OWNED);
		phase[new] = FREE;	/* (B1) */
#if !defined MARK_OF_A_LOSER && !defined MARK_AFTER_PHASE
		NEXT_LEAVING;
		mark[new] = leavings;	/* (D1) */
#endif
		number[new] = 0;
		truth[new] = 0
	   }
#ifdef MARK_AFTER_PHASE			/* planted bug: a Close looks in between */
	   ; leave(new, m)
#endif
#ifdef MISUSE
	:: atomic { !MAY_GIVE_BACK -> new = NONE }
#endif
	fi;
	m = 0
}
