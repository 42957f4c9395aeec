package poolswap_test

import (
	"strings"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

// TestPublishGivesUpWhatWasOverwrittenDuringFill, as Update does: the object is
// lost, and readers that hold it can release it.
func TestPublishGivesUpWhatWasOverwrittenDuringFill(t *testing.T) {
	pool := newTablePool(poolswap.Options[table]{})
	c := poolswap.NewContainer(pool, &table{value: 1})
	held := c.Acquire()
	text := pooltest.PanicOf(t, func() {
		c.Publish(t.Context(), func(next, current *table) error {
			*current = table{value: 7}
			return nil
		})
	})
	if !strings.HasPrefix(text, "poolswap: Publish found that the Ref of the current *poolswap_test.table was overwritten") {
		t.Errorf("panic text: %s", text)
	}
	if s := pool.Stats(); s.Current != 1 || s.Lost != 1 || s.Live != 1 || len(s.Versions) != 1 {
		t.Errorf("%+v", s)
	}
	c.Release(held) // does not panic
	publish(t, c, set(2))
}
