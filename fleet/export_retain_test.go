package fleet

import (
	"maps"
	"slices"
	"time"
)

// WantedSince returns the revisions that were wanted after a time. Change.At stands
// for when the server stored a change.
func WantedSince(since time.Time, changes ...Change) []string {
	w := &wantedSince{since: since, used: map[string]bool{}}
	for _, c := range changes {
		w.add(c, c.At)
	}
	delete(w.used, "")
	return slices.Sorted(maps.Keys(w.used))
}
