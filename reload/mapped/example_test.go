package mapped_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/mapped"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// index finds lines in the memory of the file.
type index struct{ lines [][]byte }

// loadIndex checks the bytes before readers get them.
func loadIndex(_ context.Context, next, _ *mapped.File[index], content *reload.Content) error {
	data, err := next.Map(content)
	if err != nil {
		return err
	}
	if !bytes.HasSuffix(data, []byte("\n")) {
		return errors.New("the last line is cut off")
	}
	next.Value.lines = bytes.Split(bytes.TrimSpace(data), []byte("\n"))
	return nil
}

// The old file is unmapped after its last reader. The Cache keeps a copy that no
// other program writes to.
func Example() {
	dir, err := os.MkdirTemp("", "cache")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	source := new(reloadtest.Fake)
	pool := mapped.NewPool[index](func(err error) { log.Print(err) })
	indexes := poolswap.NewEmptyContainer(pool)
	reloader := reload.New(indexes, reload.Cache(source, dir), loadIndex, reload.Options{Stats: pool.Stats})

	ctx := context.Background()
	source.Push([]byte("a.example\nb.example\n"))
	fmt.Println(reloader.Reload(ctx))
	old := indexes.Acquire()
	source.Push([]byte("c.example\n"))
	fmt.Println(reloader.Reload(ctx))
	source.Push([]byte("d.exa"))
	fmt.Println(reloader.Reload(ctx) != nil, reloader.Status().State())
	fmt.Printf("%s\n", old.Value.lines)
	indexes.Release(old)
	indexes.WithAcquire(func(f *mapped.File[index]) { fmt.Printf("%s\n", f.Value.lines) })
	fmt.Println(pool.Close(ctx), pool.Stats().Live)
	// Output:
	// <nil>
	// <nil>
	// true refused
	// [a.example b.example]
	// [c.example]
	// <nil> 0
}
