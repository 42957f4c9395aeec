/*
 * Tracing: internal/refcount/trace.go. Publications of two containers on one pool
 * are traced or not, as they please, while readers go through the assembly or the
 * methods. The counting of references is the other model's: here a reference is a
 * number that changes in one step.
 */

#ifndef READERS
#define READERS 2
#endif
#ifndef WRITERS
#define WRITERS 1
#endif
#ifndef ROUNDS
#define ROUNDS 2		/* of each reader */
#endif
#ifndef UPDATES
#define UPDATES 3		/* of each writer */
#endif
#define CONTAINERS 2
#ifndef OBJECTS
#define OBJECTS 4
#endif

#define NONE	0		/* objects are 1 to OBJECTS */

#define FREE	0
#define LIVE	1
#define RETIRED	2		/* or retiring: not current any more */

byte phase[OBJECTS+1];
byte refs[OBJECTS+1];
byte current[CONTAINERS];
bool traced[OBJECTS+1];
byte records[OBJECTS+1];

bool assembly[CONTAINERS] = true;	/* the word that the assembly compares first */
byte inside;			/* readers in the assembly */

bool locked;			/* the mutex of the tracer */
byte live;			/* traced versions, until they are retiring */
bool slow;

hidden byte unrecorded;		/* a reference to a traced version has no record */
hidden byte left_over;		/* a version drained, and has records */
hidden byte slow_for_ever;	/* all has stopped, nothing traced is current, and reads are slow */
hidden byte deadlock;
#ifdef ONLY
#define NEVER(flag, condition)	flag = (condition); assert(!ONLY)
#else
#define NEVER(flag, condition)	flag = (condition); assert(!flag)
#endif

byte ended;

/* drain frees o if it is not current and not held. */
inline drain(o) {
	if
	:: phase[o] == RETIRED && refs[o] == 0 ->
		NEVER(left_over, traced[o] && records[o] != 0);
		phase[o] = FREE
	:: !(phase[o] == RETIRED && refs[o] == 0) -> skip
	fi
}

proctype reader() {
	byte rounds = ROUNDS;
	byte c;
	byte o;

	do
	:: atomic { ended++; break }
	:: atomic {
		rounds > 0 ->
		rounds--;
		if
		:: c = 0
		:: c = 1
		fi
	   };
		/* Acquire */
		if
		:: atomic { assembly[c] -> inside++ };
			atomic {
				o = current[c];
				refs[o]++;
				NEVER(unrecorded, traced[o]);
				inside--
			}
		:: !assembly[c] ->
			atomic { o = current[c]; refs[o]++ };
			atomic { records[o] = records[o] + traced[o] }
		fi;
		/* Release, through any container of the pool */
		if
		:: c = 1-c
		:: skip
		fi;
		if
		:: atomic { assembly[c] -> inside++ };
			if
			:: phase[o] == LIVE ->
				atomic {
					NEVER(unrecorded, traced[o]);
					refs[o]--;
					drain(o);
					inside--
				}
			:: atomic { phase[o] != LIVE -> inside--; goto methods }
			fi
		:: !assembly[c] ->
methods:		atomic { records[o] = records[o] - traced[o] };
			atomic { refs[o]--; drain(o) }
		fi;
		atomic { o = NONE; c = 0 }
	od
}

/* clear and restore change the word of each container, one after the other. */
inline clear() {
#ifdef NO_CLEAR				/* planted bug */
	skip
#else
	assembly[0] = false;		/* (X2) */
#ifdef CLEAR_ONE			/* planted bug: an object is released through any */
	skip
#else
	assembly[1] = false
#endif
#endif
}
inline resume() {
	live--;
	if
	:: live == 0 ->
		assembly[0] = true;	/* (X5) */
		assembly[1] = true;
		slow = false
	:: live != 0 -> skip
	fi
}

proctype writer() {
	byte updates = UPDATES;
	byte c;
	byte new;
	byte old;
	bool tracing;

	do
	:: atomic { ended++; break }
	:: atomic {
		updates > 0 ->
		updates--;
		if
		:: tracing = true	/* (X1) */
		:: tracing = false
		fi;
		if
		:: c = 0
		:: c = 1
		fi
	   };
		if
		:: tracing ->
			atomic {
				!locked -> locked = true;
#ifndef COUNT_LATE
				live++
#endif
			};
			if
			:: !slow ->
				slow = true;
				clear();
#ifndef NO_STOP				/* planted bug */
				inside == 0	/* (X3) each reader has left the assembly */
#endif
			:: slow -> skip
			fi;
			locked = false
		:: !tracing -> skip
		fi;
		atomic {
			if
			:: phase[1] == FREE -> new = 1
			:: phase[2] == FREE -> new = 2
			:: phase[3] == FREE -> new = 3
#if OBJECTS > 3
			:: phase[4] == FREE -> new = 4
#endif
#if OBJECTS > 4
			:: phase[5] == FREE -> new = 5
#endif
			fi;
			phase[new] = LIVE
		};
#ifndef MARK_LATE
		traced[new] = tracing;		/* (X4) before the swap */
#endif
		atomic { old = current[c]; current[c] = new };
#ifdef MARK_LATE				/* planted bug */
		traced[new] = tracing;
#endif
#ifdef COUNT_LATE			/* planted bug: counted when it is current */
		if
		:: tracing -> atomic { !locked -> live++ }
		:: !tracing -> skip
		fi;
#endif
#ifdef RESUME_EARLY				/* planted bug: before the old version is retiring */
		if
		:: traced[old] -> atomic { !locked -> locked = true }; resume(); locked = false
		:: !traced[old] -> skip
		fi;
		atomic { phase[old] = RETIRED; drain(old) };
#else
		tracing = traced[old];
		atomic { phase[old] = RETIRED; drain(old) };
		if
		:: tracing -> atomic { !locked -> locked = true }; resume(); locked = false
		:: !tracing -> skip
		fi;
#endif
		atomic { old = NONE; new = NONE; c = 0; tracing = false }
	od
}

init {
	byte i;
	atomic {
		for (i : 1 .. CONTAINERS) {
			current[i-1] = i;
			phase[i] = LIVE
		}
		for (i : 1 .. WRITERS) {
			run writer()
		}
		for (i : 1 .. READERS) {
			run reader()
		}
		i = 0
	}
	atomic {
		ended == READERS+WRITERS ->
		NEVER(slow_for_ever, slow && !traced[current[0]] && !traced[current[1]])
	}
}
