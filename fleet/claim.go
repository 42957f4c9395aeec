package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

var (
	errNotStored = errors.New("is not stored")
	errNotWhole  = errors.New("was not stored whole")
)

// description is what makes chunks an object, as it is stored.
type description struct {
	sequence uint64    // in the stream
	at       time.Time // by the server's clock
	text     []byte
	info     jetstream.ObjectInfo
}

// describe returns the description of an object, or errNotStored.
func (s *store) describe(ctx context.Context, name string) (*description, error) {
	stream, err := s.js.Stream(ctx, contentStream)
	if err != nil {
		return nil, err
	}
	message, err := stream.GetLastMsgForSubject(ctx, infoSubject(name))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, errNotStored
	}
	if err != nil {
		return nil, err
	}
	d := &description{sequence: message.Sequence, at: message.Time, text: message.Data}
	if err := json.Unmarshal(message.Data, &d.info); err != nil || d.info.Deleted {
		return nil, errNotStored
	}
	return d, nil
}

// revision returns the Revision that an object describes.
func (d *description) revision(id string) (r Revision, err error) {
	if err := json.Unmarshal([]byte(d.info.Metadata[metadataKey]), &r); err != nil || r.ID != id {
		return Revision{}, errNotWhole
	}
	return r, nil
}

// claim returns a revision that is stored, for a plan that is going to name it. It
// stores the description anew, so that Retain, which deletes what is old, leaves it
// alone: either Retain sees a young one, or this sees that there is none.
func (s *store) claim(ctx context.Context, id string) (r Revision, err error) {
	ctx, cancel := within(ctx)
	defer cancel()
	if err := s.open(ctx); err != nil {
		return r, err
	}
	name := objectName(s.name, id)
	d, err := s.describe(ctx, name)
	if err == nil {
		r, err = d.revision(id)
	}
	if err == nil {
		err = s.putDescription(ctx, name, d.text, jetstream.WithExpectLastSequencePerSubject(d.sequence))
	}
	var api *jetstream.APIError
	if errors.As(err, &api) && api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence {
		_, err = s.describe(ctx, name) // another change has claimed it now, or Retain has deleted it
	}
	if err != nil {
		return Revision{}, explained(ctx, fmt.Errorf("revision %q %w", id, err))
	}
	return r, nil
}

// putDescription stores what makes chunks an object.
func (s *store) putDescription(ctx context.Context, name string, text []byte, options ...jetstream.PublishOpt) error {
	message := nats.NewMsg(infoSubject(name))
	message.Header.Set(jetstream.MsgRollup, jetstream.MsgRollupSubject)
	message.Data = text
	_, err := s.js.PublishMsg(ctx, message, append(options, jetstream.WithExpectStream(contentStream))...)
	return err
}
