package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

// memory is what a node knows of state and reports. Store.mu guards it.
type memory struct {
	names   map[string]*nameState
	tokens  map[string]*tokenState
	digests map[string]int      // revisions of all names that have the content
	unused  func(digest string) // is told of content that no revision has any more
	anyName signal              // a name is new or gone
}

// nameState is all of a name. It stays when the name is removed: a later plan of it
// must have a higher epoch.
type nameState struct {
	plan    *fleet.Plan // the latest that could be read; nil: none
	planSeq uint64      // in the stream, of the plan or removal that was taken last
	damaged error       // the stored plan cannot be read
	removed removal

	revisions map[string]*description
	reports   map[string]*reportState
	plans     signal // the plan has changed
	reported  signal // a report has changed
}

// removal is stored in place of the plan of a name that was removed.
type removal struct {
	Epoch uint64 `json:"removed"` // not below that of any plan of the name; 0: it is not removed
	seq   uint64 // in the stream: what is older of the name is gone
}

// signal tells all who wait that something has changed.
type signal struct{ c chan struct{} }

func (s *signal) wait() <-chan struct{} {
	if s.c == nil {
		s.c = make(chan struct{})
	}
	return s.c
}

func (s *signal) fire() {
	if s.c != nil {
		close(s.c)
		s.c = nil
	}
}

func (m *memory) init(unused func(digest string)) {
	m.unused = unused
	m.names, m.tokens, m.digests = map[string]*nameState{}, map[string]*tokenState{}, map[string]int{}
}

func (m *memory) name(name string) *nameState {
	n := m.names[name]
	if n == nil {
		n = &nameState{revisions: map[string]*description{}, reports: map[string]*reportState{}}
		m.names[name] = n
		m.anyName.fire()
	}
	return n
}

// setPlan takes a plan or the removal of a name. A plan that is older than the one
// that the node has is never taken: a majority that was set back must not set back
// replicas.
func (m *memory) setPlan(name string, e entry) error {
	n := m.name(name)
	if e.seq <= n.planSeq {
		return nil
	}
	n.planSeq = e.seq
	defer n.plans.fire()
	if gone, ok := decodeRemoval(e.data); ok {
		n.plan, n.damaged = nil, nil
		n.removed = removal{max(gone.Epoch, n.removed.Epoch), e.seq}
		clear(n.reports)
		n.reported.fire()
		for id, d := range n.revisions {
			if d.seq < e.seq {
				m.dropRevision(n, id)
			}
		}
		return nil
	}
	var plan *fleet.Plan
	plan, n.damaged = decodePlan(name, e.data)
	if n.damaged != nil {
		return n.damaged
	}
	if n.plan != nil && plan.Version() != n.plan.Version() && !plan.After(n.plan.Epoch, n.plan.Seq) {
		return fmt.Errorf("plan %s is stored, and this node had %s: the store was set back, and the next change begins an epoch", plan.Version(), n.plan.Version())
	}
	n.plan = plan
	return nil
}

func decodeRemoval(text []byte) (removal, bool) {
	var r removal
	err := json.Unmarshal(text, &r)
	return r, err == nil && r.Epoch > 0
}

// maxPlan bounds the bytes of a plan.
const maxPlan = 512 << 10

func decodePlan(name string, text []byte) (*fleet.Plan, error) {
	plan := &fleet.Plan{}
	err := json.Unmarshal(text, plan)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the stored plan is damaged, and repair replaces it: %w", err)
	case plan.Name != name:
		return nil, fmt.Errorf("the stored plan is damaged, and repair replaces it: it is of %q", plan.Name)
	case plan.Format < 1 || plan.Epoch > maxEpoch:
		return nil, errors.New("the stored plan is damaged, and repair replaces it: no server makes its format or epoch")
	}
	return plan, nil
}

// setRevision takes the description of a revision, or its removal.
func (m *memory) setRevision(name, id string, e entry) error {
	n := m.name(name)
	was := n.revisions[id]
	if was != nil && e.seq <= was.seq || e.seq < n.removed.seq {
		return nil
	}
	d := &description{seq: e.seq, at: e.at, gone: len(e.data) == 0}
	if !d.gone {
		if d.damaged = d.decode(id, e.data); d.damaged == nil {
			m.digests[d.SHA256]++
		}
	}
	m.dropRevision(n, id)
	n.revisions[id] = d
	return d.damaged
}

// dropRevision forgets a revision.
func (m *memory) dropRevision(n *nameState, id string) {
	was := n.revisions[id]
	delete(n.revisions, id)
	if was == nil || was.gone || was.damaged != nil {
		return
	}
	if m.digests[was.SHA256]--; m.digests[was.SHA256] == 0 {
		delete(m.digests, was.SHA256)
		m.unused(was.SHA256)
	}
}

// forgetSeqs prepares for reading a stream from its beginning: the values stay, and
// all that comes replaces them.
func (s *Store) forgetSeqs(stream string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.memory.names {
		if stream == reportsStream {
			for _, r := range n.reports {
				r.seq = 0
			}
			continue
		}
		n.planSeq, n.removed.seq = 0, 0
		for _, d := range n.revisions {
			d.seq = 0
		}
	}
	if stream == stateStream {
		for _, t := range s.memory.tokens {
			t.seq = 0
		}
	}
}

// forgetUnseen forgets what was not in a stream that was read from its beginning, but
// for plans.
func (s *Store) forgetUnseen(stream string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.memory.names {
		if stream == reportsStream {
			n.forget(func(r *reportState) bool { return r.seq == 0 })
			continue
		}
		for id, d := range n.revisions {
			if d.seq == 0 {
				s.memory.dropRevision(n, id)
			}
		}
	}
	if stream == stateStream {
		for id, t := range s.memory.tokens {
			if t.seq == 0 {
				delete(s.memory.tokens, id)
			}
		}
	}
}

// forgetOld forgets tombstones that JetStream has forgotten, and names of which
// nothing is left.
func (m *memory) forgetOld(now time.Time) {
	for name, n := range m.names {
		for id, d := range n.revisions {
			if d.gone && now.Sub(d.at) > tombstoneTTL {
				delete(n.revisions, id)
			}
		}
		if n.planSeq == 0 && n.removed.Epoch == 0 && n.plan == nil && len(n.revisions) == 0 && len(n.reports) == 0 {
			delete(m.names, name)
			n.plans.fire()
			n.reported.fire()
		}
	}
	for id, t := range m.tokens {
		if t.gone && now.Sub(t.at) > tombstoneTTL {
			delete(m.tokens, id)
		}
	}
}
