package poolswap_test

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/poolswap/poolswap"
)

// What docs/patterns.md calls wrong is shown here to be wrong, and what it
// calls right to be right under the same circumstances.

// lookupWithoutCopy is the wrong lookup.
func (s *Service) lookupWithoutCopy(key uint32) []byte {
	t := s.tables.Acquire()
	defer s.tables.Release(t)
	return t.name(t.find(key)) // a slice of t.names
}

func TestALookupThatReturnsASliceReturnsWhatALaterReloadWrites(t *testing.T) {
	s := NewService()
	load(t, s, "17 a.example")
	kept := s.lookupWithoutCopy(17)
	copied, err := s.lookup(nil, 17)
	if err != nil {
		t.Fatal(err)
	}
	load(t, s, "17 b.example") // the first table is reset
	load(t, s, "17 c.example") // and filled again
	if string(copied) != "a.example" {
		t.Errorf("the copy says %q", copied)
	}
	if string(kept) != "c.example" {
		t.Errorf("the slice that was kept says %q: is the wrong way right now?", kept)
	}
}

// reloadWithFlagAfterUpdate is the wrong reload.
func (s *Service) reloadWithFlagAfterUpdate(source io.Reader) error {
	next := s.tables.GetNew()
	published := false
	defer func() {
		if !published {
			s.tables.Release(next)
		}
	}()
	if err := next.load(source); err != nil {
		return err
	}
	s.tables.Update(next)
	published = true
	return nil
}

// An Update can panic after it has published, as here in the reset of the old
// table. A reload that gives next back then gives back the current table.
func TestAReloadWhoseUpdatePanicsLeavesTheTableToItsReaders(t *testing.T) {
	errReset := errors.New("reset failed")
	for _, c := range []struct {
		name   string
		reload func(*Service, io.Reader) error
		refs   int // to the current table, after the panic
		rows   int // that a reader of it sees when it is replaced
	}{
		{"right: the owner lets go before it calls Update", (*Service).reload, 0, 1},
		{"wrong: the owner lets go when Update has returned", (*Service).reloadWithFlagAfterUpdate, -1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			broken := false
			pool := poolswap.NewPool(
				func() *Table { return new(Table) },
				func(t *Table) bool {
					if broken {
						panic(errReset)
					}
					t.rows, t.names = t.rows[:0], t.names[:0]
					return true
				})
			s := &Service{pool: pool, tables: poolswap.NewEmptyContainer(pool)}
			load(t, s, "17 a.example")

			broken = true
			if got := panicValue(func() { _ = c.reload(s, strings.NewReader("17 b.example")) }); got != errReset {
				t.Fatalf("the reload panics with %v, want the panic of reset", got)
			}
			broken = false

			held := s.tables.Acquire()
			if held.find(17) != 0 {
				t.Fatalf("the new table is not current: %v", held.rows)
			}
			s.tables.Release(held)
			if refs := pool.Refs(held); refs != c.refs {
				t.Errorf("%d references to the current table, want %d", refs, c.refs)
			}
			held = s.tables.Acquire()
			load(t, s, "17 c.example")
			if len(held.rows) != c.rows {
				t.Errorf("the reader that holds the replaced table sees %d rows, want %d", len(held.rows), c.rows)
			}
		})
	}
}

// reopenWithFlagAfterUpdate is the wrong reload with a resource.
func (d *Databases) reopenWithFlagAfterUpdate(name string) error {
	next := d.current.GetNew()
	published := false
	defer func() {
		if !published {
			d.current.Release(next)
		}
	}()
	if err := next.open(name); err != nil {
		return err
	}
	d.current.Update(next)
	published = true
	return nil
}

