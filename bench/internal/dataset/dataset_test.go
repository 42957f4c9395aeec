package dataset_test

import (
	"strings"
	"testing"

	"github.com/poolswap/poolswap/bench/internal/dataset"
)

const index = `Package: ed
Version: 1.19-1
Section: editors
Description: classic UNIX line editor

Package: vim
Version: 2:9.0
Description: Vi IMproved
 and a line that goes on: here
Section: editors

Package: ed
Version: 2
Section: editors
Description: a later one

`

func TestLoadersAgree(t *testing.T) {
	for name, table := range map[string]dataset.Loader{"map": new(dataset.Map), "slab": new(dataset.Slab)} {
		t.Run(name, func(t *testing.T) {
			if _, _, _, ok := table.Lookup("ed"); ok || table.Len() != 0 {
				t.Error("an empty table has found something")
			}
			for range 2 {
				table.Load([]byte(index))
				if version, section, description, ok := table.Lookup("vim"); !ok || version != "2:9.0" || section != "editors" || description != "Vi IMproved" {
					t.Errorf("vim: %q %q %q %v", version, section, description, ok)
				}
				if version, _, _, ok := table.Lookup("ed"); !ok || version != "2" {
					t.Errorf("ed: version %q %v, want that of the last record", version, ok)
				}
				if _, _, _, ok := table.Lookup("emacs"); ok || table.Len() != 2 {
					t.Errorf("%d packages, or one that is not there", table.Len())
				}
			}
		})
	}
}

func TestTextLoadsWhole(t *testing.T) {
	text, source, err := dataset.Text(500)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\n\n"); n != 500 {
		t.Fatalf("%s: %d records, want 500", source, n)
	}
	var m dataset.Map
	var s dataset.Slab
	m.Load(text)
	s.Load(text)
	if m.Len() != s.Len() || m.Len() == 0 {
		t.Errorf("%s: the map holds %d packages, the slab %d", source, m.Len(), s.Len())
	}
}

func TestRecycledSlabAllocatesNothing(t *testing.T) {
	text, _, err := dataset.Text(500)
	if err != nil {
		t.Fatal(err)
	}
	var s dataset.Slab
	s.Load(text)
	if n := testing.AllocsPerRun(10, func() { s.Load(text) }); n != 0 {
		t.Errorf("%v allocations in each load", n)
	}
}
