package rollout

import (
	"bytes"
	"encoding/binary"
)

// compiledDiff returns the bytes that differ, by blocks, between a compiled table of these
// rows and the same after a change that makes some of them a byte longer.
//
// The table is that of a database that is mapped into memory: where each row begins, as
// four bytes, and then the rows, sorted. The diff is that of rsync: a block of the old
// table that is anywhere in the new one is not sent.
func compiledDiff(r *rowsOf) int {
	longer := make(map[int]bool)
	for i := range r.Each {
		longer[(i+1)*7919*97%r.Rows] = true
	}
	return blockDiff(compile(r, nil), compile(r, longer))
}

// compile returns the table, in which some rows are a byte longer.
func compile(r *rowsOf, longer map[int]bool) []byte {
	var index, rows []byte
	for i, version := range r.versions {
		index = binary.LittleEndian.AppendUint32(index, uint32(len(rows)))
		if rows = line(rows, i, version); longer[i] {
			rows = append(rows, '+')
		}
	}
	return append(index, rows...)
}

// block is the length of a block: for a table of 200 MB, rsync would take one of 14 KiB,
// with which more bytes differ.
const block = 1 << 10

// blockDiff returns how many bytes of b are in no block of a.
func blockDiff(a, b []byte) (differ int) {
	known := make(map[uint64][]byte) // blocks, by their sum
	for ; len(a) >= block; a = a[block:] {
		known[sumOf(a[:block])] = a[:block]
	}
	leaves := uint64(1) // the factor of the byte that leaves a block
	for range block {
		leaves *= base
	}
	for len(b) >= block {
		sum := sumOf(b[:block])
		for len(b) > block && !bytes.Equal(known[sum], b[:block]) {
			sum = sum*base + uint64(b[block]) - leaves*uint64(b[0])
			b, differ = b[1:], differ+1
		}
		if !bytes.Equal(known[sum], b[:block]) {
			break
		}
		b = b[block:]
	}
	return differ + len(b)
}

// base is that of the sums of blocks, polynomials modulo 2^64.
const base = 0x9e3779b97f4a7c15

func sumOf(block []byte) (sum uint64) {
	for _, b := range block {
		sum = sum*base + uint64(b)
	}
	return sum
}
