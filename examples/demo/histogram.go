package main

import (
	"math/bits"
	"time"
)

// In each power of two a histogram has 32 buckets, so a quantile is at most a
// 32nd too high. Below 64 ns each nanosecond has its own.
const (
	fineBits = 5
	fine     = 1 << fineBits
)

// histogram counts times without allocating. One goroutine uses it at a time.
type histogram struct {
	Counts [(64 - fineBits) * fine]uint64
	Total  uint64
	Most   time.Duration
}

func (h *histogram) add(d time.Duration) {
	d = max(d, 0)
	h.Counts[bucket(d)]++
	h.Total++
	h.Most = max(h.Most, d)
}

func bucket(d time.Duration) int {
	shift := max(bits.Len64(uint64(d))-fineBits-1, 0)
	return shift<<fineBits + int(d>>shift)
}

// highest returns the longest time that bucket i counts.
func highest(i int) time.Duration {
	shift := max(i>>fineBits-1, 0)
	return (time.Duration(i-shift<<fineBits)+1)<<shift - 1
}

func (h *histogram) merge(other *histogram) {
	for i, n := range other.Counts {
		h.Counts[i] += n
	}
	h.Total += other.Total
	h.Most = max(h.Most, other.Most)
}

// quantile returns a time within which that part of all times were.
func (h *histogram) quantile(part float64) time.Duration {
	var sum uint64
	for i, n := range h.Counts {
		if sum += n; sum > 0 && float64(sum) >= part*float64(h.Total) {
			return min(highest(i), h.Most)
		}
	}
	return h.Most
}
