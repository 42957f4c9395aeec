/*
 * A reader: slot.acquire and recycler.release. Labels that two of its paths
 * share stand at both.
 */

#ifdef VALIDATE_BY_VERSION
byte disturbed;		/* readers that an update which has begun concerns, a set */
#endif

#ifdef NO_FENCE		/* planted bug: slowCheck does not wait for its own store */
#define SLOW_FENCE(me)	true
#else
#define SLOW_FENCE(me)	FENCED(me)
#endif

/* let_go ends the reader's use of ref; a count that failed was none. */
inline let_go(ref, again) {
	if
	:: !again -> holders[ref]--
	:: else
	fi
}

/* end_round goes on with the next attempt, or with the next round. */
#define end_round	next_round(rounds, c, ref, again)
inline next_round(rounds, c, ref, again) {
	ref = NONE;
	if
	:: again -> again = false; goto acquire
	:: !again && rounds == 0 -> c = 0; ended++; goto end
	:: !again && rounds > 0 -> rounds--; c = 0; goto acquire
#if CONTAINERS > 1
	:: !again && rounds > 0 -> rounds--; c = 1; goto acquire
#endif
	fi
}

proctype reader(byte me) {
	byte rounds = ROUNDS-1;	/* after this one */
	byte c;			/* the container */
	byte ref;
	byte k;			/* the CPU, and its stripe */
	byte life;
	byte at;
	short diff;
	bool again;		/* ref was counted in vain: acquire again */
#ifdef STATE_BEFORE_RELEASED
	bool seen_live;
#endif
#ifdef NO_REVALIDATION
	byte since;		/* the generation that was current at (A2) */
#endif

	/* Readers are alike: number them in the order in which they begin. */
	atomic {
		begun >= me
#if CONTAINERS > 1
		-> if :: c = 0 :: c = 1 fi
#endif
	};
acquire:
	atomic {
		choose_cpu(k, me, NONE);	/* (A1) */
		if
		:: begun == me -> begun++
		:: begun > me
		fi;
		ref = current[c];		/* (A2) a candidate */
		if
		:: ref == NONE -> UNPIN(k); k = 0; end_round
		:: else -> undisturbed[me] = c+1
		fi;
#ifdef NO_REVALIDATION
		since = generation[ref];
#endif
#ifdef VALIDATE_BY_VERSION
		disturbed = disturbed & ~(1 << me)
#endif
	};
	atomic {
		MAY_COUNT(k, me, ref) ->
		count(k, me, ref, ACQUIRED)	/* (A3) perhaps in a later life of it */
	};
	atomic {
		if				/* (A4) re-validate */
#if defined NO_REVALIDATION	/* planted bug: whatever was counted is taken */
		:: true ->
			NEVER(acquired_not_current, phase[ref] > RETIRED || since != generation[ref]);
			since = 0;
#elif defined VALIDATE_BY_VERSION	/* planted bug: by a version that grows when an update begins */
		:: !(disturbed & (1 << me)) ->
			NEVER(acquired_not_current, phase[ref] != LIVE);
#else
		:: current[c] == ref ->
			NEVER(acquired_not_current, phase[ref] != LIVE);
#endif
			holders[ref]++;
			UNPIN(k);
			k = 0;
			undisturbed[me] = 0;
			goto release
		:: else ->
			NEVER(retried_without_update, undisturbed[me] != 0);
			undisturbed[me] = 0;
#if defined UNDO_ELSEWHERE || defined UNDO_BY_RELEASE
			UNPIN(k);
			k = 0;
#endif
			again = true
		fi
	};
#if defined UNDO_BY_RELEASE	/* planted bug: as if ref had been acquired */
	if
	:: atomic { phase[ref] == FREE -> NEVER(refused, true) }
	:: atomic { phase[ref] == PRIVATE -> phase[ref] = FREE }
	   atomic { keep(ref); ref = NONE; again = false; goto acquire }
	:: phase[ref] <= RETIRED -> goto release
	fi;
#elif defined UNDO_ELSEWHERE	/* planted bug, with ONE_COUNTER only: on another CPU */
	atomic {
		choose_cpu(k, me, ref);
		count(k, me, ref, RELEASED);
		UNPIN(k);
		k = 0
	};
#else
	atomic {
		MAY_COUNT(k, me, ref) ->
		count(k, me, ref, RELEASED);	/* (A5) undo on the same stripe */
		UNPIN(k);
		k = 0
	};
#endif
#ifdef NO_CHECK_AFTER_UNDO	/* planted bug: nobody sums again */
	atomic { end_round };
#else
	goto check;
#endif

release:
#ifdef STATE_BEFORE_RELEASED	/* planted bug: (R4) before (R3) */
	seen_live = (phase[ref] == LIVE);
	atomic {
		choose_cpu(k, me, ref);
		let_go(ref, again);
		count(k, me, ref, RELEASED);
		UNPIN(k);
		k = 0;
		if
		:: seen_live -> seen_live = false; end_round
		:: else
		fi
	};
#else
	atomic {
		choose_cpu(k, me, ref);		/* (R2) */
		let_go(ref, again);
		count(k, me, ref, RELEASED);	/* (R3) from here on ref may be recycled */
		if				/* (R1) was it live before? */
		:: true
		:: phase[ref] != LIVE -> UNPIN(k); k = 0; goto check
		fi
	};
	atomic {
		UNPIN(k);
		k = 0;
		if				/* (R4) is it still? */
		:: phase[ref] == LIVE -> end_round
		:: else
		fi
	};
#endif

check:
	/* (C1) my count is visible, (C2) and only now look again */
#define OBJECT		ref
#define OWN		false
#define FENCE		SLOW_FENCE(me)
#define NOT_DRAINED	end_round
#include "reclaim.pml"
	hand_over(ref);
	atomic {
		if
		:: !sweeping ->		/* (P2) at most one sweeper */
			sweeping = true;
			sweepers++;
			startable++
		:: sweeping
		fi;
		end_round
	};

end:	false
}
