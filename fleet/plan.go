package fleet

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/poolswap/poolswap/fleet/internal/clock"
)

// Plan says which revision each replica of a name wants. It is one value, which is
// changed whole or not at all.
//
// Plans of one Epoch are ordered by Seq, and by no clock. An epoch ends when the
// server has lost its plans, and a Publisher begins a new one.
type Plan struct {
	Epoch uint64 `json:"epoch"`
	Seq   uint64 `json:"seq"`

	Stable    string            `json:"stable"`               // what replicas want that nothing else is said of
	Previous  string            `json:"previous,omitempty"`   // what was stable before, for Rollback
	Canary    string            `json:"canary,omitempty"`     // what CanaryIDs want
	CanaryIDs []string          `json:"canary_ids,omitempty"` // fixed when the canary begins
	CanarySeq uint64            `json:"canary_seq,omitempty"` // Seq of the plan that began the canary
	Hold      string            `json:"hold,omitempty"`       // why the canary must not be promoted
	Pins      map[string]string `json:"pins,omitempty"`       // revisions by id of a replica
	Paused    bool              `json:"paused,omitempty"`     // replicas that run something stay with it

	// Revisions describes each revision that the plan names.
	Revisions map[string]Revision `json:"revisions"`

	// Change is the one that made this plan.
	Change Change `json:"change"`
}

// Change is an entry of the history: who changed a plan, when, how and why.
type Change struct {
	Epoch uint64    `json:"epoch"`
	Seq   uint64    `json:"seq"` // of the plan that it made
	At    time.Time `json:"at"`  // by the clock of who made it, for people
	By    string    `json:"by"`
	What  string    `json:"what"`           // "publish", "canary", "promote", "rollback", "pin", "unpin", "pause", "resume", "hold", "restore"
	From  string    `json:"from,omitempty"` // revision
	To    string    `json:"to,omitempty"`   // revision
	Whom  []string  `json:"whom,omitempty"` // ids of replicas, of a canary or pin
	Why   string    `json:"why,omitempty"`
}

// newEpoch returns an epoch that no other plan has. It begins with the time, for
// people, and ends at random: a store can be lost twice while a clock stands or is
// set back. One that follows the epoch of a backup is above it.
func newEpoch(after uint64) uint64 {
	random := uint64(rand.Uint32())
	if epoch := uint64(clock.Now().UnixNano())>>32<<32 | random; epoch > after { //nolint:gosec // before 1970 it is a number, too
		return epoch
	}
	return after + 1 + random
}

// Wanted returns the revision that a replica wants.
func (p *Plan) Wanted(id string) Revision {
	want := p.Stable
	if p.Canary != "" && slices.Contains(p.CanaryIDs, id) {
		want = p.Canary
	}
	if pin, ok := p.Pins[id]; ok {
		want = pin
	}
	return p.Revisions[want]
}

// after reports whether p is a later plan than other of the same epoch.
func (p *Plan) after(other *Plan) bool { return p.Epoch == other.Epoch && p.Seq > other.Seq }

// canaryChange is what a Change says of a canary.
const canaryChange = "canary"

// encode returns the value to store. It has the ids of a new canary once: they can
// be as many as the server takes bytes.
func (p *Plan) encode() ([]byte, error) {
	once := *p
	if once.Change.What == canaryChange {
		once.Change.Whom = nil
	}
	return json.Marshal(&once)
}

// decodePlan returns the plan of a stored value.
func decodePlan(value []byte) (*Plan, error) {
	p := new(Plan)
	if err := json.Unmarshal(value, p); err != nil {
		return nil, fmt.Errorf("the plan cannot be read: %w", err)
	}
	if p.Change.What == canaryChange {
		p.Change.Whom = p.CanaryIDs
	}
	for _, id := range p.named() {
		if r, ok := p.Revisions[id]; !ok || r.ID != id {
			return nil, fmt.Errorf("the plan names revision %q and does not describe it", id)
		}
	}
	return p, nil
}

// named returns the revisions that p names.
func (p *Plan) named() []string {
	all := slices.Collect(maps.Values(p.Pins))
	for _, id := range []string{p.Stable, p.Previous, p.Canary} {
		if id != "" {
			all = append(all, id)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// clone returns a copy of p that shares nothing that a change changes.
func (p *Plan) clone() *Plan {
	next := *p
	next.CanaryIDs = slices.Clone(p.CanaryIDs)
	next.Pins = maps.Clone(p.Pins)
	next.Revisions = maps.Clone(p.Revisions)
	return &next
}

// add makes a revision known to p.
func (p *Plan) add(r Revision) {
	if p.Revisions == nil {
		p.Revisions = map[string]Revision{}
	}
	p.Revisions[r.ID] = r
}

// forget removes the revisions that p names no more.
func (p *Plan) forget() {
	named := p.named()
	maps.DeleteFunc(p.Revisions, func(id string, _ Revision) bool { return !slices.Contains(named, id) })
}
