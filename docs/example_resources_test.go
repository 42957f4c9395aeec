package docs_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"runtime"
	"sync/atomic"

	"github.com/poolswap/poolswap"
)

type DB struct {
	poolswap.Ref
	file *os.File
}

func (db *DB) open(name string) (err error) {
	db.file, err = os.Open(name)
	return err
}

// close is the reset function: it leaves an empty DB for the next version.
func (db *DB) close() bool {
	if db.file == nil { // open failed
		return true
	}
	if err := db.file.Close(); err != nil {
		log.Print(err)
	}
	db.file = nil
	return true
}

type Databases struct {
	current *poolswap.Container[DB, *DB]
}

func NewDatabases() *Databases {
	pool := poolswap.NewPool(
		func() *DB { return new(DB) }, // opens nothing
		(*DB).close)
	return &Databases{current: poolswap.NewEmptyContainer(pool)}
}

func (d *Databases) reopen(ctx context.Context, name string) error {
	_, err := d.current.Publish(ctx, func(next, _ *DB) error { return next.open(name) })
	return err
}

// The factory makes an empty wrapper, the writer opens the resource into it,
// and reset closes it when the last reader is done.
func Example_openedResource() {
	ctx := context.Background()
	d := NewDatabases()
	fmt.Println(d.reopen(ctx, "performance.md"))
	db := d.current.Acquire()
	fmt.Println(d.reopen(ctx, "patterns.md"))
	_, err := db.file.Stat()
	fmt.Println("replaced and still open:", err == nil)
	d.current.Release(db) // the pool closes the file
	fmt.Println(d.reopen(ctx, "no such file"))
	// Output:
	// <nil>
	// <nil>
	// replaced and still open: true
	// open no such file: no such file or directory
}

type Mapped struct {
	poolswap.Ref
	data    []byte
	cleanup runtime.Cleanup
}

func (m *Mapped) open(name string) error {
	data, err := mmap(name)
	if err != nil {
		return err
	}
	m.data = data
	m.cleanup = runtime.AddCleanup(m, munmap, data) // for a Mapped that is leaked
	return nil
}

// close is the Discard function.
func (m *Mapped) close() {
	if m.data != nil { // else open failed
		m.cleanup.Stop()
		munmap(m.data)
		m.data = nil
	}
}

type Files struct {
	pool    *poolswap.Pool[Mapped, *Mapped]
	current *poolswap.Container[Mapped, *Mapped]
}

func NewFiles() *Files {
	pool := poolswap.NewPoolWithOptions(
		func() *Mapped { return new(Mapped) },
		nil, // nothing is kept for the next version, so there is nothing to reset
		poolswap.Options[Mapped]{Spares: poolswap.NoSpares, Discard: (*Mapped).close})
	return &Files{pool, poolswap.NewEmptyContainer(pool)}
}

func (f *Files) reopen(ctx context.Context, name string) error {
	_, err := f.current.Publish(ctx, func(next, _ *Mapped) error { return next.open(name) })
	return err
}

// close returns nil once every mapping is gone.
func (f *Files) close(ctx context.Context) error { return f.pool.Close(ctx) }

// A mapping goes with its last reader; a leaked one goes when the garbage collector
// takes its object; Close waits for both.
func Example_mapping() {
	ctx := context.Background()
	f := NewFiles()
	_ = f.reopen(ctx, "patterns.md")
	_ = f.reopen(ctx, "patterns.md")
	fmt.Println("replaced:", mappings.Load(), "mapping")

	f.current.Acquire() // and no Release
	_ = f.reopen(ctx, "patterns.md")
	fmt.Println("leaked:", mappings.Load(), "mappings")
	for mappings.Load() > 1 {
		runtime.GC()
	}
	fmt.Println("collected:", mappings.Load(), "mapping")
	fmt.Println(f.close(ctx), mappings.Load(), "mappings")
	// Output:
	// replaced: 1 mapping
	// leaked: 2 mappings
	// collected: 1 mapping
	// <nil> 0 mappings
}

// mappings counts the mappings of mmap that munmap has not ended.
var mappings atomic.Int64

// mmap stands for the system call.
func mmap(name string) ([]byte, error) {
	data, err := os.ReadFile(name)
	if err == nil {
		mappings.Add(1)
	}
	return data, err
}

func munmap([]byte) { mappings.Add(-1) }
