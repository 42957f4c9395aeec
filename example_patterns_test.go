package poolswap_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/poolswap/poolswap"
)

// This file and example_resources_test.go are the code of docs/patterns.md;
// TestThePatternsAreCompiled compares them with the page.

type Table struct {
	poolswap.Ref
	rows  []Row  // fixed size: offsets into names, no pointers
	names []byte // one slab
}

type Row struct{ key, name, end uint32 }

func (t *Table) name(i int) []byte {
	return t.names[t.rows[i].name:t.rows[i].end]
}

// find returns the row of key, or -1.
func (t *Table) find(key uint32) int {
	return slices.IndexFunc(t.rows, func(r Row) bool { return r.key == key })
}

// load appends a row for each line of source, which is a key and a name.
func (t *Table) load(source io.Reader) error {
	lines := bufio.NewScanner(source)
	for lines.Scan() {
		text, name, _ := strings.Cut(lines.Text(), " ")
		key, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return fmt.Errorf("line %d: %w", len(t.rows)+1, err)
		}
		row := Row{key: uint32(key), name: uint32(len(t.names))}
		t.names = append(t.names, name...)
		row.end = uint32(len(t.names))
		t.rows = append(t.rows, row)
	}
	return lines.Err()
}

type Service struct {
	pool   *poolswap.Pool[Table, *Table]
	tables *poolswap.Container[Table, *Table]
}

func NewService() *Service {
	pool := poolswap.NewPool(
		func() *Table { return new(Table) },
		func(t *Table) bool {
			t.rows, t.names = t.rows[:0], t.names[:0] // empty it, keep its memory
			return true
		})
	return &Service{pool: pool, tables: poolswap.NewEmptyContainer(pool)}
}

var errNotLoaded = errors.New("no table is loaded yet")

func (s *Service) lookup(dst []byte, key uint32) ([]byte, error) {
	t := s.tables.Acquire()
	if t == nil { // the container is empty
		return dst, errNotLoaded
	}
	defer s.tables.Release(t)
	if i := t.find(key); i >= 0 {
		dst = append(dst, t.name(i)...)
	}
	return dst, nil
}

// A request copies what outlives its reference.
func Example_request() {
	s := NewService()
	fmt.Println(s.lookup(nil, 17))
	_ = s.reload(strings.NewReader("17 a.example\n"))
	name, err := s.lookup(nil, 17)
	fmt.Println(string(name), err)
	// Output:
	// [] no table is loaded yet
	// a.example <nil>
}

func (s *Service) serve(keys <-chan uint32, answer func([]byte)) {
	r := s.tables.NewReader()
	defer r.Close()
	for key := range keys {
		t := r.Load() // valid until the next Load, Park or Close
		if t == nil { // the container is empty
			continue
		}
		if i := t.find(key); i >= 0 {
			answer(t.name(i))
		}
		if len(keys) == 0 {
			r.Park() // before a wait that may be long
		}
	}
}

// A goroutine that reads in a loop has a Reader of its own.
func Example_loop() {
	s := NewService()
	_ = s.reload(strings.NewReader("17 a.example\n"))
	keys := make(chan uint32, 2) // buffered, so that serve sees whether more keys wait
	keys <- 16
	keys <- 17
	close(keys)
	s.serve(keys, func(name []byte) { fmt.Println(string(name)) })
	// Output: a.example
}

func (s *Service) auditLater(audit func(*Table)) {
	t := s.tables.Acquire()
	if t == nil { // the container is empty
		return
	}
	go func() {
		defer s.tables.Release(t)
		audit(t)
	}()
}

// A reference passes to another goroutine, which releases it.
func Example_handOver() {
	s := NewService()
	_ = s.reload(strings.NewReader("17 a.example\n"))
	done := make(chan int)
	s.auditLater(func(t *Table) { done <- len(t.rows) })
	fmt.Println(<-done, "row")
	// Output: 1 row
}

func (s *Service) reload(source io.Reader) error {
	next := s.tables.GetNew()
	owned := true
	defer func() {
		if owned {
			s.tables.Release(next) // reset runs here
		}
	}()
	if err := next.load(source); err != nil {
		return err
	}
	owned = false // Update owns next from the moment it is called
	s.tables.Update(next)
	return nil
}

