package refcount_test

import "github.com/poolswap/poolswap"

// canary is the object that the stress tests swap. All its words are equal: the
// label under which it was published, or poison while it is in the pool. A
// reader that uses it too early or too late sees words that change or differ.
type canary struct {
	poolswap.Ref
	words [64]uint64
}

// label identifies a publication: the writer, the container, and the number of
// the writer's publication.
type label struct {
	writer, container int
	serial            uint64
}

const (
	poison    = ^uint64(0)
	labelBits = 8 // of a word, for each of writer and container
)

func (l label) word() uint64 {
	return l.serial<<(2*labelBits) | uint64(l.writer)<<labelBits | uint64(l.container)
}

func labelOf(word uint64) label {
	const mask = 1<<labelBits - 1
	return label{
		writer:    int(word >> labelBits & mask),
		container: int(word & mask),
		serial:    word >> (2 * labelBits),
	}
}

// newCanary returns a canary with this word.
func newCanary(word uint64) *canary {
	obj := new(canary)
	obj.fill(word)
	return obj
}

// fill sets all words.
func (obj *canary) fill(word uint64) {
	for i := range obj.words {
		obj.words[i] = word
	}
}

// holds reports whether all words equal word.
func (obj *canary) holds(word uint64) bool {
	for i := range obj.words {
		if obj.words[i] != word {
			return false
		}
	}
	return true
}
