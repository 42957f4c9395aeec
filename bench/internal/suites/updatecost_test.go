package suites_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/poolswap/poolswap/bench/internal/measure"
	"github.com/poolswap/poolswap/internal/stripe"
)

func TestUpdateIsTakenApart(t *testing.T) {
	config := measure.Config{Time: 2 * time.Millisecond, Shrink: 1}
	for _, rival := range []string{"PoolSwap", "Portable"} {
		few := sample(t, "update", "readers=none/procs=2", rival, config)
		many := sample(t, "update", "readers=none/procs=256", rival, config)
		for _, got := range []measure.Sample{few, many} {
			if got.Values["ns/op"] <= 0 || got.Values["sum-ns"] <= 0 || got.Values["turns-ns"] <= 0 {
				t.Errorf("%s: %v", rival, got.Values)
			}
			if fence, ok := got.Values["fence-ns"]; ok != (rival == "PoolSwap" && stripe.Asymmetric()) || ok && fence <= 0 {
				t.Errorf("%s: a fence takes %v ns (there: %v)", rival, fence, ok)
			}
		}
		if few.Values["stripes"] < float64(runtime.NumCPU()+1) || many.Values["stripes"] < 257 || few.Values["stripes"] > many.Values["stripes"] {
			t.Errorf("%s: %v and %v stripes", rival, few.Values["stripes"], many.Values["stripes"])
		}
	}
	if procs := runtime.GOMAXPROCS(0); procs > 128 && procs > runtime.NumCPU() {
		t.Errorf("GOMAXPROCS is left at %d", procs)
	}
}
