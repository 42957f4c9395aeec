package oplog_test

import (
	"math/rand/v2"
	"testing"
)

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
