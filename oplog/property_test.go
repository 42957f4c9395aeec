package oplog_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/poolswap/poolswap/internal/test/buildflag"
)

// scaled returns n, or a part of it where operations cost more or the caller has
// less time.
func scaled(n int) int {
	if testing.Short() || buildflag.Race() {
		return n / 20
	}
	return n
}

// stress returns how long a test is to go on at least.
func stress(t *testing.T) time.Duration {
	text := os.Getenv("POOLSWAP_STRESS")
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("POOLSWAP_STRESS: %v", err)
	}
	return d
}

// TestLogAgreesWithOracle takes random actions on a Log and on the oracle.
func TestLogAgreesWithOracle(t *testing.T) {
	type pool struct{ limit, spares int }
	keeps := []int{1, 8, 64, 1 << 16}
	pools := []pool{{0, 0}, {3, 0}, {0, 1}, {0, 2}, {5, 10}}
	want := scaled(1_000_000) / (len(keeps) * len(pools))
	atLeast := stress(t) / time.Duration(len(keeps)*len(pools))
	seen := map[string]int{}
	for _, kept := range keeps {
		for _, p := range pools {
			t.Run(fmt.Sprintf("Keep %d, MaxLive %d, Spares %d", kept, p.limit, p.spares), func(t *testing.T) {
				begin, published := time.Now(), 0
				for seed := uint64(0); published < want || time.Since(begin) < atLeast; seed++ {
					random := rand.New(rand.NewPCG(seed, uint64(kept)))
					m := newMachine(t, kept, p.limit, p.spares, random.IntN)
					for range 400 {
						m.step()
					}
					m.end()
					published += m.seen["operations"]
					for what, times := range m.seen {
						seen[what] += times
					}
					if t.Failed() {
						t.Fatalf("seed %d", seed)
					}
				}
			})
		}
	}
	t.Log(seen)
	for _, what := range []string{
		"returns an error", "panics", "calls Goexit", "conflicts", "in Apply", "missed", "in Copy", "in fill", "in ops", "ended", "limit",
		"empty", "replaced", "emptied", "spoiled", "updated", "foreign", "elsewhere", "verified", "catch-ups", "copies",
	} {
		if seen[what] == 0 {
			t.Errorf("it never happened: %s", what)
		}
	}
}

// FuzzLog takes the actions that the input says, on a Log and on the oracle.
func FuzzLog(f *testing.F) {
	f.Add([]byte{})
	for seed := range uint64(12) {
		random := rand.New(rand.NewPCG(seed, 3))
		input := make([]byte, 200<<(seed%3))
		for i := range input {
			input[i] = byte(random.Uint32())
		}
		f.Add(input)
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		choose := func(n int) int { // a byte of the input, and 0 after its end
			if len(input) == 0 {
				return 0
			}
			choice := int(input[0]) % n
			input = input[1:]
			return choice
		}
		kept := []int{1, 8, 64, 1 << 16}[choose(4)]
		limit := []int{0, 2, 3}[choose(3)]
		spares := []int{0, 1, 5}[choose(3)]
		m := newMachine(t, kept, limit, spares, choose)
		for steps := 0; len(input) > 0 && steps < 1000; steps++ {
			m.step()
		}
		m.end()
	})
}
