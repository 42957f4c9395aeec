package verify_test

import (
	"math/bits"
	"testing"

	"pgregory.net/rapid"
)

// TestEverySequenceOfOperationsBehavesAsTheModel compares the whole public
// interface with the sequential model: contents, current objects, versions,
// references, Stats, what waits, calls of the hooks, and panic texts.
func TestEverySequenceOfOperationsBehavesAsTheModel(t *testing.T) {
	normal := 3
	if testing.Short() {
		normal *= 5 // rapid makes a fifth of the sequences already
	}
	for range rounds(normal) {
		rapid.Check(t, func(t *rapid.T) {
			m := newMachine(t, func(n int) int { return below(n).Draw(t, "choice") })
			defer m.finish()
			t.Repeat(map[string]func(*rapid.T){
				"": func(*rapid.T) { m.check() },
				"operation": func(t *rapid.T) {
					for range 20 { // until one is possible
						a := actions[below(len(actions)).Draw(t, "operation")]
						if a.run(m) {
							t.Log(a.name)
							return
						}
					}
				},
			})
			m.settle()
		})
	}
}

// below generates numbers below n, each as often as the others. The generators of
// rapid prefer small ones, so most of a sequence would be the first few operations.
func below(n int) *rapid.Generator[int] {
	return rapid.Custom(func(t *rapid.T) (value int) {
		for range bits.Len(uint(n-1)) + 3 { // 3 bits more, for the rest of the division to be even
			value <<= 1
			if rapid.Bool().Draw(t, "bit") {
				value++
			}
		}
		return value % n
	})
}
