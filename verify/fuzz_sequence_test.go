package verify_test

import "testing"

// script turns bytes into choices: each is the next byte, or 0 at the end.
type script []byte

func (s *script) pick(n int) int {
	if len(*s) == 0 {
		return 0
	}
	b := (*s)[0]
	*s = (*s)[1:]
	return int(b) % n
}

// FuzzSequence compares every step of a sequence with the sequential model. The
// bytes choose the options, the operations and their objects.
func FuzzSequence(f *testing.F) {
	f.Fuzz(func(t *testing.T, choices []byte) {
		if len(choices) > 1<<10 {
			t.Skip("longer sequences find nothing more and are harder to understand")
		}
		s := script(choices)
		m := newMachine(t, s.pick)
		defer m.finish()
		m.check()
		for len(s) > 0 {
			if actions[s.pick(len(actions))].run(m) {
				m.check()
			}
		}
		m.settle()
	})
}