// The same with a resource: what a deferred Release takes away is a file that a
// reader has open.
func TestAReopenWhoseUpdatePanicsLeavesTheFileToItsReaders(t *testing.T) {
	errReset := errors.New("reset failed")
	for _, c := range []struct {
		name   string
		reopen func(*Databases, string) error
		refs   int  // to the current object, after the panic
		open   bool // whether a reader of it can use its file when it is replaced
	}{
		{"right: the owner lets go before it calls Update", (*Databases).reopen, 0, true},
		{"wrong: the owner lets go when Update has returned", (*Databases).reopenWithFlagAfterUpdate, -1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			broken := false
			pool := poolswap.NewPool(
				func() *DB { return new(DB) },
				func(db *DB) bool {
					if broken {
						_ = db.close()
						panic(errReset)
					}
					return db.close()
				})
			d := &Databases{current: poolswap.NewEmptyContainer(pool)}
			if err := d.reopen("go.mod"); err != nil {
				t.Fatal(err)
			}

			broken = true
			if got := panicValue(func() { _ = c.reopen(d, "doc.go") }); got != errReset {
				t.Fatalf("the reopen panics with %v, want the panic of reset", got)
			}
			broken = false

			held := d.current.Acquire()
			if name := held.file.Name(); name != "doc.go" {
				t.Fatalf("%s is current, want doc.go", name)
			}
			d.current.Release(held)
			if refs := pool.Refs(held); refs != c.refs {
				t.Errorf("%d references to the current object, want %d", refs, c.refs)
			}
			held = d.current.Acquire()
			if err := d.reopen("go.mod"); err != nil {
				t.Fatal(err)
			}
			open := held.file != nil
			if open != c.open {
				t.Errorf("the reader that holds the replaced object has an open file: %v, want %v", open, c.open)
			}
			if open {
				d.current.Release(held)
			}
			d.current.Update(nil)
		})
	}
}

// A source that panics or fails costs nothing: the table goes back to the pool.
func TestAReloadGivesBackWhatItDoesNotPublish(t *testing.T) {
	s := NewService()
	load(t, s, "17 a.example")
	if err := s.reload(strings.NewReader("x")); err == nil {
		t.Error("no error for a broken source")
	}
	if got := panicValue(func() { _ = s.reload(brokenReader{}) }); got != errBroken {
		t.Errorf("the reload panics with %v", got)
	}
	if stats := s.pool.Stats(); stats.Live != 2 || stats.Spares != 1 || stats.Current != 1 {
		t.Errorf("want the current table and one spare: %+v", stats)
	}
}

var errBroken = errors.New("broken source")

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { panic(errBroken) }

// What a Reader holds is the Reader's to release.
func TestReleasingAReadersObjectIsFoundByAWriter(t *testing.T) {
	s := NewService()
	load(t, s, "17 a.example")
	r := s.tables.NewReader()
	table := r.Load()
	s.tables.Release(table) // wrong, and nothing says so
	r.Close()
	if refs := s.pool.Refs(table); refs != -1 {
		t.Errorf("%d references, want -1", refs)
	}
	text, _ := panicValue(func() { load(t, s, "17 b.example") }).(string)
	if !strings.Contains(text, "more often than it was acquired: 1 too many") {
		t.Errorf("the next update panics with %q", text)
	}
}

// Forgotten Releases of the current object show in Refs alone.
func TestForgottenReleasesOfTheCurrentObjectAreNoLeakYet(t *testing.T) {
	s := NewService()
	load(t, s, "17 a.example")
	var table *Table
	for range 1000 {
		table = s.tables.Acquire()
	}
	if stats := s.pool.Stats(); stats.Retired != 0 || stats.Leaked != 0 || stats.Current != 1 {
		t.Errorf("they show: %+v", stats)
	}
	if refs := s.pool.Refs(table); refs != 1000 {
		t.Errorf("%d references, want 1000", refs)
	}
	load(t, s, "17 b.example")
	if stats := s.pool.Stats(); stats.Retired != 1 {
		t.Errorf("after an update they do not show: %+v", stats)
	}
}

