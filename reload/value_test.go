package reload_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap/internal/test/pooltest"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// decode refuses content that begins with "bad" and panics for "panic".
func decode(_ context.Context, content *reload.Content) (*string, error) {
	all, err := io.ReadAll(content.Body)
	value := string(all)
	switch {
	case strings.HasPrefix(value, "bad"):
		return &value, errBad
	case strings.HasPrefix(value, "panic"):
		panic("no such column")
	}
	return &value, err
}

func newValue(options reload.Options) (*reload.Value[*string], *reloadtest.Fake) {
	fake := new(reloadtest.Fake)
	options.Logger = quiet
	return reload.NewValue(fake, decode, options), fake
}

// has fails unless v has that value, and a version.
func has(t *testing.T, v *reload.Value[*string], want string, version uint64) {
	t.Helper()
	got, number := v.Load()
	if got == nil || *got != want || number != version || v.Status().Version != version {
		t.Errorf("version %d is %v, want %q as version %d; the status: %+v", number, got, want, version, v.Status())
	}
}

func TestValueIsReplacedByGoodContentAlone(t *testing.T) {
	v, fake := newValue(reload.Options{})
	if value, version := v.Load(); value != nil || version != 0 {
		t.Errorf("before the first content there is version %d, %v", version, value)
	}
	push(fake, "one")
	if err := v.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	has(t, v, "one", 1)
	for _, content := range []string{"bad", "panic"} {
		push(fake, "%s", content)
		if err := failsWith(t, v.Reloader, reload.Loading); !err.Refused || err.Current != 1 {
			t.Errorf("%q: %+v", content, err)
		}
		has(t, v, "one", 1)
	}
	push(fake, "one") // under a new revision
	if err := v.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	has(t, v, "one", 1)
	push(fake, "two")
	if err := v.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	has(t, v, "two", 2)
	if sum := v.Status().SHA256; sum != digest("two") {
		t.Errorf("the status has the digest %q", sum)
	}
}

// A value that is decoded when ctx ends is not published.
func TestValueWhoseAttemptIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	v := reload.NewValue(given("1", 3, "one"), func(context.Context, *reload.Content) (int, error) {
		cancel()
		return 17, nil
	}, reload.Options{Logger: quiet})
	if err := v.Reload(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if value, version := v.Load(); value != 0 || version != 0 {
		t.Errorf("version %d is %d", version, value)
	}
}

func TestValueWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, fake := newValue(reload.Options{Every: time.Minute})
		ctx, cancel := context.WithCancel(t.Context())
		var waiting sync.WaitGroup
		waiting.Go(func() {
			if err := v.Run(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("Run returned %v", err)
			}
		})
		for range 2 {
			waiting.Go(func() {
				for after := range uint64(3) {
					if version, err := v.Wait(ctx, after); version != after+1 || err != nil {
						t.Errorf("after version %d comes %d, %v", after, version, err)
					}
				}
				if version, err := v.Wait(ctx, 3); version != 0 || !errors.Is(err, context.Canceled) {
					t.Errorf("after the end comes %d, %v", version, err)
				}
			})
		}
		for i := range 3 {
			synctest.Wait()
			push(fake, "value %d", i)
			time.Sleep(2 * time.Minute)
		}
		has(t, v, "value 2", 3)
		cancel()
		waiting.Wait()
		if version, err := v.Wait(ctx, 2); version != 3 || err != nil {
			t.Errorf("a version that is there already: %d, %v", version, err)
		}
	})
}

// A reader gets whole values, and versions that only grow.
func TestValueUnderReaders(t *testing.T) {
	v, fake := newValue(reload.Options{})
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for last := uint64(0); ; {
				select {
				case <-done:
					return
				default:
				}
				value, version := v.Load()
				if version < last || version > 0 && *value != fmt.Sprint("value ", version) {
					t.Errorf("version %d after %d is %v", version, last, value)
				}
				last = version
			}
		})
	}
	for version := range uint64(200) {
		push(fake, "value %d", version+1)
		if err := v.Reload(t.Context()); err != nil {
			t.Error(err)
		}
		if got, err := v.Wait(t.Context(), version); got != version+1 || err != nil {
			t.Errorf("version %d, %v", got, err)
		}
	}
	close(done)
	readers.Wait()
}

func TestValueAllocatesNothingForReaders(t *testing.T) {
	v, fake := newValue(reload.Options{})
	push(fake, "one")
	if err := v.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { v.Load() }); n != 0 {
		t.Errorf("a Load allocates %v times", n)
	}
}

// The collector takes an old value that no reader has any more, and no other.
func TestValueIsCollected(t *testing.T) {
	v, fake := newValue(reload.Options{})
	push(fake, "one")
	if err := v.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	collected := make(chan struct{})
	old, _ := v.Load()
	runtime.AddCleanup(old, func(struct{}) { close(collected) }, struct{}{})
	push(fake, "two")
	if err := v.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	if *old != "one" {
		t.Errorf("a reader's value became %q", *old)
	}
	old = nil
	pooltest.Eventually(t, "the old value is collected", func() bool {
		runtime.GC()
		select {
		case <-collected:
			return true
		default:
			return false
		}
	})
}

func TestValueLoadsKeptContentFirst(t *testing.T) {
	dir := t.TempDir()
	cached := func(source reload.Source) *reload.Value[*string] {
		return reload.NewValue(reload.Cache(named{source, "table"}, dir), decode, reload.Options{Logger: quiet})
	}
	fake := new(reloadtest.Fake)
	push(fake, "one")
	if err := cached(fake).Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	fake = new(reloadtest.Fake)
	fake.Fail(errors.New("down"))
	v := cached(fake)
	if err := v.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	has(t, v, "one", 1)
	if v.Status().State() != reload.Stale {
		t.Errorf("the state is %s", v.Status().State())
	}
}

func TestMistakesOfValuesPanic(t *testing.T) {
	source := given("1", 3, "one")
	pooltest.WantPanic(t, "reload: NewValue with a nil Source", func() { reload.NewValue(nil, decode, reload.Options{}) })
	pooltest.WantPanic(t, "reload: NewValue with a nil decode", func() { reload.NewValue[int](source, nil, reload.Options{}) })
	pooltest.WantPanic(t, "reload: NewValue with a negative Every, MaxBackoff, MaxRetryAfter, ObjectWait or MaxBytes", func() { reload.NewValue(source, decode, reload.Options{Every: -1}) })
	v, _ := newValue(reload.Options{})
	var none context.Context
	pooltest.WantPanic(t, "reload: Wait with a nil Context", func() { v.Wait(none, 0) })
}
