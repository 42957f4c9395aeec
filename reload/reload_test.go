package reload_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

func TestReload(t *testing.T) {
	t.Parallel()
	var seen []reload.Outcome
	r, c, fake := faked(reload.Options{Observe: func(e reload.Event) { seen = append(seen, e.Outcome) }})
	push(fake, "one")
	succeeds(t, r, c, "one")
	succeeds(t, r, c, "one")
	push(fake, "two")
	succeeds(t, r, c, "two")
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

func TestReloadSameBytes(t *testing.T) {
	t.Parallel()
	c, _ := newTexts()
	fake := new(reloadtest.Fake)
	source := &dated{Source: fake, modified: time.Unix(1000, 0)}
	r := reload.New(c, source, load, reload.Options{Logger: quiet})
	push(fake, "one")
	succeeds(t, r, c, "one")
	source.modified = time.Unix(2000, 0)
	push(fake, "one")
	succeeds(t, r, c, "one")
	if s := r.Status(); c.Version() != 1 || s.Version != 1 || s.Revision != "2" || s.Swaps != 1 || s.Modified.Unix() != 2000 {
		t.Errorf("version %d, status %+v", c.Version(), s)
	}
	if _, err := c.Publish(t.Context(), func(next, _ *text) error { next.value = []byte("foreign"); return nil }); err != nil {
		t.Fatal(err)
	}
	push(fake, "one")
	succeeds(t, r, c, "one") // it is not current any more, so it is published
}

func TestReloadAfterFailure(t *testing.T) {
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
func TestReloadReadsToTheEnd(t *testing.T) {
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

// A load that takes no notice of its ctx publishes nothing once that has ended.
func TestReloadCancelled(t *testing.T) {
	t.Parallel()
	fake := new(reloadtest.Fake)
	c, _ := newTexts()
	ctx, cancel := context.WithCancel(t.Context())
	r := reload.New(c, fake, func(ctx context.Context, next, current *text, content *reload.Content) error {
		err := load(ctx, next, current, content)
		cancel()
		return err
	}, reload.Options{Logger: quiet})
	push(fake, "good")
	if err := r.Reload(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Reload returned %v", err)
	}
	is(t, c, "")
	succeeds(t, r, c, "good")
}

func TestReloadWaitsForObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, fake, c := limited()
		push(fake, "one")
		succeeds(t, r, c, "one")
		held := c.Acquire()
		push(fake, "two")
		succeeds(t, r, c, "two")
		push(fake, "three")
		if failure := failsWith(t, r, reload.Publishing); failure.Refused || !errors.Is(failure, poolswap.ErrLimit) {
			t.Errorf("the error is %v", failure)
		}
		if s := r.Status(); s.Held() == nil || s.Held().References != 1 || !slices.Equal(s.Held().Versions, []uint64{1}) {
			t.Errorf("held: %v", s.Held())
		}
		c.Release(held)
		succeeds(t, r, c, "three")
		if s := r.Status(); s.Held() != nil || s.Err == nil { // Held is of attempts that fail now
			t.Errorf("held: %v; the last error is %v", s.Held(), s.Err)
		}
	})
}

func TestReloadLogs(t *testing.T) {
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

// A Source that breaks its contract is told so, by those around it, too.
func TestReloadWithoutContent(t *testing.T) {
	t.Parallel()
	sums := new(reloadtest.Fake)
	push(sums, "%x", sumOf("content"))
	for what, content := range map[string]*reload.Content{
		"neither content nor an error": nil, "content without a Body": {},
	} {
		none := sourceFunc(func(context.Context, string) (*reload.Content, error) { return content, nil })
		for name, source := range map[string]reload.Source{
			"a cache":       reload.Cache(none, t.TempDir()),
			"a check":       reload.VerifySHA256(none, sums),
			"a check's sum": reload.VerifySHA256(sums, none),
		} {
			r := reload.New(poolswap.NewEmptyContainer(poolswap.NewPool(func() *text { return new(text) }, nil)), source, load, reload.Options{Logger: quiet})
			if failure := failsWith(t, r, reload.Fetching); !strings.Contains(failure.Error(), what) || errors.As(failure, new(*poolswap.HookPanicError)) {
				t.Error(fmt.Sprint(name, ": ", failure.Error())[:100])
			}
		}
	}
}

// ErrNotModified for no revision would make Reload say that the newest content is
// loaded, while nothing is.
func TestReloadNotModifiedUnasked(t *testing.T) {
	t.Parallel()
	c, _ := newTexts()
	r := reload.New(c, sourceFunc(func(context.Context, string) (*reload.Content, error) { return nil, reload.ErrNotModified }), load, reload.Options{Logger: quiet})
	failure := failsWith(t, r, reload.Fetching)
	if s := r.Status(); s.State() != "failing" || !strings.Contains(failure.Error(), "ErrNotModified for no revision") {
		t.Errorf("Reload returned %v, the state is %s", failure, s.State())
	}
}

func TestCheckLoss(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		before, after int
		most          float64
		want          string
	}{
		{0, 0, 0.5, ""},
		{0, 10, 0, ""},
		{10, 20, 0, ""},
		{10, 10, 0, ""},
		{10, 5, 0.5, ""},
		{10, 4, 0.5, "4 of 10 rows are left, more than 50 % lost: was the table cut short?"},
		{10, 9, 0, "9 of 10 rows are left, more than 0 % lost: was the table cut short?"},
		{1000, 0, 0.125, "0 of 1000 rows are left, more than 12.5 % lost: was the table cut short?"},
		{1000, 0, 1, ""},
	} {
		got := ""
		if err := reload.CheckLoss(test.before, test.after, test.most); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("CheckLoss(%d, %d, %g) is %q, want %q", test.before, test.after, test.most, got, test.want)
		}
	}
}

