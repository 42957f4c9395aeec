package slab_test

import (
	"bufio"
	"bytes"
	"fmt"
	"log"
	"strings"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/slab"
)

// countries is a table that readers share and a writer replaces.
type countries struct {
	poolswap.Ref
	names slab.Strings
}

// load reads a name for each code, one a line. It allocates nothing once it has read a
// file as large.
func (c *countries) load(file []byte) error {
	for line := range bytes.Lines(file) {
		code, name, ok := bytes.Cut(bytes.TrimSpace(line), []byte(","))
		if !ok {
			return fmt.Errorf("no comma in %q", line)
		}
		c.names.SetBytes(code, name)
	}
	return nil
}

func ExampleStrings() {
	pool := poolswap.NewPool(
		func() *countries { return new(countries) },
		func(c *countries) bool { c.names.Reset(); return true },
	)
	tables := poolswap.NewEmptyContainer(pool)

	next := pool.Get() // its memory is that of a table that nobody reads any more
	if err := next.load([]byte("is,Iceland\nie,Ireland\n")); err != nil {
		log.Fatal(err)
	}
	tables.Update(next)

	table := tables.Acquire()
	name, ok := table.names.Get("is") // valid until the Release
	fmt.Println(name, ok, table.names.Len())
	kept := strings.Clone(name)
	tables.Release(table)
	fmt.Println(kept)
	// Output:
	// Iceland true 2
	// Iceland
}

func ExampleMap() {
	var ports slab.Map[uint16]
	ports.Set("https", 443)
	ports.SetBytes([]byte("http"), 80)
	fmt.Println(ports.Get("https"))
	fmt.Println(ports.Get("gopher"))
	// Output:
	// 443 true
	// 0 false
}

func ExampleMap_CopyFrom() {
	var current, next slab.Map[int]
	current.Set("a", 1)
	current.Set("b", 2)
	next.CopyFrom(&current)
	next.Delete("b")
	fmt.Println(current.Len(), next.Len())
	// Output: 2 1
}

func ExampleBytes() {
	var (
		slab  slab.Bytes
		names []string
	)
	lines := bufio.NewScanner(strings.NewReader("Iceland\nIreland\n"))
	for lines.Scan() {
		names = append(names, slab.String(lines.Bytes()))
	}
	fmt.Println(names)
	clear(names) // before their memory is that of others
	names = names[:0]
	slab.Reset()
	// Output: [Iceland Ireland]
}
