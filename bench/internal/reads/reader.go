// Package reads holds the ways to read a small object that a writer replaces,
// and measures them.
package reads

import "fmt"

// Shared is one small object, shared in one way.
type Shared struct {
	reader  func() Reader
	swap    func(value uint64) // puts an object of that value in place of the current one
	objects func() int         // the most there were at a time; nil where the garbage collector frees them
}

// Reader is what one goroutine reads with.
type Reader struct {
	sum   func(n int) uint64 // of the first word, over that many reads
	with  func(use func(*Words))
	close func()
}

// batch reads n times. Values only grow, so the values of all reads lie between
// the one before and the one after them, and their sum does too; it panics where
// they do not.
func (r *Reader) batch(n int) {
	before := r.value()
	sum := r.sum(n)
	after := r.value()
	if sum < before*uint64(n) || sum > after*uint64(n) {
		panic(fmt.Sprintf("reads: %d reads between value %d and value %d add up to %d", n, before, after, sum))
	}
}

func (r *Reader) value() (value uint64) {
	r.with(func(w *Words) { value = w.value() })
	return value
}
