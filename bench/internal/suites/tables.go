package suites

import (
	"bytes"
	"strconv"

	"github.com/poolswap/poolswap/bench/internal/rivals"
	"github.com/poolswap/poolswap/slab"
)

// table is the heavy object of most suites: a map with as many entries as the
// published benchmark has.
type table = map[string]string

const (
	tableEntries = 100_000
	mib          = 1 << 20
)

// entries are the keys and values of tables, made once: replacing a table is
// measured, making strings is not.
type entries struct{ keys, values []string }

func newEntries(n int) *entries {
	e := &entries{make([]string, n), make([]string, n)}
	for i := range n {
		e.keys[i] = "key-" + strconv.Itoa(i)
		e.values[i] = "value-" + strconv.Itoa(i)
	}
	return e
}

// functions make tables with these entries.
func (e *entries) functions() *rivals.Functions[table] {
	f := e.parsing()
	f.Fill = func(t *table) {
		m := *t
		for i, key := range e.keys {
			m[key] = e.values[i]
		}
	}
	return f
}

// parsing are functions that make the strings of a table from lines of text.
func (e *entries) parsing() *rivals.Functions[table] {
	text := e.lines()
	return &rivals.Functions[table]{
		New:   func() table { return make(table, len(e.keys)) },
		Reset: func(t *table) { clear(*t) },
		Fill: func(t *table) {
			m := *t
			for line := range bytes.Lines(text) {
				key, value := split(line)
				m[string(key)] = string(value)
			}
		},
	}
}

// inSlab are functions for tables of the same entries in a slab.
func (e *entries) inSlab() *rivals.Functions[*slab.Strings] {
	f := e.parsingToSlab()
	f.Fill = func(t **slab.Strings) {
		for i, key := range e.keys {
			(*t).Set(key, e.values[i])
		}
	}
	return f
}

func (e *entries) parsingToSlab() *rivals.Functions[*slab.Strings] {
	text := e.lines()
	return &rivals.Functions[*slab.Strings]{
		New:   func() *slab.Strings { return new(slab.Strings) },
		Reset: func(t **slab.Strings) { (*t).Reset() },
		Fill: func(t **slab.Strings) {
			for line := range bytes.Lines(text) {
				(*t).SetBytes(split(line))
			}
		},
	}
}

// lines returns the entries as a file has them.
func (e *entries) lines() (text []byte) {
	for i, key := range e.keys {
		text = append(append(text, key...), '\t')
		text = append(append(text, e.values[i]...), '\n')
	}
	return text
}

// split returns the key and the value of a line.
func split(line []byte) (key, value []byte) {
	at := bytes.IndexByte(line, '\t')
	return line[:at], line[at+1 : len(line)-1]
}
