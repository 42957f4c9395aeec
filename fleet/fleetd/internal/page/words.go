package page

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/store"
)

// headline is the status in a sentence, and its class.
type headline struct{ Class, Text string }

// Headline returns the status of the fleet.
func (s *snapshot) Headline() headline {
	switch {
	case errors.Is(s.Err, fleet.ErrNoPlan):
		return headline{"empty", "Nothing was published under this name yet."}
	case errors.Is(s.Err, store.ErrUnavailable):
		return headline{"failing", "The server cannot serve now."}
	case s.Err != nil:
		return headline{"failing", "The plan cannot be read. fleetd repair replaces it."}
	}
	plan, running := s.Plan, s.Counts[fleet.Running]
	run := fmt.Sprintf("%s of %s replicas run their planned revision.", countInWords(running), countInWords(s.Total))
	if s.Total == 1 {
		run = "The one replica runs another revision than planned."
		if running == 1 {
			run = "The one replica runs its planned revision."
		}
	}
	switch {
	case plan.Canary != nil && plan.Canary.Hold != "":
		return headline{"failing", "The canary is on hold. " + run}
	case s.Total == 0:
		return headline{"empty", "No replica reports."}
	case s.Counts[fleet.Failing] > 0:
		return headline{"failing", s.some(fleet.Failing, "reports a failure", "report a failure", run)}
	case s.Counts[fleet.Silent] > 0:
		return headline{"stale", s.some(fleet.Silent, "is silent", "are silent", run)}
	case plan.Paused:
		return headline{"stale", "Paused. " + run}
	case plan.Rollout != nil && plan.Canary != nil:
		return headline{"stale", fmt.Sprintf("A rollout is at step %d of %d. ", plan.Rollout.Step+1, len(plan.Rollout.Steps)) + run}
	case running < s.Total:
		return headline{"stale", "Replicas are changing over. " + run}
	case plan.Canary != nil:
		return headline{"stale", "A canary is being tried. " + run}
	case s.Total == 1:
		return headline{"fresh", run}
	}
	return headline{"fresh", fmt.Sprintf("All %s replicas run their planned revision.", countInWords(s.Total))}
}

// some says how many replicas are in a state, and the rest if there are others.
func (s *snapshot) some(state fleet.State, one, many, rest string) string {
	n, verb := s.Counts[state], many
	if n == 1 {
		verb = one
	}
	if s.Total == 1 {
		return "The one replica " + verb + "."
	}
	return fmt.Sprintf("%s of %s replicas %s. %s", countInWords(n), countInWords(s.Total), verb, rest)
}

// moment is a time on the page.
type moment struct{ Then, Ago string }

// When returns how long ago a time was.
func (t *top) When(then time.Time) moment {
	m := moment{then.UTC().Format(time.RFC3339), "now"}
	switch d := t.Now.Sub(then); {
	case d <= -10*time.Second:
		m.Ago = "in " + age(-d) // by the clock of another machine
	case d >= 10*time.Second:
		m.Ago = age(d) + " ago"
	}
	return m
}

// For returns for how long a replica is so since a time, which is by its own clock.
func (t *top) For(r *row) moment {
	since := r.Since
	if !r.Received.IsZero() && !r.At.IsZero() {
		since = since.Add(r.Received.Sub(r.At))
	}
	m := t.When(since)
	if m.Ago = strings.TrimSuffix(m.Ago, " ago"); m.Ago == "now" {
		m.Ago = "a moment"
	}
	return m
}

// age returns a duration of 10 s or more. It moves in steps, so that a page which
// follows does not change all the time.
func age(d time.Duration) string {
	if d < 2*time.Minute {
		d = d.Truncate(10 * time.Second)
	}
	return span(d)
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

// countInWords returns a number with commas.
func countInWords[N int | uint64](n N) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// percent returns a share.
func percent(share float64) string { return strconv.FormatFloat(100*share, 'g', 4, 64) + " %" }

// chosen returns a selection in words.
func chosen(s *fleet.Selection) string {
	var parts []string
	if s.Share > 0 {
		text := percent(s.Share) + " of the replicas"
		for i, key := range slices.Sorted(maps.Keys(s.Labels)) {
			text += []string{" with ", " and "}[min(i, 1)] + key + "=" + s.Labels[key]
		}
		parts = append(parts, text)
	}
	if len(s.IDs) > 0 {
		parts = append(parts, strings.Join(s.IDs, ", "))
	}
	return strings.Join(parts, ", and ")
}

// health returns the work of some replicas in words.
func health(requests, errors uint64, latency time.Duration) string {
	var parts []string
	switch {
	case requests > 0 && errors == 0:
		parts = append(parts, "no errors")
	case requests > 0 && errors < requests/10_000:
		parts = append(parts, "under 0.01 % errors")
	case requests > 0:
		parts = append(parts, digits(100*float64(errors)/float64(requests))+" % errors")
	}
	if requests > 0 {
		parts[0] += " in " + countInWords(requests) + " requests"
	}
	if latency > 0 {
		parts = append(parts, "latency "+digits(float64(latency)/float64(time.Millisecond))+" ms")
	}
	return strings.Join(parts, ", ")
}

// digits returns a number in two digits, or more before the point.
func digits(value float64) string {
	if value >= 9.95 {
		return strconv.FormatFloat(value, 'f', 0, 64)
	}
	return strconv.FormatFloat(value, 'g', 2, 64)
}

// HealthText returns the work of a replica in words, or "".
func (r *row) HealthText() string {
	if r.Health == nil {
		return ""
	}
	return health(r.Health.Requests, r.Health.Errors, r.Health.Latency)
}

// HealthText returns the work of the replicas in words, or "".
func (g *group) HealthText() string { return health(g.Requests, g.Errors, g.Latency) }

// doings are the changes of the history in words.
var doings = map[fleet.Kind]string{
	fleet.KindPublish: "published", fleet.KindCanary: "began a canary", fleet.KindPromote: "promoted the canary", fleet.KindRollback: "rolled back",
	fleet.KindRollout: "began a rollout", fleet.KindWiden: "took the next step of the rollout", fleet.KindHold: "put the canary on hold",
	fleet.KindPin: "pinned", fleet.KindUnpin: "ended a pin", fleet.KindPause: "paused", fleet.KindResume: "resumed", fleet.KindRepair: "repaired the plan",
}

// did returns the doing of a change.
func did(c fleet.Change) string {
	if text, ok := doings[c.Kind]; ok {
		return text
	}
	return string(c.Kind)
}
