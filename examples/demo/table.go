package main

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
)

// encodedRow is the size of a row as the writer gets it: first address, last
// address and number, each a little-endian uint32. Rows ascend and do not overlap.
const encodedRow = 12

// row is a range of addresses, which includes both ends.
type row struct {
	first, last uint32
	number      uint32 // the answer, such as that of an autonomous system
	version     uint32 // of the table: the same in all of its rows
}

// table is the object that is replaced.
type table struct{ rows []row }

// fill decodes the rows into the table, as a version. It reuses the memory of the
// table if that is large enough.
func (t *table) fill(encoded []byte, version uint32) error {
	n := len(encoded) / encodedRow
	if cap(t.rows) < n {
		t.rows = make([]row, n)
	}
	t.rows = t.rows[:n]
	before := int64(-1)
	for i := range t.rows {
		in := encoded[i*encodedRow:][:encodedRow]
		r := row{
			first:   binary.LittleEndian.Uint32(in),
			last:    binary.LittleEndian.Uint32(in[4:]),
			number:  binary.LittleEndian.Uint32(in[8:]),
			version: version,
		}
		if int64(r.first) <= before || r.last < r.first {
			return fmt.Errorf("row %d is out of order", i)
		}
		before = int64(r.last)
		t.rows[i] = r
	}
	return nil
}

// question is an address with the number that belongs to it, and the oldest version
// that may answer.
type question struct{ address, number, atLeast uint32 }

// answers looks the address up and reports whether the answer is right: the number
// is, and the row found, the first and the last row are of one version, which is not
// too old.
func (t *table) answers(q question) bool {
	version := t.rows[0].version
	next := sort.Search(len(t.rows), func(i int) bool { return t.rows[i].first > q.address })
	if next == 0 {
		return false
	}
	found := t.rows[next-1]
	return found.last >= q.address && found.number == q.number && version >= q.atLeast &&
		found.version == version && t.rows[len(t.rows)-1].version == version
}

// questions returns n questions about addresses all over the rows, the same ones
// in each process.
func questions(encoded []byte, n int) ([]question, error) {
	var t table
	if err := t.fill(encoded, 0); err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(1, 2))
	list := make([]question, 0, n)
	for range n {
		r := t.rows[random.IntN(len(t.rows))]
		list = append(list, question{address: r.first + uint32(random.Uint64N(uint64(r.last-r.first)+1)), number: r.number})
	}
	return list, nil
}

// madeUpRanges is how many ranges a made-up table has, a few more than the
// published table of IPv4.
const madeUpRanges = 500_000

// madeUp returns n encoded rows from 1.0.0.0 to 223.255.255.255, with gaps.
func madeUp(n int) []byte {
	const from, to = 1 << 24, 224 << 24
	random := rand.New(rand.NewPCG(3, 4))
	encoded := make([]byte, 0, n*encodedRow)
	step := uint32(to-from) / uint32(n)
	for i := range uint32(n) {
		first := from + i*step + random.Uint32N(step/4)
		last := first + step/2 + random.Uint32N(step/4)
		encoded = appendRow(encoded, first, last, 1+random.Uint32N(400_000))
	}
	return slices.Clip(encoded)
}

func appendRow(encoded []byte, first, last, number uint32) []byte {
	encoded = binary.LittleEndian.AppendUint32(encoded, first)
	encoded = binary.LittleEndian.AppendUint32(encoded, last)
	return binary.LittleEndian.AppendUint32(encoded, number)
}
