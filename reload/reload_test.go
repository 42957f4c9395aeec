package reload_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

func TestReloadPublishesWhatIsNew(t *testing.T) {
	t.Parallel()
	var seen []reload.Outcome
	r, c, fake := faked(reload.Options{Observe: func(e reload.Event) { seen = append(seen, e.Outcome) }})
	push(fake, "one")
	for range 2 {
		if err := r.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		is(t, c, "one")
	}
	push(fake, "two")
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	is(t, c, "two")
	if want := []reload.Outcome{reload.Loaded, reload.NotModified, reload.Loaded}; !slices.Equal(seen, want) {
		t.Errorf("the outcomes are %v, want %v", seen, want)
	}
	s := r.Status()
	if s.Source != "fake" || s.Revision != "2" || s.Version != c.Version() || s.Size != 3 || s.Swaps != 2 || s.Attempts != 3 || s.Failures != 0 || s.Err != nil {
		t.Errorf("the status is %+v", s)
	}
	if s.Loaded.IsZero() || s.Checked.Before(s.Loaded) || s.Age() <= 0 {
		t.Errorf("loaded %v, checked %v, age %v", s.Loaded, s.Checked, s.Age())
	}
}

func TestTheSameBytesUnderANewRevisionAreNotPublished(t *testing.T) {
	t.Parallel()
	r, c, fake := faked(reload.Options{})
	push(fake, "one")
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	version := c.Version()
	push(fake, "one")
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if c.Version() != version || r.Status().Revision != "2" || r.Status().Swaps != 1 {
		t.Errorf("version %d became %d, status %+v", version, c.Version(), r.Status())
	}
	if _, err := c.Publish(t.Context(), func(next, _ *text) error { next.value = []byte("foreign"); return nil }); err != nil {
		t.Fatal(err)
	}
	push(fake, "one")
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	is(t, c, "one") // it is not current any more, so it is published
}

func TestContentThatLoadRefusesIsNotFetchedAgain(t *testing.T) {
	t.Parallel()
	r, c, fake := faked(reload.Options{})
	push(fake, "good")
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	push(fake, "bad")
	var failure *reload.Error
	if err := r.Reload(t.Context()); !errors.As(err, &failure) || !errors.Is(err, errBad) || !failure.Refused || failure.Stage != reload.Loading {
		t.Fatalf("the error is %+v", err)
	}
	is(t, c, "good")
	for range 3 { // the fake says that it was not modified
		if err := r.Reload(t.Context()); !errors.Is(err, errBad) {
			t.Fatalf("the error is %v, want that of the refusal", err)
		}
	}
	if fake.Open() != 0 {
		t.Error("a body is open")
	}
	s := r.Status()
	if s.Refused != "2" || s.Revision != "1" || s.Failures != 1 || !errors.Is(s.Err, errBad) {
		t.Errorf("the status is %+v", s)
	}
	push(fake, "good again")
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	is(t, c, "good again")
	if s := r.Status(); s.Refused != "" || s.Failures != 0 {
		t.Errorf("the status is %+v", s)
	}
}

func TestAFailedReadIsTriedAgain(t *testing.T) {
	t.Parallel()
	broken := errors.New("connection reset")
	for name, fail := range map[string]func(*reloadtest.Fake){
		"a Fetch that fails":      func(fake *reloadtest.Fake) { fake.Fail(broken) },
		"a body that breaks":      func(fake *reloadtest.Fake) { fake.Truncate(2, broken) },
		"a body that is short":    func(fake *reloadtest.Fake) { fake.Truncate(2, nil) },
		"a body that breaks late": func(fake *reloadtest.Fake) { fake.Truncate(7, broken) },
	} {
		t.Run(name, func(t *testing.T) {
			r, c, fake := faked(reload.Options{})
			push(fake, "content!")
			fail(fake)
			var failure *reload.Error
			err := r.Reload(t.Context())
			if !errors.As(err, &failure) || failure.Refused || !errors.Is(err, broken) && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("the error is %+v", err)
			}
			is(t, c, "")
			if fake.Open() != 0 {
				t.Errorf("%d bodies are open", fake.Open())
			}
			fake.Truncate(-1, nil)
			fetches := fake.Fetches()
			if err := r.Reload(t.Context()); (err == nil) != (name != "a Fetch that fails") {
				t.Fatal(err)
			}
			if fake.Fetches() != fetches+1 {
				t.Error("it was not fetched again")
			}
		})
	}
}

