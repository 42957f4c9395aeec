package refcount_test

import (
	"runtime"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/refcount"
	"github.com/poolswap/poolswap/internal/test/buildflag"
)

func TestStatsTellWhichReadPathRunsAndWhy(t *testing.T) {
	const unknown = "methods (the assembly does not know this build of the Go runtime)"
	want := "assembly"
	switch {
	case buildflag.Tag("purego"):
		want = "methods (build tag purego)"
	case buildflag.Tag("poolswapsched"):
		want = "methods (build tag poolswapsched)"
	case runtime.GOOS != "linux" || runtime.GOARCH != "amd64":
		want = "methods (no assembly for " + runtime.GOOS + "/" + runtime.GOARCH + ")"
	case buildflag.Race():
		want = "methods (race detector)"
	case !buildflag.Optimized():
		want = unknown
	}
	path := func() string { return newTablePool(poolswap.Options[table]{}).Stats().Reads.Path }
	if got := path(); got != want {
		t.Errorf("ReadPath is %q, want %q", got, want)
	}
	if want == "assembly" {
		restore := refcount.DisableAsm()
		if got := path(); got != unknown {
			t.Errorf("without the assembly ReadPath is %q, want %q", got, unknown)
		}
		restore()
		if got := path(); got != want {
			t.Errorf("with the assembly again ReadPath is %q, want %q", got, want)
		}
	}
}
