package reload_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing/fstest"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// Table is the object that the examples keep fresh.
type Table struct {
	poolswap.Ref
	rows []string
}

func newTable() *Table { return new(Table) }

// resetTable empties a table and keeps its memory.
func resetTable(t *Table) bool {
	t.rows = t.rows[:0]
	return true
}

func (t *Table) parse(r io.Reader) error {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		t.rows = append(t.rows, lines.Text())
	}
	return lines.Err()
}

// loadTable is the load of most examples.
func loadTable(_ context.Context, next, _ *Table, content *reload.Content) error {
	return next.parse(content.Body)
}

// newTables returns an empty container.
func newTables() *poolswap.Container[Table, *Table] {
	return poolswap.NewEmptyContainer(poolswap.NewPool(newTable, resetTable))
}

// serve keeps a table fresh until ctx ends.
func serve(ctx context.Context, file string, mux *http.ServeMux) (*poolswap.Container[Table, *Table], error) {
	pool := poolswap.NewPool(newTable, resetTable)
	tables := poolswap.NewEmptyContainer(pool)
	reloader := reload.New(tables, reload.File(file), func(_ context.Context, next, _ *Table, content *reload.Content) error {
		return next.parse(content.Body)
	}, reload.Options{Stats: pool.Stats})
	go reloader.Run(ctx)
	mux.Handle("/status", reload.StatusPage(reloader))
	_, err := tables.Wait(ctx, 0) // until the first table is there, or ctx ends
	return tables, err
}

// write makes a file with text, which the caller removes with its directory.
func tempFile(text string) (file string) {
	dir, err := os.MkdirTemp("", "reload")
	if err != nil {
		panic(err)
	}
	file = filepath.Join(dir, "table.txt")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		panic(err)
	}
	return file
}

func remove(file string) { os.RemoveAll(filepath.Dir(file)) }

// show prints the content that a reader gets.
func show(tables *poolswap.Container[Table, *Table]) {
	t := tables.Acquire()
	defer tables.Release(t)
	if t == nil {
		fmt.Println("no table")
		return
	}
	fmt.Println(t.rows)
}

// A service keeps a table fresh from a file, and shows its state.
func Example() {
	file := tempFile("a.example\nb.example\n")
	defer remove(file)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	mux := http.NewServeMux()
	tables, err := serve(ctx, file, mux)
	if err != nil {
		fmt.Println(err)
		return
	}
	show(tables)
	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/status", nil))
	fmt.Println(answer.Code, answer.Header().Get("Content-Type"))
	// Output:
	// [a.example b.example]
	// 200 text/html; charset=utf-8
}

func ExampleNew() {
	source := new(reloadtest.Fake)
	source.Push([]byte("a.example"))
	tables := newTables()
	reloader := reload.New(tables, source, loadTable, reload.Options{Every: 10 * time.Second})
	fmt.Println(reloader.Reload(context.Background()))
	show(tables)
	// Output:
	// <nil>
	// [a.example]
}

// A file that was renamed over the old one is loaded; a broken one is not.
func ExampleFile() {
	ctx := context.Background()
	file := tempFile("old.example\n")
	defer remove(file)
	tables := newTables()
	reloader := reload.New(tables, reload.File(file), loadTable, reload.Options{})
	fmt.Println(reloader.Reload(ctx))
	show(tables)

	_ = os.WriteFile(file+".new", []byte("new.example\n"), 0o600)
	_ = os.Rename(file+".new", file)
	fmt.Println(reloader.Reload(ctx))
	show(tables)

	_ = os.Remove(file)
	fmt.Println(errors.Is(reloader.Reload(ctx), os.ErrNotExist))
	show(tables)
	// Output:
	// <nil>
	// [old.example]
	// <nil>
	// [new.example]
	// true
	// [new.example]
}

// Embedded files are loaded with the code that loads files.
func ExampleFS() {
	embedded := fstest.MapFS{"table.txt": {Data: []byte("a.example")}}
	tables := newTables()
	reloader := reload.New(tables, reload.FS(embedded, "table.txt"), loadTable, reload.Options{})
	fmt.Println(reloader.Reload(context.Background()))
	show(tables)
	// Output:
	// <nil>
	// [a.example]
}

// Reload on demand and Run go together: attempts take turns.
func ExampleReloader() {
	ctx, cancel := context.WithCancel(context.Background())
	source := new(reloadtest.Fake)
	source.Push([]byte("a.example"))
	tables := newTables()
	reloader := reload.New(tables, source, loadTable, reload.Options{})
	ended := make(chan error)
	go func() { ended <- reloader.Run(ctx) }()

	source.Push([]byte("b.example"))
	fmt.Println(reloader.Reload(ctx)) // such as on SIGHUP
	show(tables)
	cancel()
	fmt.Println(<-ended)
	// Output:
	// <nil>
	// [b.example]
	// context canceled
}

// Run ends when the container is closed.
func ExampleReloader_Run() {
	ctx := context.Background()
	source := new(reloadtest.Fake)
	source.Push([]byte("a.example"))
	tables := newTables()
	reloader := reload.New(tables, source, loadTable, reload.Options{})
	ended := make(chan error)
	go func() { ended <- reloader.Run(ctx) }()
	_, _ = tables.Wait(ctx, 0) // for the first table
	show(tables)
	_ = tables.Close(ctx)
	fmt.Println(<-ended)
	// Output:
	// [a.example]
	// poolswap: the container or the pool is closed
}

// Reload says why nothing new is loaded.
func ExampleReloader_Reload() {
	source := new(reloadtest.Fake)
	reloader := reload.New(newTables(), source, loadTable, reload.Options{})
	fmt.Println(reloader.Reload(context.Background()))
	// Output: reload: fake: fetch: reloadtest: nothing was pushed (nothing is loaded yet; it is tried again)
}

// Programs get the status as JSON.
func ExampleReloader_ServeHTTP() {
	source := new(reloadtest.Fake)
	source.Push([]byte("a.example"))
	reloader := reload.New(newTables(), source, loadTable, reload.Options{})
	_ = reloader.Reload(context.Background())
	answer := httptest.NewRecorder()
	reloader.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/status?format=json", nil))
	fmt.Println(jsonFields(answer.Body, "state", "revision", "version", "size_bytes"))
	// Output: map[revision:1 size_bytes:9 state:fresh version:1]
}

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
