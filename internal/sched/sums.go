//go:build poolswapsched

package sched

import "cmp"

// sums is what a thread knows while it adds up the counters of an object: all
// of released first, then all of acquired. Of the single counters it remembers
// nothing but what they add up to, and in the end only which sum is greater;
// runs that differ in the rest are in the same state.
type sums struct {
	before uint64 // history when the first counter was read
	read   int
	sum    [2]uint64
}

// add notes a counter and returns the history of the thread.
func (s *sums) add(history, value uint64, stripes int) uint64 {
	if s.read == 0 {
		s.before = history
	}
	s.sum[s.read/stripes] += value
	s.read++
	if s.read < 2*stripes {
		return mix(mix(mix(s.before, uint64(s.read)), s.sum[0]), s.sum[1])
	}
	result := mix(s.before, uint64(2+cmp.Compare(s.sum[0], s.sum[1])))
	*s = sums{}
	return result
}
