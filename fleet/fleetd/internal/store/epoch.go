package store

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

// An epoch is the second in which it began and 20 random bits, so that one which is
// begun after the store was lost is neither below nor the same as an earlier one,
// unless the clock went back. It is a number that JSON has in every language.
const (
	epochBits = 20
	maxEpoch  = 1<<53 - 1
)

// sane reports whether a server may have begun an epoch by now: replicas can report
// any number.
func sane(epoch uint64, now time.Time) bool {
	return epoch <= uint64(now.Add(24*time.Hour).Unix())<<epochBits //nolint:gosec // after 1970
}

// newEpoch returns an epoch above others.
func newEpoch(now time.Time, above uint64) (uint64, error) {
	var b [8]byte
	rand.Read(b[:])
	random := binary.BigEndian.Uint64(b[:]) >> (64 - epochBits)
	epoch := uint64(max(now.Unix(), 1))<<epochBits | random //nolint:gosec // above 0
	if epoch <= above {
		epoch = above + 1 + random
	}
	if epoch > maxEpoch {
		return 0, fmt.Errorf("there is no epoch above %d: remove the name and publish under another one", above)
	}
	return epoch, nil
}

// nextEpoch returns an epoch for a new plan of a name: above all that are known of.
func (s *Store) nextEpoch(ctx context.Context, name string, above uint64) (uint64, error) {
	recorded, err := s.recorded(ctx, name)
	if err != nil {
		return 0, err
	}
	for _, version := range recorded {
		above = max(above, version.Epoch)
	}
	now := time.Now()
	s.mu.Lock()
	if n := s.memory.names[name]; n != nil {
		above = max(above, n.removed.Epoch)
		if n.plan != nil {
			above = max(above, n.plan.Epoch)
		}
		for _, r := range n.reports {
			if sane(r.report.Epoch, now) {
				above = max(above, r.report.Epoch)
			}
		}
	}
	s.mu.Unlock()
	return newEpoch(now, above)
}

// Repair begins a new epoch of a plan. If the plan cannot be read, revision becomes
// stable in its place; canary and pins are lost. Otherwise revision must be "" and the
// plan stays as it is: replicas that are [Store.Ahead] follow it again.
func (s *Store) Repair(ctx context.Context, name, by, revision, why string) (*fleet.Plan, error) {
	return s.change(ctx, name, "", by, func(c *changing) error {
		c.newEpoch, c.change.Kind, c.change.Why = true, fleet.KindRepair, why
		switch {
		case c.damaged == nil && c.current.Seq == 0:
			return fleet.ErrNoPlan
		case c.damaged == nil && revision != "":
			return errorOf(ErrRefused, "the plan can be read: publish the revision, or roll back to it")
		case c.damaged == nil:
			c.change.From, c.change.To = c.next.Stable, c.next.Stable
			return nil
		case revision == "":
			return errorOf(ErrInvalid, "%w: it needs a revision", c.damaged)
		}
		r, err := s.Claim(ctx, name, revision)
		if err != nil {
			return errors.Unwrap(err) // it is named once
		}
		c.change.To, c.next.Stable = revision, revision
		c.next.Revisions = map[string]fleet.Revision{revision: r}
		return nil
	})
}
