package steer

import (
	"fmt"
	"slices"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

// leastMembers is how many replicas a step has at least, if there are so many: of
// fewer, one that lies could end the rollout.
const leastMembers = 3

// leastOthers is how many replicas a step leaves to compare with, if there are enough.
const leastOthers = 2

// begin begins a rollout.
func begin(next *fleet.Plan, change *fleet.Change, op fleet.Operation, r fleet.Revision, replicas []fleet.Report) error {
	if r.ID == next.Stable {
		return refuse("revision %q is stable already", r.ID)
	}
	if len(replicas) == 0 {
		return refuse("no replica reports, so nothing would tell whether revision %q works: publish it", r.ID)
	}
	steps := slices.Clone(op.Steps)
	if steps[len(steps)-1] < 1 {
		steps = append(steps, 1)
	}
	next.Rollout = &fleet.Rollout{Steps: steps, Bake: op.Bake, By: change.By}
	takeStep(next, change, r, replicas)
	return nil
}

// takeStep makes the canary as wide as the current step.
func takeStep(next *fleet.Plan, change *fleet.Change, r fleet.Revision, replicas []fleet.Report) {
	before := 0.0
	if next.Rollout.Step > 0 {
		before = next.Canary.Share
	}
	s := fleet.Selection{Share: narrowed(next.Rollout.Steps[next.Rollout.Step], before, next, r.ID, replicas)}
	widen(&s, r.ID, replicas, leastMembers)
	try(next, change, s, r)
}

// narrowed returns the share of a step, or a smaller one if hash and chance leave fewer
// than leastOthers that report their health: there would be nothing to compare with.
// It is not smaller than the share before.
func narrowed(share, before float64, p *fleet.Plan, salt string, replicas []fleet.Report) float64 {
	var ranks []float64
	for _, r := range replicas {
		if _, pinned := p.Pins[r.ID]; !pinned && r.Health != nil {
			ranks = append(ranks, fleet.Rank(salt, r.ID))
		}
	}
	if share == 1 || len(ranks) < leastMembers+leastOthers {
		return share
	}
	slices.Sort(ranks)
	return min(share, max(before, ranks[len(ranks)-leastOthers]))
}

// verdict is what becomes of a step.
type verdict int

const (
	wait verdict = iota // it is not over
	pass                // it ended well
	stop                // its replicas do worse than the others
)

// step is the current step of a rollout as one driver watches it. A driver that takes
// over begins to watch anew.
type step struct {
	epoch, seq uint64    // of the plan that began it
	since      time.Time // its replicas run the revision; zero: they do not yet. Monotonic
	judge      judge
}

// watches reports whether s is the step that p is in.
func (s *step) watches(p *fleet.Plan) bool {
	return s != nil && s.epoch == p.Epoch && s.seq == p.Canary.Seq
}

// watch begins to watch the step that p is in.
func watch(p *fleet.Plan) *step {
	return &step{epoch: p.Epoch, seq: p.Canary.Seq, judge: newJudge(p)}
}

// look judges the step by the reports. now has a monotonic reading, so a clock that is
// set does not matter.
func (s *step) look(p *fleet.Plan, replicas []fleet.Report, now time.Time) (verdict, string) {
	g := groupAt(p, replicas, now)
	tolerated := toleratedOf(g.members)
	if n := len(g.refusing); n > tolerated {
		return stop, fmt.Sprintf("%d of %d replicas of step %.4g %% refuse it, the first one %s: %s", n, g.members, 100*p.Canary.Share, g.refusing[0].ID, g.refusing[0].Error)
	}
	// Twice the share of the others: a network that fails hides both alike.
	if g.silent > tolerated && g.silent*g.others > 2*g.silentOthers*g.members {
		return stop, fmt.Sprintf("%d of %d replicas of step %.4g %% are silent, and %d of %d others", g.silent, g.members, 100*p.Canary.Share, g.silentOthers, g.others)
	}
	if worse := s.judge.look(p, replicas); worse != "" {
		return stop, worse
	}
	if g.members == 0 || g.running < g.members-tolerated {
		return wait, ""
	}
	if s.since.IsZero() {
		s.since = now
	}
	if now.Sub(s.since) < p.Rollout.Bake {
		return wait, ""
	}
	return pass, ""
}

// toleratedOf returns how many replicas of a step may fail it. It is at least one
// where a step has leastMembers, so one replica that lies ends no rollout.
func toleratedOf(members int) int {
	if members < leastMembers {
		return 0
	}
	return max(1, members/10)
}
