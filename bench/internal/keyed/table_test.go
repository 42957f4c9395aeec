package keyed_test

import (
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
	data, again := keyed.NewData(keys), keyed.NewData(keys)
	want := slices.Sorted(slices.Values(data.Keys))
	if len(slices.Compact(slices.Clone(want))) != keys || len(want[0]) != 16 {
		t.Errorf("%d keys, such as %q, are not %d of 16 bytes", len(want), want[0], keys)
	}
	for lap := range 2 {
		var changed []string
		for _, c := range data.Changes[lap*keys : (lap+1)*keys] {
			changed = append(changed, c.Key)
		}
		if slices.Sort(changed); !slices.Equal(changed, want) {
			t.Errorf("lap %d does not change each key once", lap)
		}
	}
	if !slices.Equal(again.Keys, data.Keys) || !slices.Equal(again.Changes, data.Changes) {
		t.Error("another process has other data")
	}
}
