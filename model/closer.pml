/* Goroutines that drain and close: close.go. */

#define WAITING_VARIABLES \
	bool found; \
	byte o; \
	byte seen_phase; \
	byte seen_mark; \
	byte m

#if DRAINERS
proctype drainer(byte me, i) {
	WAITING_VARIABLES;
	byte last;

	atomic { last = leavings; awaited[i] = out };
	await(false, (MARK != 0 && MARK <= last && seen_phase != LOST));
	atomic { NEVER(drained_early, awaited[i] != 0); last = 0 }
}
#endif

#if CLOSERS || POOL_CLOSERS
/* shut_container closes c. The object that it leaves in old is the caller's, to recycle. */
inline shut_container() {
	if
	:: atomic { !mu[c] && closed[c] TAKEN }
	:: atomic {
		!mu[c] && !closed[c] ->
		mu[c] = true;
		closed[c] = true		/* (D3) */
	   };
	   make_empty();
	   fired[c] = true;
	   changed[c] = 0;			/* (W2) */
	   if
	   :: old != NONE -> retire()
	   :: old == NONE TAKEN
	   fi
	fi
}
#define CLOSER_VARIABLES \
	WAITING_VARIABLES; \
	byte c; \
	byte old
#endif

#if CLOSERS
proctype closer(byte me, i) {
	CLOSER_VARIABLES;

	shut_container();
	if
	:: old != NONE -> recycle(old)
	:: old == NONE TAKEN
	fi;
	atomic { !turn[c] -> turn[c] = true };
	turn[c] = false;
	await(false, (MARK != 0 && seen_phase != LOST && home[o] == c));
	atomic {
		NEVER(closed_early, filling[c] != 0 || current[c] != NONE);
		for (o : 1 .. OBJECTS) {
			NEVER(closed_early, IN(out, o) && home[o] == c)
		}
		o = 0;
		over[c] = true
	}
}
#endif

#if POOL_CLOSERS
proctype pool_closer(byte me, i) {
	CLOSER_VARIABLES;

	atomic { LIST_FREE -> list_closed = true };	/* (D4) */
	do
	:: c < CONTAINERS ->
		shut_container();
		if
		:: old != NONE -> run_reset(old); drop(old)	/* keep finds the list closed */
		:: old == NONE TAKEN
		fi;
		c++
	:: c == CONTAINERS -> c = 0; break
	od;
	wake_back();
#ifndef TRIM_AFTER_WAIT
	trim(o);
#endif
#ifdef CLOSE_IGNORES_PRIVATE	/* planted bug */
	await(creating > 0, (MARK != 0 && seen_phase != LOST));
#else
	await(creating > 0, (seen_phase == PRIVATE || (MARK != 0 && seen_phase != LOST)));
#endif
#ifdef TRIM_AFTER_WAIT		/* planted bug: Discard may run on another goroutine */
	trim(o);
#endif
	atomic {
		NEVER(closed_early, creating != 0 || hooks != 0 || out != 0);
		for (o : 1 .. OBJECTS) {
			NEVER(closed_early, phase[o] != UNBORN && phase[o] != DISCARDED && phase[o] != LOST)
		}
		o = 0;
		pool_over = true
	}
}
#endif
