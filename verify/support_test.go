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

// tb is the common part of *testing.T and *rapid.T that the tests use.
type tb interface {
	Helper()
	Logf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// patience turns a hang into a failure. It shrinks after the first hang, so that
// rapid can shorten a failing sequence in reasonable time.
var patience atomic.Int64

func init() { patience.Store(int64(10 * time.Second)) }

// eventually waits until done returns true, and returns false if it takes too
// long.
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

// forEachMode runs a suite in each counting mode. A build without plain counting
// runs it in the portable mode twice.
func forEachMode(t *testing.T, suite func(t *testing.T, portable bool)) {
	t.Run("default counters", func(t *testing.T) { suite(t, false) })
	t.Run("portable counters", func(t *testing.T) { suite(t, true) })
}

// withProcs sets GOMAXPROCS until the test ends.
func withProcs(t *testing.T, n int) {
	was := runtime.GOMAXPROCS(n)
	t.Cleanup(func() { runtime.GOMAXPROCS(was) })
}

// goroutine returns the ID of the calling goroutine. IDs are never reused.
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
	panicked any  // the value of its panic
	exited   bool // it called runtime.Goexit
}

// onAnother runs fn on a new goroutine and returns how it ended.
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
