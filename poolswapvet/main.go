// Command poolswapvet reports misuse of references to objects of poolswap. It stays silent
// where it does not understand what becomes of an object: a report is meant to be right.
//
//	go install github.com/poolswap/poolswap/poolswapvet@latest
//	poolswapvet ./...
//	go vet -vettool=$(which poolswapvet) ./...
//
// # lostrelease
//
//	t := tables.Acquire()
//	if host == "" {
//		return nil // t is not released
//	}
//	defer tables.Release(t)
//
// Objects of Acquire and Retain are released, those of Get, GetNew and TryGet published or
// released, and Readers closed or parked.
//
// # doublerelease
//
//	defer tables.Release(t)
//	use(t)
//	tables.Release(t) // the deferred one comes, too
//
// # useafterrelease
//
//	defer tables.Release(t)
//	return t.rows // reset recycles the slice
//
// # publisheduse
//
//	tables.Update(t)
//	t.rows = append(t.rows, row) // readers have it
//
// # keptcurrent
//
//	tables.WithAcquire(func(t *Table) { current = t }) // Retain it
//
// # readershare
//
//	r := tables.NewReader()
//	for range 4 {
//		go func() { use(r.Load()) }() // a Reader each
//	}
//
// # slabescape
//
//	name, _ := t.names.Get(key)
//	tables.Release(t)
//	return name // strings.Clone keeps it
//
// A function that returns an object of Acquire, or that releases its parameter, is known
// by its body, also in other packages. An object that is stored in a struct, sent on a
// channel, or given to a function that is not known is left alone.
package main

import (
	"encoding/json"
	"os"
	"strings"

	"golang.org/x/tools/go/analysis/multichecker"

	"github.com/poolswap/poolswap/poolswapvet/internal/misuse"
	"github.com/poolswap/poolswap/poolswapvet/internal/refs"
)

func main() {
	if len(os.Args) == 2 && strings.HasSuffix(os.Args[1], ".cfg") && skips(os.Args[1]) {
		return
	}
	multichecker.Main(misuse.All...)
}

// skips writes the empty result of a package that does not reach the library, for go vet,
// which asks for each package of the standard library, too, and would have it type-checked.
func skips(config string) bool {
	text, err := os.ReadFile(config)
	if err != nil {
		return false
	}
	var unit struct {
		ImportPath  string
		PackageFile map[string]string // of what it imports, and of what that does
		VetxOutput  string
	}
	if json.Unmarshal(text, &unit) != nil || unit.VetxOutput == "" || unit.ImportPath == refs.Library {
		return false
	}
	if _, reaches := unit.PackageFile[refs.Library]; reaches {
		return false
	}
	return os.WriteFile(unit.VetxOutput, nil, 0o666) == nil //nolint:gosec // as go vet has it
}
