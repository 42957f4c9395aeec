//go:build poolswapsched

package seam_test

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/poolswap/poolswap/internal/seam"
)

// idleMachine is a Machine that is installed and never called.
type idleMachine struct{ seam.Machine }

func TestACleanupWaitsUntilTheMachineIsRemoved(t *testing.T) {
	var cleaned atomic.Bool
	obj := new([64]byte)
	seam.AddCleanup(obj, func(at *atomic.Bool) { at.Store(true) }, &cleaned)
	seam.Install(idleMachine{})
	for range 10 {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	if cleaned.Load() {
		t.Error("a cleanup ran while a Machine was installed")
	}
	seam.Install(nil)
	for range 1000 {
		if cleaned.Load() {
			return
		}
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	t.Error("the cleanup did not run after the Machine was removed")
}

func TestInstallWaitsForWhatGoStarted(t *testing.T) {
	var ended atomic.Bool
	release := make(chan struct{})
	seam.Go(func() {
		<-release
		ended.Store(true)
	})
	time.AfterFunc(10*time.Millisecond, func() { close(release) })
	seam.Install(idleMachine{})
	defer seam.Install(nil)
	if !ended.Load() {
		t.Error("a goroutine was under way when a Machine was installed")
	}
}
