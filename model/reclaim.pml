	/*
	 * reclaim of retire.go: free OBJECT if it is retired and nobody holds
	 * it. This is a piece of a process, of readers and of writers, between
	 * other steps of it. FENCE is what must be true before the state is
	 * read; OWN is whether the caller is the writer that retired OBJECT.
	 * If this call freed it the process goes on below, else with what
	 * NOT_DRAINED says.
	 */
	if
#ifdef NO_RELOAD	/* planted bug: the state is as it was before the fence */
	:: atomic { !IS_RETIRED(OBJECT, OWN) -> NOT_DRAINED }
	:: atomic { IS_RETIRED(OBJECT, OWN) -> life = generation[OBJECT] };
	   atomic { (FENCE) -> FIRST(OBJECT) };
#else
	:: atomic { (FENCE) && !IS_RETIRED(OBJECT, OWN) -> NOT_DRAINED }
	:: atomic {
		(FENCE) && IS_RETIRED(OBJECT, OWN) ->
		life = generation[OBJECT];	/* (S1) the life that the sums are about */
		FIRST(OBJECT)		/* (S2) all of released first, */
	   };
#endif
	   atomic {
		THEN(OBJECT);		/* (S3) then all of acquired */
		at = 0;
		if
		:: diff == 0
		:: diff != 0 ->
			NEVER(accused, diff > 0 && SAME_LIFE(OBJECT, life));
			diff = 0;
			life = 0;
			NOT_DRAINED
		fi
	   };
	   atomic {
		SETTLED(OWN) ->
		if		/* (S4) same life, retired to free */
		:: SAME_LIFE(OBJECT, life) ->
			NEVER(recycled_while_held, holders[OBJECT] != 0);
			phase[OBJECT] = FREE;
			life = 0
		:: else ->
			life = 0;
			NOT_DRAINED
		fi
	   }
	fi;
#undef OBJECT
#undef OWN
#undef FENCE
#undef NOT_DRAINED
