package reload_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/poolswap/poolswap/reload"
)

func ExampleErrNotModified() {
	file := tempFile("a.example")
	defer remove(file)
	source := reload.File(file)
	content, err := source.Fetch(context.Background(), "")
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = content.Body.Close()
	_, err = source.Fetch(context.Background(), content.Revision)
	fmt.Println(errors.Is(err, reload.ErrNotModified))
	// Output: true
}

// A file that is written to while it is read is read again.
func ExampleErrChanged() {
	file := tempFile("half")
	defer remove(file)
	tables := newTables()
	reads := 0
	load := func(ctx context.Context, next, current *Table, content *reload.Content) error {
		if reads++; reads == 1 { // another process goes on writing
			_ = os.WriteFile(file, []byte("all"), 0o600)
		}
		return loadTable(ctx, next, current, content)
	}
	fmt.Println(reload.New(tables, reload.File(file), load, reload.Options{}).Reload(context.Background()))
	show(tables)
	content, err := reload.File(file).Fetch(context.Background(), "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer content.Body.Close()
	_ = os.WriteFile(file, []byte("another"), 0o600)
	_, err = io.ReadAll(content.Body)
	fmt.Println(errors.Is(err, reload.ErrChanged))
	// Output:
	// <nil>
	// [all]
	// true
}
