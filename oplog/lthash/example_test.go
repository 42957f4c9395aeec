package lthash_test

import (
	"fmt"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/oplog/lthash"
)

// Table is an object of an oplog.Log that keeps the digest of its rows.
type Table struct {
	poolswap.Ref
	rows map[string]string
	hash lthash.Hash // of rows: Copy copies it, and Reset makes it the zero Hash
	row  []byte      // a buffer
}

// set is what Apply calls: it looks the old row up, since Remove cannot.
func (t *Table) set(key, value string) {
	if old, ok := t.rows[key]; ok {
		t.row = lthash.AppendRow(t.row[:0], key, old)
		t.hash.Remove(t.row)
	}
	t.rows[key] = value
	t.row = lthash.AppendRow(t.row[:0], key, value)
	t.hash.Add(t.row)
}

// Digest is for reload.LogOptions.
func (t *Table) Digest() [32]byte { return t.hash.Sum() }

func Example() {
	a, b := &Table{rows: map[string]string{}}, &Table{rows: map[string]string{}}
	a.set("db-1", "10.0.0.1")
	a.set("db-2", "10.0.0.2")
	b.set("db-2", "10.0.0.7")
	b.set("db-1", "10.0.0.1")
	fmt.Println(a.Digest() == b.Digest())
	b.set("db-2", "10.0.0.2")
	fmt.Println(a.Digest() == b.Digest())
	// Output:
	// false
	// true
}
