package verify_test

import (
	"fmt"

	"github.com/poolswap/poolswap"
)

// record is the object that all tests here swap. Every word of it follows from
// its version, and a reset poisons every word, so a reader under whom the
// object is recycled or filled again sees a version or a word that cannot be.
type record struct {
	version uint64
	poolswap.Ref
	words [14]uint64
	fate  fate // what reset does to it; written by the owner
	id    int  // constant; told apart by the models
}

// poisoned is the version of a record that was reset. Versions that are
// published are positive and far below.
const poisoned = 0xdead_dead_dead_dead

// wordOf is what word i of a record of that version holds.
func wordOf(version uint64, i int) uint64 {
	return (version + uint64(i)) * 0x9e37_79b9_7f4a_7c15
}

// fill makes r a record of that version, or of none.
func (r *record) fill(version uint64) {
	r.version = version
	for i := range r.words {
		r.words[i] = wordOf(version, i)
	}
}

// check returns an error unless every word of r follows from version.
func (r *record) check(version uint64) error {
	if r.version != version {
		return fmt.Errorf("record %d is of version %#x, want %#x", r.id, r.version, version)
	}
	for i, word := range r.words {
		if word != wordOf(version, i) {
			return fmt.Errorf("record %d of version %#x: word %d is %#x, want %#x", r.id, version, i, word, wordOf(version, i))
		}
	}
	return nil
}

// read returns the version of r, or an error if it was reset, was never
// filled, or is being filled.
func (r *record) read() (uint64, error) {
	version := r.version
	if version == poisoned || version == 0 {
		return 0, fmt.Errorf("record %d was acquired and is of version %#x: it was recycled under its reader, or published too early", r.id, version)
	}
	return version, r.check(version)
}

// fate is what becomes of a record when it is reset.
type fate int

const (
	fateKept fate = iota
	fateRefused
	fatePanics
	fateExits
	fates // how many there are
)

func (f fate) String() string {
	return [...]string{"kept", "refused", "panic", "Goexit"}[f]
}
