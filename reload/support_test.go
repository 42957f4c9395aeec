package reload_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// text is the object of most tests.
type text struct {
	poolswap.Ref
	value []byte
}

type texts = poolswap.Container[text, *text]

var errBad = errors.New("bad row 3")

// load refuses content that begins with "bad" and panics for "panic".
func load(_ context.Context, next, _ *text, content *reload.Content) error {
	all, err := io.ReadAll(content.Body)
	next.value = append(next.value[:0], all...)
	switch {
	case bytes.HasPrefix(all, []byte("bad")):
		return errBad
	case bytes.HasPrefix(all, []byte("panic")):
		panic("no such column")
	}
	return err
}

// newTexts returns an empty container, and its pool.
func newTexts() (*texts, *poolswap.Pool[text, *text]) {
	pool := poolswap.NewPool(func() *text { return new(text) }, nil)
	return poolswap.NewEmptyContainer(pool), pool
}

// current returns the value that a reader gets, or "" if the container is empty.
func current(c *texts) string {
	obj := c.Acquire()
	defer c.Release(obj)
	if obj == nil {
		return ""
	}
	return string(obj.value)
}

// logs collects log lines without their times.
type logs struct {
	mu    sync.Mutex
	lines []string
}

func (l *logs) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, strings.TrimSpace(string(line)))
	return len(line), nil
}

func (l *logs) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.lines...)
}

// logger returns a logger that writes to l.
func (l *logs) logger(level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		switch a.Key {
		case slog.TimeKey, "fetch", "load":
			return slog.Attr{}
		}
		return a
	}}))
}

// quiet is a logger that writes nothing.
var quiet = slog.New(slog.DiscardHandler)

// faked returns a Reloader of a fake source.
func faked(options reload.Options) (*reload.Reloader, *texts, *reloadtest.Fake) {
	c, pool := newTexts()
	fake := new(reloadtest.Fake)
	if options.Logger == nil {
		options.Logger = quiet
	}
	options.Stats = pool.Stats
	return reload.New(c, fake, load, options), c, fake
}

func push(fake *reloadtest.Fake, format string, args ...any) {
	fake.Push(fmt.Appendf(nil, format, args...))
}

// is fails unless readers get want.
func is(t *testing.T, c *texts, want string) {
	t.Helper()
	if got := current(c); got != want {
		t.Errorf("readers get %.40q, want %.40q", got, want)
	}
}

// failsWith calls Reload and returns its *Error, whose stage must be stage.
func failsWith(t *testing.T, r *reload.Reloader, stage reload.Stage) *reload.Error {
	t.Helper()
	var failure *reload.Error
	if err := r.Reload(t.Context()); !errors.As(err, &failure) || failure.Stage != stage {
		t.Fatalf("Reload returned %v, want an error of stage %s", err, stage)
	}
	return failure
}

// succeeds calls Reload, after which readers must get want.
func succeeds(t *testing.T, r *reload.Reloader, c *texts, want string) {
	t.Helper()
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	is(t, c, want)
}

// sourceFunc is a Source that is a function.
type sourceFunc func(ctx context.Context, have string) (*reload.Content, error)

func (f sourceFunc) Fetch(ctx context.Context, have string) (*reload.Content, error) {
	return f(ctx, have)
}

// reading is an io.Reader that is a function.
type reading func([]byte) (int, error)

func (f reading) Read(p []byte) (int, error) { return f(p) }

// closing is an io.Closer that is a function.
type closing func() error

func (f closing) Close() error { return f() }

var errDown = errors.New("the origin is down")

// named is a Source of another name.
type named struct {
	reload.Source
	name string
}

func (n named) String() string { return n.name }

func sumOf(text string) [sha256.Size]byte { return sha256.Sum256([]byte(text)) }

// given is a source that gives content once and again.
func given(revision string, size int64, body string) reload.Source {
	return named{sourceFunc(func(context.Context, string) (*reload.Content, error) {
		return &reload.Content{Revision: revision, Size: size, Body: io.NopCloser(strings.NewReader(body))}, nil
	}), "given"}
}

// textOf returns the text of an error without the stack of a panic.
func textOf(err error) string {
	if err == nil {
		return ""
	}
	var panicked *poolswap.HookPanicError
	if errors.As(err, &panicked) {
		return strings.Replace(err.Error(), "\n"+string(panicked.Stack), "", 1)
	}
	return err.Error()
}

// plain is a fake that gives no hints.
type plain struct{ fake *reloadtest.Fake }

func (p plain) Fetch(ctx context.Context, have string) (*reload.Content, error) {
	return p.fake.Fetch(ctx, have)
}

// eager is a Waiter that always says that there is something newer.
type eager struct{ *reloadtest.Fake }

func (eager) Wait(context.Context, string) error { return nil }

// later is an error with a Retry-After.
type later struct{ time.Duration }

func (later) Error() string { return "busy" }

func (l later) RetryAfter() time.Duration { return l.Duration }

// inBubble runs fn with a Reloader that runs, and stops it then.
func inBubble(t *testing.T, hints bool, options reload.Options, fn func(t *testing.T, r *reload.Reloader, c *texts, fake *reloadtest.Fake)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c, _ := newTexts()
		fake := new(reloadtest.Fake)
		options.Logger = quiet
		var source reload.Source = fake
		if !hints {
			source = plain{fake}
		}
		r := reload.New(c, source, load, options)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		synctest.Wait()
		fn(t, r, c, fake)
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) && !errors.Is(err, poolswap.ErrClosed) {
			t.Errorf("Run returned %v", err)
		}
	})
}

// nextPause sleeps until Run has made its next attempt.
func nextPause(r *reload.Reloader) {
	time.Sleep(time.Until(r.Status().Next) + 1)
	synctest.Wait()
}

// refusing returns a Reloader that has loaded "good" and refused "bad", its
// container, and its source.
func refusing(t *testing.T) (*reload.Reloader, *texts, *reloadtest.Fake) {
	t.Helper()
	r, c, fake := faked(reload.Options{})
	push(fake, "good")
	succeeds(t, r, c, "good")
	push(fake, "bad")
	failsWith(t, r, reload.Loading)
	return r, c, fake
}

// dated is a source whose content has a time.
type dated struct {
	reload.Source
	modified  time.Time
	published int
}

func (d *dated) Fetch(ctx context.Context, have string) (*reload.Content, error) {
	content, err := d.Source.Fetch(ctx, have)
	if err == nil {
		content.Modified = d.modified
		content.Published = func() error { d.published++; return nil }
	}
	return content, err
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func appendTo(name, text string) error {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
