package docs_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/poolswap/poolswap"
)

// The example_patterns files and example_resources_test.go are the code of
// docs/patterns.md; TestPagesShowCompiledCode compares them with the page. This file
// has the readers of a table, and how a pool is made; example_patterns_write_test.go
// has the writers, example_patterns_versions_test.go the followers of versions.

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

// A request copies the answer, which outlives its reference.
func Example_request() {
	ctx := context.Background()
	s := NewService()
	fmt.Println(s.lookup(nil, 17))
	_ = s.reload(ctx, strings.NewReader("17 a.example\n"))
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
	ctx := context.Background()
	s := NewService()
	_ = s.reload(ctx, strings.NewReader("17 a.example\n"))
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

func (s *Service) answerAll(keys []uint32, answer func(*Table, uint32)) {
	t := s.tables.Acquire()
	if t == nil { // the container is empty
		return
	}
	defer s.tables.Release(t)
	var workers sync.WaitGroup
	for _, key := range keys {
		own := s.tables.Retain(t) // before the goroutine starts
		workers.Go(func() {
			defer s.tables.Release(own)
			answer(own, key)
		})
	}
	workers.Wait()
}

// A reference passes to another goroutine, which releases it.
func Example_handOver() {
	ctx := context.Background()
	s := NewService()
	_ = s.reload(ctx, strings.NewReader("17 a.example\n"))
	done := make(chan int)
	s.auditLater(func(t *Table) { done <- len(t.rows) })
	fmt.Println(<-done, "row")
	// Output: 1 row
}

func newTwoServices() (v4, v6 *Service) {
	pool := poolswap.NewPool(
		func() *Table { return new(Table) },
		func(t *Table) bool { t.rows, t.names = t.rows[:0], t.names[:0]; return true })
	v4 = &Service{pool: pool, tables: poolswap.NewEmptyContainer(pool)}
	v6 = &Service{pool: pool, tables: poolswap.NewEmptyContainer(pool)}
	return v4, v6
}

// Two containers share the spares of one pool.
func Example_twoContainers() {
	ctx := context.Background()
	v4, v6 := newTwoServices()
	for range 3 {
		_ = v4.reload(ctx, strings.NewReader("17 a.example\n"))
		_ = v6.reload(ctx, strings.NewReader("17 b.example\n"))
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

var errSkipped = errors.New("reload skipped")

func (s *Service) reloadWithin(ctx context.Context, source io.Reader) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	err := s.reload(ctx, source)
	if errors.Is(err, poolswap.ErrLimit) || // err says which versions are held, and for how long
		errors.Is(err, context.DeadlineExceeded) { // it did not get its turn
		return fmt.Errorf("%w: %w", errSkipped, err)
	}
	return err
}

// Where memory has a limit, a publication waits until a reader gives back an old
// table.
func Example_limit() {
	ctx := context.Background()
	s := newLimited()
	fmt.Println(s.reload(ctx, strings.NewReader("1 a\n")))
	slow := s.tables.Acquire()
	fmt.Println(s.reload(ctx, strings.NewReader("1 b\n")))
	go s.tables.Release(slow)
	fmt.Println(s.reload(ctx, strings.NewReader("1 c\n"))) // waits for slow
	fmt.Println(s.pool.Stats().Live, "tables")
	// Output:
	// <nil>
	// <nil>
	// <nil>
	// 2 tables
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
	ctx := context.Background()
	s := newReported(func(err error) {
		var over *poolswap.OverReleaseError
		if errors.As(err, &over) {
			fmt.Println(over.Type, "released", over.Released-over.Acquired, "times too often")
		}
	})
	_ = s.reload(ctx, strings.NewReader("17 a.example\n"))
	t := s.tables.Acquire()
	s.tables.Release(t)
	s.tables.Release(t) // in some request handler
	fmt.Println(s.reload(ctx, strings.NewReader("17 b.example\n")))
	// Output:
	// *docs_test.Table released 1 times too often
	// <nil>
}
