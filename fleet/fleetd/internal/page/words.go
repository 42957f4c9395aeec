package page

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/poolswap/poolswap/fleet"
)

// headline is the status in a sentence, and its class.
type headline struct{ Class, Text string }

// Headline says how the fleet is.
func (v *fleetView) Headline() headline {
	if v.Status == nil {
		return headline{"empty", v.Trouble}
	}
	plan, states, n := v.Plan(), map[string]int{}, len(v.Status.Replicas)
	for _, r := range v.Status.Replicas {
		states[r.State(plan)]++
	}
	run := fmt.Sprintf("%d of %s what they should.", states["running"], counted(n, "replica runs", "replicas run"))
	if n == 1 {
		run = fmt.Sprintf("%d of 1 replica runs what it should.", states["running"])
	}
	switch {
	case plan.Hold != "":
		return headline{"failing", "The canary is on hold: a replica could not load it."}
	case n == 0:
		return headline{"empty", "No replica reports."}
	case states["failing"] > 0 && n == 1:
		return headline{"failing", "The one replica reports a failure."}
	case states["failing"] > 0:
		return headline{"failing", fmt.Sprintf("%d of %s. ", states["failing"], counted(n, "replica reports a failure", "replicas report a failure")) + run}
	case plan.Paused:
		return headline{"stale", "Paused. " + run}
	case states["running"] < n:
		return headline{"stale", "A rollout is on: " + run}
	case plan.Canary != "":
		return headline{"stale", "A canary is being tried. " + run}
	case n == 1:
		return headline{"fresh", "The one replica runs what it should."}
	}
	return headline{"fresh", fmt.Sprintf("All %d replicas run what they should.", n)}
}

// counted returns a number with the words that go with it.
func counted(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// moment is a time on the page.
type moment struct{ Then, Ago string }

// When returns how long ago a time was.
func (v *fleetView) When(then time.Time) moment {
	m := moment{Then: then.UTC().Format(time.RFC3339), Ago: "now"}
	switch d := v.Now.Sub(then); {
	case d <= -time.Second:
		m.Ago = "in " + span(-d) // by the clock of another machine
	case d >= time.Second:
		m.Ago = span(d) + " ago"
	}
	return m
}

// For returns for how long something is so.
func (v *fleetView) For(then time.Time) moment {
	m := v.When(then)
	if m.Ago = strings.TrimSuffix(m.Ago, " ago"); m.Ago == "now" {
		m.Ago = "0 s"
	}
	return m
}

// units are those of durations, with how many of each are shown at most.
var units = []struct {
	unit time.Duration
	most int
	name string
}{{time.Microsecond, 1000, "µs"}, {time.Millisecond, 1000, "ms"}, {time.Second, 120, "s"}, {time.Minute, 120, "min"}, {time.Hour, 48, "h"}}

// span returns a duration in the unit that people would use for it.
func span(d time.Duration) string {
	for _, u := range units {
		if d < time.Duration(u.most)*u.unit {
			return fmt.Sprintf("%d %s", d/u.unit, u.name)
		}
	}
	return fmt.Sprintf("%d days", d/(24*time.Hour))
}

func bytesInWords(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	value, unit := float64(n)/1024, 0
	for ; value >= 1024 && unit < 3; unit++ {
		value /= 1024
	}
	return fmt.Sprintf("%.1f %s", value, []string{"KiB", "MiB", "GiB", "TiB"}[unit])
}

// plainError returns an error without what the page says elsewhere.
func plainError(name string, err error) string {
	if errors.Is(err, nats.ErrNoResponders) {
		return "it keeps no fleet, or has no quorum"
	}
	return strings.TrimPrefix(strings.TrimPrefix(err.Error(), "fleet: "), name+": ")
}

// doings are the changes of the history in words.
var doings = map[string]string{
	"publish": "published", "canary": "began a canary", "promote": "promoted the canary", "rollback": "rolled back",
	"pin": "pinned", "unpin": "unpinned", "pause": "paused", "resume": "resumed", "hold": "put the canary on hold", "restore": "restored a backup",
}

// Did says what a change did.
func (v *fleetView) Did(c fleet.Change) string {
	if text, ok := doings[c.What]; ok {
		return text
	}
	return c.What
}
