// Package clock is the clock of the stamps that package fleet makes, which a test
// can set.
package clock

import (
	"sync/atomic"
	"time"
)

var replaced atomic.Pointer[func() time.Time]

// Now returns the time.
func Now() time.Time {
	if now := replaced.Load(); now != nil {
		return (*now)()
	}
	return time.Now()
}

// Set replaces the clock, for tests; nil stands for time.Now.
func Set(now func() time.Time) {
	if now == nil {
		replaced.Store(nil)
		return
	}
	replaced.Store(&now)
}
