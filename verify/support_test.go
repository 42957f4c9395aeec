package verify_test

import (
	"bytes"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// tb is what the tests need of a *testing.T or a *rapid.T.
type tb interface {
	Helper()
	Logf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// patience only turns a hang into a failure. Once it has run out there is less
// of it, so that a failing sequence can be made shorter in finite time.
var patience atomic.Int64

func init() { patience.Store(int64(10 * time.Second)) }

// eventually waits for what another goroutine or the garbage collector will
// do, and reports whether it did.
func eventually(done func() bool) bool {
	limit := time.Now().Add(time.Duration(patience.Load()))
	for !done() {
		if time.Now().After(limit) {
			patience.Store(int64(time.Second))
			return false
		}
		runtime.Gosched()
	}
	return true
}

// bothWays runs a suite once for each way of counting. In a build that has no
// plain counting the first way is the portable one too.
func bothWays(t *testing.T, suite func(t *testing.T, portable bool)) {
	t.Run("counting as the build does", func(t *testing.T) { suite(t, false) })
	t.Run("counting the portable way", func(t *testing.T) { suite(t, true) })
}

// withProcs sets GOMAXPROCS until the test ends.
func withProcs(t *testing.T, n int) {
	was := runtime.GOMAXPROCS(n)
	t.Cleanup(func() { runtime.GOMAXPROCS(was) })
}

// goroutine returns the number of the calling goroutine. Numbers are never
// used again.
func goroutine() uint64 {
	buf := make([]byte, 64)
	buf = buf[:runtime.Stack(buf, false)]
	text, _, _ := bytes.Cut(bytes.TrimPrefix(buf, []byte("goroutine ")), []byte(" "))
	id, err := strconv.ParseUint(string(text), 10, 64)
	if err != nil {
		panic(err)
	}
	return id
}

// outcome is how a call ended.
type outcome struct {
	panicked any  // what it panicked with
	exited   bool // it called runtime.Goexit
}

// onAnother runs fn on a goroutine of its own and returns how it ended.
func onAnother(fn func()) outcome {
	out := outcome{exited: true}
	var done sync.WaitGroup
	done.Add(1)
	go func() {
		defer done.Done()
		defer func() {
			if value := recover(); value != nil {
				out = outcome{panicked: value}
			}
		}()
		fn()
		out.exited = false
	}()
	done.Wait()
	return out
}
