//go:build poolswapsched

package sched

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Sample makes that many random runs. In each, threads have random priorities
// and the highest runnable thread takes the next step. At changes random steps
// the running thread drops to the lowest priority. If changes is 0, every choice
// is uniform.
func Sample(config Config, scenario Scenario, runs, changes int, seed uint64) Result {
	var result Result
	length := 64
	w := newWorld(config)
	defer w.idle.stop()
	var path []int
	for run := range runs {
		random := rand.New(rand.NewPCG(seed, uint64(run)))
		w.start(scenario, nil, nil)
		path = path[:0]
		pick := uniform(random)
		if changes > 0 {
			pick = priorities(random, changes, length)
		}
		w.drive(func(ways []choice) (int, bool) {
			if len(ways) == 1 {
				return 0, true
			}
			i := pick(ways)
			path = append(path, i)
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

// priorities is PCT. It chooses a thread's processor and the buffers uniformly;
// a buffer flushes a store with a probability of one in four.
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
