package suites

import (
	"strconv"
	"sync/atomic"

	"github.com/poolswap/poolswap/bench/internal/rivals"
)

// table is the heavy object of most suites: a map with as many entries as the
// published benchmark has.
type table = map[string]string

const tableEntries = 100_000

// entries are the keys and values of tables, made once: replacing a table is
// measured, making strings is not.
type entries struct{ keys, values []string }

// lastEntries are those of the last sample, which the next ones can share.
var lastEntries atomic.Pointer[entries]

func newEntries(n int) *entries {
	if e := lastEntries.Load(); e != nil && len(e.keys) == n {
		return e
	}
	e := &entries{make([]string, n), make([]string, n)}
	for i := range n {
		e.keys[i] = "key-" + strconv.Itoa(i)
		e.values[i] = "value-" + strconv.Itoa(i)
	}
	lastEntries.Store(e)
	return e
}

// functions make tables with these entries.
func (e *entries) functions() *rivals.Functions[table] {
	return &rivals.Functions[table]{
		New:   func() table { return make(table, len(e.keys)) },
		Reset: func(t *table) { clear(*t) },
		Fill: func(t *table) {
			m := *t
			for i, key := range e.keys {
				m[key] = e.values[i]
			}
		},
	}
}
