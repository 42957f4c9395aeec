package verify_test

import (
	"testing"

	"pgregory.net/rapid"
)

// TestEverySequenceOfOperationsBehavesAsTheModel compares the whole public
// interface with the sequential model: contents, current objects, references,
// Stats, calls of the hooks, and panic texts.
func TestEverySequenceOfOperationsBehavesAsTheModel(t *testing.T) {
	for range rounds(3) {
		rapid.Check(t, func(t *rapid.T) {
			m := newMachine(t, func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "choice") })
			defer m.finish()
			steps := map[string]func(*rapid.T){"": func(*rapid.T) { m.check() }}
			for _, a := range actions {
				steps[a.name] = func(t *rapid.T) {
					if !a.run(m) {
						t.Skip("makes no sense now")
					}
				}
			}
			t.Repeat(steps)
			m.settle()
		})
	}
}
