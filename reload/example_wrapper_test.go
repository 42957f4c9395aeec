package reload_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// counted is a Source that counts the errors of another one. It passes on hints, kept
// content, the identity and the name of the other.
type counted struct {
	reload.Wrapper
	failed *int
}

func (c counted) Fetch(ctx context.Context, have string) (*reload.Content, error) {
	content, err := c.Wrapper.Fetch(ctx, have)
	if err != nil && !errors.Is(err, reload.ErrNotModified) {
		*c.failed++
	}
	return content, err
}

// The content of a Cache is restored through the wrapper.
func ExampleWrapper() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "cache")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	origin, failed := new(reloadtest.Fake), 0
	origin.Push([]byte("a.example\n"))
	for range 2 { // the second is the next process
		tables := newTables()
		source := counted{reload.Wrapper{Source: reload.Cache(origin, dir)}, &failed}
		fmt.Println(reload.New(tables, source, loadTable, reload.Options{}).Reload(ctx))
		show(tables)
		origin.Fail(errors.New("the origin is down"))
	}
	fmt.Println("failed:", failed)
	// Output:
	// <nil>
	// [a.example]
	// <nil>
	// [a.example]
	// failed: 1
}

// buffered is a Source that reads all content of another one before load does. It reads
// no more than the Reloader allows.
type buffered struct{ reload.Wrapper }

func (b buffered) Fetch(ctx context.Context, have string) (*reload.Content, error) {
	content, err := b.Wrapper.Fetch(ctx, have)
	if err != nil {
		return nil, err
	}
	defer content.Body.Close()
	text, err := io.ReadAll(io.LimitReader(content.Body, reload.MaxBytes(ctx)+1))
	if err != nil {
		return nil, err
	}
	content.Body, content.File = io.NopCloser(bytes.NewReader(text)), nil
	return content, nil
}

func ExampleMaxBytes() {
	origin := new(reloadtest.Fake)
	origin.Push([]byte("a.example\n"))
	source := buffered{reload.Wrapper{Source: origin}}
	err := reload.New(newTables(), source, loadTable, reload.Options{MaxBytes: 5}).Reload(context.Background())
	fmt.Println(errors.Unwrap(err))
	// Output: larger than Options.MaxBytes (5): 10 bytes are announced
}

// Rows is a Source of one's own, the result of a query.
type Rows struct {
	*reloadtest.Fake
	query string
}

func (r Rows) String() string { return "rows of the database" }

func (r Rows) Identity() string { return r.String() + " " + r.query }

// A Cache does not use the rows of another query, though their name is the same.
func ExampleIdentifier() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "cache")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	rows := Rows{new(reloadtest.Fake), "SELECT host FROM allowed"}
	rows.Push([]byte("a.example\n"))
	_ = reload.New(newTables(), reload.Cache(rows, dir), loadTable, reload.Options{}).Reload(ctx)

	for _, query := range []string{rows.query, "SELECT host FROM denied"} {
		source := reload.Wrapper{Source: Rows{rows.Fake, query}}
		content, _, err := reload.Cache(source, dir).(reload.Restorer).Restore(ctx)
		fmt.Println(content != nil, err != nil)
	}
	fmt.Println(reload.Wrapper{Source: rows}.Identity())
	// Output:
	// true false
	// false true
	// rows of the database SELECT host FROM allowed
}
