package keyed

import (
	"math/rand/v2"
	"strconv"

	"github.com/poolswap/poolswap/oplog"
)

// Change sets a key that is in the table.
type Change = oplog.Change[string, int64]

// plain is the map that most tables are made of.
type plain = map[string]int64

// Data are the keys and values that tables begin with, and the changes to make,
// all made before anything is measured.
type Data struct {
	Keys   []string
	Values []int64

	// Changes change each key once, in random order, and then each key once
	// more, in another order. They bring strings of their own for the keys, as
	// changes from outside do, so that no table finds the very string that it
	// holds, and the strings that it holds do not lie in the order of changes.
	Changes []Change

	places []int32 // of the keys of Changes in Keys
}

// NewData returns data of n keys of 16 bytes. It is the same in each process.
func NewData(n int) *Data {
	random := rand.New(rand.NewPCG(1, 2))
	numbers := make([]uint64, n)
	for i := range numbers {
		numbers[i] = random.Uint64()
	}
	d := &Data{Keys: names(numbers), Values: make([]int64, n)}
	for range 2 {
		order := make([]uint64, 0, n)
		for _, place := range random.Perm(n) {
			d.places = append(d.places, int32(place))
			order = append(order, numbers[place])
		}
		for _, key := range names(order) {
			d.Changes = append(d.Changes, Change{Key: key, Value: int64(len(d.Changes) + 1)})
		}
	}
	return d
}

// names returns a string of 16 hexadecimal digits for each number. They lie in
// one piece of memory, which the garbage collector has done with quickly.
func names(numbers []uint64) []string {
	const length, sixteenDigits = 16, 1 << 63
	bytes := make([]byte, 0, length*len(numbers))
	for _, number := range numbers {
		bytes = strconv.AppendUint(bytes, number|sixteenDigits, 16)
	}
	text, all := string(bytes), make([]string, len(numbers))
	for i := range all {
		all[i] = text[i*length : (i+1)*length]
	}
	return all
}

// plain returns a map of the keys and values.
func (d *Data) plain() plain {
	m := make(plain, len(d.Keys))
	for i, key := range d.Keys {
		m[key] = d.Values[i]
	}
	return m
}

// apply makes changes to a map.
func apply(m plain, changes []Change) {
	for i := range changes {
		m[changes[i].Key] = changes[i].Value
	}
}
