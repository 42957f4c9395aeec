package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strconv"

	"github.com/poolswap/poolswap/oplog/lthash"
)

// changed is how many rows an edition changes.
const changed = 10

// edition is the content of a revision: the rows of the edition before it, but for some.
// Each row names the edition that it is of, so an answer tells.
type edition struct {
	number int
	base   *edition // nil for the first
	rows   []int    // that it changes; of the first, all
	hash   lthash.Hash

	revision string // under which it is stored
}

// newEdition returns the first edition, of so many rows.
func newEdition(rows int) *edition {
	e := &edition{rows: make([]int, rows)}
	for i := range e.rows {
		e.rows[i] = i
		e.hash.Add(lthash.AppendRow(nil, rowOf(i, 0)...))
	}
	return e
}

// next returns an edition that changes some rows.
func (e *edition) next(number int) *edition {
	rows := len(e.first().rows)
	next := &edition{number: number, base: e, hash: e.hash}
	for range changed {
		row := rand.IntN(rows)
		for next.of(row) == number { // twice
			row = rand.IntN(rows)
		}
		next.rows = append(next.rows, row)
		next.hash.Remove(lthash.AppendRow(nil, rowOf(row, e.of(row))...))
		next.hash.Add(lthash.AppendRow(nil, rowOf(row, number)...))
	}
	return next
}

// of returns the number of the edition that a row is of.
func (e *edition) of(row int) int {
	for e.base != nil && !slices.Contains(e.rows, row) {
		e = e.base
	}
	return e.number
}

// delta returns the changes of some of the edition's rows, as fleetd diff does.
func (e *edition) delta(rows []int) *bytes.Buffer { return e.text(rows, "op", "set") }

// all returns all rows of an edition.
func (e *edition) all() *bytes.Buffer { return e.text(e.first().rows) }

func (e *edition) first() *edition {
	for e.base != nil {
		e = e.base
	}
	return e
}

// text returns rows as CSV, with a head and a value of a column before them.
func (e *edition) text(rows []int, before ...string) *bytes.Buffer {
	text := new(bytes.Buffer)
	w := csv.NewWriter(text)
	n := len(before) / 2
	w.Write(append(before[:n:n], "network", "asn", "name")) //nolint:errcheck // to memory
	for _, row := range rows {
		w.Write(append(before[n:len(before):len(before)], rowOf(row, e.of(row))...)) //nolint:errcheck // to memory
	}
	w.Flush()
	return text
}

// rowOf returns the fields of a row of an edition.
func rowOf(row, number int) []string {
	system := row % 5000
	return []string{addressOf(row) + "/24", strconv.Itoa(64496 + system), fmt.Sprintf("System %d of edition %d", system, number)}
}

// addressOf returns an address of the network of a row.
func addressOf(row int) string {
	n := 10<<24 + row<<8 // from 10.0.0.0 on
	return netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8)}).String()
}

// compare returns an error unless text has the rows of an edition, in any order.
func (e *edition) compare(text []byte) error {
	if n, sum := sumOf(text); n != len(e.first().rows)+1 {
		return fmt.Errorf("it has %d lines", n)
	} else if _, want := sumOf(e.all().Bytes()); sum != want {
		return fmt.Errorf("its rows are not those of edition %d", e.number)
	}
	return nil
}

var seed = maphash.MakeSeed()

// sumOf returns the number of lines, and a sum that other lines have by bad luck alone.
func sumOf(text []byte) (n int, sum uint64) {
	for line := range bytes.Lines(text) {
		n, sum = n+1, sum+maphash.Bytes(seed, line)
	}
	return n, sum
}
