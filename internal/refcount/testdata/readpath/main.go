// Command readpath prints which code its reads run.
package main

import (
	"fmt"

	"github.com/poolswap/poolswap"
)

type table struct {
	poolswap.Ref
	rows int
}

func main() {
	pool := poolswap.NewPool(func() *table { return new(table) }, nil)
	fmt.Println(pool.Stats().Reads.Path)
	poolswap.NewContainer(pool, &table{rows: 1}).WithAcquire(func(t *table) { fmt.Println(t.rows) })
}
