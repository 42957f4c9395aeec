package fleet

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// The subjects of an object store, by ADR-20 of NATS.
const (
	contentStream = "OBJ_" + contentBucket
	chunkPrefix   = "$O." + contentBucket + ".C."
	infoPrefix    = "$O." + contentBucket + ".M."
)

// infoSubject is where an object of a name is described.
func infoSubject(name string) string {
	return infoPrefix + base64.URLEncoding.EncodeToString([]byte(name))
}

// deleteUnclaimed deletes content of before that the plan does not name, unless a
// change claims it meanwhile (see claim).
//
// ObjectStore.Delete stores a note that there is no such object any more, which a
// full store refuses. This only removes: first what makes it an object, so that a
// plan can name no half of it; sweepChunks removes the rest if this ends between.
func (s *store) deleteUnclaimed(ctx context.Context, one Stored, before time.Time) (deleted bool, err error) {
	ctx, cancel := within(ctx)
	defer cancel()
	defer func() { err = explained(ctx, err) }()
	d, err := s.describe(ctx, one.Name)
	if errors.Is(err, errNotStored) || err == nil && (d.at.After(before) || d.info.NUID != one.chunks) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	plan, _, err := s.plan(ctx)
	if err != nil || slices.Contains(plan.named(), one.ID) {
		return false, err
	}
	stream, err := s.js.Stream(ctx, contentStream)
	if err != nil {
		return false, err
	}
	// A description that a change has stored anew since stays.
	if err := stream.Purge(ctx, jetstream.WithPurgeSubject(infoSubject(one.Name)), jetstream.WithPurgeSequence(d.sequence+1)); err != nil {
		return false, err
	}
	if _, err := s.describe(ctx, one.Name); !errors.Is(err, errNotStored) {
		return false, err
	}
	return true, stream.Purge(ctx, jetstream.WithPurgeSubject(chunkPrefix+one.chunks))
}

// contentState is what the server has in the bucket of content.
type contentState struct {
	stream jetstream.Stream
	now    time.Time // by the server's clock
	chunks []string  // ids of the store, of which there are chunks
}

func (s *store) contentState(ctx context.Context) (state contentState, err error) {
	ctx, cancel := within(ctx)
	defer cancel()
	defer func() { err = explained(ctx, err) }()
	if err := s.open(ctx); err != nil {
		return state, err
	}
	if state.stream, err = s.js.Stream(ctx, contentStream); err != nil {
		return state, notSetUp(err)
	}
	info, err := state.stream.Info(ctx, jetstream.WithSubjectFilter(chunkPrefix+"*"))
	if err != nil {
		return state, err
	}
	state.now = info.TimeStamp
	for subject := range info.State.Subjects {
		state.chunks = append(state.chunks, strings.TrimPrefix(subject, chunkPrefix))
	}
	return state, nil
}

// sweepChunks deletes chunks of before that no object has: their Publisher was
// killed. Nothing says what name they were for.
func (s *store) sweepChunks(ctx context.Context, state contentState, objects map[string]bool, before time.Time) error {
	for _, chunks := range state.chunks {
		if objects[chunks] {
			continue
		}
		if err := s.sweepOld(ctx, state.stream, chunkPrefix+chunks, before); err != nil {
			return err
		}
	}
	return nil
}

func (s *store) sweepOld(ctx context.Context, stream jetstream.Stream, subject string, before time.Time) error {
	ctx, cancel := within(ctx)
	defer cancel()
	last, err := stream.GetLastMsgForSubject(ctx, subject)
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return nil // gone meanwhile
	case err == nil && !last.Time.After(before):
		err = stream.Purge(ctx, jetstream.WithPurgeSubject(subject))
	}
	return explained(ctx, err)
}
