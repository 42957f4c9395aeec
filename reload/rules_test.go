package reload_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// The code that docs/reload.md calls wrong goes wrong here, and the code that it
// calls right goes right under the same circumstances.

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

func TestRuleFileKeepsItsTime(t *testing.T) {
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

func TestRuleFileIsBeingWritten(t *testing.T) {
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

func TestRuleVerifyFirst(t *testing.T) {
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
		"a check":                   reload.VerifySHA256(content, sums),
		"a check around a cache":    reload.VerifySHA256(reload.Cache(content, t.TempDir()), sums),
		"a cache around the check":  reload.Cache(reload.VerifySHA256(content, sums), t.TempDir()),
		"a check around that again": reload.VerifySHA256(reload.Cache(reload.VerifySHA256(content, sums), t.TempDir()), sums),
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
