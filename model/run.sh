#!/bin/sh
# Searches the model: see README.md. It works on a copy and leaves no files behind.
set -u

usage() {
	echo "usage: $0 verify|deep|mutants [configuration...]" >&2
	echo "       $0 trail planted-bug" >&2
	exit 2
}

for tool in spin gcc; do
	command -v $tool >/dev/null || {
		echo "$0: $tool is not installed; on Debian: apt-get install spin gcc libc6-dev" >&2
		exit 2
	}
done

here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d) || exit 2
child=
trap '[ -z "$child" ] || kill "$child"; rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
cp "$here"/*.pml "$scratch"
cd "$scratch" || exit 2

# The configurations to verify, "name: macros". protocol.pml has the defaults:
# two readers, one writer, one container, store buffers of two entries, and any
# number of operations. Those with another main file name it first.
verify='
asymmetric:      OBJECTS=3 LIMITED
depth-3:         OBJECTS=2 LIMITED DEPTH=3
migrating:       OBJECTS=2 LIMITED MIGRATING
unlimited:       READERS=1 OBJECTS=4 EMPTYING GIVING_BACK
writers:         READERS=1 WRITERS=2 OBJECTS=3 LIMITED
containers:      READERS=1 CONTAINERS=2 OBJECTS=4 LIMITED GIVING_BACK
emptying:        OBJECTS=2 LIMITED EMPTYING GIVING_BACK
race:            READERS=1 WRITERS=2 OBJECTS=3 LIMITED RACE
sweepers:        READERS=1 OBJECTS=3 LIMITED SWEEPERS=2 STEPWISE
overflow:        READERS=1 OBJECTS=4 OVERFLOW
fence-fails:     READERS=1 OBJECTS=4 LIMITED FENCE_FAILS
portable:        OBJECTS=3 LIMITED PORTABLE
portable-containers: CONTAINERS=2 OBJECTS=3 LIMITED PORTABLE
portable-writers: WRITERS=2 OBJECTS=2 LIMITED PORTABLE
counted:         OBJECTS=2 LIMITED PORTABLE ROUNDS=2 UPDATES=3 COUNTED
retaining:       READERS=1 OBJECTS=3 LIMITED RETAINING
portable-retaining: OBJECTS=2 LIMITED PORTABLE RETAINING
cover:           READERS=1 OBJECTS=3 LIMITED DEPTH=3 EMPTYING GIVING_BACK FENCE_FAILS COVER
cover-migrating: READERS=1 OBJECTS=2 LIMITED MIGRATING CPUS=3 COVER
cover-containers: READERS=1 CONTAINERS=2 OBJECTS=3 LIMITED OVERFLOW EMPTYING COVER
cover-stepwise:  READERS=1 OBJECTS=4 PORTABLE STEPWISE COVER
cover-race:      READERS=1 WRITERS=2 OBJECTS=3 LIMITED PORTABLE RACE COVER
cover-retaining: READERS=1 OBJECTS=2 LIMITED MIGRATING RETAINING COVER
publishers:      publish.pml PUBLISHERS=2 UPDATERS=1 UPDATES=2 EMPTYING
without-turn:    publish.pml PUBLISHERS=2 UPDATERS=1 WITHOUT_TURN
limit:           publish.pml OBJECTS=2 PUBLISHERS=1 PUBLISHES=2 UPDATERS=1 GIVING_BACK READERS=1 GIVING_UP
limit-containers: publish.pml CONTAINERS=2 OBJECTS=2 PUBLISHERS=2 UPDATERS=1 EMPTYING
losses:          publish.pml MAXLIVE=2 PUBLISHERS=1 UPDATERS=1 READERS=1 PANICS
draining-losses: publish.pml MAXLIVE=2 UPDATERS=1 DRAINERS=1 PANICS
versions:        publish.pml UPDATERS=2 READERS=1 WAITERS=1
draining:        publish.pml OBJECTS=2 PUBLISHERS=1 UPDATERS=1 READERS=1 DRAINERS=1
drainers:        publish.pml OBJECTS=2 UPDATERS=1 READERS=1 DRAINERS=2
closing:         publish.pml OBJECTS=2 PUBLISHERS=1 READERS=1 CLOSERS=2
closing-at-limit: publish.pml OBJECTS=2 PUBLISHERS=1 PUBLISHES=2 READERS=2 PATIENT CLOSERS=1
closing-waiter:  publish.pml OBJECTS=2 EMPTY UPDATERS=1 EMPTYING WAITERS=1 CLOSERS=1
pool-closing:    publish.pml OBJECTS=2 PUBLISHERS=1 UPDATERS=1 READERS=1 POOL_CLOSERS=1
pool-closers:    publish.pml OBJECTS=2 UPDATERS=1 EMPTYING GIVING_BACK POOL_CLOSERS=2
both-closers:    publish.pml OBJECTS=2 PUBLISHERS=1 CLOSERS=1 POOL_CLOSERS=1
pool-trimming:   publish.pml OBJECTS=2 UPDATERS=1 GIVING_BACK POOL_CLOSERS=1 TRIMMERS=1
pool-containers: publish.pml CONTAINERS=2 UPDATERS=2 POOL_CLOSERS=1
misuse:          publish.pml EMPTY OBJECTS=1 PUBLISHERS=1 UPDATERS=1 UPDATES=2 EMPTYING DRAINERS=1 MISUSE
misuse-owners:   publish.pml OBJECTS=1 EMPTY PUBLISHERS=1 UPDATERS=2 MISUSE
trace:           trace.pml READERS=1
trace-readers:   trace.pml ROUNDS=1 UPDATES=2
trace-writers:   trace.pml READERS=1 WRITERS=2 OBJECTS=4 ROUNDS=1 UPDATES=2
'

deep='
asymmetric:      OBJECTS=4 LIMITED
depth-3:         OBJECTS=3 LIMITED DEPTH=3
migrating:       OBJECTS=3 LIMITED MIGRATING
cpus-3:          OBJECTS=2 LIMITED MIGRATING CPUS=3
readers-3:       READERS=3 OBJECTS=2 LIMITED
writers:         WRITERS=2 OBJECTS=2 LIMITED
containers:      CONTAINERS=2 OBJECTS=3 LIMITED
emptying:        OBJECTS=3 LIMITED EMPTYING GIVING_BACK
sweepers:        OBJECTS=3 LIMITED PORTABLE SWEEPERS=2 STEPWISE
portable:        OBJECTS=4 LIMITED PORTABLE
portable-readers-3: READERS=3 OBJECTS=2 LIMITED PORTABLE
portable-writers: WRITERS=2 OBJECTS=3 LIMITED PORTABLE
counted:         OBJECTS=3 ROUNDS=2 UPDATES=2 COUNTED
'

# The planted bugs, "name: property macros". Only that property is asserted, so
# that a violation of another one does not end the search first. A bug that
# violates two properties has two entries.
mutants='
no-retiring:                leaked OBJECTS=2 LIMITED ROUNDS=1 UPDATES=1 NO_RETIRING
fence-before-retiring:      leaked OBJECTS=2 LIMITED ROUNDS=1 UPDATES=1 FENCE_BEFORE_RETIRING
retired-before-fence:       recycled_while_held OBJECTS=2 LIMITED ROUNDS=1 UPDATES=1 RETIRED_BEFORE_FENCE
plain-retired:              leaked OBJECTS=2 LIMITED ROUNDS=1 UPDATES=1 PLAIN_RETIRED
no-membarrier:              recycled_while_held OBJECTS=2 LIMITED ROUNDS=1 UPDATES=1 NO_MEMBARRIER
no-membarrier-leak:         leaked OBJECTS=2 LIMITED ROUNDS=1 UPDATES=1 NO_MEMBARRIER
no-fence:                   leaked OBJECTS=2 LIMITED ROUNDS=1 UPDATES=1 COUNTED NO_FENCE
no-reload:                  leaked OBJECTS=2 LIMITED ROUNDS=1 UPDATES=1 NO_RELOAD
state-before-released:      leaked OBJECTS=2 LIMITED ROUNDS=1 UPDATES=1 STATE_BEFORE_RELEASED
sums-swapped:               recycled_while_held OBJECTS=2 LIMITED ROUNDS=1 UPDATES=1 COUNTED SUMS_SWAPPED
no-generation:              recycled_while_held OBJECTS=2 LIMITED PORTABLE ROUNDS=2 UPDATES=3 NO_GENERATION
reset-counts:               recycled_while_held OBJECTS=2 LIMITED PORTABLE ROUNDS=2 UPDATES=3 COUNTED RESET_COUNTS
reset-counts-accuses:       over_released OBJECTS=2 LIMITED PORTABLE ROUNDS=2 UPDATES=3 COUNTED RESET_COUNTS
no-revalidation:            recycled_while_held OBJECTS=2 LIMITED ROUNDS=1 UPDATES=1 NO_REVALIDATION
no-revalidation-stale:      acquired_not_current OBJECTS=2 LIMITED ROUNDS=1 UPDATES=3 NO_REVALIDATION
validate-by-phase:          acquired_not_current OBJECTS=2 LIMITED ROUNDS=1 UPDATES=3 VALIDATE_BY_PHASE
validate-by-version:        retried_without_update OBJECTS=2 LIMITED ROUNDS=1 UPDATES=1 VALIDATE_BY_VERSION
no-check-after-undo:        leaked OBJECTS=2 LIMITED ROUNDS=1 UPDATES=1 NO_CHECK_AFTER_UNDO
undo-by-release:            panicked OBJECTS=2 LIMITED ROUNDS=1 UPDATES=1 UNDO_BY_RELEASE
one-counter:                recycled_while_held OBJECTS=2 LIMITED ROUNDS=1 UPDATES=1 COUNTED MIGRATING ONE_COUNTER UNDO_ELSEWHERE
out-of-order:               recycled_while_held OBJECTS=2 LIMITED ROUNDS=1 UPDATES=1 COUNTED OUT_OF_ORDER
two-winners:                twice_in_pool OBJECTS=2 LIMITED ROUNDS=1 UPDATES=1 TWO_WINNERS
torn-swap:                  panicked READERS=1 WRITERS=2 OBJECTS=3 LIMITED ROUNDS=1 UPDATES=1 TORN_SWAP
torn-swap-leak:             leaked READERS=1 WRITERS=2 OBJECTS=3 LIMITED ROUNDS=1 UPDATES=1 TORN_SWAP
give-back-without-cas:      twice_in_pool READERS=1 WRITERS=2 OBJECTS=3 LIMITED ROUNDS=1 UPDATES=1 RACE GIVE_BACK_WITHOUT_CAS
publish-without-cas:        twice_in_pool READERS=1 WRITERS=2 OBJECTS=3 LIMITED ROUNDS=1 UPDATES=1 RACE PUBLISH_WITHOUT_CAS
sweep-without-look:         leaked OBJECTS=3 LIMITED ROUNDS=1 UPDATES=2 SWEEP_WITHOUT_LOOK
pop-without-mutex:          leaked OBJECTS=4 LIMITED ROUNDS=1 UPDATES=3 SWEEPERS=2 STEPWISE POP_WITHOUT_MUTEX
count-after-validation:     recycled_while_held OBJECTS=2 LIMITED ROUNDS=1 UPDATES=1 COUNT_LATE
sum-retiring:               recycled_while_held OBJECTS=2 LIMITED ROUNDS=1 UPDATES=1 SUM_RETIRING
publish-after-swap:         acquired_not_current OBJECTS=2 LIMITED ROUNDS=1 UPDATES=1 PUBLISH_LATE
no-sweeper:                 leaked OBJECTS=2 LIMITED ROUNDS=1 UPDATES=1 NO_SWEEPER
torn-push:                  leaked OBJECTS=3 LIMITED ROUNDS=1 UPDATES=2 TORN_PUSH
keep-mutex:                 deadlock OBJECTS=3 LIMITED ROUNDS=1 UPDATES=2 STEPWISE KEEP_MUTEX
retain-late:                recycled_while_held READERS=1 OBJECTS=2 LIMITED ROUNDS=1 UPDATES=1 RETAINING RETAIN_LATE
no-conflict-check:          lost_update publish.pml PUBLISHERS=1 UPDATERS=1 NO_CONFLICT_CHECK
conflict-by-address:        lost_update publish.pml EMPTY PUBLISHERS=1 UPDATERS=1 UPDATES=2 EMPTYING CONFLICT_BY_ADDRESS
note-without-mutex:         lost_update publish.pml PUBLISHERS=1 UPDATERS=1 NOTE_WITHOUT_MUTEX
number-after-swap:          wrong_version publish.pml UPDATERS=1 READERS=1 NUMBER_AFTER_SWAP
version-before-swap:        wrong_version publish.pml UPDATERS=1 READERS=1 VERSION_BEFORE_SWAP
number-outside-mutex:       version_not_growing publish.pml UPDATERS=2 NUMBER_OUTSIDE_MUTEX
wake-early:                 lost_wakeup publish.pml UPDATERS=1 WAITERS=1 WAKE_EARLY
version-before-ask:         lost_wakeup publish.pml UPDATERS=1 WAITERS=1 VERSION_BEFORE_ASK
look-before-ask:            deadlock publish.pml UPDATERS=1 DRAINERS=1 LOOK_BEFORE_ASK
mark-after-swap:            drained_early publish.pml UPDATERS=1 DRAINERS=1 MARK_AFTER_SWAP
unmark-early:               drained_early publish.pml UPDATERS=1 DRAINERS=1 UNMARK_EARLY
mark-before-phase:          closed_early publish.pml UPDATERS=1 GIVING_BACK POOL_CLOSERS=1 MARK_BEFORE_PHASE
put-without-closed-check:   published_after_close publish.pml UPDATERS=1 CLOSERS=1 PUT_WITHOUT_CLOSED_CHECK
get-without-closed-check:   closed_early publish.pml UPDATERS=1 POOL_CLOSERS=1 GET_WITHOUT_CLOSED_CHECK
creating-not-counted:       closed_early publish.pml UPDATERS=1 POOL_CLOSERS=1 CREATING_NOT_COUNTED
trim-after-wait:            closed_early publish.pml UPDATERS=1 GIVING_BACK POOL_CLOSERS=1 TRIMMERS=1 TRIM_AFTER_WAIT
close-ignores-private:      closed_early publish.pml UPDATERS=1 POOL_CLOSERS=1 CLOSE_IGNORES_PRIVATE
close-without-signal:       deadlock publish.pml OBJECTS=2 PUBLISHERS=1 PUBLISHES=2 READERS=2 PATIENT CLOSERS=1 CLOSE_WITHOUT_SIGNAL
turn-kept-on-failure:       deadlock publish.pml PUBLISHERS=2 TURN_KEPT_ON_FAILURE
keep-without-wake:          deadlock publish.pml OBJECTS=2 PUBLISHERS=1 UPDATERS=1 GIVING_BACK KEEP_WITHOUT_WAKE
lose-without-wake:          deadlock publish.pml MAXLIVE=2 PUBLISHERS=1 UPDATERS=1 GIVING_BACK PANICS LOSE_WITHOUT_WAKE
counted-twice:              refused_in_vain publish.pml OBJECTS=2 PUBLISHERS=1 UPDATERS=1 COUNTED_TWICE
count-after-wake:           deadlock publish.pml CONTAINERS=2 OBJECTS=2 EMPTY PUBLISHERS=2 PUBLISHES=2 COUNT_AFTER_WAKE
wake-at-the-limit:          busy_waiting publish.pml OBJECTS=2 PUBLISHERS=1 UPDATERS=1 WAKE_AT_THE_LIMIT
live-by-store:              two_current publish.pml OBJECTS=2 EMPTY PUBLISHERS=1 UPDATERS=1 MISUSE LIVE_BY_STORE
take-back-without-cas:      taken_back publish.pml PUBLISHERS=1 UPDATERS=1 MISUSE GIVE_BACK_WITHOUT_CAS
give-back-any:              taken_back publish.pml OBJECTS=2 PUBLISHERS=1 UPDATERS=2 MISUSE GIVE_BACK_ANY
mark-of-a-loser:            deadlock publish.pml OBJECTS=1 EMPTY PUBLISHERS=1 UPDATERS=1 UPDATES=2 EMPTYING DRAINERS=1 MISUSE MARK_OF_A_LOSER
mark-after-phase:           closed_early publish.pml UPDATERS=1 GIVING_BACK POOL_CLOSERS=1 MARK_AFTER_PHASE
trace-no-clear:             unrecorded trace.pml NO_CLEAR
trace-clear-one:            unrecorded trace.pml CLEAR_ONE
trace-no-stop:              unrecorded trace.pml NO_STOP
trace-mark-late:            left_over trace.pml MARK_LATE
trace-resume-early:         unrecorded trace.pml RESUME_EARLY
trace-count-late:           unrecorded trace.pml READERS=1 WRITERS=2 OBJECTS=4 ROUNDS=1 UPDATES=2 COUNT_LATE
'

states= depth= seconds= memory= errors= property= unreached=

# cpu_seconds NAME sets the variable to the CPU time of all finished child processes.
cpu_seconds() {
	times >times.out
	eval "$1=$(awk 'NR == 2 { split($1, t, "[ms]"); print 60*t[1] + t[2] }' times.out)"
}

# search MACRO... searches one configuration and sets the variables above. gcc
# gets $optimization and $compiler_flags, the search $search_flags.
search() {
	rm -f pan pan.* ./*.trail
	main=protocol.pml flags= merging=
	for macro; do
		case $macro in
		*.pml) main=$macro merging=-o3 ;;
		*) flags="$flags -D$macro" ;;
		esac
		[ "$macro" != COVER ] || merging=-o3
	done
	optimize=$optimization
	[ $main = protocol.pml ] || optimize=-O0	# its searches end sooner than gcc would
	# Without -o3 Spin merges statements, and counts merged ones as reached from the start.
	spin -a $merging $flags $main >spin.out 2>&1 &&
		gcc -w -DSAFETY $optimize $compiler_flags -o pan pan.c || {
		cat spin.out >&2
		exit 2
	}
	# CPU time, which other jobs on the machine lengthen little.
	cpu_seconds before
	./pan $search_flags >pan.out 2>&1 &
	child=$!
	wait $child
	child=
	cpu_seconds after
	seconds=$(awk "BEGIN { printf \"%.1f\", $after - $before }")
	states=$(awk '/states, stored/ { print $1 }' pan.out)
	depth=$(sed -n 's/.*depth reached \([0-9]*\),.*/\1/p' pan.out)
	memory=$(awk '/total actual memory usage/ { print int($1) }' pan.out)
	errors=$(sed -n 's/.*errors: \([0-9]*\).*/\1/p' pan.out)
	property=$(sed -n 's/^pan:[0-9]*: assertion violated *!(*\([a-z_]*\)).*/\1/p; s/^pan:[0-9]*: invalid end state.*/deadlock/p' pan.out | head -n 1)
	unreached=
	if [ $main = protocol.pml ]; then
		check_reached
	elif [ $mode = verify ]; then
		./pan -d >statements.out
		note_reached >>reached.out
	fi
	if [ "$errors" = 0 ] && grep -qE 'not completed|too small|MEMLIM|out of memory' pan.out; then
		errors=incomplete
	fi
	[ -n "$errors" ] && [ -n "$states" ] || {
		cat pan.out >&2
		exit 2
	}
}

