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
# number of operations.
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
cover:           READERS=1 OBJECTS=3 LIMITED DEPTH=3 EMPTYING GIVING_BACK FENCE_FAILS COVER
cover-migrating: READERS=1 OBJECTS=2 LIMITED MIGRATING CPUS=3 COVER
cover-containers: READERS=1 CONTAINERS=2 OBJECTS=3 LIMITED OVERFLOW EMPTYING COVER
cover-stepwise:  READERS=1 OBJECTS=4 PORTABLE STEPWISE COVER
cover-race:      READERS=1 WRITERS=2 OBJECTS=3 LIMITED PORTABLE RACE COVER
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
'

states= depth= seconds= memory= errors= property= unreached=

# cpu_seconds NAME sets the variable to the CPU time of all finished child processes.
cpu_seconds() {
	times >times.out
	eval "$1=$(awk 'NR == 2 { split($1, t, "[ms]"); print 60*t[1] + t[2] }' times.out)"
}

# search MACRO... searches one configuration and sets the variables above. gcc
# gets $compiler_flags, the search $search_flags.
search() {
	rm -f pan pan.* protocol.pml.trail
	flags= merging=
	for macro; do
		flags="$flags -D$macro"
		[ "$macro" != COVER ] || merging=-o3
	done
	# Without -o3 Spin merges statements, and counts merged ones as reached from the start.
	spin -a $merging $flags protocol.pml >spin.out 2>&1 &&
		gcc -w -DSAFETY $compiler_flags -o pan pan.c || {
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
	processes='proctype reader,proctype writer,proctype sweeper,init'
	case $flags in
	*-DPORTABLE*) ;;
	*) processes="$processes,proctype memory" ;;
	esac
	# Processes do not end, so only their closing braces may stay unreached.
	unreached=$(awk -v processes="$processes" '
		/^unreached in / { process = substr($0, length("unreached in ") + 1) }
		process != "" && /, state [0-9]+,/ && !/"-end-"/ { print }
		process != "" && /^\t\([0-9]+ of [1-9][0-9]* states\)$/ { sections[process]++; process = "" }
		END {
			for (n = split(processes, name, ","); n > 0; n--)
				if (sections[name[n]] != 1)
					print "\tSpin printed no list of unreached statements for " name[n]
		}' pan.out)
	if [ "$errors" = 0 ] && grep -qE 'not completed|too small|MEMLIM|out of memory' pan.out; then
		errors=incomplete
	fi
	[ -n "$errors" ] && [ -n "$states" ] || {
		cat pan.out >&2
		exit 2
	}
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
	[ "$expected" = deadlock ] || set -- "$@" "ONLY=$expected"
	search "$@"
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
	spin -t -p $flags protocol.pml
}

[ $# -ge 1 ] || usage
mode=$1
shift
names=$*
case $mode in
verify | deep)
	compiler_flags='-O2 -DMEMLIM=6000' search_flags='-w25 -m10000000'
	# With SC, the part of the search stack beyond the depth given goes to a file.
	[ $mode = verify ] || compiler_flags='-O2 -DCOLLAPSE -DSC -DMEMLIM=20000' search_flags='-w28 -m40000000'
	printf '%-20s %11s %9s %8s %6s %6s %s\n' configuration states depth 'CPU s' MiB errors property
	if [ $mode = verify ]; then table=$verify; else table=$deep; fi
	for_each "$table" verify_configuration
	echo "$ran configurations, $failed with errors or unreached statements"
	;;
mutants | trail)
	# Most of these searches end at once, and compiling them takes longer.
	compiler_flags='-O0 -DMEMLIM=6000' search_flags='-w22 -m1000000'
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
