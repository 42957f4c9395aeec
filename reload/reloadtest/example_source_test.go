package reloadtest_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// settings is a Source of one's own: a row of a database, say. It names revisions
// by the digest of what it has.
type settings struct {
	mu  sync.Mutex
	row *string // nil if there is none
}

func (s *settings) Fetch(_ context.Context, have string) (*reload.Content, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.row == nil {
		return nil, errors.New("no such row")
	}
	revision := fmt.Sprintf("%x", sha256.Sum256([]byte(*s.row)))
	if revision == have {
		return nil, reload.ErrNotModified
	}
	return &reload.Content{Revision: revision, Size: int64(len(*s.row)), Body: io.NopCloser(strings.NewReader(*s.row))}, nil
}

func (s *settings) set(row *string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.row = row
}

// table is the Origin of settings: where the suite writes.
type table struct{ *settings }

func (t table) Put(_ testing.TB, content []byte) { row := string(content); t.set(&row) }
func (t table) Remove(testing.TB)                { t.set(nil) }

func TestSettingsConform(t *testing.T) {
	reloadtest.TestSource(t, func(*testing.T) (reload.Source, reloadtest.Origin) {
		s := new(settings)
		return s, table{s}
	})
}

// A Source of one's own, which TestSettingsConform tests.
func Example() {
	s := new(settings)
	row := "hello"
	s.set(&row)
	greetings, reloader := newGreetings(s)
	fmt.Println(reloader.Reload(context.Background()), greet(greetings))
	// Output: <nil> hello
}
