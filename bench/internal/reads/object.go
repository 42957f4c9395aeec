package reads

import (
	"fmt"

	"github.com/poolswap/poolswap/bench/internal/rivals"
)

// Words is what the small object holds: the same value in each word. The writer
// counts the values up from 1.
type Words [8]uint64

// freed is what an object holds that is not in use: larger than any value.
const freed = 1 << 48

func (w *Words) set(value uint64) {
	for i := range w {
		w[i] = value
	}
}

// value returns the value; it panics if the words do not agree, or hold what
// free leaves.
func (w *Words) value() uint64 {
	first := w[0]
	for _, word := range w {
		if word != first || word == 0 || word >= freed {
			panic(fmt.Sprintf("reads: read %d and %d in one object: it was recycled or overwritten", word, first))
		}
	}
	return first
}

type object = rivals.Object[Words]

// functions make the objects. made is called with each.
func functions(made func(*object)) *rivals.Functions[Words] {
	return &rivals.Functions[Words]{
		New:   func() (w Words) { return w },
		Reset: func(w *Words) { w.set(freed) },
		Fill:  func(w *Words) { w.set(1) },
		Made:  made,
	}
}