// A reload fills, checks, and then publishes. Readers keep the old table while
// the new source is broken.
func Example_reload() {
	s := NewService()
	fmt.Println(s.reload(strings.NewReader("17 a.example\n")))
	fmt.Println(s.reload(strings.NewReader("17 b.example\nx c.example\n")))
	name, _ := s.lookup(nil, 17)
	fmt.Println(string(name))
	// Output:
	// <nil>
	// line 2: strconv.ParseUint: parsing "x": invalid syntax
	// a.example
}

func newTwoServices() (v4, v6 *Service) {
	pool := poolswap.NewPoolWithOptions(
		func() *Table { return new(Table) },
		func(t *Table) bool { t.rows, t.names = t.rows[:0], t.names[:0]; return true },
		poolswap.Options[Table]{Spares: 3})
	v4 = &Service{pool: pool, tables: poolswap.NewEmptyContainer(pool)}
	v6 = &Service{pool: pool, tables: poolswap.NewEmptyContainer(pool)}
	return v4, v6
}

// Two containers share the spares of one pool.
func Example_twoContainers() {
	v4, v6 := newTwoServices()
	for range 3 {
		_ = v4.reload(strings.NewReader("17 a.example\n"))
		_ = v6.reload(strings.NewReader("17 b.example\n"))
	}
	fmt.Println(v4.pool.Stats().Created, "tables for two containers")
	// Output: 3 tables for two containers
}

func newLimited() *Service {
	pool := poolswap.NewPoolWithOptions(
		func() *Table { return new(Table) },
		func(t *Table) bool {
			if cap(t.names) > 64<<20 {
				return false // grown out of proportion
			}
			t.rows, t.names = t.rows[:0], t.names[:0]
			return true
		},
		poolswap.Options[Table]{MaxLive: 2})
	return &Service{pool: pool, tables: poolswap.NewEmptyContainer(pool)}
}

var errSkipped = errors.New("old tables are still held: reload skipped")

func (s *Service) tryReload(source io.Reader) error {
	next, err := s.pool.TryGet()
	if errors.Is(err, poolswap.ErrLimit) {
		return errSkipped // serve what is current, try again later
	}
	if err := next.load(source); err != nil {
		s.pool.Release(next)
		return err
	}
	s.tables.Update(next)
	return nil
}

// Where memory has a limit, a writer skips an update rather than exceed it.
func Example_limit() {
	s := newLimited()
	fmt.Println(s.tryReload(strings.NewReader("1 a\n")))
	slow := s.tables.Acquire()
	fmt.Println(s.tryReload(strings.NewReader("1 b\n")))
	fmt.Println(s.tryReload(strings.NewReader("1 c\n")))
	s.tables.Release(slow)
	err := errSkipped
	for errors.Is(err, errSkipped) { // until the old table is reset
		err = s.tryReload(strings.NewReader("1 c\n"))
	}
	fmt.Println(err)
	// Output:
	// <nil>
	// <nil>
	// old tables are still held: reload skipped
	// <nil>
}

func newReported(report func(error)) *Service {
	pool := poolswap.NewPoolWithOptions(
		func() *Table { return new(Table) },
		func(t *Table) bool { t.rows, t.names = t.rows[:0], t.names[:0]; return true },
		poolswap.Options[Table]{Report: report})
	return &Service{pool: pool, tables: poolswap.NewEmptyContainer(pool)}
}

// A reload that finds an excess Release goes on, and Report receives it.
func Example_excessRelease() {
	s := newReported(func(err error) {
		var over *poolswap.OverRelease
		if errors.As(err, &over) {
			fmt.Println(over.Type, "released", over.Released-over.Acquired, "times too often")
		}
	})
	_ = s.reload(strings.NewReader("17 a.example\n"))
	t := s.tables.Acquire()
	s.tables.Release(t)
	s.tables.Release(t) // in some request handler
	fmt.Println(s.reload(strings.NewReader("17 b.example\n")))
	// Output:
	// *poolswap_test.Table released 1 times too often
	// <nil>
}

func (s *Service) shutdown() {
	s.tables.Update(nil) // the current object goes back to the pool
	s.pool.Trim()        // spares are discarded
}

// At the end the container is emptied and the spares are dropped.
func Example_shutdown() {
	s := NewService()
	_ = s.reload(strings.NewReader("17 a.example\n"))
	s.shutdown()
	fmt.Println(s.pool.Stats().Live, "tables are left")
	// Output: 0 tables are left
}
