// Package suites defines what is measured: each suite in a file of its own.
package suites

import (
	"sync/atomic"

	"github.com/poolswap/poolswap/bench/internal/measure"
)

// All returns the suites in the order in which they run.
func All() []measure.Suite {
	return []measure.Suite{hotswap(), spares(), read(), latency(), cadence(), footprint(), pooling(), slab(), delta(), fleet(), fleetMemory(), fleetIdle(), languages(), scaling(), steady()}
}

// sink keeps the compiler from dropping reads whose results are not used.
var sink atomic.Int64
