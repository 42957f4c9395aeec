package main

import "testing"

// TestEveryFaultCanBePlanted: the table of faults has to follow the source.
func TestEveryFaultCanBePlanted(t *testing.T) {
	t.Chdir("../..")
	if err := checkModelNames(); err != nil {
		t.Error(err)
	}
	b, err := newBench()
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	for _, f := range faults {
		restore, err := f.plant(b.dir)
		if err != nil {
			t.Error(err)
			continue
		}
		if err := restore(); err != nil {
			t.Fatal(err)
		}
	}
}
