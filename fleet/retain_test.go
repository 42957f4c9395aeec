package fleet_test

import (
	"slices"
	"testing"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

func TestWhatAChangeEndsWasWantedUntilThen(t *testing.T) {
	since := time.Now()
	old, young := since.Add(-time.Hour), since.Add(time.Hour)
	for _, one := range []struct {
		what    string
		changes []fleet.Change
		want    []string
	}{
		{"a publication ends a canary", []fleet.Change{
			{At: old, What: "publish", To: "a"},
			{At: old, What: "canary", From: "a", To: "b"},
			{At: young, What: "publish", From: "a", To: "c"},
		}, []string{"a", "b", "c"}},
		{"a canary ends another", []fleet.Change{
			{At: old, What: "publish", To: "a"},
			{At: old, What: "canary", From: "a", To: "b"},
			{At: young, What: "canary", From: "a", To: "c"},
		}, []string{"a", "b", "c"}},
		{"a rollback that ends a canary changes what is stable", []fleet.Change{
			{At: old, What: "publish", To: "z"},
			{At: old, What: "publish", From: "z", To: "a"},
			{At: old, What: "canary", From: "a", To: "b"},
			{At: young, What: "rollback", From: "b", To: "c"},
			{At: young, What: "publish", From: "c", To: "d"},
		}, []string{"a", "b", "c", "d"}},
		{"an older change", []fleet.Change{
			{At: old, What: "publish", To: "a"},
			{At: old, What: "canary", From: "a", To: "b"},
			{At: old, What: "promote", From: "a", To: "b"},
			{At: young, What: "pause"},
		}, []string{"b"}},
	} {
		if got := fleet.WantedSince(since, one.changes...); !slices.Equal(got, one.want) {
			t.Errorf("%s: wanted were %q, want %q", one.what, got, one.want)
		}
	}
}
