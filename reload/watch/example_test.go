package watch_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/watch"
)

// Table is the object that the example keeps fresh.
type Table struct {
	poolswap.Ref
	text string
}

func loadTable(_ context.Context, next, _ *Table, content *reload.Content) error {
	text, err := io.ReadAll(content.Body)
	next.text = string(text)
	return err
}

func keepFresh(ctx context.Context, tables *poolswap.Container[Table, *Table], file string) error {
	watcher, err := watch.New()
	if err != nil {
		return err // the system has no notifications, or no more
	}
	defer watcher.Close()
	return reload.New(tables, watcher.File(file), loadTable, reload.Options{}).Run(ctx)
}

// A file is read again when another one is renamed over it.
func Example() {
	dir, err := os.MkdirTemp("", "watch")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "table.txt")
	put := func(text string) {
		_ = os.WriteFile(file+".new", []byte(text), 0o600)
		_ = os.Rename(file+".new", file)
	}
	put("old.example")
	tables := poolswap.NewEmptyContainer(poolswap.NewPool(func() *Table { return new(Table) }, nil))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- keepFresh(ctx, tables, file) }()
	for _, table := range tables.Versions(ctx) {
		fmt.Println(table.text)
		if table.text == "new.example" {
			break
		}
		put("new.example")
	}
	cancel()
	fmt.Println(<-ended)
	// Output:
	// old.example
	// new.example
	// context canceled
}
