package verify_test

import (
	"flag"
	"fmt"
	"iter"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// deep is how long each test that repeats itself goes on, from the
// environment variable POOLSWAP_DEEP; 0 means a number of rounds instead.
var deep time.Duration

// TestMain fails the run if a goroutine is left over: a sweeper that does not
// end, or a test that does not clean up behind itself.
func TestMain(m *testing.M) {
	if text := os.Getenv("POOLSWAP_DEEP"); text != "" {
		var err error
		if deep, err = time.ParseDuration(text); err != nil {
			fmt.Fprintln(os.Stderr, "POOLSWAP_DEEP:", err)
			os.Exit(2)
		}
	}
	if err := flag.Set("rapid.steps", "60"); err != nil { // unless the command line says otherwise
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// widenedOr returns the first number of rounds where every step of the protocol
// takes long, see widen, and the second where it does not.
func widenedOr(few, many int) int {
	if widened {
		return few
	}
	return many
}

// rounds numbers the rounds of a test: as many as normal says, a fifth of them
// under -short, and for the time that POOLSWAP_DEEP asks for if that is more.
func rounds(normal int) iter.Seq[int] {
	if testing.Short() {
		normal = max(normal/5, 1)
	}
	return func(yield func(int) bool) {
		until := time.Now().Add(deep)
		for i := 0; i < normal || time.Now().Before(until); i++ {
			if !yield(i) {
				return
			}
		}
	}
}
