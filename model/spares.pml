/*
 * Private objects, free ones and hooks: get.go, freelist.go and return.go. A
 * free object is in a list or belongs to the goroutine that resets it.
 */

#define LIST_FREE	(!list_mu)
#ifdef GET_WITHOUT_CLOSED_CHECK	/* planted bug */
#define LIST_OPEN	LIST_FREE
#define LIST_CLOSED	false
#else
#define LIST_OPEN	(LIST_FREE && !list_closed)
#define LIST_CLOSED	(LIST_FREE && list_closed)
#endif

/* take moves any object of a set to o. */
inline take(set, o) {
	if
	:: IN(set, 1) -> o = 1
	:: IN(set, 2) -> o = 2
#if OBJECTS > 2
	:: IN(set, 3) -> o = 3
#endif
#if OBJECTS > 3
	:: IN(set, 4) -> o = 4
#endif
	fi;
	REMOVE(set, o)
}

/* begin begins a generation of a free object of the caller's. */
inline begin(o) {
	NEVER(recycled_while_held, refs[o] != 0);
	NEVER(closed_early, pool_over);
	phase[o] = PRIVATE;		/* (G2) */
	NEXT_GENERATION(o);
	mark[o] = 0			/* (D2) with the step to private */
}

#if DRAINERS > 1
#define NOT_AWAITED(o)	REMOVE(awaited[0], o); REMOVE(awaited[1], o); skip
#elif DRAINERS
#define NOT_AWAITED(o)	REMOVE(awaited[0], o); skip
#else
#define NOT_AWAITED(o)	skip
#endif

/* back_again notes that the hook for a replaced object has returned. */
inline back_again(o) {
	NEVER(recycled_while_held, refs[o] != 0);
	NEVER(closed_early, pool_over);
	REMOVE(out, o);
	NOT_AWAITED(o)
}

#ifdef PANICS
bool one_lost;			/* a bound: one reset panics */
#endif

/* run_reset resets a free object of the caller's, or sets o to NONE if it is lost. */
inline run_reset(o) {
#ifdef UNMARK_EARLY		/* planted bug: the mark goes before the reset */
	mark[o] = 0;
#endif
	if
	:: atomic { back_again(o) }
#ifdef PANICS
	:: atomic { !one_lost -> one_lost = true; back_again(o); phase[o] = LOST };	/* (L3) */
	   live--;			/* (G3) */
#ifndef LOSE_WITHOUT_WAKE	/* planted bug */
	   wake_back();
#endif
	   o = NONE
#endif
	fi
}

/* drop discards a free object of the caller's. */
inline drop(o) {
	atomic {
		NEVER(closed_early, pool_over);
		phase[o] = DISCARDED;	/* (K3) before Discard */
		number[o] = 0;
		truth[o] = 0;
		ADD(hooks, o)
	};
	atomic { REMOVE(hooks, o); back_again(o) };
	mark[o] = 0;			/* (D2) after Discard */
	atomic { live--; o = NONE };	/* (G3) */
	wake_back()
}

/* recycle resets a free object of the caller's, and keeps or drops it. */
inline recycle(o) {
	run_reset(o);
	if
	:: atomic {
		o != NONE && LIST_FREE && !list_closed ->
		mark[o] = 0;		/* (D2) with the push */
		ADD(clean, o);		/* (K1) */
		o = NONE
	   };
#ifndef KEEP_WITHOUT_WAKE	/* planted bug */
	   wake_back()
#else
	   skip
#endif
	:: atomic { o != NONE && LIST_FREE && list_closed TAKEN };
	   drop(o)
#ifdef PANICS
	:: o == NONE TAKEN
#endif
	fi
}

byte created;			/* objects that came into being */

/* The counts of a call that makes an object. */
#ifdef CREATING_NOT_COUNTED	/* planted bug */
#define COUNT_CREATING(n)	skip
#else
#define COUNT_CREATING(n)	creating = creating + n
#endif

#define OK		0
#define IS_CLOSED	1
#define CONFLICT	2
#define REFUSED		3
#define LIMIT		4

/* get is Pool.Get: o is private, or result says why not. */
inline get(o) {
	do
	:: atomic { LIST_CLOSED -> result = IS_CLOSED; break }
	:: atomic { LIST_OPEN && clean != 0 -> take(clean, o); begin(o); result = OK; break }	/* (G1) */
	:: atomic { LIST_OPEN && clean == 0 && dirty != 0 -> take(dirty, o) };	/* (G1) */
	   run_reset(o);
	   if
	   :: atomic { o != NONE && LIST_OPEN -> begin(o); result = OK };
	      wake_back();
	      break
	   :: atomic { o != NONE && LIST_CLOSED -> result = IS_CLOSED };
	      drop(o);
	      break
#ifdef PANICS
	   :: o == NONE TAKEN
#endif
	   fi
	:: atomic { LIST_OPEN && clean == 0 && dirty == 0 TAKEN };
	   if
	   :: atomic { live < MAXLIVE -> live++ };	/* (G3) */
	      if
	      :: atomic { LIST_OPEN -> COUNT_CREATING(1) };
		 /* The factory. */
	         atomic {
			NEVER(closed_early, pool_over);
			created++;
			o = created;
			phase[o] = PRIVATE	/* (N1) (N2) */
		 };
		 atomic { LIST_FREE -> COUNT_CREATING(-1); result = OK };
	         wake_back()
	      :: atomic { LIST_CLOSED -> live--; result = IS_CLOSED };	/* (G3) */
	         wake_back()
	      fi
	   :: atomic { live >= MAXLIVE -> result = LIMIT };
#ifdef WAKE_AT_THE_LIMIT	/* planted bug: a call that makes nothing wakes */
	      atomic { NEVER(busy_waiting, IN(back, me)); back = 0 }
#else
	      skip
#endif
	   fi;
	   break
	od
}

/* The sweeper resets what readers pushed. */
proctype sweeper() {
	byte o;
end:
	do
	:: atomic { LIST_FREE && dirty != 0 -> take(dirty, o) };
	   recycle(o)
	od
}

/*
 * trim drops every clean object. The pop and the mark are under the mutex of
 * the free list.
 */
inline trim(o) {
	do
	:: atomic { LIST_FREE && clean == 0 -> break }
	:: atomic { LIST_FREE && clean != 0 -> take(clean, o); list_mu = true };
	   leave(o, m);
	   list_mu = false;
	   drop(o)
	od;
	m = 0
}

#if TRIMMERS
proctype trimmer(byte me, i) {
	byte o;
	byte m;
	trim(o)
}
#endif
