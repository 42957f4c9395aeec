package fleet

import (
	"fmt"
	"math"

	"github.com/poolswap/poolswap/reload"
)

// Deltas are the deltas of a replica since its process began.
type Deltas struct {
	Loaded uint64 `json:"loaded"`          // that were published
	Saved  int64  `json:"saved_bytes"`     // that whole content would have had more
	Unfit  uint64 `json:"unfit,omitempty"` // that did not fit, so whole content was fetched
	Error  string `json:"error,omitempty"` // why the last of these did not
}

// deltaCount makes the Deltas of a replica.
type deltaCount struct {
	sum   Deltas
	whole int64 // bytes of the last whole content
}

// observe counts an attempt, and returns the sum if there was a delta.
func (d *deltaCount) observe(e reload.Event) *Deltas {
	if e.DeltaErr != nil {
		d.sum.Unfit++
		d.sum.Error = shortError(e.DeltaErr)
	}
	switch {
	case e.Outcome != reload.Loaded:
	case e.Base == "":
		d.whole = e.Size
	default:
		d.sum.Loaded++
		d.sum.Saved += max(0, d.whole-e.Size)
	}
	if d.sum == (Deltas{}) {
		return nil
	}
	sum := d.sum // reports keep it
	return &sum
}

// DeltaTotals are the deltas of many replicas.
type DeltaTotals struct {
	Deltas       // the sums, and of Error one
	FellBack int // replicas that had an unfit one
}

// TotalDeltas returns the deltas of the replicas that report.
func TotalDeltas(reports []Report) (t DeltaTotals) {
	for i := range reports {
		d := reports[i].Deltas
		if d == nil {
			continue
		}
		// One replica that lies must not make the sums negative or small.
		t.Loaded = min(t.Loaded, math.MaxUint64-d.Loaded) + d.Loaded
		t.Saved = min(t.Saved, math.MaxInt64-d.Saved) + d.Saved
		t.Unfit = min(t.Unfit, math.MaxUint64-d.Unfit) + d.Unfit
		if d.Unfit > 0 {
			t.FellBack++
			t.Error = reports[i].ID + ": " + d.Error
		}
	}
	return t
}

// String says it in a line, or nothing if there was no delta.
func (t DeltaTotals) String() string {
	if t.Deltas == (Deltas{}) {
		return ""
	}
	text := fmt.Sprintf("%d swaps by deltas saved %.1f MiB.", t.Loaded, float64(t.Saved)/(1<<20))
	if t.FellBack > 0 {
		text += fmt.Sprintf(" Replicas that fell back to whole content: %d, such as %s", t.FellBack, t.Error)
	}
	return text
}
