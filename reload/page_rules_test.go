package reload_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
)

// docsPage returns docs/reload.md.
func docsPage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../docs/reload.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// failureRows returns what the page's table says of each failure.
func failureRows(t *testing.T) map[string]string {
	t.Helper()
	rows := map[string]string{}
	for line := range strings.Lines(docsPage(t)) {
		if cells := strings.Split(strings.TrimSpace(line), "|"); len(cells) == 4 && !strings.HasPrefix(cells[1], "---") {
			for what := range strings.SplitSeq(cells[1], ";") {
				rows[strings.TrimSpace(what)] = strings.TrimSpace(cells[2])
			}
		}
	}
	delete(rows, "what failed")
	return rows
}

// whatBecomes makes four attempts and returns what becomes of one revision
// that fails, in the words of the page.
func whatBecomes(t *testing.T, c *texts, load func(context.Context, *text, *text, *reload.Content) error, fetch func() (*reload.Content, error)) string {
	t.Helper()
	fetches := 0
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
	switch fetches {
	case 1:
		return "refused: not fetched again"
	case 2:
		return "fetched again by the next attempt, and refused if the same bytes come"
	case 4:
		return "fetched again"
	}
	return "fetched another number of times"
}

// loadOrTemporary is load, with an error that is temporary.
func loadOrTemporary(ctx context.Context, next, current *text, content *reload.Content) error {
	err := load(ctx, next, current, content)
	if string(next.value) == "temporary" {
		err = reload.Temporary(errBad)
	}
	return err
}

// Each row of the page's table says what happens.
func TestTheTableOfFailuresSaysWhatHappens(t *testing.T) {
	t.Parallel()
	content := func(body io.Reader, size int64) func() (*reload.Content, error) {
		return func() (*reload.Content, error) {
			return &reload.Content{Revision: "1", Size: size, Body: io.NopCloser(body)}, nil
		}
	}
	of := func(text string) func() (*reload.Content, error) {
		return func() (*reload.Content, error) { return content(strings.NewReader(text), -1)() }
	}
	type cases map[string]func() (*reload.Content, error)
	rows := failureRows(t)
	for row, sources := range map[string]cases{
		"the source (an error or a panic), or reading": {
			"an error": func() (*reload.Content, error) { return nil, errBad },
			"a panic":  func() (*reload.Content, error) { panic("nil map") },
			"reading":  content(iotest.ErrReader(errBad), -1),
		},
		"a body that is too short or too long": {
			"too short": func() (*reload.Content, error) { return content(strings.NewReader("ab"), 3)() },
			"too long":  func() (*reload.Content, error) { return content(strings.NewReader("abcd"), 3)() },
		},
		"load returned an error or panicked": {"an error": of("bad"), "a panic": of("panic")},
		"the body exceeds `MaxBytes`":        {"the body": of("more than ten"), "its announced size": content(strings.NewReader(""), 11)},
		"load returned `Temporary(err)`":     {"": of("temporary")},
		"no object":                          nil,
		"a conflict with an `Update`":        nil,
		"verify": {"": func() (*reload.Content, error) {
			c, err := of("abc")()
			c.Verify = func([32]byte) error { return errBad }
			return c, err
		}},
	} {
		want, ok := rows[row]
		if !ok {
			t.Errorf("the page has no row %q", row)
		}
		delete(rows, row)
		for name, fetch := range sources {
			c, _ := newTexts()
			if got := whatBecomes(t, c, loadOrTemporary, fetch); got != want {
				t.Errorf("%s (%s): the page says %q, but it is %s", row, name, want, got)
			}
		}
		if sources != nil {
			continue
		}
		synctest.Test(t, func(t *testing.T) { // each attempt waits for an object
			pool := poolswap.NewPoolWithOptions(func() *text { return new(text) }, nil, poolswap.Options[text]{MaxLive: 1})
			c := poolswap.NewContainer(pool, pool.Get())
			if got := whatBecomes(t, c, load, of("abc")); got != want {
				t.Errorf("no object: the page says %q, but it is %s", want, got)
			}
		})
		c, pool := newTexts()
		if got := whatBecomes(t, c, func(_ context.Context, next, _ *text, _ *reload.Content) error {
			c.Update(pool.Get())
			return nil
		}, of("abc")); got != want {
			t.Errorf("a conflict: the page says %q, but it is %s", want, got)
		}
	}
	for row := range rows {
		t.Errorf("the row %q of the page is not tested", row)
	}
}

// What the page calls wrong is what the tests show to be wrong.
func TestTheTestsHaveTheCodeThatThePageCallsWrong(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("rules*_test.go")
	if err != nil || len(names) == 0 {
		t.Fatal(errors.Join(err, errors.New("there are no tests of rules")))
	}
	unindented := func(text string) (all string) {
		for line := range strings.Lines(text) {
			all += strings.TrimLeft(line, "\t")
		}
		return all
	}
	tests := ""
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		tests += unindented(string(text))
	}
	wrong := 0
	for _, part := range strings.Split(docsPage(t), "\nWrong: ")[1:] {
		_, code, found := strings.Cut(part, "```go\n")
		if before, _, _ := strings.Cut(part, "\nRight: "); !found || !strings.Contains(before, "```go\n") {
			continue // it is said without code
		}
		code, _, _ = strings.Cut(code, "```")
		if wrong++; !strings.Contains(tests, unindented(code)) {
			t.Errorf("no test of rules has this code:\n%s", code)
		}
	}
	if wrong != 2 {
		t.Errorf("the page has %d pieces of wrong code, want 2", wrong)
	}
}
