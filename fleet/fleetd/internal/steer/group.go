package steer

import (
	"time"

	"github.com/poolswap/poolswap/fleet"
)

// group is the replicas of a canary.
type group struct {
	members  int            // that the canary selects
	running  int            // of them, that run it
	silent   int            // of them, whose reports are overdue
	refusing []fleet.Report // of them, that refuse it

	others       int // that report and are not selected
	silentOthers int
}

// groupOf returns the replicas of the canary of p. Pinned replicas are of neither
// side. Only a report on the plan that began the canary, or a later one, says
// something about it: an earlier one may be about another try of the revision.
func groupOf(p *fleet.Plan, replicas []fleet.Report) group { return groupAt(p, replicas, time.Time{}) }

// groupAt counts silent replicas too, at now.
func groupAt(p *fleet.Plan, replicas []fleet.Report, now time.Time) (g group) {
	for _, r := range replicas {
		if _, pinned := p.Pins[r.ID]; pinned {
			continue
		}
		silent := !now.IsZero() && r.State(p, now) == fleet.Silent
		if !p.Canary.Includes(p.Canary.Revision, r.ID, r.Labels) {
			g.others++
			if silent {
				g.silentOthers++
			}
			continue
		}
		g.members++
		knows := r.Epoch > p.Epoch || r.Epoch == p.Epoch && r.Seq >= p.Canary.Seq
		switch {
		case silent:
			g.silent++
		case knows && r.Failed == p.Canary.Revision:
			g.refusing = append(g.refusing, r)
		case knows && r.Revision == p.Canary.Revision:
			g.running++
		}
	}
	return g
}
