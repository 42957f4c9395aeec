package refcount_test

import "github.com/poolswap/poolswap"

// canary is what the stress test swaps: words that all say the same, namely
// the label under which the canary was published, or poison while it is in
// the pool. Whoever uses it too early or too late sees words that changed or
// that differ.
type canary struct {
	poolswap.Ref
	words [64]uint64
}

// label tells what was published from everything else that ever was: who
// published it, in which container, and which of the writer's it was.
type label struct {
	writer, place int
	serial        uint64
}

const (
	poison    = ^uint64(0)
	labelBits = 8 // of a word, for each of writer and place
)

func (l label) word() uint64 {
	return l.serial<<(2*labelBits) | uint64(l.writer)<<labelBits | uint64(l.place)
}

func labelOf(word uint64) label {
	const mask = 1<<labelBits - 1
	return label{
		writer: int(word >> labelBits & mask),
		place:  int(word & mask),
		serial: word >> (2 * labelBits),
	}
}

// newCanary is the factory: a canary in the pool is poisoned.
func newCanary() *canary {
	e := new(canary)
	e.write(poison)
	return e
}

// write makes all words say word.
func (e *canary) write(word uint64) {
	for i := range e.words {
		e.words[i] = word
	}
}

// says reports whether all words say word.
func (e *canary) says(word uint64) bool {
	for i := range e.words {
		if e.words[i] != word {
			return false
		}
	}
	return true
}
