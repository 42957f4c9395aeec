package stringmaps

import "testing"

// TestMapsAgree loads each map twice, the second time with other rows.
func TestMapsAgree(t *testing.T) {
	const n = 2_000
	for _, name := range Names {
		m := New(name)
		for _, length := range []int{100, 16} {
			r := NewRows(n, length)
			for load, fill := range map[string]func(*Rows){"bytes": m.LoadBytes, "strings": m.LoadStrings} {
				fill(r)
				values, keys := 0, 0
				for i := range n {
					values += byteOf(r.Values[i])
					keys += byteOf(r.Keys[i])
				}
				if hits, misses := m.Get(r.Hits), m.Get(r.Misses); hits != values || misses != 0 {
					t.Errorf("%s of %s: %d in values that are there, want %d, %d in others", name, load, hits, values, misses)
				}
				if all := m.All(); all != keys+values {
					t.Errorf("%s of %s: %d in all, want %d", name, load, all, keys+values)
				}
			}
		}
	}
}
