//go:build poolswapdebug && unix

package slab_test

import (
	"fmt"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/slab"
)

// readsFault reports whether reading s faults.
func readsFault(s string) (faults bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if err, ok := recover().(error); ok && strings.Contains(err.Error(), "invalid memory address") {
			faults = true
		}
	}()
	sum := 0
	for i := range len(s) {
		sum += int(s[i])
	}
	return sum < 0
}

// TestStringKeptTooLongFaults keeps a string of each kind beyond the end of its life.
func TestStringKeptTooLongFaults(t *testing.T) {
	var (
		b    slab.Bytes
		m    slab.Map[int]
		s, o slab.Strings
	)
	fill := func() (kept map[string]string) {
		kept = map[string]string{"Bytes": b.Clone("a string"), "a long one": b.Clone(strings.Repeat("s", 3<<20))}
		m.Set("a key", 1)
		for key := range m.All() {
			kept["a key of Map"] = key
		}
		s.Set("key", "a value")
		kept["a value"], _ = s.Get("key")
		for n := range 10_000 {
			s.Set(fmt.Sprint(n), "another")
		}
		kept["a value after growth"], _ = s.Get("9")
		return kept
	}
	for name, end := range map[string]func(){
		"Reset":    func() { b.Reset(); m.Reset(); s.Reset() },
		"CopyFrom": func() { b.Reset(); m.Reset(); s.CopyFrom(&o) },
	} {
		kept := fill()
		for kind, of := range kept {
			if readsFault(of) {
				t.Errorf("%s faults before %s", kind, name)
			}
		}
		end()
		for kind, of := range kept {
			if !readsFault(of) {
				t.Errorf("%s is read after %s", kind, name)
			}
		}
	}
	fill()
	old, _ := s.Get("9")
	s.Delete("8")
	s.Compact()
	if !readsFault(old) {
		t.Error("a value is read after Compact")
	}
	if now, _ := s.Get("9"); readsFault(now) {
		t.Error("a value faults after Compact")
	}
}

// TestHandlerThatKeepsAStringFaults has handlers return a name after the Release, as one
// that logs it later does.
func TestHandlerThatKeepsAStringFaults(t *testing.T) {
	pool := poolswap.NewPool(
		func() *countries { return new(countries) },
		func(c *countries) bool { c.names.Reset(); return true },
	)
	replacement := func() *countries {
		c := pool.Get()
		c.names.Set("is", "Iceland")
		return c
	}
	tables := poolswap.NewContainer(pool, replacement())
	handle := func(keep func(string) string) (name string) {
		tables.WithAcquire(func(c *countries) {
			name, _ = c.names.Get("is")
			name = keep(name)
		})
		return name
	}
	wrong, right := handle(func(s string) string { return s }), handle(strings.Clone)
	if readsFault(wrong) {
		t.Error("a name faults while its table is current")
	}
	tables.Update(replacement()) // no reader holds the old table: it is reset here
	if !readsFault(wrong) {
		t.Error("a name is read after its table was replaced")
	}
	if readsFault(right) {
		t.Error("a clone faults")
	}
}
