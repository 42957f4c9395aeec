package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// record adds a change to the history, once: each has a subject of its own, and
// the server refuses the second message.
func (s *store) record(ctx context.Context, c Change) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	ctx, cancel := within(ctx)
	defer cancel()
	subject := fmt.Sprintf("%s.%s.%d.%d", historySubject, token(s.name), c.Epoch, c.Seq)
	_, err = s.js.Publish(ctx, subject, text, jetstream.WithExpectStream(historyStream), jetstream.WithExpectLastSequencePerSubject(0))
	var api *jetstream.APIError
	if errors.As(err, &api) && api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence {
		return nil // it is there
	}
	return err
}

// An entry is small, but for one that says why at length, or names many replicas.
const (
	historyPrefetch      = 200     // entries that are on their way at most
	historyPrefetchBytes = 8 << 20 // unless the server takes larger ones
)

// history returns the changes of a name, the oldest first.
func (s *store) history(ctx context.Context) (all []Change, err error) {
	err = s.eachChange(ctx, func(c Change, _ time.Time) { all = append(all, c) })
	return all, err
}

// eachChange calls yield with the changes of a name, the oldest first, and with
// when the server stored each, which is zero if it has no room for the last one.
func (s *store) eachChange(ctx context.Context, yield func(c Change, stored time.Time)) error {
	plan, _, err := s.plan(ctx)
	if err != nil {
		return err
	}
	unrecorded := s.record(ctx, plan.Change) != nil // who made it may have ended before this
	prefetch := jetstream.PullMaxMessagesWithBytesLimit(historyPrefetch, max(historyPrefetchBytes, int(s.conn.MaxPayload())))
	reader, err := s.newStreamReader(ctx, historyStream, historySubject+"."+token(s.name)+".>", prefetch)
	if err != nil {
		return err
	}
	defer reader.Close()
	for reader.left > 0 {
		stalled, cancel := context.WithTimeoutCause(ctx, stallTimeout, fmt.Errorf("no entry within %v", stallTimeout))
		message, err := reader.next(stalled)
		cancel()
		if err != nil {
			return err
		}
		var c Change
		if err := json.Unmarshal(message.Data(), &c); err != nil {
			return fmt.Errorf("an entry cannot be read: %w", err)
		}
		meta, err := message.Metadata()
		if err != nil {
			return err
		}
		yield(c, meta.Timestamp)
		unrecorded = unrecorded && (c.Epoch != plan.Change.Epoch || c.Seq != plan.Change.Seq)
	}
	if unrecorded {
		yield(plan.Change, time.Time{})
	}
	return nil
}
