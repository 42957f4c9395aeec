	/*
	 * reclaim of retire.go: free OBJECT if it is retired and nobody holds
	 * it. This is a piece of a process, of readers and of writers, between
	 * other steps of it. FENCED is what must be true before the state is
	 * read; IS_RETIRED and SETTLED are what this process sees of the state
	 * and what must be true before its compare-and-swap. If this call freed
	 * it the process goes on below, else with what NOT_DRAINED says.
	 */
	if
#ifdef NO_RELOAD	/* planted bug: the state is as it was before the fence */
	:: atomic { !IS_RETIRED(OBJECT) -> NOT_DRAINED }
	:: IS_RETIRED(OBJECT);
	   atomic { FENCED -> SUM_RELEASED(me, OBJECT) };
#else
	:: atomic {
		FENCED &&			/* (C1) of a reader: my count is visible, */
		!IS_RETIRED(OBJECT) ->		/* (C2) and only now look again */
		NOT_DRAINED
	   }
	:: atomic {
		FENCED && IS_RETIRED(OBJECT) ->	/* (S1) the life that the sums are about */
		SUM_RELEASED(me, OBJECT)	/* (S2) all of released first, */
	   };
#endif
	   atomic {
		SUM_ACQUIRED(me, OBJECT);	/* (S3) then all of acquired */
		if
		:: DRAINED(me, OBJECT) TAKEN
		:: !DRAINED(me, OBJECT) -> FORGET(me); NOT_DRAINED
		fi
	   };
	   atomic {
		SETTLED ->
		if
#ifdef TWO_WINNERS	/* planted bug: a store in place of the compare-and-swap */
		:: true ->
#else
		:: SAME_LIFE(me, OBJECT) ->	/* (S4) same life, retired to free */
#endif
			NEVER(recycled_while_held, holders[OBJECT] != 0);
			phase[OBJECT] = FREE;
			FORGET(me)
#ifndef TWO_WINNERS
		:: !SAME_LIFE(me, OBJECT) -> FORGET(me); NOT_DRAINED
#endif
		fi
	   }
	fi;
#undef OBJECT
#undef FENCED
#undef IS_RETIRED
#undef SETTLED
#undef NOT_DRAINED
