package store

import (
	"context"
	"errors"
	"slices"

	"github.com/poolswap/poolswap/fleet"
)

// Chain returns the stored revisions whose contents make that of a revision: a whole one
// and the deltas since, or those after from.
func (s *Store) Chain(ctx context.Context, name, id, from string) ([]fleet.Revision, error) {
	if err := errors.Join(s.usable(), checkName(name), checkRevision(id)); err != nil {
		return nil, named(name, err)
	}
	chain, err := s.chain(ctx, name, id, from)
	return chain, named(name, err)
}

// chain is Chain, of what a majority has if this node has not heard of it.
func (s *Store) chain(ctx context.Context, name, id, from string) ([]fleet.Revision, error) {
	chain, err := chainOf(s.described(name), id, from)
	if !errors.Is(err, ErrNotFound) {
		return chain, err
	}
	if err := s.state.poll(ctx); err != nil {
		return nil, err
	}
	return chainOf(s.described(name), id, from)
}

// chainOf returns the chain of a revision, up to the one after from.
func chainOf(all map[string]*description, id, from string) (chain []fleet.Revision, err error) {
	for at := id; ; {
		d := all[at]
		if d == nil || d.gone {
			return nil, errorOf(ErrNotFound, "revision %q is not stored", at)
		}
		if len(chain) > fleet.MaxDeltas {
			return nil, errorOf(ErrInvalid, "revision %q is on more than %d deltas", id, fleet.MaxDeltas)
		}
		chain = append(chain, d.Revision)
		if d.Base == "" || d.Base == from {
			slices.Reverse(chain)
			return chain, nil
		}
		at = d.Base
	}
}

// checkBase returns an error if a delta of that size cannot be stored on base.
func (s *Store) checkBase(ctx context.Context, name, base string, size int64) error {
	chain, err := s.chain(ctx, name, base, "")
	switch {
	case errors.Is(err, ErrNotFound):
		return errorOf(ErrInvalid, "the delta is on revision %q, which is not stored", base)
	case err != nil:
		return err
	case len(chain) > fleet.MaxDeltas:
		return errorOf(ErrSnapshot, "there are %d deltas on revision %q: publish whole content", len(chain)-1, chain[0].ID)
	}
	for _, r := range chain[1:] {
		size += r.Size
	}
	if size > chain[0].Size/4 {
		return errorOf(ErrSnapshot, "the deltas on revision %q have %d bytes, more than a quarter of its %d: publish whole content", chain[0].ID, size, chain[0].Size)
	}
	return nil
}

// withBases adds to kept the revisions that these rest on.
func withBases(all map[string]*description, kept map[string]bool) {
	for id := range kept {
		for d := all[id]; d != nil && d.Base != "" && !kept[d.Base]; d = all[d.Base] {
			kept[d.Base] = true
		}
	}
}
