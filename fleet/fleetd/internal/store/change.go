package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

// changing is a change of a plan on its way.
type changing struct {
	current  *fleet.Plan // as a majority has it; Seq is 0 if there is none
	damaged  error       // there is one, which cannot be read
	next     *fleet.Plan
	change   *fleet.Change
	newEpoch bool
}

// Change changes the plan of a name, or makes its first one. f gets a copy of the plan
// as a majority has it, or an empty one, and changes it and fills in Kind, From, To,
// Selected and Why of change. An error of f ends the change.
//
// It compares and sets: if another change comes between, the error is
// fleet.ErrConflict, as for a plan that is not at, EPOCH.SEQ, unless at is "". "0.0"
// stands for no plan. When Change has returned a plan, a majority of the nodes has it,
// and so has this node. After ErrUnavailable the change may have been made all the
// same.
func (s *Store) Change(ctx context.Context, name, at, by string, f func(next *fleet.Plan, change *fleet.Change) error) (*fleet.Plan, error) {
	return s.change(ctx, name, at, by, func(c *changing) error {
		if c.damaged != nil {
			return c.damaged
		}
		return f(c.next, c.change)
	})
}

func (s *Store) change(ctx context.Context, name, at, by string, f func(*changing) error) (*fleet.Plan, error) {
	plan, err := s.tryChange(ctx, name, at, by, f)
	return plan, named(name, err)
}

func (s *Store) tryChange(ctx context.Context, name, at, by string, f func(*changing) error) (*fleet.Plan, error) {
	if err := errors.Join(s.writable(), checkName(name)); err != nil {
		return nil, err
	}
	known := s.knownPlan(name) // before the stored one
	subject := subject(planKind, name)
	stored, err := s.get(ctx, s.state, subject)
	if err != nil {
		return nil, err
	}
	c := &changing{current: &fleet.Plan{}, change: &fleet.Change{}}
	gone, isGone := decodeRemoval(stored.data)
	if stored.seq > 0 && !isGone {
		plan, err := decodePlan(name, stored.data)
		if err == nil {
			c.current = plan
		}
		c.damaged = err
	}
	if known != nil && known.After(max(c.current.Epoch, gone.Epoch), c.current.Seq) {
		c.current, c.newEpoch = known, true // the store was set back; if another change came between, this one is refused
	}
	if at != "" && at != c.current.Version() {
		return nil, fmt.Errorf("%w: it is %s, not %s", fleet.ErrConflict, c.current.Version(), at)
	}
	c.next = c.current.Clone()
	if c.next.Revisions == nil {
		c.next.Revisions = map[string]fleet.Revision{}
	}
	if err := f(c); err != nil {
		return nil, err
	}
	if err := s.complete(ctx, c, name, by, gone.Epoch); err != nil {
		return nil, err
	}
	text, err := encodePlan(name, c.next)
	if err != nil {
		return nil, err
	}
	if err := s.beforeChange(ctx, name, c); err != nil {
		return nil, err
	}
	err = s.set(ctx, s.state, subject, text, stored.seq)
	if overtaken(err) {
		err = s.overtook(ctx, name, subject, c.next)
	}
	if err != nil {
		return nil, err
	}
	if err := s.record(ctx, name, c.next.Change); err != nil { // the plan has it, and the next change records it
		s.log.Warn("fleetd: a change is not in the history yet", "name", name, "error", err)
	}
	return c.next, nil
}

// overtook returns the error for a plan that was refused since another one is stored:
// ErrConflict, or nil if it was stored before that one. A plan is stored only after the
// change of the one before it was recorded.
func (s *Store) overtook(ctx context.Context, name, subject string, plan *fleet.Plan) error {
	text, err := json.Marshal(plan.Change)
	if err != nil {
		return err
	}
	for range 3 { // the other one may be overtaken meanwhile
		recorded, err := s.recordOf(ctx, name, planVersion{plan.Epoch, plan.Seq})
		if err != nil {
			return err
		}
		if bytes.Equal(recorded, text) {
			return s.state.poll(ctx) // the node has it or a later one after that
		}
		stored, err := s.get(ctx, s.state, subject)
		if err != nil {
			return err
		}
		// One that was made of this plan has a higher Seq, in a later epoch, too.
		if other, err := decodePlan(name, stored.data); err != nil || recorded != nil || other.Seq <= plan.Seq {
			return fmt.Errorf("%w by another one", fleet.ErrConflict)
		}
	}
	return errorOf(ErrUnavailable, "it is not known whether the change was made, look before you try again")
}

// knownPlan returns the plan that this node has, or nil.
func (s *Store) knownPlan(name string) *fleet.Plan {
	plan, err := s.Plan(name)
	if err != nil {
		return nil
	}
	return plan
}

// complete fills in what the server alone knows.
func (s *Store) complete(ctx context.Context, c *changing, name, by string, above uint64) (err error) {
	next := c.next
	next.Format, next.Name, next.Mirrors, next.Spread = max(next.Format, fleet.Format), name, nil, 0
	next.Epoch, next.Seq = c.current.Epoch, c.current.Seq+1
	if c.newEpoch || c.current.Epoch == 0 {
		if next.Epoch, err = s.nextEpoch(ctx, name, max(above, c.current.Epoch)); err != nil {
			return err
		}
	}
	change := c.change
	change.Epoch, change.Seq, change.At, change.By = next.Epoch, next.Seq, time.Now().UTC(), by
	next.Change = *change
	used := next.Named()
	maps.DeleteFunc(next.Revisions, func(id string, _ fleet.Revision) bool { return !slices.Contains(used, id) })
	return nil
}

func encodePlan(name string, plan *fleet.Plan) ([]byte, error) {
	text, err := json.Marshal(plan)
	if err != nil {
		return nil, err
	}
	if len(text) > maxPlan {
		return nil, errorOf(ErrTooLarge, "the plan has %d bytes, more than %d: remove pins, choose replicas by labels, or say why in fewer words", len(text), maxPlan)
	}
	if _, err := decodePlan(name, text); err != nil {
		return nil, fmt.Errorf("a change makes a plan that cannot be read: %w", err)
	}
	return text, nil
}

// beforeChange records the last change, since the node that made it may have ended
// before it did, and claims each revision that is no longer named: a replica may be
// loading it.
func (s *Store) beforeChange(ctx context.Context, name string, c *changing) error {
	if c.current.Seq == 0 {
		return nil
	}
	if err := s.record(ctx, name, c.current.Change); err != nil {
		return fmt.Errorf("the history: %w", err)
	}
	still := c.next.Named()
	for _, id := range c.current.Named() {
		if slices.Contains(still, id) {
			continue
		}
		if _, err := s.claim(ctx, name, id); err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
	}
	return nil
}
