//go:build poolswapsched

package seam_test

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/poolswap/poolswap/internal/seam"
)

// bystander is a Machine of which only the presence matters.
type bystander struct{ seam.Machine }

func TestACleanupWaitsUntilTheMachineIsGone(t *testing.T) {
	var cleaned atomic.Bool
	obj := new([64]byte)
	seam.AddCleanup(obj, func(at *atomic.Bool) { at.Store(true) }, &cleaned)
	seam.Install(bystander{})
	for range 10 {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	if cleaned.Load() {
		t.Error("a cleanup ran beside a Machine")
	}
	seam.Install(nil)
	for range 1000 {
		if cleaned.Load() {
			return
		}
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	t.Error("the cleanup did not run when the Machine was gone")
}
