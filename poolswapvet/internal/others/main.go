// Command others runs the analyzers on references of other packages: files, rows, HTTP
// responses, connections, snapshots. Each report on public code is looked at: a wrong one
// would be wrong for poolswap, too.
//
//	go build -o /tmp/others ./internal/others
//	cd a-module && /tmp/others -test=false ./...
package main

import (
	"golang.org/x/tools/go/analysis/multichecker"

	"github.com/poolswap/poolswap/poolswapvet/internal/misuse"
	"github.com/poolswap/poolswap/poolswapvet/internal/refs"
)

func main() {
	refs.Others()
	multichecker.Main(misuse.LostRelease, misuse.DoubleRelease, misuse.UseAfterRelease)
}
