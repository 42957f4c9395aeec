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
	"time"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// settings is a Source of one's own: a row of a database, say. It names revisions
// by the digest of their content.
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

// titled is a Source that puts a title before the content of another one. All else is
// passed on.
type titled struct{ reload.Wrapper }

const title = "Settings\n"

func (s titled) Fetch(ctx context.Context, have string) (*reload.Content, error) {
	content, err := s.Wrapper.Fetch(ctx, have)
	return withTitle(content), err
}

// Restore does the same with content that the other one has kept.
func (s titled) Restore(ctx context.Context) (*reload.Content, time.Time, error) {
	content, checked, err := s.Wrapper.Restore(ctx)
	return withTitle(content), checked, err
}

func withTitle(content *reload.Content) *reload.Content {
	if content == nil {
		return nil
	}
	content.Size += int64(len(title))
	content.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(strings.NewReader(title), content.Body), content.Body}
	return content
}

// page is the Origin of titled.
type page struct{ table }

func (page) Expect(content []byte) []byte { return append([]byte(title), content...) }

func TestTitledSettingsConform(t *testing.T) {
	reloadtest.TestSource(t, func(*testing.T) (reload.Source, reloadtest.Origin) {
		s := new(settings)
		return titled{reload.Wrapper{Source: s}}, page{table{s}}
	})
	reloadtest.TestWrapper(t, []byte("hello"), func(_ *testing.T, source reload.Source) reload.Source {
		return titled{reload.Wrapper{Source: source}}
	})
}

// The Origin of a Source that changes what it reads says what to expect, as
// TestTitledSettingsConform shows.
func ExampleExpecter() {
	var origin reloadtest.Expecter = page{table{new(settings)}}
	fmt.Printf("%q\n", origin.Expect([]byte("hello")))
	// Output: "Settings\nhello"
}
