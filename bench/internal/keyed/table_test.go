package keyed_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/poolswap/poolswap/bench/internal/keyed"
)

// TestEachTableHoldsItsChanges makes changes in updates of several sizes, and
// looks at every key after each.
func TestEachTableHoldsItsChanges(t *testing.T) {
	data := keyed.NewData(300)
	for _, name := range keyed.Names {
		t.Run(name, func(t *testing.T) {
			table, err := keyed.New(name, data)
			if err != nil {
				t.Fatal(err)
			}
			want := make(map[string]int64)
			for i, key := range data.Keys {
				want[key] = data.Values[i]
			}
			at := 0
			for _, n := range []int{0, 1, 1, 10, 150, 138, 1, 10, 100, 1} {
				if err := table.Update(at, at+n); err != nil {
					t.Fatal(err)
				}
				for _, c := range data.Changes[at : at+n] {
					want[c.Key] = c.Value
				}
				at += n
				for key, value := range want {
					if got := table.Get(key); got != value {
						t.Fatalf("after %d changes, %d of them in the last update: %q is %d, want %d", at, n, key, got, value)
					}
				}
			}
		})
	}
}

func TestDataChangesEachKeyTwice(t *testing.T) {
	const keys = 500
	data := keyed.NewData(keys)
	distinct := make(map[string]bool)
	for _, key := range data.Keys {
		distinct[key] = true
		if len(key) != 16 {
			t.Fatalf("%q has %d bytes", key, len(key))
		}
	}
	if len(data.Keys) != keys || len(distinct) != keys {
		t.Errorf("%d keys, %d of them distinct, want %d", len(data.Keys), len(distinct), keys)
	}
	for lap := range 2 {
		changed := make(map[string]bool)
		for _, c := range data.Changes[lap*keys : (lap+1)*keys] {
			changed[c.Key] = true
		}
		if !maps.Equal(changed, distinct) {
			t.Errorf("lap %d changes %d of the keys, and perhaps others", lap, len(changed))
		}
	}
	if again := keyed.NewData(keys); !slices.Equal(again.Keys, data.Keys) || !slices.Equal(again.Changes, data.Changes) {
		t.Error("another process has other data")
	}
}
