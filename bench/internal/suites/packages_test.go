package suites

import (
	"bytes"
	"testing"
)

func TestTablesOfPackagesAgree(t *testing.T) {
	text := append(packageIndex(500), "Package: ed\nVersion: 1.19-1\n\nPackage: ed\nVersion: 2\n\n"...)
	m, s := packageMap{}, new(packageSlab)
	for range 2 {
		m.load(text)
		s.load(text)
		if len(m) != 501 || len(s.records) != 502 || m.version("ed") != "2" {
			t.Errorf("%d packages, %d records, and ed is of version %q; want 501, 502 and 2", len(m), len(s.records), m.version("ed"))
		}
		for name := range m {
			if m.version(name) != s.version(name) {
				t.Errorf("%s: %q in the map and %q in the slab", name, m.version(name), s.version(name))
			}
		}
		if s.version("emacs") != "" {
			t.Error("a package is found that is not there")
		}
	}
	if !bytes.Contains(s.bytes, []byte("1.19-1")) {
		t.Error("the slab lacks the first of two records")
	}
	if n := testing.AllocsPerRun(10, func() { s.load(text) }); n != 0 {
		t.Errorf("%v allocations in each load of a recycled slab", n)
	}
}
