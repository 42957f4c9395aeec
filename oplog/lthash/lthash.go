// Package lthash has a digest of a table that changes with each row, not with the table:
// a publisher and its replicas compare what their tables have come to, at the cost of
// what changed.
//
// It is LtHash by Bellare and Micciancio ("A New Paradigm for Collision-free Hashing:
// Incrementality at Reduced Cost", 1997), with 1,024 lanes of 16 bits as in folly by
// Facebook ("Securing Update Propagation with Homomorphic Hashing", 2019), but with another
// expansion, so the digests differ from those of folly:
//
//   - SHA-256 of the row is the seed of chacha8rand (c2sp.org/chacha8rand), as in
//     rand.ChaCha8. Its first 2,048 bytes are 1,024 lanes, each a little-endian uint16.
//   - The state is the sum of the lanes of all rows, lane by lane, modulo 65,536. It is 0
//     for no rows.
//   - The digest is SHA-256 of the 2,048 bytes of the state.
//
// # Security
//
// Two different multisets with one digest are as hard to find as the easiest of: a
// collision of SHA-256 (2^128 steps), and a short vector in a lattice, for which folly's
// authors estimate at least 2^200 steps. That estimate takes the expansion for a random
// oracle. ChaCha8 with a public seed is no proven one: no attack on it is known, and
// nobody has promised that there is none. The digest keeps nothing secret: who knows
// it can test a guess of all rows.
package lthash

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

// words is the length of a state: 1,024 lanes, four in each word.
const words = 256

// Hash is the state of a multiset of rows: a row that was added twice counts twice, and
// the order of rows does not matter. The zero Hash is that of no rows. Assignment copies
// it: a table can hold one, which each of its operations changes.
//
// It has 2.3 KiB, and is for one goroutine at a time.
type Hash struct {
	lanes  [words]uint64
	stream rand.ChaCha8 // of the last row; here, so that no call allocates
}

// Add adds a row.
func (h *Hash) Add(row []byte) {
	h.seed(row)
	for i, sum := range &h.lanes {
		h.lanes[i] = add(sum, h.stream.Uint64())
	}
}

// Remove takes a row away. If the row is not there, the Hash counts it less than no times:
// the digest is then that of no table until the row was added as often. Remove cannot tell,
// so the caller looks the row up.
func (h *Hash) Remove(row []byte) {
	h.seed(row)
	for i, sum := range &h.lanes {
		h.lanes[i] = sub(sum, h.stream.Uint64())
	}
}

func (h *Hash) seed(row []byte) { h.stream.Seed(sha256.Sum256(row)) }

// Sum returns the digest.
func (h *Hash) Sum() [sha256.Size]byte {
	var state [8 * words]byte
	for i, lanes := range &h.lanes {
		binary.LittleEndian.PutUint64(state[8*i:], lanes)
	}
	return sha256.Sum256(state[:])
}

// high has the highest bit of each lane of a word.
const high = 0x8000_8000_8000_8000

// add returns the sums of the lanes of two words: no lane carries into the next.
func add(a, b uint64) uint64 { return (a&^high + b&^high) ^ (a^b)&high }

// sub returns their differences.
func sub(a, b uint64) uint64 { return (a | high - b&^high) ^ (a^^b)&high }

// AppendRow appends a row of fields for [Hash.Add] to a buffer: each field after its length
// as four bytes, big-endian. Without the lengths, "ab" and "c" would be "a" and "bc".
func AppendRow[S ~string | ~[]byte](to []byte, fields ...S) []byte {
	for _, field := range fields {
		to = binary.BigEndian.AppendUint32(to, uint32(len(field)))
		to = append(to, field...)
	}
	return to
}
