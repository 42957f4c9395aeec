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

// deep is the least time for each test that runs in rounds, from the environment
// variable POOLSWAP_DEEP. If it is 0, the number of rounds counts alone.
var deep time.Duration

// TestMain fails the run if a goroutine is left: a sweeper that does not end, or
// one that a test did not clean up.
func TestMain(m *testing.M) {
	if text := os.Getenv("POOLSWAP_DEEP"); text != "" {
		var err error
		if deep, err = time.ParseDuration(text); err != nil {
			fmt.Fprintln(os.Stderr, "POOLSWAP_DEEP:", err)
			os.Exit(2)
		}
	}
	if err := flag.Set("rapid.steps", "100"); err != nil { // unless the command line says otherwise
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// widenedOr returns few in the widened build, in which every step takes long, and
// many otherwise.
func widenedOr(few, many int) int {
	if widened {
		return few
	}
	return many
}

// rounds yields the numbers of a test's rounds: normal rounds, or a fifth of them
// under -short, and more until POOLSWAP_DEEP has passed.
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