# check_reached sets unreached to the statements that this search did not reach.
# Processes do not end, so only their closing braces may stay unreached.
check_reached() {
	processes='proctype reader,proctype writer,proctype sweeper,init'
	case $flags in
	*-DPORTABLE*) ;;
	*) processes="$processes,proctype memory" ;;
	esac
	unreached=$(awk -v processes="$processes" '
		/^unreached in / { process = substr($0, length("unreached in ") + 1) }
		process != "" && /, state [0-9]+,/ && !/"-end-"/ { print }
		process != "" && /^\t\([0-9]+ of [1-9][0-9]* states\)$/ { sections[process]++; process = "" }
		END {
			for (n = split(processes, name, ","); n > 0; n--)
				if (sections[name[n]] != 1)
					print "\tSpin printed no list of unreached statements for " name[n]
		}' pan.out)
}

# note_reached prints each statement of publish.pml, by process and line, and how
# many of its expansions this search reached. A configuration has not all
# goroutines, so all together must reach every statement: see check_all_reached.
note_reached() {
	awk '
		FNR == 1 { file++; process = "" }
		file == 1 && /^unreached in / { process = $NF; sections++ }
		file == 1 && /, state [0-9]+,/ {
			sub(/^.*, state /, "")
			number = text = $0
			sub(/,.*/, "", number)
			sub(/^[0-9]+, "/, "", text)
			sub(/"$/, "", text)
			missed[process, number, text] = 1
		}
		file == 2 && /^(proctype|init)/ { process = $NF; processes++ }
		file == 2 && / => / {
			number = $2
			sub(/^.*\] [^ ]*:/, "")
			text = $0
			sub(/^[0-9]* => /, "", text)
			statement = process ":" $0
			gsub(/[0-9]+/, "N", statement)	# bounds
			sub(/:N/, ":" $1, statement)
			if (text != "-end-")
				reached[statement] += !((process, number, text) in missed)
		}
		END {
			if (sections != processes)
				print "0 Spin printed no list of unreached statements for some process of '"$name"'"
			for (statement in reached)
				print reached[statement], statement
		}' pan.out statements.out
}

# check_all_reached prints the statements that no search of publish.pml reached.
check_all_reached() {
	awk '
		{ expansions = $1; sub(/^[0-9]+ /, ""); reached[$0] += expansions }
		END { for (statement in reached) if (reached[statement] == 0) print "\t" statement }' reached.out | sort
}

# wanted returns true if $1 was named on the command line, or no name was given.
wanted() {
	case " $names " in
	"  " | *" $1 "*) return 0 ;;
	esac
	return 1
}

