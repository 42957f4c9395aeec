package steer

import (
	"context"

	"github.com/poolswap/poolswap/fleet"
)

// Changer is what Do needs of a store.
type Changer interface {
	Claim(ctx context.Context, name, id string) (fleet.Revision, error)
	Reports(name string) []fleet.Report
	Change(ctx context.Context, name, at, by string, f func(next *fleet.Plan, change *fleet.Change) error) (*fleet.Plan, error)
}

// Do changes the plan of a name as op asks. at is "EPOCH.SEQ" of the only plan that it
// may change, or "" for any. Errors are *RefusedError, fleet.ErrNoPlan, fleet.ErrConflict,
// those of op's Check, and of the store.
func Do(ctx context.Context, store Changer, name, at, by string, op fleet.Operation) (*fleet.Plan, error) {
	if err := op.Check(); err != nil {
		return nil, err
	}
	var r, previous fleet.Revision
	for _, claim := range []struct {
		id   string
		into *fleet.Revision
	}{{op.Revision, &r}, {op.Previous, &previous}} {
		if claim.id == "" {
			continue
		}
		var err error
		if *claim.into, err = store.Claim(ctx, name, claim.id); err != nil {
			return nil, err
		}
	}
	return store.Change(ctx, name, at, by, func(next *fleet.Plan, change *fleet.Change) error {
		change.By = by // a rollout keeps it
		if err := Apply(next, change, op, r, store.Reports(name)); err != nil || op.Previous == "" {
			return err
		}
		describe(next, previous)
		next.Previous = previous.ID
		return nil
	})
}
