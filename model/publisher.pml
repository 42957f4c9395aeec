/* Goroutines that publish, update and read. */

#define WRITER_VARIABLES	\
	byte c;			/* the container */ \
	byte new;		/* a private object, or NONE */ \
	byte owned;		/* its generation */ \
	byte old;		/* swapped out, or free and to be recycled */ \
	byte held;		/* the reference of a publisher, or NONE */ \
	byte seen = ANY;	/* swaps that it saw */ \
	byte base;		/* changes that it saw */ \
	byte num; \
	byte m; \
	byte result

#if PUBLISHERS
proctype publisher(byte me, i) {
	WRITER_VARIABLES;
	byte rounds = PUBLISHES;

	c = i % CONTAINERS;
publish:
	if
	:: atomic { rounds == 0 -> ended++; goto stop }
	:: rounds > 0 -> rounds--
	fi;
#ifndef WITHOUT_TURN
	if
	:: atomic { !turn[c] -> turn[c] = true }	/* (V1) */
	:: fired[c] -> goto publish
#ifdef GIVING_UP
	:: true -> goto publish			/* ctx has ended */
#endif
	fi;
#endif
	/* getWithin */
	do
	:: true ->
		ADD(back, me);			/* (W1) */
		get(new);
		if
		:: atomic { result != LIMIT -> REMOVE(back, me); break }
		:: result == LIMIT TAKEN
		fi;
		if
		:: atomic {
			live >= MAXLIVE && filled >= live ->
			NEVER(refused_in_vain, MAXLIVE > CONTAINERS);
			REMOVE(back, me);
			break
		   }
		:: atomic { !(live >= MAXLIVE && filled >= live) TAKEN }
		fi;
		if
		:: !IN(back, me) TAKEN
#ifndef CLOSE_WITHOUT_SIGNAL		/* planted bug */
		:: fired[c] TAKEN
#endif
#ifdef GIVING_UP
		:: atomic { REMOVE(back, me); break }
#endif
		fi;
		if
		:: atomic { !mu[c] && closed[c] -> REMOVE(back, me); result = IS_CLOSED; break }
		:: atomic { !mu[c] && !closed[c] TAKEN }
		fi
	od;
	if
	:: result != OK -> goto pass
	:: result == OK -> owned = GENERATION(new)
	fi;
#ifdef NOTE_WITHOUT_MUTEX	/* planted bug: a swap comes between the two */
	atomic {
		held = current[c];
		base = changes[c];
		if
		:: held != NONE -> refs[held]++
		:: held == NONE
		fi;
		filling[c]++
	};
	atomic { !mu[c] -> seen = swaps[c]; if :: closed[c] -> result = IS_CLOSED; goto fail :: else fi };
#else
	if
	:: atomic { !mu[c] && closed[c] -> result = IS_CLOSED; goto unfilled }
	:: atomic {
		!mu[c] && !closed[c] ->
		held = current[c];		/* (V2) */
		seen = swaps[c];		/* (V2) */
		base = changes[c];
		filling[c]++;
		if
		:: held != NONE -> refs[held]++
		:: held == NONE TAKEN
		fi
	   }
	fi;
#endif
	/* fill */
	atomic {
		NEVER(closed_early, over[c] || pool_over);
		NEVER(wrong_version, number[new] != truth[new]);
		if
		:: true TAKEN
		:: goto fail
#ifdef MISUSE
		:: given == NONE -> given = new; given_generation = owned
		:: given == NONE -> given = new; given_generation = owned; goto fail
#endif
		fi
	};
	put();
	if
	:: result != OK -> goto fail
	:: result == OK -> new = NONE; num = 0
	fi;
	release(held);
	atomic { filling[c]--; seen = ANY; base = 0; owned = 0 };
	if
	:: old != NONE -> retire()
	:: old == NONE TAKEN
	fi;
	goto pass;
fail:
	atomic { filling[c]--; seen = ANY; base = 0; num = 0 };
unfilled:
	give_back();
	atomic { old = new; new = NONE; owned = 0 };
	release(held);
#ifdef TURN_KEPT_ON_FAILURE	/* planted bug */
	goto settle;
#endif
pass:
	result = OK;
#ifndef WITHOUT_TURN
	turn[c] = false;			/* (V6) */
#endif
settle:
	if
	:: old != NONE -> recycle(old)
	:: old == NONE TAKEN
	fi;
	goto publish;
stop:
	skip
}
#endif

#if UPDATERS
proctype updater(byte me, i) {
	WRITER_VARIABLES;
	byte rounds = UPDATES;

update:
	atomic {
		num = 0;
		result = OK;
		owned = 0;
		c = 0;
		if
		:: rounds == 0 -> goto stop
		:: rounds > 0 -> rounds--
		fi;
		if
		:: true TAKEN
#if CONTAINERS > 1
		:: c = 1
#endif
		fi
	};
	if
	:: true ->
		get(new);
		if
		:: result == OK -> owned = GENERATION(new)
		:: result != OK -> goto update
		fi;
		if
		:: goto publish
#ifdef GIVING_BACK
		:: true TAKEN
#endif
		fi;
#ifdef EMPTYING
	:: atomic { !mu[c] && !closed[c] -> mu[c] = true };	/* Update(nil) */
	   make_empty();
	   goto replaced
	:: atomic { !mu[c] && closed[c] -> goto update }	/* (V3) */
#endif
#ifdef MISUSE
	:: atomic {
		given != NONE ->		/* what fill gave away */
		new = given;
		owned = given_generation;
		given = NONE;
		given_generation = 0
	   };
	   if
	   :: goto publish
	   :: true TAKEN			/* given back */
	   fi
#endif
	fi;
back_to_pool:
	give_back();
	atomic { old = new; new = NONE };
	goto settle;
publish:
	put();
	if
	:: result == IS_CLOSED -> goto back_to_pool	/* Update has panicked */
#ifdef MISUSE
	:: result == REFUSED -> new = NONE; goto update
#endif
	:: result == OK -> new = NONE
	fi;
replaced:
	if
	:: old != NONE -> retire()
	:: old == NONE TAKEN
	fi;
settle:
	if
	:: old != NONE -> recycle(old)
	:: old == NONE TAKEN
	fi;
	goto update;
stop:
	skip
}
#endif

#if READERS
/* A reader acquires an object of container 0 and holds it for a while. */
proctype reader(byte me, i) {
	byte held;
	byte least;
	byte rounds = ROUNDS;

read:
	if
	:: rounds == 0 -> goto stop
	:: rounds > 0 -> rounds--
	fi;
	least = version[0];			/* Version */
	atomic {
		held = current[0];
		if
		:: held != NONE ->
			NEVER(closed_early, over[0] || pool_over);
			NEVER(wrong_version, number[held] != truth[held] || number[held] < least);
			refs[held]++
		:: held == NONE TAKEN
		fi;
		least = 0
	};
#ifdef PATIENT		/* it holds the object until the publishers have stopped */
	ended == PUBLISHERS;
#endif
	if
	:: atomic { held != NONE -> NEVER(wrong_version, number[held] != truth[held]) }
	:: held == NONE TAKEN
	fi;
	release(held);
	goto read;
stop:
	skip
}
#endif
