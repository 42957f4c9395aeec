package docs_test

import (
	"context"
	"errors"
	"expvar"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap"
)

// The patterns files run the wrong code of docs/patterns.md, and the right code
// under the same circumstances: this one the readers, _write the writers,
// _versions the followers of versions, _feed a server of them,
// _operation limits and shutdown.

// lookupWithoutCopy is the wrong lookup.
func (s *Service) lookupWithoutCopy(key uint32) []byte {
	t := s.tables.Acquire()
	defer s.tables.Release(t)
	return t.name(t.find(key)) // a slice of t.names
}

func TestLookupThatReturnsSlice(t *testing.T) {
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

// The Reader releases the object that it holds.
func TestReleaseOfReadersObject(t *testing.T) {
	s := NewService()
	load(t, s, "17 a.example")
	r := s.tables.NewReader()
	table := r.Load()
	s.tables.Release(table) // wrong, and nothing says so
	r.Close()
	if refs := s.pool.Refs(table); refs != -1 {
		t.Errorf("%d references, want -1", refs)
	}
	err := s.reload(t.Context(), strings.NewReader("17 b.example"))
	if !errors.Is(err, poolswap.ErrOverReleased) || !strings.Contains(err.Error(), "more often than it was acquired: 1 too many") {
		t.Errorf("the next reload returns %v", err)
	}
	if name, _ := s.lookup(nil, 17); string(name) != "b.example" {
		t.Errorf("after it a reader finds %q", name)
	}
}

// releaseThenStart is the wrong way to share one version with other goroutines.
func (s *Service) releaseThenStart(start func(use func() *Table)) {
	t := s.tables.Acquire()
	start(func() *Table { return t })
	s.tables.Release(t)
}

func TestWorkersRetainOneVersion(t *testing.T) {
	s := NewService()
	load(t, s, "17 a.example\n18 b.example")
	var mu sync.Mutex
	var first sync.Once
	seen := map[*Table]int{}
	s.answerAll([]uint32{17, 18}, func(table *Table, key uint32) {
		first.Do(func() { load(t, s, "19 c.example") }) // the others began before or begin after
		mu.Lock()
		defer mu.Unlock()
		if table.find(key) < 0 {
			t.Errorf("a worker does not find %d", key)
		}
		seen[table]++
	})
	if len(seen) != 1 {
		t.Errorf("the workers saw %d tables", len(seen))
	}
	s.pool.Get() // after the reset of the replaced table
	if stats := s.pool.Stats(); stats.Retired != 0 || stats.Held != 0 {
		t.Errorf("still held: %+v", stats)
	}

	var use func() *Table
	s.releaseThenStart(func(u func() *Table) { use = u })
	load(t, s, "20 d.example")
	if use().find(19) >= 0 {
		t.Error("the table is still whole after its Release: is the wrong way right now?")
	}
}

// Forgotten Releases of the current object show in Refs and Held alone.
func TestForgottenReleaseOfCurrentObject(t *testing.T) {
	s := NewService()
	load(t, s, "17 a.example")
	var table *Table
	for range 1000 {
		table = s.tables.Acquire()
	}
	if stats := s.pool.Stats(); stats.Retired != 0 || stats.Leaked != 0 || stats.Current != 1 {
		t.Errorf("they show: %+v", stats)
	}
	if refs, held := s.pool.Refs(table), s.pool.Stats().Held; refs != 1000 || held != 1000 {
		t.Errorf("%d references, %d held, want 1000", refs, held)
	}
	load(t, s, "17 b.example")
	if stats := s.pool.Stats(); stats.Retired != 1 {
		t.Errorf("after an update they do not show: %+v", stats)
	}
}

// Readers may go on while the container is emptied at shutdown.
func TestReadersOfEmptyContainer(t *testing.T) {
	s := NewService()
	load(t, s, "17 a.example")
	_ = s.shutdown(t.Context())
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
	if stats := s.pool.Stats(); stats.Current+stats.Retired != 0 {
		t.Errorf("the pool is left with %+v", stats)
	}
}

func TestLookupReleasesTable(t *testing.T) {
	s := NewService()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.pool.Close(ctx); err != nil {
			t.Error(err) // names the held versions
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

// The line that makes a pool's Stats an expvar.
func TestStatsAsExpvar(t *testing.T) {
	s := NewService()
	load(t, s, "17 a.example")
	if expvar.Get("poolswap") == nil { // else the test ran before
		expvar.Publish("poolswap", expvar.Func(func() any { return s.pool.Stats() }))
	}
	if text := expvar.Get("poolswap").String(); !strings.Contains(text, `"Current":1,`) {
		t.Errorf("the expvar says %s", text)
	}
}

func TestObjectInTwoContainers(t *testing.T) {
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
	if err := s.reload(t.Context(), strings.NewReader(source)); err != nil {
		t.Fatal(err)
	}
}

// panicValue returns the value of a panic of fn, or nil.
func panicValue(fn func()) (value any) {
	defer func() { value = recover() }()
	fn()
	return nil
}
