//go:build poolswapsched

package sched

import (
	"errors"
	"fmt"
	"slices"
)

// errLivelock is the failure of a run that can go on for ever.
var errLivelock = errors.New("a state comes again in one run: a livelock")

// Scenario sets up a world: its objects, its threads, its checks. It must do
// the same each time.
type Scenario func(*World)

// Result says what was seen.
type Result struct {
	Runs      int
	States    int
	Merged    int // that, but of states that are taken for one only one is counted
	Steps     int
	MaxLength int   // steps of the longest run
	Complete  bool  // Explore: nothing is left to see
	Failure   error // with the trace of the run, or nil
}

func (r *Result) count(w *World) {
	r.Runs++
	r.Steps += w.steps
	r.MaxLength = max(r.MaxLength, w.steps)
}

// Explore makes every choice, depth first, and stops after limit states; 0 is
// no limit. It does not go on from a state that it has seen, and of transitions
// that can be taken in either order it takes one order, where it can: it has
// sleep sets, with those of seen states remembered (Godefroid, "Partial-Order
// Methods for the Verification of Concurrent Systems", 1996). They leave out
// transitions, never states.
func Explore(config Config, scenario Scenario, limit int) Result {
	var result Result
	e := explorer{World: newWorld(config), usage: newUsage()}
	defer e.crew.disband()
	e.forget()
	for {
		e.start(scenario, e.usage, nil)
		e.at, e.taking, e.asleep = 0, nil, nil
		e.drive(e.choose)
		result.count(e.World)
		if e.usage.grown {
			e.forget()
			continue
		}
		result.States, result.Merged = len(e.seen), len(e.seen)
		if config.EveryState {
			result.Merged = len(e.merged)
		}
		if e.failure != nil {
			result.Failure = replay(config, scenario, e.usage, e.failure, e.taken())
			return result
		}
		if !e.advance() {
			result.Complete = true
			return result
		}
		if limit > 0 && len(e.seen) >= limit {
			return result
		}
	}
}

// explorer is a depth-first search by runs, each of which repeats the last up
// to the branch where it goes another way.
type explorer struct {
	*World
	usage  *usage
	seen   map[uint64]waySet // the states, and which of their ways are still asleep, by rank
	merged map[uint64]bool   // with EveryState: what the states are taken for
	path   []*branch
	at     int       // how many branches of path the run has passed
	taking *branch   // the one whose way is being taken for the first time, if any
	asleep []sleeper // where the run is
}

// waySet is ways of a state, by rank.
type waySet uint32

const mostWays = 32

// branch is a point of a run where there were several ways to go on.
type branch struct {
	state  uint64    // its hash
	todo   []int     // ways still to be taken, by index; the first is being taken
	way    wayID     // that
	uses   footprint // of that, once it was taken
	asleep []sleeper // on arrival, and those that have been taken since
}

// sleeper is a way that need not be taken until something clashes with it: what
// comes of it has been seen, or will be, coming from another state.
type sleeper struct {
	way  wayID
	uses footprint
}

// forget begins anew.
func (e *explorer) forget() {
	e.usage.grown, e.path = false, nil
	e.seen, e.merged = make(map[uint64]waySet), make(map[uint64]bool)
}

// choose returns the way to take, or false when what follows has been seen.
func (e *explorer) choose(ways []choice) (int, bool) {
	e.passed()
	if len(ways) == 1 {
		return 0, e.sleeps(ways[0].id()) < 0
	}
	if e.at == len(e.path) && !e.arrive(ways) {
		return 0, false
	}
	b := e.path[e.at]
	e.at++
	b.way = ways[b.todo[0]].id()
	if e.at == len(e.path) {
		e.taking = b
	}
	return b.todo[0], true
}

// arrive makes a branch of a state, unless there is nothing to do there.
func (e *explorer) arrive(ways []choice) bool {
	if len(ways) > mostWays {
		panic(fmt.Sprintf("sched: a state with %d ways to go on", len(ways)))
	}
	state, ranks := e.hash(ways)
	if e.config.EveryState {
		e.merged[state] = true
		state = e.unmerged(state)
	}
	for _, b := range e.path {
		if b.state == state {
			e.failure = errLivelock
			return false
		}
	}
	still, known := e.seen[state]
	if !known {
		still = 1<<len(ways) - 1
	}
	b := &branch{state: state}
	var asleep waySet
	for i, way := range ways {
		rank := waySet(1) << ranks[i]
		at := e.sleeps(way.id())
		switch {
		case at < 0 && still&rank != 0:
			b.todo = append(b.todo, i)
		case still&rank != 0: // still asleep, for whoever came here
			b.asleep = append(b.asleep, e.asleep[at])
			asleep |= rank
		}
	}
	e.seen[state] = asleep
	if len(b.todo) == 0 {
		return false
	}
	e.path = append(e.path, b)
	return true
}

// passed wakes what clashes with the transition that was made last. Nothing
// sleeps while a run repeats another.
func (e *explorer) passed() {
	if b := e.taking; b != nil {
		b.uses = slices.Clone(e.uses)
		e.taking, e.asleep = nil, b.asleep
	}
	for i, one := range e.asleep {
		if one.uses.clashes(e.uses) {
			e.asleep = without(e.asleep, i, e.uses)
			return
		}
	}
}

// without returns those of asleep that do not clash; the first does at i.
func without(asleep []sleeper, i int, uses footprint) []sleeper {
	rest := slices.Clone(asleep[:i])
	for _, one := range asleep[i+1:] {
		if !one.uses.clashes(uses) {
			rest = append(rest, one)
		}
	}
	return rest
}

// sleeps returns where in asleep the way is, or -1.
func (e *explorer) sleeps(way wayID) int {
	return slices.IndexFunc(e.asleep, func(one sleeper) bool { return one.way == way })
}

// advance goes to the next way of the last branch that has one, and reports
// whether there is.
func (e *explorer) advance() bool {
	e.passed()
	for len(e.path) > 0 {
		b := e.path[len(e.path)-1]
		if len(b.todo) > 1 {
			b.todo = b.todo[1:]
			if !e.config.EveryOrder {
				b.asleep = append(slices.Clip(b.asleep), sleeper{b.way, b.uses})
			}
			return true
		}
		e.path = e.path[:len(e.path)-1]
	}
	return false
}

// taken is the way at each branch of the run.
func (e *explorer) taken() []int {
	var taken []int
	for _, b := range e.path {
		taken = append(taken, b.todo[0])
	}
	return taken
}
