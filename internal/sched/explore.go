//go:build poolswapsched

package sched

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/poolswap/poolswap/internal/seam"
)

// Scenario sets up a world: its objects, its threads, its checks. It must do
// the same each time.
type Scenario func(*World)

// Result says what was seen.
type Result struct {
	Runs      int
	States    int
	Steps     int
	MaxLength int   // steps of the longest run
	Complete  bool  // Explore: nothing is left to see
	Failure   error // with the trace of the run, or nil
}

// branch is a point of a run where there were several ways to go on.
type branch struct{ taken, ways int }

// Explore makes every choice, and stops after limit states; 0 is no limit.
func Explore(config Config, scenario Scenario, limit int) Result {
	var result Result
	seen := make(map[uint64]struct{})
	usage := newUsage()
	var path []branch
	w := newWorld(config)
	defer w.crew.disband()
	for {
		at := 0
		w.start(scenario, usage, nil)
		choose := func(ways []choice) (int, bool) {
			if at < len(path) {
				at++
				return path[at-1].taken, true
			}
			h := w.hash()
			if _, known := seen[h]; known {
				return 0, false
			}
			seen[h] = struct{}{}
			path = append(path, branch{0, len(ways)})
			at++
			return 0, true
		}
		w.drive(choose)
		result.count(w)
		if usage.grown {
			usage.grown, path = false, nil
			clear(seen)
			continue
		}
		result.States = len(seen)
		if w.failure != nil {
			result.Failure = replay(config, scenario, usage, w.failure, path[:at])
			return result
		}
		for len(path) > 0 && path[len(path)-1].taken == path[len(path)-1].ways-1 {
			path = path[:len(path)-1]
		}
		if len(path) == 0 {
			result.Complete = true
			return result
		}
		path[len(path)-1].taken++
		if limit > 0 && len(seen) >= limit {
			return result
		}
	}
}

// Sample makes runs random runs. In each, threads have random priorities and
// the highest that can go on does, but for changes points at which the running
// one falls to the lowest; with changes 0 every choice is uniform.
func Sample(config Config, scenario Scenario, runs, changes int, seed uint64) Result {
	var result Result
	length := 64
	w := newWorld(config)
	defer w.crew.disband()
	var path []branch
	for run := range runs {
		random := rand.New(rand.NewPCG(seed, uint64(run)))
		w.start(scenario, nil, nil)
		path = path[:0]
		pick := uniform(random)
		if changes > 0 {
			pick = priorities(random, changes, length)
		}
		w.drive(func(ways []choice) (int, bool) {
			i := pick(ways)
			path = append(path, branch{i, len(ways)})
			return i, true
		})
		result.count(w)
		length = max(length, w.steps)
		if w.failure != nil {
			result.Failure = replay(config, scenario, nil, fmt.Errorf("run %d of seed %d: %w", run, seed, w.failure), path)
			return result
		}
	}
	return result
}

func uniform(random *rand.Rand) func([]choice) int {
	return func(ways []choice) int { return random.IntN(len(ways)) }
}

// priorities is PCT. A thread's processor and the buffers are chosen
// uniformly; a buffer lets a store out with a probability of one in four.
func priorities(random *rand.Rand, changes, length int) func([]choice) int {
	var priority, drops, threads, buffers []int
	for range changes {
		drops = append(drops, random.IntN(length))
	}
	step, lowest := 0, 0
	of := func(t *thread) int {
		for len(priority) <= t.id {
			priority = append(priority, 1+random.IntN(1<<20))
		}
		return priority[t.id]
	}
	return func(ways []choice) int {
		step++
		threads, buffers = threads[:0], buffers[:0]
		best := 0
		for i, way := range ways {
			switch {
			case way.thread == nil:
				buffers = append(buffers, i)
				continue
			case len(threads) == 0 || of(way.thread) > best:
				threads, best = append(threads[:0], i), of(way.thread)
			case of(way.thread) == best:
				threads = append(threads, i) // the same thread, another processor
			}
		}
		if len(buffers) > 0 && (len(threads) == 0 || random.IntN(4) == 0) {
			return buffers[random.IntN(len(buffers))]
		}
		i := threads[random.IntN(len(threads))]
		if slices.Contains(drops, step) {
			lowest--
			priority[ways[i].thread.id] = lowest
		}
		return i
	}
}

// start begins a run and sets up the scenario in it.
func (w *World) start(scenario Scenario, usage *usage, trace *trace) {
	w.begin(usage, trace)
	seam.Install(w)
	scenario(w)
}

// drive runs the world to its end, or until choose has seen enough.
func (w *World) drive(choose func([]choice) (int, bool)) {
	defer seam.Install(nil)
	defer w.close()
	for {
		ways := w.choices(w.ways[:0])
		w.ways = ways
		if w.ended(ways) {
			return
		}
		taken := 0
		if len(ways) > 1 {
			i, on := choose(ways)
			if !on {
				return
			}
			taken = i
		}
		w.take(ways[taken])
	}
}

func (r *Result) count(w *World) {
	r.Runs++
	r.Steps += w.steps
	r.MaxLength = max(r.MaxLength, w.steps)
}

// replay makes the failing run again and writes it down.
func replay(config Config, scenario Scenario, usage *usage, failure error, path []branch) error {
	t := new(trace)
	w := newWorld(config)
	defer w.crew.disband()
	w.start(scenario, usage, t)
	at := 0
	w.drive(func([]choice) (int, bool) {
		if at == len(path) {
			return 0, false
		}
		at++
		return path[at-1].taken, true
	})
	if w.failure == nil {
		return fmt.Errorf("%w\nthe run could not be repeated: the scenario is not the same each time", failure)
	}
	return fmt.Errorf("%w%s", failure, t.text.String())
}
