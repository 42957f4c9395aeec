package stripe

import "unsafe"

// NewSized makes Counters with any number of stripes.
func NewSized(plain, owned int) *Counters { return newCounters(plain, owned) }

// Counted returns the counts of stripe k.
func (c *Counters) Counted(k int) (acquired, released uint64) {
	return c.at(k).acquired.Load(), c.at(k).released.Load()
}

// Preset sets the counters of stripe k. No other goroutine may use c.
func (c *Counters) Preset(k int, acquired, released uint64) {
	counts := (*[2]uint64)(unsafe.Pointer(c.at(k)))
	counts[0], counts[1] = acquired, released
}