// Readers may go on while the container is emptied at shutdown.
func TestReadersOfAnEmptyContainerFindNoTable(t *testing.T) {
	s := NewService()
	load(t, s, "17 a.example")
	s.shutdown()
	keys := make(chan uint32, 1)
	keys <- 17
	close(keys)
	s.serve(keys, func(name []byte) { t.Errorf("the loop answers %q", name) })
	synctest.Test(t, func(t *testing.T) {
		s.auditLater(func(*Table) { t.Error("there is a table to audit") })
		synctest.Wait()
	})
	if _, err := s.lookup(nil, 17); !errors.Is(err, errNotLoaded) {
		t.Errorf("the lookup returns %v", err)
	}
	if stats := s.pool.Stats(); stats.Live != 0 {
		t.Errorf("what is left: %+v", stats)
	}
}

func TestALookupReleasesItsTable(t *testing.T) {
	s := NewService()
	t.Cleanup(func() {
		s.tables.Update(nil)
		if stats := s.pool.Stats(); stats.Current+stats.Retired != 0 {
			t.Errorf("still held: %+v", stats)
		}
	})
	t.Run("lookup releases the table", func(t *testing.T) {
		table := s.pool.Get()
		s.tables.Update(table)
		_, _ = s.lookup(nil, 17)
		if n := s.pool.Refs(table); n != 0 {
			t.Errorf("%d references are outstanding", n)
		}
	})
}

func TestOneObjectIsNotCurrentInTwoContainers(t *testing.T) {
	v4, v6 := newTwoServices()
	next := v4.pool.Get()
	v4.tables.Update(next)
	text, _ := panicValue(func() { v6.tables.Update(next) }).(string)
	if !strings.Contains(text, "current in another container") {
		t.Errorf("the second Update panics with %q", text)
	}
}

// load replaces the table of s.
func load(t *testing.T, s *Service, source string) {
	t.Helper()
	if err := s.reload(strings.NewReader(source)); err != nil {
		t.Fatal(err)
	}
}

// panicValue returns what fn panics with, or nil.
func panicValue(fn func()) (value any) {
	defer func() { value = recover() }()
	fn()
	return nil
}

// TestThePatternsAreCompiled looks for every block of Go in docs/patterns.md,
// but for those that a paragraph beginning with "Wrong" introduces, in the
// tests that run it.
func TestThePatternsAreCompiled(t *testing.T) {
	compiled := unindented(textOf(t, "example_patterns_test.go") + textOf(t, "example_resources_test.go") + textOf(t, "patterns_test.go"))
	blocks := codeBlocks(textOf(t, "docs/patterns.md"))
	right := 0
	for _, block := range blocks {
		if block.wrong {
			continue
		}
		right++
		if !strings.Contains(compiled, unindented(block.code)) {
			t.Errorf("no test has this code:\n%s", block.code)
		}
	}
	if right < 10 || right == len(blocks) {
		t.Errorf("found %d blocks, %d of them right; does the page look as this test expects?", len(blocks), right)
	}
}

type codeBlock struct {
	code  string
	wrong bool // the last paragraph before it begins with "Wrong"
}

func codeBlocks(page string) (blocks []codeBlock) {
	inCode, wrong, paragraph := false, false, false
	for line := range strings.Lines(page) {
		switch {
		case inCode && line == "```\n":
			inCode, paragraph = false, false
		case inCode:
			blocks[len(blocks)-1].code += line
		case strings.HasPrefix(line, "```"):
			inCode = true
			blocks = append(blocks, codeBlock{wrong: wrong})
		case line == "\n":
			paragraph = false
		case !paragraph:
			paragraph, wrong = true, strings.HasPrefix(line, "Wrong")
		}
	}
	return blocks
}

// unindented returns the text with each line's indentation gone, so that a
// statement of a function is found at the left margin of a page too.
func unindented(text string) string {
	var b strings.Builder
	b.WriteByte('\n')
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimLeft(line, " \t"))
	}
	return b.String()
}

func textOf(t *testing.T, file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
