/* A reader: Slot.acquire, Pool.Release, slowCheck and enqueueReset. */

#ifdef MIGRATING
#define STRIPE_OF_READER	k
#else
#define STRIPE_OF_READER	me
#endif

#ifdef NO_FENCE		/* planted bug: slowCheck does not wait for its own stores */
#define SLOW_FENCE(me)	true
#else
#define SLOW_FENCE(me)	VISIBLE(me)
#endif

/*
 * VALID is the test of (A4). Planted bugs test something else. They may return
 * an object that is not current any more, if it is still in the generation that
 * (A2) loaded.
 */
#if defined NO_REVALIDATION	/* any object that was counted */
#define VALID(o, c)	true
#elif defined VALIDATE_BY_PHASE	/* any live object, in this container or another */
#define VALID(o, c)	(phase[o] == LIVE)
#elif defined VALIDATE_BY_VERSION /* unless an update has begun */
#define VALID(o, c)	(!IN(update_begun, me))
byte update_begun;		/* readers whose container has an update under way, a set */
#else
#define VALID(o, c)	(current[c] == o)
#endif
#ifdef VALIDATE_OTHERWISE
#define NOT_CURRENT(o, c)	(current[c] != o && !same_generation[me])
#else
#define NOT_CURRENT(o, c)	(current[c] != o || phase[o] != LIVE)
#endif

/* After a reader that retained its object has released it once, it releases it again. */
#ifdef RETAINING
#ifdef RETAIN_LATE
#define GO_ON	count_retained
#else
#define GO_ON	release
#endif
#define RELEASE_RETAINED	if :: retained -> retained = false; goto GO_ON :: !retained TAKEN fi;
#else
#define RELEASE_RETAINED
#endif

/* next_round starts another round, or stops the reader. */
#ifdef ROUNDS
#define MORE_ROUNDS	rounds > 0 -> rounds--
#else
#define MORE_ROUNDS	true
#endif
inline next_round() {
	ref[me] = NONE;
	if
	:: true -> c = 0; ended++; goto end
	:: MORE_ROUNDS -> c = 0; goto acquire
#if CONTAINERS > 1
	:: MORE_ROUNDS -> c = 1; goto acquire
#endif
	fi
}

/* end_round repeats an Acquire that failed, or else is next_round. */
inline end_round() {
	ref[me] = NONE;
	if
	:: again -> again = false; goto acquire
	:: !again -> c = 0; ended++; goto end
	:: !again && MORE_ROUNDS -> c = 0; goto acquire
#if CONTAINERS > 1
	:: !again && MORE_ROUNDS -> c = 1; goto acquire
#endif
	fi
}

