package reload_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
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

// What docs/reload.md calls wrong is shown here to be wrong, and what it calls
// right to be right under the same circumstances.

// readIfNewer is the wrong way to poll a file.
func readIfNewer(file string, last time.Time) ([]byte, time.Time) {
	info, err := os.Stat(file)
	if err != nil || info.ModTime().Equal(last) {
		return nil, last
	}
	text, _ := os.ReadFile(file)
	return text, info.ModTime()
}

// replace renames a new file over file.
func replace(t *testing.T, file, text string, modified time.Time) {
	t.Helper()
	if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(file+".new", modified, modified); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		t.Fatal(err)
	}
}

func TestAFileThatKeepsItsTimeIsNewContentForFileAlone(t *testing.T) {
	file, packed := t.TempDir()+"/table.txt", time.Date(1985, 10, 26, 8, 15, 0, 0, time.UTC)
	tables := newTables()
	r := reload.New(tables, reload.File(file), loadTable, reload.Options{Logger: quiet})
	replace(t, file, "one\n", packed)
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, last := readIfNewer(file, time.Time{})
	replace(t, file, "two\n", packed)
	if text, _ := readIfNewer(file, last); text != nil {
		t.Errorf("a poll of the time reads %q: is the wrong way right now?", text)
	}
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	tables.WithAcquire(func(table *Table) {
		if !slices.Equal(table.rows, []string{"two"}) {
			t.Errorf("the table is %q", table.rows)
		}
	})
}

func TestAFileThatIsBeingWrittenIsReadWholeByFileAlone(t *testing.T) {
	file := t.TempDir() + "/table.txt"
	writer, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	tables := newTables()
	source := &meanwhile{Source: reload.File(file)}
	r := reload.New(tables, source, loadTable, reload.Options{Logger: quiet})
	if _, err := writer.WriteString("one\n---\n"); err != nil {
		t.Fatal(err)
	}
	if text, _ := readIfNewer(file, time.Time{}); string(text) != "one\n---\n" {
		t.Errorf("a poll of the time reads %q: is the wrong way right now?", text)
	}
	source.do = func() { // the writer goes on after File has opened the file
		if _, err := writer.WriteAt([]byte("two\n"), 4); err != nil {
			t.Error(err)
		}
	}
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if source.fetches != 2 {
		t.Errorf("the file was read %d times, want 2", source.fetches)
	}
	tables.WithAcquire(func(table *Table) {
		if !slices.Equal(table.rows, []string{"one", "two"}) {
			t.Errorf("the table is %q", table.rows)
		}
	})
}

// meanwhile is a Source that does something after its first Fetch.
type meanwhile struct {
	reload.Source
	do      func()
	fetches int
}

func (m *meanwhile) Fetch(ctx context.Context, have string) (*reload.Content, error) {
	content, err := m.Source.Fetch(ctx, have)
	if m.fetches++; m.fetches == 1 {
		m.do()
	}
	return content, err
}

// publishThenVerify is the wrong order.
func publishThenVerify(tables *poolswap.Container[Table, *Table], text []byte, want [sha256.Size]byte) error {
	next := tables.GetNew()
	next.rows = append(next.rows, string(text))
	tables.Update(next)
	if sha256.Sum256(text) != want {
		return errors.New("wrong checksum")
	}
	return nil
}

func TestReadersSeeNothingThatWasNotVerified(t *testing.T) {
	good, evil := []byte("good"), []byte("evil")
	tables := newTables()
	if err := publishThenVerify(tables, evil, sha256.Sum256(good)); err == nil {
		t.Error("no error")
	}
	tables.WithAcquire(func(table *Table) {
		if table.rows[0] != "evil" {
			t.Error("readers did not see it: is the wrong way right now?")
		}
	})

	content, sums := new(reloadtest.Fake), new(reloadtest.Fake)
	sum := sha256.Sum256(good)
	push(sums, "%x", sum)
	content.Push(evil)
	for name, source := range map[string]reload.Source{
		"a check":                   reload.WithSHA256(content, sums),
		"a check around a cache":    reload.WithSHA256(reload.Cache(content, t.TempDir()), sums),
		"a cache around the check":  reload.Cache(reload.WithSHA256(content, sums), t.TempDir()),
		"a check around that again": reload.WithSHA256(reload.Cache(reload.WithSHA256(content, sums), t.TempDir()), sums),
	} {
		tables := newTables()
		if err := reload.New(tables, source, loadTable, reload.Options{Logger: quiet}).Reload(t.Context()); err == nil {
			t.Errorf("%s: no error", name)
		}
		if tables.Acquire() != nil {
			t.Errorf("%s: readers see it", name)
		}
	}
}

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
