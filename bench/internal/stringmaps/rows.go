// Package stringmaps holds the ways to keep a map of strings to strings that is loaded
// again and again, each written as well as it can be.
package stringmaps

import "math/rand/v2"

// Rows are the entries to load, as bytes and as strings, and the keys to look up.
type Rows struct {
	Keys, Values         []string
	KeyBytes, ValueBytes [][]byte // the same
	Hits, Misses         []string // keys that are there, in random order, and others
}

const valueLength = 12

// NewRows returns n rows with keys of that many bytes, at least 8. They are the same
// in each process.
func NewRows(n, keyLength int) *Rows {
	random := rand.New(rand.NewPCG(1, 2))
	order := random.Perm(n)
	r := &Rows{}
	r.KeyBytes, r.Keys = names(n, keyLength, 0, func(i int) int { return i })
	r.ValueBytes, r.Values = names(n, valueLength, 2, func(i int) int { return i })
	_, r.Hits = names(n, keyLength, 0, func(i int) int { return order[i] })
	_, r.Misses = names(n, keyLength, 1, func(i int) int { return order[i] })
	return r
}

// names returns for each number a text of its own, which depends on its kind too: in
// pieces of one memory, which the garbage collector has done with quickly.
func names(n, length, kind int, number func(i int) int) (asBytes [][]byte, asStrings []string) {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyz"
	all := make([]byte, 0, n*length)
	for i := range n {
		mixed := uint64(3*number(i)+kind) * 0x9e3779b97f4a7c15 // odd: no two are the same
		for at := range length {
			all = append(all, digits[(mixed>>(4*at&63))&15])
		}
	}
	text := string(all)
	asBytes, asStrings = make([][]byte, n), make([]string, n)
	for i := range n {
		asBytes[i], asStrings[i] = all[i*length:][:length:length], text[i*length:][:length]
	}
	return asBytes, asStrings
}
