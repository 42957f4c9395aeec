package lthash_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/poolswap/poolswap/oplog/lthash"
)

// reference is the same by the words of the package comment, lane by lane.
type reference map[string]int

func (r reference) sum() string {
	var lanes [1024]uint16
	for row, times := range r {
		expanded := rand.NewChaCha8(sha256.Sum256([]byte(row)))
		var bytes [2048]byte
		expanded.Read(bytes[:])
		for i := range lanes {
			lanes[i] += uint16(times) * binary.LittleEndian.Uint16(bytes[2*i:])
		}
	}
	var state []byte
	for _, lane := range lanes {
		state = binary.LittleEndian.AppendUint16(state, lane)
	}
	sum := sha256.Sum256(state)
	return hex.EncodeToString(sum[:])
}

func sumOf(h *lthash.Hash) string { return fmt.Sprintf("%x", h.Sum()) }

// TestVectors are for implementations in other languages.
func TestVectors(t *testing.T) {
	for _, c := range []struct {
		rows []string
		want string
	}{
		{nil, "e5a00aa9991ac8a5ee3109844d84a55583bd20572ad3ffcd42792f3c36b183ad"},
		{[]string{""}, "28d3cd8fddc47386310f7d0312a6452a7421ee3b66fc759d0ec28a3e97360d6d"},
		{[]string{"a"}, "90b1a4b34111a2cde2e7afe1245a24575a6964a8d649c75e3a2e87e9060aa1e7"},
		{[]string{"a", "a", "b"}, "411c71aec6632757a9a058f76763c01b33700580494d141a66f194b9bb816f77"},
		{[]string{string(lthash.AppendRow(nil, "192.0.2.0", "64496"))}, "da1d6ff437502f3668a93d32646fd2f38f856ad0e840745e7b33ab2c04303626"},
	} {
		var h lthash.Hash
		for _, row := range c.rows {
			h.Add([]byte(row))
		}
		if got := sumOf(&h); got != c.want {
			t.Errorf("%q: %s, want %s", c.rows, got, c.want)
		}
	}
}

// TestAgainstReference adds and removes rows at random, also those that are not there.
func TestAgainstReference(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		var h lthash.Hash
		rows := reference{}
		for range 30 {
			row := fmt.Sprint(r.IntN(8))
			if r.IntN(2) == 0 {
				h.Add([]byte(row))
				rows[row]++
			} else {
				h.Remove([]byte(row))
				rows[row]--
			}
			copied := h
			copied.Add([]byte("of the copy"))
		}
		if got := sumOf(&h); got != rows.sum() {
			t.Fatalf("%v: %s, want %s", rows, got, rows.sum())
		}
	}
}

// FuzzHash has each two bytes add or remove a row, and then takes all away again.
func FuzzHash(f *testing.F) {
	f.Add([]byte("a1b0a0"))
	f.Fuzz(func(t *testing.T, ops []byte) {
		var h, none lthash.Hash
		rows := reference{}
		for ; len(ops) >= 2; ops = ops[2:] {
			if row := ops[:1]; ops[1]&1 == 1 {
				h.Add(row)
				rows[string(row)]++
			} else {
				h.Remove(row)
				rows[string(row)]--
			}
		}
		if got := sumOf(&h); got != rows.sum() {
			t.Errorf("%v: %s, want %s", rows, got, rows.sum())
		}
		for row, times := range rows {
			for ; times > 0; times-- {
				h.Remove([]byte(row))
			}
			for ; times < 0; times++ {
				h.Add([]byte(row))
			}
		}
		if h.Sum() != none.Sum() {
			t.Error("without its rows, the hash is not that of none")
		}
	})
}

func TestFieldsAreApart(t *testing.T) {
	seen := map[string]bool{}
	for _, fields := range [][]string{{}, {""}, {"", ""}, {"ab", "c"}, {"a", "bc"}, {"abc"}, {"abc", ""}} {
		row := string(lthash.AppendRow([]byte("kept"), fields...))
		if seen[row] || row[:4] != "kept" {
			t.Errorf("%q make the row %q", fields, row)
		}
		seen[row] = true
	}
}

func TestAllocs(t *testing.T) {
	h, row := new(lthash.Hash), make([]byte, 0, 64)
	if n := testing.AllocsPerRun(100, func() {
		row = lthash.AppendRow(row[:0], "key", "value")
		h.Add(row)
		h.Remove(row)
		h.Sum()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkAdd(b *testing.B) {
	h, row := new(lthash.Hash), make([]byte, 200)
	b.ReportAllocs()
	for b.Loop() {
		h.Add(row)
	}
}

func BenchmarkSum(b *testing.B) {
	h := new(lthash.Hash)
	b.ReportAllocs()
	for b.Loop() {
		h.Sum()
	}
}
