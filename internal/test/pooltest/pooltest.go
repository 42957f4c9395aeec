// Package pooltest has the helpers that the library's tests share. Only tests
// import it.
package pooltest

import (
	"bytes"
	"fmt"
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
	"github.com/poolswap/poolswap/internal/test/machine"
)

// ForEachMode runs a suite once in each counting mode, and in a build with
// assembly once more in each without it. If this build or this kernel cannot
// count plainly, both modes are portable.
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

// PanicOf calls fn and returns the text of its panic. It fails the test if fn
// returns.
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

// WithoutAddress removes the address of the object from a panic text.
func WithoutAddress(text string) string { return address.ReplaceAllString(text, "") }

// WantPanic fails the test unless fn panics with exactly want. The address of
// the object is removed before the comparison.
func WantPanic(t *testing.T, want string, fn func()) {
	t.Helper()
	if got := WithoutAddress(PanicOf(t, fn)); got != want {
		t.Errorf("panic text\n got: %s\nwant: %s", got, want)
	}
}

// Eventually waits until done returns true, for an effect of another goroutine
// or of the garbage collector. The limit only turns a hang into a failure.
func Eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	limit := time.Now().Add(time.Minute)
	for !done() {
		if time.Now().After(limit) {
			t.Fatalf("timed out waiting until %s", what)
		}
		runtime.Gosched()
	}
}

// Settled waits until no object awaits its reset or is being reset, and until
// the stats add up and no longer change. Then every object is current, held by
// readers, a spare, or one of the inHand objects that the test got and has not
// released. It does not work for a pool with objects in the overflow.
func Settled[T any, P poolswap.Object[T]](t *testing.T, pool *poolswap.Pool[T, P], inHand int) (s poolswap.Stats) {
	t.Helper()
	settled := false
	defer func() {
		if !settled {
			t.Logf("the stats: %+v", s)
		}
	}()
	Eventually(t, "every object is accounted for", func() bool {
		last := s
		s = pool.Stats()
		settled = Same(s, last) && s.PendingReset == 0 && s.Live == s.Current+s.Retired+s.Spares+inHand &&
			s.Live == int(s.Created+s.Adopted-s.Discarded-s.Lost-s.Collected)
		return settled
	})
	return s
}

// Same reports whether two Stats differ in nothing but how long ago something
// happened.
func Same(a, b poolswap.Stats) bool {
	a.OldestRetired, b.OldestRetired = 0, 0
	return reflect.DeepEqual(a, b)
}

// CopyOf returns a copy of obj, made so that go vet does not report it.
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

// OnAnother runs fn on another goroutine and waits until it has returned,
// panicked or called runtime.Goexit. It returns the number of that goroutine
// and the value of the panic.
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

// Reports collects the errors that Options.Report receives.
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

// All returns the reported errors.
func (r *Reports) All() []error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]error(nil), r.received...)
}

// String returns the texts of the reported errors, one a line.
func (r *Reports) String() string {
	var texts []string
	for _, err := range r.All() {
		texts = append(texts, err.Error())
	}
	return strings.Join(texts, "\n")
}

// Skip skips a test that this build or this machine cannot run. If
// POOLSWAP_NO_SKIP is set, as in `make ci`, it fails the test in a build that
// can count plainly: without membarrier the tests would pass and nothing would
// be counted that way.
func Skip(t *testing.T, why ...any) {
	t.Helper()
	if seam.CanCountPlain {
		machine.Lacks(t, why...)
	}
	t.Skip(why...)
}
