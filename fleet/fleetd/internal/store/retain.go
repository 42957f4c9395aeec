package store

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/poolswap/poolswap/fleet"
)

// claimTime is how long Retain leaves a revision alone that was claimed.
const claimTime = time.Minute

// Chunks without a description may belong to an upload of another node, or this node
// may not have heard of the description yet.
const (
	orphanAge    = 24 * time.Hour
	orphanAgeOwn = 10 * time.Minute // 0 where there is no other node
)

// Retain removes old revisions of a name and returns them. It keeps those that the
// plan names, that a replica reports, that were stored, claimed or named within
// minAge, the newest keep of the others, and those that these rest on. It also forgets all but the newest 10,000
// changes, and chunks that an upload has left. Ages are by the clocks of the nodes.
func (s *Store) Retain(ctx context.Context, name string, keep int, minAge time.Duration) ([]fleet.Stored, error) {
	gone, err := s.retain(ctx, name, keep, minAge)
	return gone, named(name, err)
}

func (s *Store) retain(ctx context.Context, name string, keep int, minAge time.Duration) (gone []fleet.Stored, err error) {
	if err := errors.Join(s.usable(), checkName(name)); err != nil {
		return nil, err
	}
	if keep < 0 || minAge < 0 {
		return nil, errorOf(ErrInvalid, "it cannot keep %d revisions that are younger than %v", keep, minAge)
	}
	all := s.described(name) // before the plan: a claim after this is refused or refuses
	used, err := s.used(ctx, name)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	for _, one := range storedOf(all) {
		d := all[one.ID]
		age := now.Sub(d.at)
		switch {
		case used[d.ID]:
		case age < minAge, d.Claimed && age < claimTime:
			used[d.ID] = true
		case keep > 0:
			keep--
			used[d.ID] = true
		}
	}
	withBases(all, used)
	for _, one := range storedOf(all) {
		d := all[one.ID]
		if used[d.ID] {
			continue
		}
		err := s.set(ctx, s.state, subject(revisionKind, name, d.ID), nil, d.seq, jetstream.WithMsgTTL(tombstoneTTL))
		if overtaken(err) {
			continue // it was claimed meanwhile
		}
		if err != nil {
			return gone, err
		}
		gone = append(gone, one)
		if err := s.dropChunks(ctx, d.Chunks); err != nil {
			return gone, err
		}
	}
	return gone, s.trimHistory(ctx, name)
}

// used returns the revisions that the plan names and that replicas report.
func (s *Store) used(ctx context.Context, name string) (map[string]bool, error) {
	stored, err := s.get(ctx, s.state, subject(planKind, name))
	if err != nil {
		return nil, err
	}
	used := map[string]bool{}
	for _, r := range s.Reports(name) {
		used[r.Revision], used[r.Failed] = true, true
	}
	plans := []*fleet.Plan{s.knownPlan(name)}
	if _, gone := decodeRemoval(stored.data); stored.seq > 0 && !gone {
		plan, err := decodePlan(name, stored.data)
		if err != nil {
			return nil, err // it may name any
		}
		plans = append(plans, plan)
	}
	for _, plan := range plans {
		if plan == nil {
			continue
		}
		for _, id := range plan.Named() {
			used[id] = true
		}
	}
	return used, nil
}

func (s *Store) trimHistory(ctx context.Context, name string) error {
	return try(ctx, func(ctx context.Context) error {
		return s.history.Purge(ctx, jetstream.WithPurgeSubject(subject("history", name)+".>"), jetstream.WithPurgeKeep(keepChanges))
	})
}

// sweepUploads removes chunks that no revision has: of this node, unless an upload is
// under way, and of the others once they are old.
func (s *Store) sweepUploads(ctx context.Context) error {
	info, err := ask(ctx, func(ctx context.Context) (*jetstream.StreamInfo, error) {
		return s.content.Info(ctx, jetstream.WithSubjectFilter("chunk.>"))
	})
	if err != nil {
		return err
	}
	if err := s.state.poll(ctx); err != nil { // what was uploaded before that is described now
		return err
	}
	for _, chunks := range s.orphans(info.State.Subjects) {
		age := orphanAge
		if strings.HasPrefix(chunks, subject("chunk", s.node)+".") {
			age = orphanAgeOwn
		}
		if s.o.Cluster != nil || age == orphanAge {
			last, err := ask(ctx, func(ctx context.Context) (*jetstream.RawStreamMsg, error) {
				return s.content.GetLastMsgForSubject(ctx, chunks)
			})
			if err != nil || time.Since(last.Time) < age {
				continue
			}
		}
		if err := s.dropChunks(ctx, chunks); err != nil {
			return err
		}
		s.log.Info("fleetd: the rest of an upload is deleted", "chunks", chunks)
	}
	return nil
}

// orphans returns the subjects of chunks that no revision has and no upload of this
// node stores.
func (s *Store) orphans(subjects map[string]uint64) (orphans []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	used := map[string]bool{}
	for _, n := range s.memory.names {
		for _, d := range n.revisions {
			if d.damaged != nil {
				return nil // any may be its chunks
			}
			used[d.Chunks] = true
		}
	}
	for chunks := range subjects {
		if !used[chunks] && !s.uploads[chunks] {
			orphans = append(orphans, chunks)
		}
	}
	slices.Sort(orphans)
	return orphans
}

// Remove removes plan, history, reports, revisions and content of a name. A plan that
// is published under it later has a higher epoch.
func (s *Store) Remove(ctx context.Context, name string) error {
	return named(name, s.remove(ctx, name))
}

func (s *Store) remove(ctx context.Context, name string) error {
	if err := errors.Join(s.usable(), checkName(name)); err != nil {
		return err
	}
	plan := subject(planKind, name)
	stored, err := s.get(ctx, s.state, plan)
	if err != nil {
		return err
	}
	if stored.seq == 0 && s.knownPlan(name) == nil && len(s.described(name)) == 0 {
		return fleet.ErrNoPlan
	}
	gone, _ := decodeRemoval(stored.data)
	above := gone.Epoch
	if old, err := decodePlan(name, stored.data); err == nil {
		above = old.Epoch
	}
	epoch, err := s.nextEpoch(ctx, name, above)
	if err != nil {
		return err
	}
	text, err := json.Marshal(removal{Epoch: epoch})
	if err != nil {
		return err
	}
	err = s.set(ctx, s.state, plan, text, stored.seq)
	if overtaken(err) {
		return fleet.ErrConflict
	}
	if err != nil {
		return err
	}
	return s.purge(ctx, name)
}

// purge removes what was stored of a name before its removal. If it ends early, Remove
// can be called again.
func (s *Store) purge(ctx context.Context, name string) error {
	s.mu.Lock()
	before := s.memory.name(name).removed.seq
	s.mu.Unlock()
	for _, one := range []struct {
		stream  jetstream.Stream
		subject string
		before  uint64
	}{
		{s.state.stream, subject(revisionKind, name) + ".>", before},
		{s.reports.stream, subject(reportKind, name) + ".>", 0},
		{s.history, subject("history", name) + ".>", 0},
	} {
		options := []jetstream.StreamPurgeOpt{jetstream.WithPurgeSubject(one.subject)}
		if one.before > 0 {
			options = append(options, jetstream.WithPurgeSequence(one.before))
		}
		if err := try(ctx, func(ctx context.Context) error { return one.stream.Purge(ctx, options...) }); err != nil {
			return err
		}
	}
	return s.sweepUploads(ctx)
}
