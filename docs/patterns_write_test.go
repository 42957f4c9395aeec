package docs_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/poolswap/poolswap"
)

// reloadWithFlagAfterUpdate is the wrong reload.
func (s *Service) reloadWithFlagAfterUpdate(_ context.Context, source io.Reader) error {
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
func TestReloadWithPanicOfUpdate(t *testing.T) {
	errReset := errors.New("reset failed")
	for _, c := range []struct {
		name   string
		reload func(*Service, context.Context, io.Reader) error
		refs   int // to the current table, after the panic
		rows   int // that a reader of it sees when it is replaced
	}{
		{"right: Publish", (*Service).reload, 0, 1},
		{"wrong: a flag that is set when Update has returned", (*Service).reloadWithFlagAfterUpdate, -1, 0},
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
			if got := panicValue(func() { _ = c.reload(s, t.Context(), strings.NewReader("17 b.example")) }); got != errReset {
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
func (d *Databases) reopenWithFlagAfterUpdate(_ context.Context, name string) error {
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

// The same with a resource: a deferred Release takes away a file that a reader has
// open.
func TestReopenWithPanicOfUpdate(t *testing.T) {
	errReset := errors.New("reset failed")
	for _, c := range []struct {
		name   string
		reopen func(*Databases, context.Context, string) error
		refs   int  // to the current object, after the panic
		open   bool // whether a reader of it can use its file when it is replaced
	}{
		{"right: Publish", (*Databases).reopen, 0, true},
		{"wrong: a flag that is set when Update has returned", (*Databases).reopenWithFlagAfterUpdate, -1, false},
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
			if err := d.reopen(t.Context(), "patterns.md"); err != nil {
				t.Fatal(err)
			}

			broken = true
			if got := panicValue(func() { _ = c.reopen(d, t.Context(), "performance.md") }); got != errReset {
				t.Fatalf("the reopen panics with %v, want the panic of reset", got)
			}
			broken = false

			held := d.current.Acquire()
			if name := held.file.Name(); name != "performance.md" {
				t.Fatalf("%s is current, want doc.go", name)
			}
			d.current.Release(held)
			if refs := pool.Refs(held); refs != c.refs {
				t.Errorf("%d references to the current object, want %d", refs, c.refs)
			}
			held = d.current.Acquire()
			if err := d.reopen(t.Context(), "patterns.md"); err != nil {
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
func TestFailedReloadGivesTableBack(t *testing.T) {
	s := NewService()
	load(t, s, "17 a.example")
	if err := s.reload(t.Context(), strings.NewReader("x")); err == nil {
		t.Error("no error for a broken source")
	}
	if got := panicValue(func() { _ = s.reload(t.Context(), brokenReader{}) }); got != errBroken {
		t.Errorf("the reload panics with %v", got)
	}
	if stats := s.pool.Stats(); stats.Live != 2 || stats.Spares != 1 || stats.Current != 1 {
		t.Errorf("want the current table and one spare: %+v", stats)
	}
}

var errBroken = errors.New("broken source")

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { panic(errBroken) }

// addUnlocked is the wrong add: between runs where another writer may.
func (s *Service) addUnlocked(key uint32, name string, between func()) {
	next := s.tables.GetNew()
	s.tables.WithAcquire(next.copyFrom)
	next.add(key, name)
	between()
	s.tables.Update(next)
}

func TestTwoWriters(t *testing.T) {
	const each = 20
	s := NewService()
	errs := make(chan error)
	for writer := range uint32(2) {
		go func() {
			var err error
			for i := range uint32(each) {
				err = errors.Join(err, s.add(t.Context(), writer*each+i, "a.example"))
			}
			errs <- err
		}()
	}
	if err := errors.Join(<-errs, <-errs); err != nil {
		t.Fatal(err)
	}
	s.tables.WithAcquire(func(table *Table) {
		for key := range uint32(2 * each) {
			if table.find(key) < 0 {
				t.Errorf("row %d is lost", key)
			}
		}
	})

	s = NewService()
	s.addUnlocked(17, "a.example", func() { s.addUnlocked(18, "b.example", func() {}) })
	s.tables.WithAcquire(func(table *Table) {
		if table.find(18) >= 0 {
			t.Error("an Update without Publish kept the other writer's row: is the wrong way right now?")
		}
	})
}

// An Update does not take turns with Publish, so it can come between.
func TestAddRunsAgainAfterConflict(t *testing.T) {
	s := NewService()
	load(t, s, "17 a.example")
	fills := 0
	overtaken := func(next, current *Table) error {
		next.copyFrom(current)
		if fills++; fills == 1 {
			s.addUnlocked(18, "b.example", func() {})
		}
		next.add(19, "c.example")
		return nil
	}
	version, err := s.tables.Publish(t.Context(), overtaken)
	if version != 0 || !errors.Is(err, poolswap.ErrConflict) {
		t.Errorf("Publish returns %d and %v", version, err)
	}
	if _, err := s.tables.Publish(t.Context(), overtaken); err != nil {
		t.Error(err)
	}
	if err := s.addOrRetry(t.Context(), 20, "d.example"); err != nil {
		t.Error(err)
	}
	s.tables.WithAcquire(func(table *Table) {
		for key := uint32(17); key <= 20; key++ {
			if table.find(key) < 0 {
				t.Errorf("row %d is lost", key)
			}
		}
	})
}

// rebuildFrom is the wrong rebuild, of a table that was acquired before the
// turn; between runs where another rebuild may.
func (x *Indexer) rebuildFrom(ctx context.Context, between func()) error {
	t := x.tables.Acquire()
	defer x.tables.Release(t)
	between()
	_, err := x.indexes.Publish(ctx, func(next, _ *Index) error {
		next.build(x.tables.VersionOf(t), t)
		return nil
	})
	return err
}

func TestIndexNeverGoesBack(t *testing.T) {
	ctx := t.Context()
	for _, c := range []struct {
		name    string
		rebuild func(x *Indexer, between func()) error
		current bool // whether the index is that of the current table in the end
	}{
		{"right: the table is acquired in fill", func(x *Indexer, between func()) error {
			between()
			return x.rebuild(ctx)
		}, true},
		{"wrong: the table is acquired before", func(x *Indexer, between func()) error { return x.rebuildFrom(ctx, between) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := NewService()
			x := newIndexer(s)
			load(t, s, "17 a.example")
			err := c.rebuild(x, func() { // a reload, and another rebuild
				load(t, s, "18 b.example")
				if err := x.rebuild(ctx); err != nil {
					t.Error(err)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			x.indexes.WithAcquire(func(i *Index) {
				if current := i.of == s.tables.Version(); current != c.current {
					t.Errorf("the index is of version %d, current is %d", i.of, s.tables.Version())
				}
			})
		})
	}
}
