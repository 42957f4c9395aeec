#!/bin/sh
# Runs the model: see README.md. The checkout stays as it is.
set -u

usage() {
	echo "usage: $0 verify|deep|mutants [configuration...]" >&2
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

# What is verified, "name: macros". Two readers of ROUNDS rounds each and one
# writer unless said otherwise, two CPUs with store buffers of two.
verify='
asymmetric:     ROUNDS=2 UPDATES=2
three-updates:  ROUNDS=3 UPDATES=3 READERS=1 OBJECTS=4
depth-3:        ROUNDS=1 UPDATES=2 DEPTH=3
portable:       ROUNDS=2 UPDATES=2 PORTABLE CPUS=1
portable-3:     ROUNDS=1 UPDATES=3 PORTABLE CPUS=1 OBJECTS=4
containers:     ROUNDS=1 UPDATES=2 CONTAINERS=2 OBJECTS=4
writers:        ROUNDS=2 UPDATES=1 WRITERS=2 READERS=1
giving-back:    ROUNDS=1 UPDATES=2 GIVING_BACK
race:           ROUNDS=2 UPDATES=1 WRITERS=2 RACE
emptying:       ROUNDS=1 UPDATES=2 EMPTYING
sweepers:       ROUNDS=1 UPDATES=2 SWEEPERS=2 STEPWISE
overflow:       ROUNDS=1 UPDATES=2 CPUS=1 OVERFLOW
fence-fails:    ROUNDS=1 UPDATES=2 FENCE_FAILS
'

deep='
asymmetric-3:   ROUNDS=1 UPDATES=3 OBJECTS=4
depth-3:        ROUNDS=2 UPDATES=1 DEPTH=3
cpus-3:         ROUNDS=1 UPDATES=2 CPUS=3
readers-3:      ROUNDS=1 UPDATES=1 READERS=3
portable-3:     ROUNDS=2 UPDATES=3 PORTABLE CPUS=1 OBJECTS=4
portable-readers-3: ROUNDS=1 UPDATES=2 READERS=3 PORTABLE CPUS=1
containers:     ROUNDS=1 UPDATES=1 CONTAINERS=2 WRITERS=2 OBJECTS=4
'

# Every planted bug, "name: property macros".
mutants='
no-retiring:              leaked ROUNDS=1 UPDATES=1 NO_RETIRING
fence-before-retiring:    leaked ROUNDS=1 UPDATES=1 FENCE_BEFORE_RETIRING
retired-before-fence:     recycled_while_held ROUNDS=1 UPDATES=1 RETIRED_BEFORE_FENCE
plain-retired:            leaked ROUNDS=1 UPDATES=1 PLAIN_RETIRED
no-membarrier:            leaked ROUNDS=1 UPDATES=1 NO_MEMBARRIER
no-membarrier-held:       recycled_while_held ROUNDS=1 UPDATES=1 NO_MEMBARRIER ONLY=recycled_while_held
no-fence:                 leaked ROUNDS=1 UPDATES=1 NO_FENCE
no-reload:                leaked ROUNDS=1 UPDATES=1 NO_RELOAD
state-before-released:    leaked ROUNDS=1 UPDATES=1 STATE_BEFORE_RELEASED
sums-swapped:             accused ROUNDS=1 UPDATES=1 SUMS_SWAPPED
sums-swapped-held:        recycled_while_held ROUNDS=1 UPDATES=1 SUMS_SWAPPED ONLY=recycled_while_held
no-generation:            recycled_while_held ROUNDS=2 UPDATES=3 OBJECTS=4 PORTABLE CPUS=1 NO_GENERATION
reset-counts:             accused ROUNDS=2 UPDATES=3 OBJECTS=4 PORTABLE CPUS=1 RESET_COUNTS
reset-counts-held:        recycled_while_held ROUNDS=2 UPDATES=3 OBJECTS=4 PORTABLE CPUS=1 RESET_COUNTS ONLY=recycled_while_held
no-revalidation:          recycled_while_held ROUNDS=1 UPDATES=1 NO_REVALIDATION
no-revalidation-stale:    acquired_not_current ROUNDS=1 UPDATES=1 NO_REVALIDATION ONLY=acquired_not_current
no-check-after-undo:      leaked ROUNDS=1 UPDATES=1 NO_CHECK_AFTER_UNDO
undo-by-release:          refused ROUNDS=1 UPDATES=1 UNDO_BY_RELEASE
one-counter:              accused ROUNDS=1 UPDATES=1 ONE_COUNTER UNDO_ELSEWHERE
one-counter-held:         recycled_while_held ROUNDS=1 UPDATES=1 ONE_COUNTER UNDO_ELSEWHERE ONLY=recycled_while_held
out-of-order:             accused ROUNDS=1 UPDATES=1 OUT_OF_ORDER
out-of-order-held:        recycled_while_held ROUNDS=1 UPDATES=1 OUT_OF_ORDER ONLY=recycled_while_held
two-winners:              twice_in_pool ROUNDS=1 UPDATES=1 TWO_WINNERS
give-back-without-cas:    twice_in_pool READERS=1 ROUNDS=1 UPDATES=1 WRITERS=2 RACE GIVE_BACK_WITHOUT_CAS
publish-without-cas:      twice_in_pool READERS=1 ROUNDS=1 UPDATES=1 WRITERS=2 RACE PUBLISH_WITHOUT_CAS
validate-by-version:      retried_without_update ROUNDS=1 UPDATES=1 VALIDATE_BY_VERSION
sweep-without-look:       leaked ROUNDS=1 UPDATES=2 SWEEP_WITHOUT_LOOK
pop-without-mutex:        leaked ROUNDS=1 UPDATES=3 SWEEPERS=2 OBJECTS=4 STEPWISE POP_WITHOUT_MUTEX
keep-mutex:               deadlock ROUNDS=1 UPDATES=2 STEPWISE KEEP_MUTEX
'

depth_limit=100000
states= depth= seconds= errors= property=

# cpu_seconds NAME sets it to the time that all processes waited for have taken.
cpu_seconds() {
	times >times.out
	eval "$1=$(awk 'NR == 2 { split($1, t, "[ms]"); print 60*t[1] + t[2] }' times.out)"
}

# check MEMORY MACRO... runs one configuration and sets the variables above.
check() {
	memory=$1
	shift
	rm -f pan pan.* protocol.pml.trail
	flags=
	for macro; do
		flags="$flags -D$macro"
	done
	spin -a $flags protocol.pml >spin.out 2>&1 &&
		gcc -O2 -w -DSAFETY -DCOLLAPSE -DMEMLIM="$memory" -o pan pan.c || {
		cat spin.out >&2
		exit 2
	}
	# The time is that of the processor, which other jobs do not lengthen much.
	cpu_seconds before
	./pan -w24 -m$depth_limit >pan.out 2>&1 &
	child=$!
	wait $child
	child=
	cpu_seconds after
	seconds=$(awk "BEGIN { printf \"%.1f\", $after - $before }")
	states=$(awk '/states, stored/ { print $1 }' pan.out)
	depth=$(sed -n 's/.*depth reached \([0-9]*\),.*/\1/p' pan.out)
	errors=$(sed -n 's/.*errors: \([0-9]*\).*/\1/p' pan.out)
	property=$(sed -n 's/^pan:[0-9]*: assertion violated *!(*\([a-z_]*\)).*/\1/p; s/^pan:[0-9]*: invalid end state.*/deadlock/p' pan.out | head -n 1)
	if [ "$errors" = 0 ] && grep -qE 'not completed|too small|MEMLIM|out of memory' pan.out; then
		errors=incomplete
	fi
	[ -n "$errors" ] && [ -n "$states" ] || {
		cat pan.out >&2
		exit 2
	}
}

# wanted tells whether configuration $1 is among those named, or none is.
wanted() {
	case " $names " in
	"  " | *" $1 "*) return 0 ;;
	esac
	return 1
}