# for_each calls $2 with the fields of every wanted line of table $1.
for_each() {
	for name in $names; do
		case $1 in
		*"
$name:"*) ;;
		*)
			echo "$0: there is no configuration $name in the table of $mode" >&2
			exit 2
			;;
		esac
	done
	failed=0 ran=0
	while read -r name rest; do
		name=${name%:}
		if [ -n "$name" ] && wanted "$name"; then
			ran=$((ran + 1))
			$2 "$name" $rest
		fi
	done <<-END
		$1
	END
}

# verify_configuration fails if there is an error or an unreached statement.
verify_configuration() {
	name=$1
	shift
	search "$@"
	[ "$errors" = 0 ] && [ -z "$unreached" ] || failed=$((failed + 1))
	printf '%-20s %11s %9s %8s %6s %6s %s\n' "$name" "$states" "$depth" "$seconds" "$memory" "$errors" "$property"
	if [ "$errors" = 0 ] && [ -n "$unreached" ]; then
		printf 'unreached statements:\n%s\n' "$unreached"
	fi
}

# search_bug searches for a violation of property $1 by a planted bug.
search_bug() {
	expected=$1
	shift
	search "$@" "ONLY=$expected"
}

# verify_bug fails unless the planted bug violates its property.
verify_bug() {
	name=$1
	shift
	search_bug "$@"
	verdict=$property
	if [ "$property" != "$expected" ]; then
		verdict="${property:-nothing}, NOT $expected"
		failed=$((failed + 1))
	fi
	printf '%-26s %9s %6s %7s %s\n' "$name" "$states" "$depth" "$seconds" "$verdict"
}

