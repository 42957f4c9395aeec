package poolswap_test

import (
	"bytes"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/poolswap/poolswap"
)

// everyWay runs a suite once for each way of counting, and, where there is
// assembly, once more for each without it. In a build that never counts plainly
// the first way is the portable one too.
func everyWay(t *testing.T, suite func(t *testing.T, options poolswap.Options[table])) {
	t.Helper()
	for _, portable := range []bool{false, true} {
		name := "counting as the build does"
		if portable {
			name = "counting the portable way"
		}
		options := poolswap.Options[table]{Portable: portable}
		t.Run(name, func(t *testing.T) { suite(t, options) })
		if poolswap.HasAssembly() {
			t.Run(name+" without assembly", func(t *testing.T) {
				t.Cleanup(poolswap.WithoutAssembly())
				suite(t, options)
			})
		}
	}
}

// panicOf calls fn and returns the text that it panicked with, or fails the
// test if fn returns.
func panicOf(t *testing.T, fn func()) (text string) {
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

// wantPanic fails the test unless fn panics with exactly want.
func wantPanic(t *testing.T, want string, fn func()) {
	t.Helper()
	if got := panicOf(t, fn); got != want {
		t.Errorf("panic text\n got: %s\nwant: %s", got, want)
	}
}

// eventually waits for what another goroutine or the garbage collector will
// do. The limit only turns a hang into a failure.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	limit := time.Now().Add(time.Minute)
	for !done() {
		if time.Now().After(limit) {
			t.Fatalf("waited in vain until %s", what)
		}
		runtime.Gosched()
	}
}

// settled waits until no object awaits its reset or is being reset, so that
// every object is current, held by readers, a spare, or one of inHand that the
// test got and has not given back; and until the accounts add up and stand
// still. It serves pools that have nothing in the overflow.
func settled[T any, P poolswap.Object[T]](t *testing.T, pool *poolswap.Pool[T, P], inHand int) (s poolswap.Stats) {
	t.Helper()
	stands := false
	defer func() {
		if !stands {
			t.Logf("the accounts: %+v", s)
		}
	}()
	eventually(t, "every object is accounted for", func() bool {
		last := s
		s = pool.Stats()
		stands = s == last && s.Awaiting == 0 && s.Live == s.Current+s.Retired+s.Spares+inHand &&
			s.Live == int(s.Created+s.Adopted-s.Discarded-s.Lost-s.Collected)
		return stands
	})
	return s
}

// copyOf returns a copy of obj that go vet does not see being made.
func copyOf[T any](obj *T) *T {
	dup := new(T)
	reflect.ValueOf(dup).Elem().Set(reflect.ValueOf(obj).Elem())
	return dup
}

// goroutine returns the number of the calling goroutine.
func goroutine() string {
	buf := make([]byte, 64)
	buf = buf[:runtime.Stack(buf, false)]
	id, _, _ := bytes.Cut(bytes.TrimPrefix(buf, []byte("goroutine ")), []byte(" "))
	return string(id)
}

// onAnother runs fn on a goroutine of its own and waits until it has returned,
// panicked or called runtime.Goexit. It returns the number of that goroutine
// and what it panicked with.
func onAnother(fn func()) (id string, panicked any) {
	var done sync.WaitGroup
	done.Add(1)
	go func() {
		defer done.Done()
		defer func() { panicked = recover() }()
		id = goroutine()
		fn()
	}()
	done.Wait()
	return id, panicked
}

// reports collects what Options.Report is told.
type reports struct {
	mu   sync.Mutex
	told []error
}

func (r *reports) report(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told = append(r.told, err)
}

func (r *reports) all() []error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]error(nil), r.told...)
}

func (r *reports) String() string {
	var texts []string
	for _, err := range r.all() {
		texts = append(texts, err.Error())
	}
	return strings.Join(texts, "\n")
}
