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

// See TestLookUp: with a return of lookUp before its Release the test fails and has its
// line.
func Example() { _ = TestLookUp }

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