# print_trail prints the steps that lead to the violation.
print_trail() {
	shift
	search_bug "$@"
	spin -t -p $flags $main
}

[ $# -ge 1 ] || usage
mode=$1
shift
names=$*
case $mode in
verify | deep)
	optimization=-O1 compiler_flags=-DMEMLIM=6000 search_flags='-w25 -m10000000'
	# With SC, the part of the search stack beyond the depth given goes to a file.
	[ $mode = verify ] ||
		optimization=-O2 compiler_flags='-DCOLLAPSE -DSC -DMEMLIM=20000' search_flags='-w28 -m40000000'
	printf '%-20s %11s %9s %8s %6s %6s %s\n' configuration states depth 'CPU s' MiB errors property
	if [ $mode = verify ]; then table=$verify; else table=$deep; fi
	: >reached.out
	for_each "$table" verify_configuration
	if [ $mode = verify ] && [ -z "$names" ]; then
		unreached=$(check_all_reached)
		if [ -n "$unreached" ]; then
			printf 'statements that no configuration of publish.pml reached:\n%s\n' "$unreached"
			failed=$((failed + 1))
		fi
	fi
	echo "$ran configurations, $failed with errors or unreached statements"
	;;
mutants | trail)
	# Most of these searches end at once, and compiling them takes longer.
	optimization=-O0 compiler_flags=-DMEMLIM=6000 search_flags='-w22 -m1000000'
	if [ $mode = trail ]; then
		[ $# -eq 1 ] || usage
		for_each "$mutants" print_trail
		exit
	fi
	printf '%-26s %9s %6s %7s %s\n' 'planted bug' states depth 'CPU s' 'property violated'
	for_each "$mutants" verify_bug
	echo "$ran planted bugs, $failed not found as expected"
	;;
*)
	usage
	;;
esac
[ $failed -eq 0 ]
