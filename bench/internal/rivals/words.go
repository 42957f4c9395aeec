package rivals

import "fmt"

// Words is the content of the small object: the same value in each word. The
// writer counts the values up from 1.
type Words [8]uint64

type small = Object[Words]

// freed is the content of an object that is not in use: larger than any value.
const freed = 1 << 48

func (w *Words) set(value uint64) {
	for i := range w {
		w[i] = value
	}
}

// value returns the value; it panics if the words do not agree, or if the object
// is free.
func (w *Words) value() uint64 {
	first := w[0]
	for _, word := range w {
		if word != first || word == 0 || word >= freed {
			panic(fmt.Sprintf("rivals: read %d and %d in one object: it was recycled or overwritten", word, first))
		}
	}
	return first
}

// smallFunctions make the small objects. made is called with each.
func smallFunctions(made func(*small)) *Functions[Words] {
	return &Functions[Words]{
		New:   func() (w Words) { return w },
		Reset: func(w *Words) { w.set(freed) },
		Fill:  func(w *Words) { w.set(1) },
		Made:  made,
	}
}

// SmallShared is one small object, shared in one way.
type SmallShared struct {
	reader  func() reader
	swap    func(value uint64) // puts an object of that value in place of the current one
	objects func() int         // the most there were at a time; nil where the garbage collector frees them
}

// reader is what one goroutine reads with.
type reader struct {
	sum   func(n int) uint64 // of the first word, over that many reads
	with  func(use func(*Words))
	close func()
}

// batch reads n times. Values only grow, so the values of all reads lie between
// the one before and the one after them, and their sum does too; it panics where
// they do not.
func (r *reader) batch(n int) {
	before := r.value()
	sum := r.sum(n)
	after := r.value()
	if sum < before*uint64(n) || sum > after*uint64(n) {
		panic(fmt.Sprintf("rivals: %d reads between value %d and value %d add up to %d", n, before, after, sum))
	}
}

func (r *reader) value() (value uint64) {
	r.with(func(w *Words) { value = w.value() })
	return value
}
