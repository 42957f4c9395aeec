package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/poolswap/poolswap/fleet"
)

// keepChanges is how many changes of a name Retain keeps.
const keepChanges = 10_000

// planVersion is Epoch and Seq of a plan.
type planVersion struct{ Epoch, Seq uint64 }

func (v planVersion) compare(w planVersion) int {
	return cmp.Or(cmp.Compare(v.Epoch, w.Epoch), cmp.Compare(v.Seq, w.Seq))
}

func historySubject(name string, v planVersion) string {
	return fmt.Sprintf("history.%s.%d.%d", token(name), v.Epoch, v.Seq)
}

// record adds a change to the history, once: each has a subject of its own, and
// JetStream refuses the second message.
func (s *Store) record(ctx context.Context, name string, c fleet.Change) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	subject := historySubject(name, planVersion{c.Epoch, c.Seq})
	return try(ctx, func(ctx context.Context) error {
		_, err := s.js.Publish(ctx, subject, text, jetstream.WithExpectStream(historyStream), jetstream.WithExpectLastSequencePerSubject(0))
		if !overtaken(err) {
			return err
		}
		if there, getErr := s.history.GetLastMsgForSubject(ctx, subject); there != nil || !errors.Is(getErr, jetstream.ErrMsgNotFound) {
			return getErr
		}
		return errorOf(ErrUnavailable, "the entry is on its way: %w", err)
	})
}

// recorded returns the versions of the plans that the history of a name has, the
// latest first.
func (s *Store) recorded(ctx context.Context, name string) ([]planVersion, error) {
	info, err := ask(ctx, func(ctx context.Context) (*jetstream.StreamInfo, error) {
		return s.history.Info(ctx, jetstream.WithSubjectFilter(subject("history", name)+".>"))
	})
	if err != nil {
		return nil, err
	}
	var all []planVersion
	for subject := range info.State.Subjects {
		if v, ok := parseVersion(strings.Join(strings.Split(subject, ".")[2:], ".")); ok {
			all = append(all, v)
		}
	}
	slices.SortFunc(all, func(v, w planVersion) int { return w.compare(v) })
	return all, nil
}

func parseVersion(text string) (v planVersion, ok bool) {
	n, err := fmt.Sscanf(text, "%d.%d", &v.Epoch, &v.Seq)
	return v, err == nil && n == 2 && fmt.Sprintf("%d.%d", v.Epoch, v.Seq) == text
}

// History returns up to limit changes of a name, the newest first: those before the
// plan EPOCH.SEQ, or all for "". Its oldest are forgotten.
func (s *Store) History(ctx context.Context, name, before string, limit int) ([]fleet.Change, error) {
	changes, err := s.listChanges(ctx, name, before, limit)
	return changes, named(name, err)
}

func (s *Store) listChanges(ctx context.Context, name, before string, limit int) ([]fleet.Change, error) {
	if err := errors.Join(s.usable(), checkName(name)); err != nil {
		return nil, err
	}
	if limit <= 0 {
		limit = 100
	}
	var end planVersion
	if before != "" {
		var ok bool
		if end, ok = parseVersion(before); !ok {
			return nil, errorOf(ErrInvalid, "%q is not EPOCH.SEQ", before)
		}
	}
	plan, err := s.Plan(name)
	if errors.Is(err, fleet.ErrNoPlan) {
		return nil, fleet.ErrNoPlan
	}
	versions, err := s.recorded(ctx, name)
	if err != nil {
		return nil, err
	}
	if plan != nil { // its change may not be recorded yet
		last := planVersion{plan.Epoch, plan.Seq}
		if i, there := slices.BinarySearchFunc(versions, last, func(v, w planVersion) int { return w.compare(v) }); !there {
			versions = slices.Insert(versions, i, last)
		}
	}
	if before != "" {
		versions = slices.DeleteFunc(versions, func(v planVersion) bool { return v.compare(end) >= 0 })
	}
	changes := make([]fleet.Change, 0, min(limit, len(versions)))
	for _, v := range versions[:cap(changes)] {
		c, err := s.changeOf(ctx, name, v, plan)
		if err != nil {
			return nil, err
		}
		changes = append(changes, c)
	}
	return changes, nil
}

// recordOf returns the entry of a plan in the history, or nil.
func (s *Store) recordOf(ctx context.Context, name string, v planVersion) ([]byte, error) {
	message, err := ask(ctx, func(ctx context.Context) (*jetstream.RawStreamMsg, error) {
		return s.history.GetLastMsgForSubject(ctx, historySubject(name, v))
	})
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return message.Data, nil
}

// changeOf returns a change of the history. One that is damaged says so, and does not
// hide the others.
func (s *Store) changeOf(ctx context.Context, name string, v planVersion, plan *fleet.Plan) (c fleet.Change, err error) {
	if plan != nil && plan.Epoch == v.Epoch && plan.Seq == v.Seq {
		return plan.Change, nil
	}
	text, err := s.recordOf(ctx, name, v)
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(text, &c); err != nil {
		c = fleet.Change{Why: fmt.Sprintf("this entry cannot be read: %v", err)}
	}
	c.Epoch, c.Seq = v.Epoch, v.Seq
	return c, nil
}
