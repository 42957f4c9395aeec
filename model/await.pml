/*
 * Waiting: wakeup.go, wait.go, publish.go and close.go. A signal is the set of goroutines
 * that have it. To ask is to enter the set, and to wake is to empty it.
 */

/* wake_back wakes those that wait for objects. */
inline wake_back() {
	atomic { back = 0 }		/* (W2) after the change */
}

/* leave marks o, which is about to leave its container or owner. */
inline leave(o, m) {
	atomic { NEXT_LEAVING; m = leavings };
	mark[o] = m			/* (D1) before the step by which it leaves */
}

/*
 * await waits until PENDING is false and no object is as WAITED says of its
 * phase, loaded first, and its MARK. The code holds the mutex of the registry
 * while it looks, which only goroutines that make or give back an object want.
 */
#ifdef MARK_BEFORE_PHASE	/* planted bug: an object can leave in between */
#define MARK		seen_mark
#else
#define MARK		mark[o]
#endif
inline await(PENDING, WAITED) {
	do
	:: true ->
#ifndef LOOK_BEFORE_ASK
		ADD(back, me);		/* (W1) ask, and only then look */
#endif
		found = (PENDING);
		o = 1;
		do
		:: !found && o <= OBJECTS ->
#ifdef MARK_BEFORE_PHASE
			seen_mark = mark[o];
#endif
			seen_phase = phase[o];
			atomic { found = (WAITED); o++ }
		:: found || o > OBJECTS -> break
		od;
		o = 0;
		seen_phase = 0;
#ifdef LOOK_BEFORE_ASK		/* planted bug */
		ADD(back, me);
#endif
		if
		:: atomic { !found -> REMOVE(back, me); break }
		:: found -> !IN(back, me)
		fi
	od
}

#if WAITERS
/* A waiter calls Wait of container 0 until it is closed. */
proctype waiter(byte me, i) {
look:
#ifdef VERSION_BEFORE_ASK	/* planted bug: look, and only then ask */
	if
	:: atomic { !mu[0] && (closed[0] || version[0] > after[i]) -> goto ready }
	:: atomic { !mu[0] && !closed[0] && version[0] <= after[i] }
	fi;
	ADD(changed[0], me);
	goto wait;
ready:
#else
	ADD(changed[0], me);		/* (W1) ask, and only then look */
#endif
	if
	:: atomic { !mu[0] && closed[0] -> REMOVE(changed[0], me); goto stop }
	:: atomic {
		!mu[0] && !closed[0] && version[0] > after[i] ->
		NEVER(wrong_version, current[0] == NONE || version[0] != truth[current[0]]);
		after[i] = version[0];
		goto look
	   }
	:: atomic { !mu[0] && !closed[0] && version[0] <= after[i] TAKEN }
	fi;
wait:
	waiting[i] = true;
endwait:	/* no version may ever come */
	atomic { !IN(changed[0], me) -> waiting[i] = false; goto look };
stop:
	skip
}
#endif
