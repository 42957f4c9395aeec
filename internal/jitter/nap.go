//go:build poolswapsched

package jitter

import (
	"math/rand/v2"
	"runtime"
)

// How often a goroutine lets the others go first, in steps, and for how long:
// each time it gives way all that can run go on to their own next stop.
const (
	stepsPerStop = 4  // a stop is giving way once
	stopsPerNap  = 64 // but one in so many is a nap
	longestNap   = 200
)

// nap lets others go first, at random.
func nap() {
	dice := rand.Uint32()
	if dice%stepsPerStop != 0 {
		return
	}
	times := 1
	if dice/stepsPerStop%stopsPerNap == 0 {
		times = 1 + rand.IntN(longestNap)
	}
	for range times {
		runtime.Gosched()
	}
}
