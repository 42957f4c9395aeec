package reload_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/poolswap/poolswap/reload"
)

func accounts(dir string) reload.Source {
	return reload.Join(reload.File(dir+"/users.txt"), reload.File(dir+"/roles.txt"))
}

// loadRelease refuses files whose first lines do not name the same release.
func loadRelease(_ context.Context, next, _ *Table, content *reload.Content) error {
	var releases []string
	for _, part := range content.Parts {
		first := len(next.rows)
		if err := next.parse(part.Body); err != nil {
			return err
		}
		if first == len(next.rows) {
			return fmt.Errorf("%s is empty", part.Source)
		}
		releases = append(releases, next.rows[first])
	}
	if releases[0] != releases[1] {
		return fmt.Errorf("users of %q and roles of %q", releases[0], releases[1])
	}
	return nil
}

// Two files are loaded into one object, so no reader sees one without the other,
// nor files of two releases.
func ExampleJoin() {
	ctx := context.Background()
	users := tempFile("")
	dir := filepath.Dir(users)
	defer remove(users)
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			panic(err)
		}
	}
	tables := newTables()
	reloader := reload.New(tables, accounts(dir), loadRelease, reload.Options{Logger: slog.New(slog.DiscardHandler)})
	put("users.txt", "release 1\nann\n")
	put("roles.txt", "release 1\nadmin\n")
	fmt.Println(reloader.Reload(ctx))
	show(tables)
	put("users.txt", "release 2\nbob\n")
	err := reloader.Reload(ctx)
	fmt.Println(strings.Contains(err.Error(), `users of "release 2" and roles of "release 1"`), reloader.Status().State())
	show(tables)
	put("roles.txt", "release 2\nguest\n")
	fmt.Println(reloader.Reload(ctx))
	show(tables)
	// Output:
	// <nil>
	// [release 1 ann release 1 admin]
	// true refused
	// [release 1 ann release 1 admin]
	// <nil>
	// [release 2 bob release 2 guest]
}
