package browser_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// table is the object that services and replicas load.
type table struct {
	poolswap.Ref
	text []byte
}

// load refuses content that begins with "bad", with that text, and panics for
// "panic".
func load(_ context.Context, next, _ *table, content *reload.Content) (err error) {
	next.text, err = io.ReadAll(content.Body)
	switch {
	case err != nil:
		return err
	case bytes.HasPrefix(next.text, []byte("bad")):
		return errors.New(string(next.text))
	case bytes.HasPrefix(next.text, []byte("panic")):
		panic("no such column")
	}
	return nil
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

// service is a Reloader over an origin, and a tab for its status page.
type service struct {
	*tab
	origin   *origin
	tables   *poolswap.Container[table, *table]
	reloader *reload.Reloader
	page     string // its address
}

// newService returns a service whose source is wrap of the origin. Its site has no
// other page, and the test fails if one is asked for.
func newService(t *testing.T, o *origin, wrap func(reload.Source) reload.Source) *service {
	t.Helper()
	pool := poolswap.NewPool(func() *table { return new(table) }, nil)
	s := &service{tab: newTab(t), origin: o, tables: poolswap.NewEmptyContainer(pool)}
	s.reloader = reload.New(s.tables, wrap(o), load, reload.Options{Logger: slog.New(slog.DiscardHandler), Stats: pool.Stats})
	site := http.NewServeMux()
	site.Handle("/status", s.reloader)
	site.HandleFunc("/favicon.ico", http.NotFound) // of JSON
	site.HandleFunc("/", func(_ http.ResponseWriter, r *http.Request) { t.Errorf("the site is asked for %s", r.URL) })
	server := httptest.NewServer(site)
	t.Cleanup(server.Close)
	s.page = server.URL + "/status"
	return s
}

func plain(source reload.Source) reload.Source { return source }

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

// only allows the page with these queries.
func (s *service) only(queries ...string) func(address string) bool {
	return func(address string) bool { return slices.Contains(queries, strings.TrimPrefix(address, s.page)) }
}

// hold is a reader that holds the current object until the test ends.
func (s *service) hold() {
	held := s.tables.Acquire()
	s.t.Cleanup(func() { s.tables.Release(held) })
}
