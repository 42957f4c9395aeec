package steer

import (
	"fmt"
	"maps"
	"slices"

	"github.com/poolswap/poolswap/fleet"
)

// RefusedError is the error of an operation that the plan as it is does not allow.
type RefusedError struct{ reason string }

func (e *RefusedError) Error() string { return e.reason }

func refuse(format string, values ...any) error { return &RefusedError{fmt.Sprintf(format, values...)} }

// Apply changes next, a copy of the current plan whose Seq is still that one's, as op
// asks, and describes that in change. r is the stored revision that op names, if it
// does; replicas are the reports.
func Apply(next *fleet.Plan, change *fleet.Change, op fleet.Operation, r fleet.Revision, replicas []fleet.Report) error {
	if err := op.Check(); err != nil {
		return err
	}
	if next.Stable == "" && op.Kind != fleet.KindPublish {
		return fmt.Errorf("%w: publish first, so that every replica has something to run", fleet.ErrNoPlan)
	}
	change.Kind, change.Why, change.From, change.To = op.Kind, op.Why, next.Stable, r.ID
	switch op.Kind {
	case fleet.KindPublish:
		release(next, r, replicas)
	case fleet.KindCanary:
		return canary(next, change, op.Selection, r, replicas)
	case fleet.KindRollout:
		return begin(next, change, op, r, replicas)
	case fleet.KindPromote:
		return promote(next, change, replicas)
	case fleet.KindRollback:
		return rollback(next, change, r, replicas)
	case fleet.KindPin:
		change.From, change.Selected = wanted(next, op.ID, replicas).ID, &fleet.Selection{IDs: []string{op.ID}}
		if next.Pins == nil {
			next.Pins = map[string]string{}
		}
		describe(next, r)
		next.Pins[op.ID] = r.ID
	case fleet.KindUnpin:
		pin, ok := next.Pins[op.ID]
		if !ok {
			return refuse("replica %q is not pinned", op.ID)
		}
		delete(next.Pins, op.ID)
		change.From, change.To, change.Selected = pin, wanted(next, op.ID, replicas).ID, &fleet.Selection{IDs: []string{op.ID}}
	case fleet.KindPause, fleet.KindResume:
		paused := op.Kind == fleet.KindPause
		if next.Paused == paused {
			return refuse("%s", map[bool]string{true: "it is paused already", false: "it is not paused"}[paused])
		}
		next.Paused, change.From = paused, ""
	}
	return nil
}

func describe(next *fleet.Plan, r fleet.Revision) {
	if next.Revisions == nil {
		next.Revisions = map[string]fleet.Revision{}
	}
	next.Revisions[r.ID] = r
}

// wanted returns the revision that a replica wants, by the labels of its report.
func wanted(p *fleet.Plan, id string, replicas []fleet.Report) fleet.Revision {
	var labels map[string]string
	if i := slices.IndexFunc(replicas, func(r fleet.Report) bool { return r.ID == id }); i >= 0 {
		labels = replicas[i].Labels
	}
	return p.Wanted(id, labels)
}

// release makes r stable and ends a canary. The revision that was stable becomes the
// previous one if more replicas run it than refuse it, or if no replica reports: a revision
// that none could load is none to go back to, whatever one that lies says.
func release(next *fleet.Plan, r fleet.Revision, replicas []fleet.Report) {
	before, ran := next.Stable, 0
	for _, one := range replicas {
		switch before {
		case one.Revision:
			ran++
		case one.Failed:
			ran--
		}
	}
	switch {
	case before == r.ID:
	case before != "" && (ran > 0 || len(replicas) == 0):
		next.Previous = before
	case next.Previous == r.ID:
		next.Previous = ""
	}
	describe(next, r)
	next.Stable, next.Canary, next.Rollout = r.ID, nil, nil
}

// try makes r the canary of a selection.
func try(next *fleet.Plan, change *fleet.Change, s fleet.Selection, r fleet.Revision) {
	describe(next, r)
	next.Canary = &fleet.Canary{Revision: r.ID, Selection: s, Seq: next.Seq + 1}
	shown := s
	change.To, change.Selected = r.ID, &shown
}

func canary(next *fleet.Plan, change *fleet.Change, s fleet.Selection, r fleet.Revision, replicas []fleet.Report) error {
	if r.ID == next.Stable {
		return refuse("revision %q is stable already", r.ID)
	}
	s = fleet.Selection{Share: s.Share, Labels: maps.Clone(s.Labels), IDs: slices.Clone(s.IDs)}
	if !widen(&s, r.ID, replicas, 1) {
		return refuse("no replica that reports is selected by %s", &s)
	}
	next.Rollout = nil
	try(next, change, s, r)
	return nil
}

// widen adds the next ids in the order of ranks until a selection includes least of
// replicas, or all that have its labels. It reports whether it includes one: ids that
// were asked for count, since their replicas may come later.
func widen(s *fleet.Selection, salt string, replicas []fleet.Report, least int) bool {
	var others []fleet.Report
	included := len(s.IDs)
	for _, r := range replicas {
		switch {
		case slices.Contains(s.IDs, r.ID):
		case s.Includes(salt, r.ID, r.Labels):
			included++
		case s.Share > 0 && (&fleet.Selection{Share: 1, Labels: s.Labels}).Includes(salt, r.ID, r.Labels):
			others = append(others, r)
		}
	}
	slices.SortFunc(others, func(a, b fleet.Report) int { return compareRanks(salt, a.ID, b.ID) })
	for _, r := range others[:max(0, min(least-included, len(others)))] {
		s.IDs = append(s.IDs, r.ID)
		included++
	}
	return included > 0
}

func compareRanks(salt, a, b string) int {
	switch ra, rb := fleet.Rank(salt, a), fleet.Rank(salt, b); {
	case ra < rb:
		return -1
	case ra > rb:
		return 1
	}
	return 0
}

// promote makes the canary stable.
func promote(next *fleet.Plan, change *fleet.Change, replicas []fleet.Report) error {
	if next.Canary == nil {
		return refuse("there is no canary")
	}
	if next.Canary.Hold != "" {
		return refuse("the canary is on hold: %s", next.Canary.Hold)
	}
	g := groupOf(next, replicas)
	switch {
	case len(g.refusing) > 0:
		return refuse("replica %q refuses revision %q: %s", g.refusing[0].ID, next.Canary.Revision, g.refusing[0].Error)
	case g.running == 0 || 10*g.running < 9*g.members:
		return refuse("%d of %d replicas of the canary run revision %q yet, and it takes nine of ten", g.running, g.members, next.Canary.Revision)
	}
	r := next.Revisions[next.Canary.Revision]
	change.To = r.ID
	release(next, r, replicas)
	return nil
}

// rollback ends a canary, or goes back to the previous revision, or to r if that is
// named. The revision that it leaves does not come back unless it is named.
func rollback(next *fleet.Plan, change *fleet.Change, r fleet.Revision, replicas []fleet.Report) error {
	if next.Canary != nil {
		change.From = next.Canary.Revision
	}
	switch {
	case r.ID != "":
	case next.Canary != nil:
		r = next.Revisions[next.Stable]
	case next.Previous != "":
		r = next.Revisions[next.Previous]
	default:
		return refuse("there is no earlier revision that replicas ran, or it was rolled back from: name a revision")
	}
	endsCanary := r.ID == next.Stable
	change.To = r.ID
	release(next, r, replicas)
	if !endsCanary {
		next.Previous = ""
	}
	return nil
}
