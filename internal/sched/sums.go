//go:build poolswapsched

package sched

import "cmp"

// sums is the knowledge of a thread while it adds up the counters of an object: all
// released counters first, then all acquired ones. At the end it keeps only
// which sum is greater; states that differ in the rest are merged.
type sums struct {
	read []*word // so far
	sum  [2]uint64
}

// add records that the thread read value. After the last of 2*stripes counters
// it returns the knowledge that the thread gained.
func (s *sums) add(at *word, value uint64, stripes int) (learned uint64, done bool) {
	s.sum[len(s.read)/stripes] += value
	s.read = append(s.read, at)
	if len(s.read) < 2*stripes {
		return 0, false
	}
	learned = uint64(2 + cmp.Compare(s.sum[0], s.sum[1]))
	s.read, s.sum = s.read[:0], [2]uint64{}
	return learned, true
}

// known hashes the knowledge of the thread halfway. Only the sums are compared, so of
// the counters already read only their growth since then matters.
func (s *sums) known(stripes int) uint64 {
	if len(s.read) == 0 {
		return 0
	}
	since := s.sum
	for i, at := range s.read {
		since[i/stripes] -= at.value()
	}
	return mix(mix(uint64(len(s.read)), since[0]), since[1])
}
