package poolswaptest_test

import (
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/poolswaptest"
)

// lookUp is the code that is tested.
func lookUp(tables *poolswap.Container[table, *table]) int {
	t := tables.Acquire()
	defer tables.Release(t)
	return t.value
}

// TestLookUp is how a test looks: with a return of lookUp before its Release it fails, and
// names the line.
func TestLookUp(t *testing.T) {
	pool := newPool()
	poolswaptest.Check(t, pool)
	tables := poolswap.NewContainer(pool, &table{value: 1})

	old, release := poolswaptest.Hold(t, tables) // a slow reader
	tables.Update(&table{value: 2})
	if lookUp(tables) != 2 || old.value != 1 {
		t.Error("the readers see the wrong versions")
	}
	release()
	poolswaptest.Drain(t, pool)
}