func TestFailuresByStage(t *testing.T) {
	t.Parallel()
	content := func(body io.Reader, size int64) func() (*reload.Content, error) {
		return func() (*reload.Content, error) {
			return &reload.Content{Revision: "1", Size: size, Body: io.NopCloser(body)}, nil
		}
	}
	of := func(text string) func() (*reload.Content, error) {
		return func() (*reload.Content, error) { return content(strings.NewReader(text), -1)() }
	}
	const refused, again = 1, 4 // fetches
	for name, test := range map[string]struct {
		fetches int
		fetch   func() (*reload.Content, error)
	}{
		"the source fails":                  {again, func() (*reload.Content, error) { return nil, errBad }},
		"the source panics":                 {again, func() (*reload.Content, error) { panic("nil map") }},
		"reading fails":                     {again, content(iotest.ErrReader(errBad), -1)},
		"the body is too short":             {again, func() (*reload.Content, error) { return content(strings.NewReader("ab"), 3)() }},
		"the body is too long":              {again, func() (*reload.Content, error) { return content(strings.NewReader("abcd"), 3)() }},
		"load fails":                        {refused, of("bad")},
		"load panics":                       {refused, of("panic")},
		"the body exceeds MaxBytes":         {refused, of("more than ten")},
		"the announcement exceeds MaxBytes": {refused, content(strings.NewReader(""), 11)},
		"load returns a Retryable error":    {again, of("temporary")},
		"the content is not verified": {again, func() (*reload.Content, error) {
			c, err := of("abc")()
			c.Verify = func([32]byte) error { return errBad }
			return c, err
		}},
		"content to verify exceeds MaxBytes": {again, func() (*reload.Content, error) {
			c, err := of("more than ten")()
			c.Verify = func([32]byte) error { return nil }
			return c, err
		}},
		"content to verify is announced to exceed it": {again, func() (*reload.Content, error) {
			c, err := content(strings.NewReader(""), 11)()
			c.Verify = func([32]byte) error { return nil }
			return c, err
		}},
	} {
		c, _ := newTexts()
		if got := fetchesOf(t, c, loadOrTemporary, test.fetch); got != test.fetches {
			t.Errorf("%s: %d fetches in four attempts, want %d", name, got, test.fetches)
		}
	}
	synctest.Test(t, func(t *testing.T) { // each attempt waits for an object
		pool := poolswap.NewPoolWithOptions(func() *text { return new(text) }, nil, poolswap.Options[text]{MaxLive: 1})
		if got := fetchesOf(t, poolswap.NewContainer(pool, pool.Get()), load, of("abc")); got != again {
			t.Errorf("without an object: %d fetches in four attempts", got)
		}
	})
	c, pool := newTexts()
	conflict := func(context.Context, *text, *text, *reload.Content) error {
		c.Update(pool.Get())
		return nil
	}
	if got := fetchesOf(t, c, conflict, of("abc")); got != again {
		t.Errorf("after a conflict with an Update: %d fetches in four attempts", got)
	}
}

// fetchesOf makes four attempts at one revision that fails, and returns how often
// it was fetched.
func fetchesOf(t *testing.T, c *texts, load func(context.Context, *text, *text, *reload.Content) error, fetch func() (*reload.Content, error)) (fetches int) {
	t.Helper()
	r := reload.New(c, sourceFunc(func(_ context.Context, have string) (*reload.Content, error) {
		if have == "1" {
			return nil, reload.ErrNotModified
		}
		fetches++
		return fetch()
	}), load, reload.Options{Logger: quiet, MaxBytes: 10})
	for range 4 {
		if err := r.Reload(t.Context()); err == nil {
			t.Error("Reload returned nil")
		}
	}
	return fetches
}

// loadOrTemporary is load, with an error that is temporary.
func loadOrTemporary(ctx context.Context, next, current *text, content *reload.Content) error {
	err := load(ctx, next, current, content)
	if string(next.value) == "temporary" {
		err = reload.Retryable(errBad)
	}
	return err
}