proctype reader(byte me) {
#ifdef ROUNDS
	byte rounds = ROUNDS;
#endif
	byte c;			/* the container */
	byte k;			/* the CPU, if MIGRATING */
	bool again;		/* the validation failed: acquire again */
#ifdef STATE_BEFORE_RELEASED
	bool seen_live;
#endif
#ifdef RETAINING
	bool retained;		/* it holds two references: one more release follows */
#endif

	atomic { next_round() };
acquire:
	atomic {
		pin(k, me, NONE);		/* (A1) */
		ref[me] = current[c];		/* (A2) a candidate */
#ifdef EMPTYING
		if
		:: ref[me] == NONE -> unpin(k); next_round()
		:: ref[me] != NONE TAKEN
		fi;
#endif
		not_updated[me] = c+1;
#ifdef VALIDATE_OTHERWISE
		same_generation[me] = true;
#endif
#ifdef VALIDATE_BY_VERSION
		REMOVE(update_begun, me)
#endif
	};
#ifndef COUNT_LATE
	atomic { count_acquired(STRIPE_OF_READER, me, ref[me]) };	/* (A3) perhaps in a later generation */
#endif
	atomic {
		if
		:: VALID(ref[me], c) ->		/* (A4) re-validate */
			NEVER(acquired_not_current, NOT_CURRENT(ref[me], c));
			holders[ref[me]]++;
			unpin(k);
			not_updated[me] = 0;
			goto acquired
		:: !VALID(ref[me], c) ->
			NEVER(retried_without_update, not_updated[me] != 0);
			not_updated[me] = 0;
#if defined UNDO_ELSEWHERE || defined UNDO_BY_RELEASE
			unpin(k);
#endif
			again = true
#ifdef COUNT_LATE
			; end_round()
#endif
		fi
	};
#if defined UNDO_BY_RELEASE	/* planted bug: as if ref[me] had been acquired */
	if
	:: atomic { phase[ref[me]] == FREE -> NEVER(panicked, true) }
	:: atomic { phase[ref[me]] == PRIVATE -> phase[ref[me]] = FREE }
	   atomic { keep(ref[me]); ref[me] = NONE; again = false; goto acquire }
	:: phase[ref[me]] <= RETIRED -> holders[ref[me]]++; goto release
	fi;
#elif defined UNDO_ELSEWHERE	/* planted bug, only with ONE_COUNTER: undo on another CPU */
	atomic { pin(k, me, ref[me]); count_released(k, me, ref[me]); unpin(k) };
#else
	atomic {
		count_released(STRIPE_OF_READER, me, ref[me]);	/* (A5) undo on the same stripe */
		unpin(k)
	};
#endif
#ifdef NO_CHECK_AFTER_UNDO	/* planted bug: no check after the undo */
	atomic { end_round() };
#else
	goto check;
#endif

acquired:
#ifdef RETAINING
	if
#ifdef RETAIN_LATE	/* planted bug: (H1) after the own release */
	:: atomic { holders[ref[me]]++; retained = true };
	   goto release
count_retained:
	   atomic { pin(k, me, ref[me]); count_acquired(STRIPE_OF_READER, me, ref[me]); unpin(k) }
#else
	:: atomic {
		pin(k, me, ref[me]);
		count_acquired(STRIPE_OF_READER, me, ref[me]);	/* (H1) while it holds ref[me] */
		holders[ref[me]]++;
		unpin(k);
		retained = true
	   }
#endif
	:: true TAKEN
	fi;
#endif

release:
#ifdef COUNT_LATE	/* planted bug: (A3) after (A4) */
	atomic { count_acquired(STRIPE_OF_READER, me, ref[me]) };
#endif
#ifdef STATE_BEFORE_RELEASED	/* planted bug: (R4) before (R3) */
	seen_live = (phase[ref[me]] == LIVE);
	atomic {
		count_released(STRIPE_OF_READER, me, ref[me]);
		holders[ref[me]]--;
		if
		:: seen_live -> seen_live = false; next_round()
		:: !seen_live
		fi
	};
#else
	atomic {
		pin(k, me, ref[me]);		/* (R2) */
		count_released(STRIPE_OF_READER, me, ref[me]);	/* (R3) from here on ref may be recycled */
		holders[ref[me]]--;
		if
		:: true TAKEN
		:: phase[ref[me]] != LIVE -> unpin(k); goto check	/* (R1) was it live before? */
		fi
	};
	atomic {
		unpin(k);
		if
		:: phase[ref[me]] == LIVE -> RELEASE_RETAINED next_round()	/* (R4) is it still? */
		:: phase[ref[me]] != LIVE TAKEN
		fi
	};
#endif

check:
#define OBJECT		ref[me]
#define FENCED		SLOW_FENCE(me)
#ifdef SUM_RETIRING	/* planted bug: a retiring object may be freed */
#define IS_RETIRED(o)	(phase[o] == RETIRED || phase[o] == RETIRING)
#else
#define IS_RETIRED(o)	(phase[o] == RETIRED)
#endif
#define CAS_ENABLED		true
#define NOT_DRAINED	RELEASE_RETAINED end_round()
#define NOT_FREED	end_round()
#include "reclaim.pml"
	push_dirty(ref[me]);
#ifdef NO_SWEEPER	/* planted bug: no sweeper is started */
	atomic { end_round() };
#endif
	atomic {
		if
		:: !sweeping ->			/* (P2) at most one sweeper */
			sweeping = true;
			sweepers++;
			startable++
		:: sweeping TAKEN
		fi;
		end_round()
	};

end:	false
}
