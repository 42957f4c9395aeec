package slab_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/slab"
)

// TestBytesKeepsEachString makes strings of all lengths, some in pieces, and compares
// each with a copy at the end of its life.
func TestBytesKeepsEachString(t *testing.T) {
	var b slab.Bytes
	r := rand.New(rand.NewPCG(1, 2))
	for life := range 40 {
		var got, want []string
		for n := range 300 {
			text := strings.Repeat(fmt.Sprint(life, n), r.IntN(1<<r.IntN(12)))
			switch n % 4 {
			case 0:
				got = append(got, b.String([]byte(text)))
			case 1:
				got = append(got, b.Clone(text))
			case 2:
				s := b.Append("", []byte("it begins "))
				got, want = append(got, s), append(want, "it begins ")
				if r.IntN(2) == 0 {
					got, want = append(got, b.Clone("between")), append(want, "between")
				}
				got = append(got, b.Append(s, []byte(text)))
				text = "it begins " + text
			case 3:
				old := r.IntN(len(got))
				got = append(got, b.Append(got[old], []byte(text)))
				text = want[old] + text
			}
			want = append(want, text)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("life %d: string %d of %d bytes became another", life, i, len(want[i]))
			}
		}
		b.Reset()
	}
}

func TestBytesKeepsMemoryForItsLives(t *testing.T) {
	var b slab.Bytes
	load := func(strings int) {
		b.Reset()
		for range strings {
			b.Clone("a string of a slab")
		}
	}
	load(10_000)
	large := b.Held()
	for range 15 {
		load(10)
	}
	if got := b.Held(); got != large {
		t.Errorf("%d bytes are held while a life of late needed %d", got, large)
	}
	for range 40 {
		load(10)
	}
	if got := b.Held(); got > large/10 {
		t.Errorf("%d bytes are held, and no life needed a tenth of %d", got, large)
	}
	if !debugging {
		load(10_000)
		if allocations := testing.AllocsPerRun(10, func() { load(10_000) }); allocations != 0 {
			t.Errorf("%v allocations in a warm life", allocations)
		}
	}
}
