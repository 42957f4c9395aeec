package store

import (
	"maps"
	"slices"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

// Names returns the names that have a plan, also one that cannot be read, or stored
// revisions, in order.
func (s *Store) Names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for name, n := range s.memory.names {
		there := n.plan != nil || n.damaged != nil
		for _, d := range n.revisions {
			there = there || !d.gone
		}
		if there {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// Plan returns the latest plan of a name that this node knows, without a request. It
// is never older than one that Plan has returned before. It is shared: do not change
// it. Without a plan the error is fleet.ErrNoPlan.
func (s *Store) Plan(name string) (*fleet.Plan, error) {
	if err := s.usable(); err != nil {
		return nil, named(name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.memory.names[name]
	switch {
	case n != nil && n.damaged != nil:
		return nil, named(name, n.damaged)
	case n == nil || n.plan == nil:
		return nil, named(name, fleet.ErrNoPlan)
	}
	return n.plan, nil
}

// PlanChanged returns a channel that is closed when the plan of a name changes next.
// Get the channel first, the plan after that.
func (s *Store) PlanChanged(name string) <-chan struct{} {
	return s.changed(name, func(n *nameState) *signal { return &n.plans })
}

// ReportsChanged returns a channel that is closed when a report of a name changes
// next.
func (s *Store) ReportsChanged(name string) <-chan struct{} {
	return s.changed(name, func(n *nameState) *signal { return &n.reported })
}

// changed gives those who wait for names that the node does not know one channel:
// asking for any name takes no memory.
func (s *Store) changed(name string, of func(*nameState) *signal) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.memory.names[name]; n != nil {
		return of(n).wait()
	}
	return s.memory.anyName.wait()
}

// Ahead returns the replicas that report a later plan than the node has: the store
// was copied back, and they follow no plan before Repair has begun a new epoch.
func (s *Store) Ahead(name string) (replicas []string) {
	if s.usable() != nil {
		return nil
	}
	until := s.state.caughtUp() // a report that came later may be of a plan that comes
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.memory.names[name]
	if n == nil || n.plan == nil {
		return nil
	}
	for id, r := range n.reports {
		reported := fleet.Plan{Epoch: r.report.Epoch, Seq: r.report.Seq}
		if !r.gone && r.taken.Before(until) && sane(reported.Epoch, time.Now()) && reported.After(n.plan.Epoch, n.plan.Seq) {
			replicas = append(replicas, id)
		}
	}
	slices.Sort(replicas)
	return replicas
}

// described returns a copy of the descriptions of a name that can be read.
func (s *Store) described(name string) map[string]*description {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.memory.names[name]
	if n == nil {
		return nil
	}
	all := maps.Clone(n.revisions)
	maps.DeleteFunc(all, func(_ string, d *description) bool { return d.gone || d.damaged != nil })
	return all
}