# each calls $2 with the fields of every wanted line of table $1.
each() {
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
	[ $ran -gt 0 ] || {
		echo "$0: no such configuration: $names" >&2
		exit 2
	}
}

# sound checks that a configuration has no error.
sound() {
	name=$1
	shift
	check $memory_limit "$@"
	[ "$errors" = 0 ] || failed=$((failed + 1))
	printf '%-20s %11s %7s %9s %6s %s\n' "$name" "$states" "$depth" "$seconds" "$errors" "$property"
}

# caught checks that a planted bug breaks the property that it should.
caught() {
	name=$1 expected=$2
	shift 2
	check 8000 "$@"
	verdict=$property
	if [ "$property" != "$expected" ]; then
		verdict="${property:-nothing}, NOT $expected"
		failed=$((failed + 1))
	fi
	printf '%-26s %11s %7s %9s %s\n' "$name" "$states" "$depth" "$seconds" "$verdict"
}

[ $# -ge 1 ] || usage
mode=$1
shift
names=$*
case $mode in
verify | deep)
	memory_limit=6000
	[ $mode = verify ] || memory_limit=20000
	printf '%-20s %11s %7s %9s %6s %s\n' configuration states depth 'CPU s' errors property
	if [ $mode = verify ]; then each "$verify" sound; else each "$deep" sound; fi
	echo "$ran configurations, $failed with errors"
	;;
mutants)
	printf '%-26s %11s %7s %9s %s\n' 'planted bug' states depth 'CPU s' 'property that breaks'
	each "$mutants" caught
	echo "$ran planted bugs, $failed not caught as expected"
	;;
*)
	usage
	;;
esac
[ $failed -eq 0 ]
