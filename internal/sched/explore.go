//go:build poolswapsched

package sched

import (
	"errors"
	"fmt"
	"slices"
)

// errLivelock is the failure of a run that can go on forever.
var errLivelock = errors.New("a state comes again in one run: a livelock")

// Scenario sets up a world: its objects, threads and checks. It must do the same
// each time.
type Scenario func(*World)

// Result is the outcome of Explore or Sample.
type Result struct {
	Runs      int
	States    int
	Steps     int
	MaxLength int   // steps of the longest run
	Complete  bool  // Explore visited every state
	Failure   error // with the trace of the run, or nil
}

func (r *Result) count(w *World) {
	r.Runs++
	r.Steps += w.steps
	r.MaxLength = max(r.MaxLength, w.steps)
}

// Explore makes every choice, depth first, and stops after limit states; 0 is
// no limit. It stops each run at a state that it has seen, and takes one order
// of transitions that commute where it can: it uses sleep sets, and stores
// those of seen states (Godefroid, "Partial-Order Methods for the Verification
// of Concurrent Systems", 1996). Sleep sets leave out transitions, never states.
func Explore(config Config, scenario Scenario, limit int) Result {
	var result Result
	e := explorer{World: newWorld(config), usage: newUsage()}
	defer e.idle.stop()
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
		result.States = len(e.seen)
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

// explorer is a depth-first search. Each run repeats the last one up to the
// branch where it goes another way.
type explorer struct {
	*World
	usage  *usage
	seen   map[uint64]waySet // the states, and which of their ways are still asleep, by rank
	path   []*branch
	at     int       // how many branches of path the run has passed
	taking *branch   // the branch whose way is being taken for the first time, or nil
	asleep []sleeper // at the current state
}

// waySet is ways of a state, by rank.
type waySet uint32

const mostWays = 32

// branch is a point of a run with several ways to go on.
type branch struct {
	state  uint64    // its hash
	todo   []int     // ways still to take, by index; the first is being taken
	way    wayID     // the way being taken
	uses   footprint // of that way, once taken
	asleep []sleeper // on arrival, and the ways taken since
}

// sleeper is a way that need not be taken until a transition clashes with it:
// the state behind it is reached by another order.
type sleeper struct {
	way  wayID
	uses footprint
}

// forget starts the exploration again.
func (e *explorer) forget() {
	e.usage.grown, e.path = false, nil
	e.seen = make(map[uint64]waySet)
}

// choose returns the way to take, or false if everything that follows was seen.
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

// arrive makes a branch of the current state, unless no way is left to take.
func (e *explorer) arrive(ways []choice) bool {
	if len(ways) > mostWays {
		panic(fmt.Sprintf("sched: a state with %d ways to go on", len(ways)))
	}
	state, ranks := e.hash(ways)
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
		case still&rank != 0: // asleep on every arrival so far
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

// passed wakes the sleepers that clash with the last transition. None sleep
// while a run repeats another.
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

// without returns the sleepers that do not clash. The one at i is the first that
// does.
func without(asleep []sleeper, i int, uses footprint) []sleeper {
	rest := slices.Clone(asleep[:i])
	for _, one := range asleep[i+1:] {
		if !one.uses.clashes(uses) {
			rest = append(rest, one)
		}
	}
	return rest
}

// sleeps returns the index of the way in asleep, or -1.
func (e *explorer) sleeps(way wayID) int {
	return slices.IndexFunc(e.asleep, func(one sleeper) bool { return one.way == way })
}

// advance goes to the next way of the last branch that has one. It returns false
// if there is none.
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

// taken returns the choice at each branch of the run.
func (e *explorer) taken() []int {
	var taken []int
	for _, b := range e.path {
		taken = append(taken, b.todo[0])
	}
	return taken
}
