package fleet_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/reload"
)

// TestDeltasAreReported, also those that did not fit.
func TestDeltasAreReported(t *testing.T) {
	s := newServer()
	source := source(t, client(t, s), fleet.SourceOptions{})
	at := time.Unix(1e9, 0)
	for _, step := range []struct {
		event reload.Event
		want  *fleet.Deltas
	}{
		{reload.Event{Outcome: reload.Loaded, Revision: "a", Size: 1000}, nil},
		{reload.Event{Outcome: reload.Loaded, Revision: "b", Base: "a", Size: 10}, &fleet.Deltas{Loaded: 1, Saved: 990}},
		{reload.Event{Outcome: reload.Unchanged, Revision: "c", Base: "b"}, &fleet.Deltas{Loaded: 1, Saved: 990}},
		{reload.Event{Outcome: reload.Loaded, Revision: "d", Size: 2000, DeltaErr: errors.New("no such row\nstack")}, &fleet.Deltas{Loaded: 1, Saved: 990, Unfit: 1, Error: "no such row"}},
		{reload.Event{Outcome: reload.Loaded, Revision: "e", Base: "d", Size: 3000}, &fleet.Deltas{Loaded: 2, Saved: 990, Unfit: 1, Error: "no such row"}},
		{reload.Event{Outcome: reload.Loaded, Revision: "f", Base: "e", Size: 1}, &fleet.Deltas{Loaded: 3, Saved: 2989, Unfit: 1, Error: "no such row"}},
	} {
		at = at.Add(time.Second)
		step.event.At = at
		source.Observe(step.event)
		waitFor(t, func() bool { return s.reportOf("r1").At.Equal(at) })
		if got := s.reportOf("r1").Deltas; !reflect.DeepEqual(got, step.want) {
			t.Errorf("revision %s: %+v, want %+v", step.event.Revision, got, step.want)
		}
	}
}

func ExampleDeltaTotals() {
	reports := []fleet.Report{{ID: "r1", Deltas: &fleet.Deltas{Loaded: 2, Saved: 3 << 20}}, {ID: "r2"}}
	total := fleet.TotalDeltas(reports)
	fmt.Println(total.Loaded, total.FellBack)
	fmt.Println(total)
	// Output:
	// 2 0
	// 2 swaps by deltas saved 3.0 MiB.
}

func TestTotalDeltas(t *testing.T) {
	if text := fleet.TotalDeltas([]fleet.Report{{ID: "r0"}}).String(); text != "" {
		t.Errorf("without deltas: %q", text)
	}
	total := fleet.TotalDeltas([]fleet.Report{{ID: "r0"}, {ID: "r1", Deltas: &fleet.Deltas{Loaded: 2, Saved: 3 << 20}}, {ID: "r2", Deltas: &fleet.Deltas{Loaded: 1, Saved: 1 << 19, Unfit: 2, Error: "no such row"}}})
	const want = "3 swaps by deltas saved 3.5 MiB. Replicas that fell back to whole content: 1, such as r2: no such row"
	if total.String() != want || total.Unfit != 2 || total.FellBack != 1 {
		t.Errorf("%+v: %s", total, total)
	}
}

func TestTotalDeltasOfALie(t *testing.T) {
	lie := fleet.Deltas{Loaded: math.MaxUint64, Saved: math.MaxInt64, Unfit: math.MaxUint64}
	honest := fleet.Deltas{Loaded: 2, Saved: 3, Unfit: 1}
	total := fleet.TotalDeltas([]fleet.Report{{ID: "r1", Deltas: &honest}, {ID: "r2", Deltas: &lie}, {ID: "r3", Deltas: &honest}})
	if total.Loaded != lie.Loaded || total.Saved != lie.Saved || total.Unfit != lie.Unfit {
		t.Errorf("the sums are %+v", total.Deltas)
	}
}
