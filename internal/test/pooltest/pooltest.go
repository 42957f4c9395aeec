// Package pooltest has what the tests of the library share. Only tests import it.
package pooltest

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/refcount"
	"github.com/poolswap/poolswap/internal/seam"
)

// ForEachMode runs a suite once in each counting mode, and, where there is
// assembly, once more in each without it. In a build that never counts plainly
// the first mode is portable too.
func ForEachMode[T any](t *testing.T, suite func(t *testing.T, options poolswap.Options[T])) {
	t.Helper()
	for _, portable := range []bool{false, true} {
		name := "default counters"
		if portable {
			name = "portable counters"
		}
		options := poolswap.Options[T]{Portable: portable}
		t.Run(name, func(t *testing.T) { suite(t, options) })
		if refcount.UsesAsm() {
			t.Run(name+" without assembly", func(t *testing.T) {
				t.Cleanup(refcount.DisableAsm())
				suite(t, options)
			})
		}
	}
}

// PanicOf calls fn and returns the text that it panicked with, or fails the
// test if fn returns.
func PanicOf(t *testing.T, fn func()) (text string) {
	t.Helper()
	defer func() {
		t.Helper()
		value := recover()
		if value == nil {
			t.Fatal("no panic")
		}
		text = fmt.Sprint(value)
	}()
	fn()
	return ""
}

// address matches the address of an object in a panic text.
var address = regexp.MustCompile(`object 0x[0-9a-f]+, `)

// WithoutAddress returns a panic text without the address of the object.
func WithoutAddress(text string) string { return address.ReplaceAllString(text, "") }

// WantPanic fails the test unless fn panics with exactly want, which does not
// have the address of the object.
func WantPanic(t *testing.T, want string, fn func()) {
	t.Helper()
	if got := WithoutAddress(PanicOf(t, fn)); got != want {
		t.Errorf("panic text\n got: %s\nwant: %s", got, want)
	}
}

// Eventually waits for what another goroutine or the garbage collector will
// do. The limit only turns a hang into a failure.
func Eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	limit := time.Now().Add(time.Minute)
	for !done() {
		if time.Now().After(limit) {
			t.Fatalf("waited in vain until %s", what)
		}
		runtime.Gosched()
	}
}

// Settled waits until no object awaits its reset or is being reset, so that
// every object is current, held by readers, a spare, or one of inHand that the
// test got and has not given back; and until the accounts add up and stand
// still. It serves pools that have nothing in the overflow.
func Settled[T any, P poolswap.Object[T]](t *testing.T, pool *poolswap.Pool[T, P], inHand int) (s poolswap.Stats) {
	t.Helper()
	stands := false
	defer func() {
		if !stands {
			t.Logf("the accounts: %+v", s)
		}
	}()
	Eventually(t, "every object is accounted for", func() bool {
		last := s
		s = pool.Stats()
		stands = s == last && s.PendingReset == 0 && s.Live == s.Current+s.Retired+s.Spares+inHand &&
			s.Live == int(s.Created+s.Adopted-s.Discarded-s.Lost-s.Collected)
		return stands
	})
	return s
}

// CopyOf returns a copy of obj that go vet does not see being made.
func CopyOf[T any](obj *T) *T {
	dup := new(T)
	reflect.ValueOf(dup).Elem().Set(reflect.ValueOf(obj).Elem())
	return dup
}

// Goroutine returns the number of the calling goroutine.
func Goroutine() string {
	buf := make([]byte, 64)
	buf = buf[:runtime.Stack(buf, false)]
	id, _, _ := bytes.Cut(bytes.TrimPrefix(buf, []byte("goroutine ")), []byte(" "))
	return string(id)
}

// OnAnother runs fn on a goroutine of its own and waits until it has returned,
// panicked or called runtime.Goexit. It returns the number of that goroutine
// and what it panicked with.
func OnAnother(fn func()) (id string, panicked any) {
	var done sync.WaitGroup
	done.Add(1)
	go func() {
		defer done.Done()
		defer func() { panicked = recover() }()
		id = Goroutine()
		fn()
	}()
	done.Wait()
	return id, panicked
}

// Reports collects what Options.Report receives.
type Reports struct {
	mu       sync.Mutex
	received []error
}

// Report is for Options.Report.
func (r *Reports) Report(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.received = append(r.received, err)
}

// All returns what was reported.
func (r *Reports) All() []error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]error(nil), r.received...)
}

// String returns the texts of what was reported, a line each.
func (r *Reports) String() string {
	var texts []string
	for _, err := range r.All() {
		texts = append(texts, err.Error())
	}
	return strings.Join(texts, "\n")
}

// Skip skips a test for want of what this build or this machine does not have.
// With POOLSWAP_NO_SKIP, which `make ci` sets, a build that can count plainly
// fails instead: on a machine without membarrier its tests would pass with
// nothing counted that way.
func Skip(t *testing.T, why ...any) {
	t.Helper()
	if seam.CanCountPlain && os.Getenv("POOLSWAP_NO_SKIP") != "" {
		t.Fatal(append([]any{"POOLSWAP_NO_SKIP is set, but"}, why...)...)
	}
	t.Skip(why...)
}
