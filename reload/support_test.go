package reload_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// text is an object that holds what was loaded.
type text struct {
	poolswap.Ref
	value []byte
}

type texts = poolswap.Container[text, *text]

var errBad = errors.New("bad row 3")

// load refuses what begins with "bad" and panics for what begins with "panic".
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

// current returns what a reader gets, or "" if the container is empty.
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
