// Command inline is compiled by a test that reads the inlining decisions of the compiler.
package main

import (
	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/oplog"
)

func lookup(r *poolswap.Reader[oplog.View[string, int]], key string) (int, bool) {
	return r.Load().Get(key)
}

func main() {
	m, err := oplog.NewMap(oplog.MapOptions[string, int]{})
	if err != nil {
		panic(err)
	}
	r := m.Container().NewReader()
	defer r.Close()
	println(lookup(r, "key"))
}
