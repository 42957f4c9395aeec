package poolswap_test

import (
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

func (d *Databases) reopen(name string) error {
	next := d.current.GetNew()
	if err := next.open(name); err != nil {
		d.current.Release(next)
		return err
	}
	d.current.Update(next)
	return nil
}

// The factory makes an empty wrapper, the writer opens the resource into it,
// and reset closes it when the last reader is done.
func Example_openedResource() {
	d := NewDatabases()
	fmt.Println(d.reopen("example_test.go"))
	db := d.current.Acquire()
	fmt.Println(d.reopen("go.mod"))
	_, err := db.file.Stat()
	fmt.Println("replaced and still open:", err == nil)
	d.current.Release(db) // the pool closes the file
	fmt.Println(d.reopen("no such file"))
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

// close is the reset function.
func (m *Mapped) close() bool {
	if m.data != nil {
		m.cleanup.Stop()
		munmap(m.data)
		m.data = nil
	}
	return true
}

// A leaked mapping is unmapped when the garbage collector takes its object.
func Example_mapping() {
	pool := poolswap.NewPool(func() *Mapped { return new(Mapped) }, (*Mapped).close)
	files := poolswap.NewEmptyContainer(pool)
	publish := func() {
		next := files.GetNew()
		if err := next.open("go.mod"); err != nil {
			log.Fatal(err)
		}
		files.Update(next)
	}
	publish()
	publish()
	fmt.Println("replaced:", mappings.Load(), "mapping")

	files.Acquire() // and no Release
	publish()
	fmt.Println("leaked:", mappings.Load(), "mappings")
	for mappings.Load() > 1 {
		runtime.GC()
	}
	fmt.Println("collected:", mappings.Load(), "mapping")
	files.Update(nil)
	fmt.Println("shut down:", mappings.Load(), "mappings")
	// Output:
	// replaced: 1 mapping
	// leaked: 2 mappings
	// collected: 1 mapping
	// shut down: 0 mappings
}

// mappings counts what mmap has mapped and munmap has not.
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
