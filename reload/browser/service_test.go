package browser_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// table is an object that holds what was loaded.
type table struct {
	poolswap.Ref
	text []byte
}

// origin is a fake source with a name, and revisions that begin like real ones.
type origin struct {
	reloadtest.Fake
	name, prefix string
}

func (o *origin) String() string { return o.name }

func (o *origin) Fetch(ctx context.Context, have string) (*reload.Content, error) {
	content, err := o.Fake.Fetch(ctx, strings.TrimPrefix(have, o.prefix))
	if content != nil {
		content.Revision = o.prefix + content.Revision
	}
	return content, err
}

// service is a Reloader over an origin.
type service struct {
	t        *testing.T
	origin   *origin
	tables   *poolswap.Container[table, *table]
	reloader *reload.Reloader
}

// newService returns one whose source is that of the origin which wrap returns.
func newService(t *testing.T, o *origin, wrap func(reload.Source) reload.Source) *service {
	t.Helper()
	pool := poolswap.NewPool(func() *table { return new(table) }, nil)
	s := &service{t: t, origin: o, tables: poolswap.NewEmptyContainer(pool)}
	s.reloader = reload.New(s.tables, wrap(o), load, reload.Options{Logger: slog.New(slog.DiscardHandler), Stats: pool.Stats})
	return s
}

func plain(source reload.Source) reload.Source { return source }

// load refuses what begins with "bad", with that text, and panics for "panic".
func load(_ context.Context, next, _ *table, content *reload.Content) (err error) {
	next.text, err = io.ReadAll(content.Body)
	switch {
	case bytes.HasPrefix(next.text, []byte("bad")):
		return errors.New(string(next.text))
	case bytes.HasPrefix(next.text, []byte("panic")):
		panic("no such column")
	}
	return err
}

// push makes the origin have a text, and has it loaded. The page tells whether
// that failed.
func (s *service) push(text string) {
	s.origin.Push([]byte(text))
	s.reload()
}

func (s *service) fail(err error) {
	s.origin.Fail(err)
	s.reload()
}

func (s *service) reload() { s.reloader.Reload(s.t.Context()) }

// hold is a reader that holds what is current until the test ends.
func (s *service) hold() {
	held := s.tables.Acquire()
	s.t.Cleanup(func() { s.tables.Release(held) })
}
