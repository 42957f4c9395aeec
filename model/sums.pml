/*
 * reclaim of retire.go, which readers and writers share: free object o if it
 * is retired and nobody holds it. Locals of the caller: life, the generation
 * that the sums are about; diff, released less acquired; at, see add.
 */

/*
 * see adds to diff what is pending on CPU c. The goroutine that sums is not
 * pinned and may be on c, where it reads the pending stores of those that ran
 * there before. If it did, c is in the set at until they are visible to all:
 * until then it reads that stripe there.
 */
#ifdef PORTABLE
#define see(which, sign, o, c, diff, at)	skip
#else
inline see(which, sign, o, c, diff, at) {
	if
	:: EMPTY(c) -> at = at & ~(1 << (c))
	:: !EMPTY(c)
	fi;
	if
	:: PENDING(c, o, which) == 0 || !((at >> (c)) & 1)
	:: PENDING(c, o, which) > 0 ->
		diff = diff + (sign)*PENDING(c, o, which);
		at = at | (1 << (c))
	fi
}
#endif

/* sum adds all of one counter of o to diff. */
inline sum(which, sign, o, diff, at) {
	diff = diff + (sign)*COUNT(o, 0, which);
	see(which, sign, o, 0, diff, at)
#if CPUS > 1
	; see(which, sign, o, 1, diff, at)
#endif
#if CPUS > 2
	; see(which, sign, o, 2, diff, at)
#endif
}

#ifdef ONE_COUNTER	/* planted bug with UNDO_ELSEWHERE: a stripe's counts are one word */
inline stripe(c, o, diff, at) {
	diff = diff + COUNT(o, c, RELEASED) - COUNT(o, c, ACQUIRED);
	see(RELEASED, 1, o, c, diff, at);
	see(ACQUIRED, -1, o, c, diff, at)
}
#endif

#if defined SUMS_SWAPPED	/* planted bug: the other way round */
#define FIRST(o)	sum(ACQUIRED, -1, o, diff, at)
#define THEN(o)		sum(RELEASED, 1, o, diff, at)
#elif defined ONE_COUNTER
#define FIRST(o)	stripe(0, o, diff, at)
#define THEN(o)		stripe(1, o, diff, at)
#else
#define FIRST(o)	sum(RELEASED, 1, o, diff, at)
#define THEN(o)		sum(ACQUIRED, -1, o, diff, at)
#endif

#ifdef TWO_WINNERS	/* planted bug: a store in place of the compare-and-swap */
#define SAME_LIFE(o, life)	true
#else
#define SAME_LIFE(o, life)	(phase[o] == RETIRED && generation[o] == life)
#endif

#ifdef PLAIN_RETIRED
#define IS_RETIRED(o, own)	(phase[o] == RETIRED || ((own) && late_retired == o))
#define SETTLED(own)		(!(own) || late_retired == NONE)
#else
#define IS_RETIRED(o, own)	(phase[o] == RETIRED)
#define SETTLED(own)		true
#endif