// A decoder that stops early must not keep the rest from being checked.
func TestTheRestOfTheBodyIsReadBeforePublication(t *testing.T) {
	t.Parallel()
	c, _ := newTexts()
	fake := new(reloadtest.Fake)
	r := reload.New(c, fake, func(_ context.Context, next, _ *text, content *reload.Content) error {
		next.value = make([]byte, 2)
		_, err := io.ReadFull(content.Body, next.value)
		return err
	}, reload.Options{Logger: quiet})
	push(fake, "12345678")
	fake.Truncate(4, nil)
	if err := r.Reload(t.Context()); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the error is %v", err)
	}
	is(t, c, "")
	fake.Truncate(-1, nil)
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	is(t, c, "12")
}

func TestAPanicOfLoadIsAnErrorWithItsStack(t *testing.T) {
	t.Parallel()
	r, c, fake := faked(reload.Options{})
	push(fake, "panic")
	var panicked *reload.PanicError
	if err := r.Reload(t.Context()); !errors.As(err, &panicked) || panicked.Value != "no such column" || !strings.Contains(string(panicked.Stack), "reload_test.load") {
		t.Fatalf("the error is %v", err)
	}
	push(fake, "good")
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	is(t, c, "good")
}

func TestContentLargerThanMaxBytesIsRefused(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int64{"announced": 11, "not announced": -1} {
		t.Run(name, func(t *testing.T) {
			c, _ := newTexts()
			r := reload.New(c, sourceFunc(func(context.Context, string) (*reload.Content, error) {
				return &reload.Content{Revision: "r", Size: size, Body: io.NopCloser(strings.NewReader("01234567890"))}, nil
			}), load, reload.Options{MaxBytes: 10, Logger: quiet})
			var failure *reload.Error
			if err := r.Reload(t.Context()); !errors.As(err, &failure) || !failure.Refused || failure.Stage != reload.Reading {
				t.Errorf("the error is %v", err)
			}
			is(t, c, "")
		})
	}
}

// sourceFunc is a Source that is a function.
type sourceFunc func(ctx context.Context, have string) (*reload.Content, error)

func (f sourceFunc) Fetch(ctx context.Context, have string) (*reload.Content, error) {
	return f(ctx, have)
}

func TestAnAttemptWaitsForAnObjectAndSaysWhoHoldsIt(t *testing.T) {
	synctest.Test(t, testObjectWait)
}

func testObjectWait(t *testing.T) {
	pool := poolswap.NewPoolWithOptions(func() *text { return new(text) }, nil, poolswap.Options[text]{MaxLive: 2})
	c := poolswap.NewEmptyContainer(pool)
	fake := new(reloadtest.Fake)
	r := reload.New(c, fake, load, reload.Options{ObjectWait: time.Minute, Logger: quiet})
	push(fake, "one")
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	held := c.Acquire()
	push(fake, "two")
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	push(fake, "three")
	var failure *reload.Error
	err := r.Reload(t.Context())
	if !errors.As(err, &failure) || failure.Refused || failure.Stage != reload.Publishing || !errors.Is(err, poolswap.ErrLimit) {
		t.Fatalf("the error is %v", err)
	}
	s := r.Status()
	if s.Held() == nil || s.Held().References != 1 || !slices.Equal(s.Held().Versions, []uint64{1}) {
		t.Errorf("held: %v", s.Held())
	}
	c.Release(held)
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	is(t, c, "three")
}

func TestLogs(t *testing.T) {
	t.Parallel()
	lines := new(logs)
	r, _, fake := faked(reload.Options{Logger: lines.logger(slog.LevelDebug)})
	push(fake, "one")
	for range 2 {
		if err := r.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	push(fake, "bad")
	if err := r.Reload(t.Context()); err == nil {
		t.Fatal("no error")
	}
	want := []string{
		`level=INFO msg="reload: loaded" source=fake revision=1 version=1 bytes=3`,
		`level=DEBUG msg="reload: not modified" source=fake version=1`,
		`level=WARN msg="reload: failed" source=fake error="reload: fake: revision \"2\": load: bad row 3 (version 1 stays; not tried again until the revision changes)" failures=1`,
	}
	if got := lines.all(); !slices.Equal(got, want) {
		t.Errorf("the log is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
