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

// parse checks the bytes before readers get them.
func parse(_ context.Context, data []byte) (index, error) {
	if !bytes.HasSuffix(data, []byte("\n")) {
		return index{}, errors.New("the last line is cut off")
	}
	return index{bytes.Split(bytes.TrimSpace(data), []byte("\n"))}, nil
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
	reloader := reload.New(indexes, reload.Cache(source, dir), mapped.Load(parse), reload.Options{Stats: pool.Stats})

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

// A load of one's own compares the file with the current one.
func ExampleFile_Map() {
	dir, err := os.MkdirTemp("", "cache")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	source := new(reloadtest.Fake)
	files := poolswap.NewEmptyContainer(mapped.NewPool[[]byte](nil))
	reloader := reload.New(files, reload.Cache(source, dir), func(_ context.Context, next, current *mapped.File[[]byte], content *reload.Content) (err error) {
		if next.Value, err = next.Map(content); err != nil || current == nil {
			return err
		}
		return reload.CheckLoss(len(current.Value), len(next.Value), 0.5)
	}, reload.Options{})
	for _, text := range []string{"0123456789", "012345", "0"} {
		source.Push([]byte(text))
		_ = reloader.Reload(context.Background())
		files.WithAcquire(func(f *mapped.File[[]byte]) { fmt.Printf("%s %s\n", f.Value, reloader.Status().State()) })
	}
	fmt.Println(files.Close(context.Background()))
	// Output:
	// 0123456789 fresh
	// 012345 fresh
	// 012345 refused
	// <nil>
}
