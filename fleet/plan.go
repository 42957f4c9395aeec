package fleet

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Format is the number of the format of a [Plan]. A server and a client that meet a
// higher one use the fields that they know.
const Format = 1

// Plan says which revision each replica of a name wants. It is one value, which is
// changed whole or not at all. Plans are ordered by Epoch, then by Seq, and by no
// clock: a replica takes only a later one.
//
// Fields of a later format survive in a Plan that was decoded and is encoded again.
type Plan struct {
	Format int    `json:"format"`
	Name   string `json:"name"`
	Epoch  uint64 `json:"epoch"` // begins anew when the server has lost its plans; below 2^53
	Seq    uint64 `json:"seq"`   // one more with each change

	Stable   string            `json:"stable"`             // default revision
	Previous string            `json:"previous,omitempty"` // stable before and run by replicas: for Rollback
	Canary   *Canary           `json:"canary,omitempty"`
	Rollout  *Rollout          `json:"rollout,omitempty"` // widens Canary step by step
	Pins     map[string]string `json:"pins,omitempty"`    // revisions by id of a replica
	Paused   bool              `json:"paused,omitempty"`  // replicas that run something stay with it

	// Revisions describes each revision that the plan names.
	Revisions map[string]Revision `json:"revisions"`

	// Change is the one that made this plan.
	Change Change `json:"change"`

	// Mirrors are URLs beside the server that content can be fetched from, as
	// URL/SHA256. The server adds them to its answers; they are not stored.
	Mirrors []string `json:"mirrors,omitempty"`

	// Spread is the time over which replicas fetch content and report, and dial again
	// after an outage, each after a random part of it. The server adds it to its answers
	// if many replicas wait.
	Spread time.Duration `json:"spread_ns,omitempty"`

	unknown map[string]json.RawMessage // fields of a later format
}

// Canary is a revision that some replicas try.
type Canary struct {
	Revision string `json:"revision"`
	Selection
	Seq  uint64 `json:"seq"`            // of the plan that began this canary
	Hold string `json:"hold,omitempty"` // why it must not be promoted
}

// Wanted returns the revision that a replica wants: its pin, the canary if that
// selects it, or the stable one.
func (p *Plan) Wanted(id string, labels map[string]string) Revision {
	if pin, ok := p.Pins[id]; ok {
		return p.Revisions[pin]
	}
	if p.Canary != nil && p.Canary.Includes(p.Canary.Revision, id, labels) {
		return p.Revisions[p.Canary.Revision]
	}
	return p.Revisions[p.Stable]
}

// Version returns Epoch and Seq as the protocol writes them, "EPOCH.SEQ".
func (p *Plan) Version() string { return fmt.Sprintf("%d.%d", p.Epoch, p.Seq) }

// After reports whether p is a later plan than (epoch, seq).
func (p *Plan) After(epoch, seq uint64) bool {
	return p.Epoch > epoch || p.Epoch == epoch && p.Seq > seq
}

// Named returns the ids of the revisions that p names, in order.
func (p *Plan) Named() []string {
	all := slices.Collect(maps.Values(p.Pins))
	all = append(all, p.Stable, p.Previous)
	if p.Canary != nil {
		all = append(all, p.Canary.Revision)
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(id string) bool { return id == "" })
}

// Clone returns a deep copy of p.
func (p *Plan) Clone() *Plan {
	next := *p
	if p.Canary != nil {
		canary := *p.Canary
		canary.Labels, canary.IDs = maps.Clone(canary.Labels), slices.Clone(canary.IDs)
		next.Canary = &canary
	}
	if p.Rollout != nil {
		rollout := *p.Rollout
		rollout.Steps = slices.Clone(rollout.Steps)
		next.Rollout = &rollout
	}
	next.Pins, next.Revisions, next.unknown = maps.Clone(p.Pins), maps.Clone(p.Revisions), maps.Clone(p.unknown)
	next.Mirrors = slices.Clone(p.Mirrors)
	return &next
}

// check returns an error for a plan that no server makes.
func (p *Plan) check() error {
	if p.Epoch == 0 || p.Seq == 0 {
		return fmt.Errorf("the plan has epoch %d and seq %d", p.Epoch, p.Seq)
	}
	for _, id := range p.Named() {
		if r, ok := p.Revisions[id]; !ok || r.ID != id {
			return fmt.Errorf("the plan names revision %q and does not describe it", id)
		}
	}
	return nil
}

// wirePlan is a Plan without its methods.
type wirePlan Plan

// planFields are the names of the fields that this version knows.
var planFields = jsonFields(wirePlan{})

// MarshalJSON implements json.Marshaler.
func (p *Plan) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal((*wirePlan)(p))
	if err != nil || len(p.unknown) == 0 {
		return text, err
	}
	all := maps.Clone(p.unknown)
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	return json.Marshal(all)
}

// UnmarshalJSON implements json.Unmarshaler. It refuses a plan that no server makes.
func (p *Plan) UnmarshalJSON(text []byte) error {
	var known wirePlan
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &known); err != nil {
		return fmt.Errorf("the plan cannot be read: %w", err)
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return fmt.Errorf("the plan cannot be read: %w", err)
	}
	for _, name := range planFields {
		delete(all, name)
	}
	*p = Plan(known)
	if len(all) > 0 {
		p.unknown = all
	}
	return p.check()
}
