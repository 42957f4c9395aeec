package page

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

const (
	snapshotAge = time.Second      // how old a snapshot may be that is shown
	namesAge    = 10 * time.Second // in the list of names
	forgetAfter = time.Minute      // what is not looked at

	pageSize = 100 // replicas of a page
	choices  = 50  // stored revisions that its forms offer
	maxTerms = 10  // of a search
	maxMade  = 64  // views of a snapshot that are kept
)

// snapshot is the plan and the replicas of a name at a time. It is made once for all
// who look, and never modified, but for the parts that it keeps.
type snapshot struct {
	Taken  time.Time
	Plan   *fleet.Plan
	Err    error     // why there is no plan
	StepAt time.Time // the canary was begun or widened; zero: unknown
	Stored []fleet.Stored
	Total  int // replicas
	Counts map[fleet.State]int
	Deltas fleet.DeltaTotals
	Groups []*group // revisions that replicas want: stable first, then the canary
	rows   []row    // by id; those with trouble first if there is more than a page

	mu   sync.Mutex
	made map[viewKey]map[string]string // parts of the page
}

// row is a replica.
type row struct {
	*fleet.Report
	State  fleet.State
	Want   string // the revision, if it runs another
	Canary bool
	Pinned bool
}

// group is the replicas that want a revision.
type group struct {
	ID        string
	As        []string // stable, canary, pinned
	Total     int
	Running   int           // of Total
	Requests  uint64        // of those that run it, since they do
	Errors    uint64        // of Requests
	Latency   time.Duration // the median; 0: unknown
	latencies []time.Duration
}

// states are the states of replicas, the most urgent first.
var states = []fleet.State{fleet.Failing, fleet.Silent, fleet.Empty, fleet.Waiting, fleet.Running}

// take returns a snapshot of a plan and its replicas, which it keeps.
func take(plan *fleet.Plan, replicas []fleet.Report, now time.Time) *snapshot {
	s := &snapshot{
		Taken: now, Plan: plan, Total: len(replicas), Counts: map[fleet.State]int{}, Deltas: fleet.TotalDeltas(replicas), rows: make([]row, 0, len(replicas)),
		made: map[viewKey]map[string]string{},
	}
	groups := map[string]*group{}
	for i := range replicas {
		r := &replicas[i]
		one := row{Report: r, State: r.State(plan, now)}
		want := plan.Wanted(r.ID, r.Labels).ID
		if want != r.Revision {
			one.Want = want
		}
		_, one.Pinned = plan.Pins[r.ID]
		one.Canary = !one.Pinned && plan.Canary != nil && want == plan.Canary.Revision
		g := groups[want]
		if g == nil {
			g = &group{ID: want, As: rolesOf(plan, want)}
			groups[want] = g
		}
		g.Total++
		if one.Want == "" && one.State != fleet.Silent {
			g.Running++
			if h := r.Health; h != nil {
				g.Requests, g.Errors = g.Requests+h.Requests, g.Errors+h.Errors
				if h.Latency > 0 {
					g.latencies = append(g.latencies, h.Latency)
				}
			}
		}
		s.Counts[one.State]++
		s.rows = append(s.rows, one)
	}
	for _, g := range groups {
		if n := len(g.latencies); n > 0 {
			slices.Sort(g.latencies)
			g.Latency, g.latencies = g.latencies[n/2], nil
		}
		s.Groups = append(s.Groups, g)
	}
	order := []string{"pinned", "canary", "stable"}
	slices.SortFunc(s.Groups, func(a, b *group) int {
		return cmp.Or(slices.Index(order, b.As[0])-slices.Index(order, a.As[0]), strings.Compare(a.ID, b.ID))
	})
	if len(s.rows) > pageSize {
		slices.SortStableFunc(s.rows, func(a, b row) int {
			return cmp.Compare(slices.Index(states, a.State), slices.Index(states, b.State))
		})
	}
	return s
}

// rolesOf returns the roles of a revision in a plan.
func rolesOf(p *fleet.Plan, id string) (all []string) {
	if id == p.Stable {
		all = append(all, "stable")
	}
	if p.Canary != nil && id == p.Canary.Revision {
		all = append(all, "canary")
	}
	if slices.Contains(slices.Collect(maps.Values(p.Pins)), id) {
		all = append(all, "pinned")
	}
	if id == p.Previous {
		all = append(all, "previous")
	}
	return all
}

// cache has the snapshots of names that people look at.
type cache struct {
	mu    sync.Mutex
	all   map[string]*entry
	swept time.Time
}

type entry struct {
	mu       sync.Mutex
	snapshot *snapshot
}

// entry returns the entry of a name that has a plan. It forgets names that nobody
// looked at for some time.
func (c *cache) entry(name string) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); now.Sub(c.swept) > forgetAfter {
		c.swept = now
		maps.DeleteFunc(c.all, func(_ string, e *entry) bool {
			e.mu.Lock()
			defer e.mu.Unlock()
			return e.snapshot != nil && now.Sub(e.snapshot.Taken) > forgetAfter
		})
	}
	e := c.all[name]
	if e == nil {
		e = &entry{}
		c.all[name] = e
	}
	return e
}

// look returns a snapshot of a name with its plan of now, and replicas of an age.
func (p *Page) look(name string, age time.Duration) *snapshot {
	plan, err := p.store.Plan(name)
	if err != nil {
		return &snapshot{Taken: time.Now(), Err: err}
	}
	e := p.cache.entry(name)
	e.mu.Lock()
	defer e.mu.Unlock()
	now := time.Now()
	last := e.snapshot
	if last != nil && last.Plan.Version() == plan.Version() && now.Sub(last.Taken) < age {
		return last
	}
	s := take(plan, p.store.Reports(name), now)
	switch c := plan.Canary; {
	case c == nil:
	case c.Seq == plan.Seq:
		s.StepAt = plan.Change.At
	case last != nil && last.Plan.Canary != nil && last.Plan.Epoch == plan.Epoch && last.Plan.Canary.Seq == c.Seq:
		s.StepAt = last.StepAt
	}
	stored, err := p.store.Revisions(context.Background(), name) // from memory
	if err != nil {
		return &snapshot{Taken: now, Err: err}
	}
	s.Stored = stored
	e.snapshot = s
	return s
}
