package verify_test

import (
	"fmt"

	"github.com/poolswap/poolswap"
)

// record is the object that all tests here swap. Its version determines all its
// words, and reset poisons them, so a reader whose object is recycled or filled
// again sees an impossible version or word.
type record struct {
	version uint64
	poolswap.Ref
	words [14]uint64
	fate  fate // what reset does to it; written by the owner
	id    int  // constant; told apart by the models
}

// poisoned is the version of a record that was reset. Published versions are
// positive and far below.
const poisoned = 0xdead_dead_dead_dead

// wordOf returns word i of a record of that version.
func wordOf(version uint64, i int) uint64 {
	return (version + uint64(i)) * 0x9e37_79b9_7f4a_7c15
}

// fill sets the version and all words of r.
func (r *record) fill(version uint64) {
	r.version = version
	for i := range r.words {
		r.words[i] = wordOf(version, i)
	}
}

// check returns an error unless r is a complete record of that version.
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

// read returns the version of r, or an error if r was reset, was never filled, or
// is being filled.
func (r *record) read() (uint64, error) {
	version := r.version
	if version == poisoned || version == 0 {
		return 0, fmt.Errorf("record %d has version %#x: it was recycled while a reader held it, or published too early", r.id, version)
	}
	return version, r.check(version)
}

// fate is what reset does with a record.
type fate int

const (
	fateKept fate = iota
	fateRefused
	fatePanics
	fateExits
)

func (f fate) String() string {
	return [...]string{"kept", "refused", "panic", "Goexit"}[f]
}
