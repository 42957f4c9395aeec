//go:build poolswapsched

package jitter

import (
	"math/rand/v2"
	"runtime"
)

// How often a goroutine yields, and for how long. At each yield all runnable
// goroutines go on to their own next stop.
const (
	stepsPerStop = 4   // average steps until a goroutine stops
	stopsPerNap  = 64  // one of so many stops is a nap, the others are one yield
	longestNap   = 200 // yields
)

// nap yields to others, at random.
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
