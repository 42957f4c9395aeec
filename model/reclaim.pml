	/*
	 * reclaim of retire.go: free OBJECT if it is retired and all references
	 * were given back. Readers and writers include this file between other
	 * steps. The caller defines OBJECT; FENCED, the condition for reading
	 * the state; IS_RETIRED, its view of the state; CAS_ENABLED, the
	 * condition for its compare-and-swap; and how it goes on if this call did
	 * not free the object: NOT_DRAINED, or NOT_FREED if the compare-and-swap
	 * failed. If it did, the statements after the include follow.
	 */
	if
#ifdef NO_RELOAD	/* planted bug: the state was read before the fence */
	:: atomic { !IS_RETIRED(OBJECT) -> NOT_DRAINED }
	:: IS_RETIRED(OBJECT);
	   atomic { FENCED -> SUM_RELEASED(me, OBJECT) };
#else
	:: atomic {
		FENCED &&			/* (C1) for a reader: its count is visible */
		!IS_RETIRED(OBJECT) ->		/* (C2) look again, after the fence */
		NOT_DRAINED
	   }
	:: atomic {
		FENCED && IS_RETIRED(OBJECT) ->	/* (S1) the generation that the sums are about */
		SUM_RELEASED(me, OBJECT)	/* (S2) all of released first */
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
		CAS_ENABLED ->
		if
#ifdef TWO_WINNERS	/* planted bug: a store in places of the compare-and-swap */
		:: true ->
#else
		:: SAME_GENERATION(me, OBJECT) ->	/* (S4) same generation: retired to free */
#endif
			NEVER(recycled_while_held, holders[OBJECT] != 0);
			phase[OBJECT] = FREE;
			FORGET(me)
#ifndef TWO_WINNERS
		:: !SAME_GENERATION(me, OBJECT) -> FORGET(me); NOT_FREED
#endif
		fi
	   }
	fi;
#undef OBJECT
#undef FENCED
#undef IS_RETIRED
#undef CAS_ENABLED
#undef NOT_DRAINED
#undef NOT_FREED
