/*
 * A reader: slot.acquire and recycler.release. Labels that two of its paths
 * share stand at both.
 */

#ifdef MIGRATING
#define STRIPE_OF_READER	k
#else
#define STRIPE_OF_READER	me
#endif

#ifdef NO_FENCE		/* planted bug: slowCheck does not wait for its own store */
#define SLOW_FENCE(me)	true
#else
#define SLOW_FENCE(me)	VISIBLE(me)
#endif

/*
 * VALID is the test of (A4). Planted bugs ask another question; then an object
 * may be returned that is current no more, though not one whose life is over.
 */
#if defined NO_REVALIDATION	/* whatever was counted */
#define VALID(o, c)	true
#elif defined VALIDATE_BY_PHASE	/* whatever is live, here or elsewhere */
#define VALID(o, c)	(phase[o] == LIVE)
#elif defined VALIDATE_BY_VERSION /* unless an update has begun */
#define VALID(o, c)	(!IN(disturbed, me))
byte disturbed;		/* readers that an update which has begun concerns, a set */
#else
#define VALID(o, c)	(current[c] == o)
#endif
#ifdef VALIDATE_OTHERWISE
#define NOT_CURRENT(o, c)	(current[c] != o && !same_life[me])
#else
#define NOT_CURRENT(o, c)	(current[c] != o || phase[o] != LIVE)
#endif

/* next_round goes on with the next round, or not at all. */
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

/* end_round goes on with the next attempt, if this one failed, or as next_round. */
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
	bool again;		/* ref was counted in vain: acquire again */
#ifdef STATE_BEFORE_RELEASED
	bool seen_live;
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
		undisturbed[me] = c+1;
#ifdef VALIDATE_OTHERWISE
		same_life[me] = true;
#endif
#ifdef VALIDATE_BY_VERSION
		REMOVE(disturbed, me)
#endif
	};
#ifndef COUNT_LATE
	atomic { count_acquired(STRIPE_OF_READER, me, ref[me]) };	/* (A3) perhaps in a later life of it */
#endif
	atomic {
		if
		:: VALID(ref[me], c) ->		/* (A4) re-validate */
			NEVER(acquired_not_current, NOT_CURRENT(ref[me], c));
			holders[ref[me]]++;
			unpin(k);
			undisturbed[me] = 0;
			goto release
		:: !VALID(ref[me], c) ->
			NEVER(retried_without_update, undisturbed[me] != 0);
			undisturbed[me] = 0;
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
	:: atomic { phase[ref[me]] == FREE -> NEVER(refused, true) }
	:: atomic { phase[ref[me]] == PRIVATE -> phase[ref[me]] = FREE }
	   atomic { keep(ref[me]); ref[me] = NONE; again = false; goto acquire }
	:: phase[ref[me]] <= RETIRED -> holders[ref[me]]++; goto release
	fi;
#elif defined UNDO_ELSEWHERE	/* planted bug, with ONE_COUNTER only: on another CPU */
	atomic { pin(k, me, ref[me]); count_released(k, me, ref[me]); unpin(k) };
#else
	atomic {
		count_released(STRIPE_OF_READER, me, ref[me]);	/* (A5) undo on the same stripe */
		unpin(k)
	};
#endif
#ifdef NO_CHECK_AFTER_UNDO	/* planted bug: nobody sums again */
	atomic { end_round() };
#else
	goto check;
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
		:: phase[ref[me]] == LIVE -> next_round()	/* (R4) is it still? */
		:: phase[ref[me]] != LIVE TAKEN
		fi
	};
#endif

check:
#define OBJECT		ref[me]
#define FENCED		SLOW_FENCE(me)
#ifdef SUM_RETIRING	/* planted bug: whatever is being replaced may be freed */
#define IS_RETIRED(o)	(phase[o] == RETIRED || phase[o] == RETIRING)
#else
#define IS_RETIRED(o)	(phase[o] == RETIRED)
#endif
#define SETTLED		true
#define NOT_DRAINED	end_round()
#include "reclaim.pml"
	hand_over(ref[me]);
#ifdef NO_SWEEPER	/* planted bug: somebody else will start it */
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
