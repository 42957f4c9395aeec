//go:build unix

package reload_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// Mapping is an object that owns memory of the system.
type Mapping struct {
	poolswap.Ref
	data []byte
}

func newMappings() *poolswap.Container[Mapping, *Mapping] {
	return poolswap.NewEmptyContainer(poolswap.NewPoolWithOptions(
		func() *Mapping { return new(Mapping) },
		(*Mapping).unmap,
		poolswap.Options[Mapping]{Spares: 1}))
}

// unmap is the pool's reset: no reader uses the mapping any more.
func (m *Mapping) unmap() bool {
	if m.data != nil {
		_ = syscall.Munmap(m.data)
		m.data = nil
	}
	return true
}

func loadMapping(_ context.Context, next, _ *Mapping, content *reload.Content) (err error) {
	if content.Size <= 0 {
		return errors.New("an empty file cannot be mapped")
	}
	next.data, err = syscall.Mmap(int(content.File.Fd()), 0, int(content.Size), syscall.PROT_READ, syscall.MAP_SHARED)
	return reload.Retryable(err) // memory may be short for a moment
}

// Content.File is mapped into memory. Through a Cache it is a file that no other
// program writes to.
func ExampleContent() {
	dir, err := os.MkdirTemp("", "cache")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	source := new(reloadtest.Fake)
	source.Push([]byte("a.example"))
	mappings := newMappings()
	reloader := reload.New(mappings, reload.Cache(source, dir), loadMapping, reload.Options{})
	fmt.Println(reloader.Reload(context.Background()))
	mappings.WithAcquire(func(m *Mapping) { fmt.Printf("%s\n", m.data) })
	fmt.Println(mappings.Close(context.Background()))
	// Output:
	// <nil>
	// a.example
	// <nil>
}
