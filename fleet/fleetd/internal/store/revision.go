package store

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

// description is a revision as it is stored: it makes chunks a content. A node does
// not change one that it has in memory.
type description struct {
	fleet.Revision
	Chunks  string `json:"chunks"`  // their subject
	Count   int    `json:"count"`   // of them
	Claimed bool   `json:"claimed"` // this message was stored for a plan that is going to name it

	text    []byte    // as it was read for a change; its other fields stay
	seq     uint64    // in the stream of state
	at      time.Time // it was stored, or claimed
	gone    bool      // removed
	damaged error     // it cannot be read
}

// decode reads a stored description.
func (d *description) decode(id string, text []byte) error {
	if err := json.Unmarshal(text, d); err != nil {
		return fmt.Errorf("the description of revision %q is damaged: %w", id, err)
	}
	digest, err := hex.DecodeString(d.SHA256)
	if d.ID != id || d.Size < 0 || d.Count < 0 || err != nil || len(digest) != 32 || hex.EncodeToString(digest) != d.SHA256 || d.State != "" && !fleet.IsDigest(d.State) {
		return fmt.Errorf("the description of revision %q is damaged", id)
	}
	return nil
}

// Revisions returns the stored revisions of a name, the newest first, without a
// request.
func (s *Store) Revisions(_ context.Context, name string) ([]fleet.Stored, error) {
	if err := errors.Join(s.usable(), checkName(name)); err != nil {
		return nil, named(name, err)
	}
	return storedOf(s.described(name)), nil
}

func storedOf(all map[string]*description) []fleet.Stored {
	list := make([]fleet.Stored, 0, len(all))
	for _, d := range all {
		list = append(list, fleet.Stored{Revision: d.Revision, At: d.at})
	}
	slices.SortFunc(list, func(a, b fleet.Stored) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.ID, a.ID)) })
	return list
}

// readDescription returns a description as a majority has it.
func (s *Store) readDescription(ctx context.Context, name, id string) (*description, error) {
	e, err := s.get(ctx, s.state, subject(revisionKind, name, id))
	if err != nil {
		return nil, err
	}
	d := &description{text: e.data, seq: e.seq, at: e.at}
	s.mu.Lock()
	n := s.memory.names[name]
	removed := n != nil && e.seq < n.removed.seq
	s.mu.Unlock()
	if len(e.data) == 0 || removed {
		d.gone = true
		return d, nil
	}
	return d, d.decode(id, e.data)
}

// putDescription stores a description in place of the one of seq.
func (s *Store) putDescription(ctx context.Context, name string, d *description, seq uint64) error {
	text, err := json.Marshal(d)
	if err == nil && len(d.text) > 0 {
		var all map[string]json.RawMessage // those of a later version, too
		if err = errors.Join(json.Unmarshal(d.text, &all), json.Unmarshal(text, &all)); err == nil {
			text, err = json.Marshal(all)
		}
	}
	if err != nil {
		return err
	}
	return s.set(ctx, s.state, subject(revisionKind, name, d.ID), text, seq)
}

// update changes a stored description. If another change comes between, it tries
// again.
func (s *Store) update(ctx context.Context, name, id string, f func(*description) error) (*description, error) {
	for {
		d, err := s.readDescription(ctx, name, id)
		if err != nil {
			return nil, err
		}
		if d.gone {
			return nil, errorOf(ErrNotFound, "revision %q is not stored", id)
		}
		seq := d.seq
		if err := f(d); err != nil {
			return nil, err
		}
		if err = s.putDescription(ctx, name, d, seq); !overtaken(err) {
			return d, err
		}
	}
}

// Claim returns a stored revision for a plan that is going to name it, within a
// minute: so long Retain leaves it alone.
func (s *Store) Claim(ctx context.Context, name, id string) (fleet.Revision, error) {
	if err := errors.Join(s.usable(), checkName(name), checkRevision(id)); err != nil {
		return fleet.Revision{}, named(name, err)
	}
	r, err := s.claim(ctx, name, id)
	return r, named(name, err)
}

// claim stores the description anew, with the time of now. Retain removes one only if
// it is the one that it has looked at.
func (s *Store) claim(ctx context.Context, name, id string) (fleet.Revision, error) {
	d, err := s.update(ctx, name, id, func(d *description) error {
		d.Claimed = true
		return nil
	})
	if err != nil {
		return fleet.Revision{}, err
	}
	return d.Revision, nil
}

// Sign stores the signature of a revision: once, and before a plan names it.
func (s *Store) Sign(ctx context.Context, name, id string, signature []byte) error {
	return named(name, s.sign(ctx, name, id, signature))
}

func (s *Store) sign(ctx context.Context, name, id string, signature []byte) error {
	if err := errors.Join(s.usable(), checkName(name), checkRevision(id)); err != nil {
		return err
	}
	if len(signature) != ed25519.SignatureSize {
		return errorOf(ErrInvalid, "a signature has %d bytes, not %d", ed25519.SignatureSize, len(signature))
	}
	if plan := s.knownPlan(name); plan != nil && slices.Contains(plan.Named(), id) {
		return errorOf(ErrRefused, "a plan names revision %q already", id)
	}
	_, err := s.update(ctx, name, id, func(d *description) error {
		if d.Signature != nil && !bytes.Equal(d.Signature, signature) {
			return errorOf(ErrRefused, "revision %q has another signature", id)
		}
		d.Signature = signature
		return nil
	})
	return err
}
