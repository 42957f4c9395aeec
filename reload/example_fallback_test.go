package reload_test

import (
	"context"
	"errors"
	"fmt"
	"testing/fstest"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

func withMirror(origin, mirror, dir string, embedded reload.Source) reload.Source {
	return reload.Fallback(
		reload.Cache(reload.HTTP(origin, reload.HTTPOptions{}), dir+"/origin"),
		reload.Cache(reload.HTTP(mirror, reload.HTTPOptions{}), dir+"/mirror"),
		embedded)
}

// A service starts with its embedded file, and keeps content of the origin while that is
// down.
func ExampleFallback() {
	ctx := context.Background()
	origin := new(reloadtest.Fake)
	embedded := reload.FS(fstest.MapFS{"embedded.txt": {Data: []byte("a.example\n")}}, "embedded.txt")
	tables := newTables()
	reloader := reload.New(tables, reload.Fallback(origin, embedded), loadTable, reload.Options{})
	step := func() {
		_ = reloader.Reload(ctx)
		s := reloader.Status()
		fmt.Print(s.State(), ", served by ", s.ServedBy, ": ")
		show(tables)
	}
	step()
	origin.Push([]byte("b.example\n"))
	step()
	origin.Fail(errors.New("the origin is down"))
	step()
	// Output:
	// stale, served by embedded.txt: [a.example]
	// fresh, served by fake: [b.example]
	// stale, served by fake: [b.example]
}
