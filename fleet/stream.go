package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// streamReader returns the messages of a subject of a stream in their order, each
// once.
//
// It does what OrderedConsumer of nats.go does, which cannot be used here: while
// the server does not answer, its Next looks neither at ctx nor at Stop, and it
// leaves its consumer to the server, which keeps it until InactiveThreshold has
// passed.
type streamReader struct {
	store    *store
	stream   string
	subject  string
	prefetch jetstream.PullMessagesOpt // what is on its way at most
	left     uint64                    // messages that are still to come

	last     uint64             // sequence in the stream of the last message
	taken    uint64             // from consumer
	consumer jetstream.Consumer // nil after a failure: the next one begins after last
	messages jetstream.MessagesContext
}

// A consumer of which the server hears nothing for consumerThreshold is gone. One
// that does not say within twice pullHeartbeat that it is there is replaced.
const (
	consumerThreshold = time.Minute
	pullHeartbeat     = 2 * time.Second
	resumePause       = 100 * time.Millisecond
)

// newStreamReader returns a reader of what is stored by now: of left messages.
// prefetch must be far less than what nats.go keeps for a subscription, 64 MiB: it
// drops the rest without a word.
func (s *store) newStreamReader(ctx context.Context, stream, subject string, prefetch jetstream.PullMessagesOpt) (*streamReader, error) {
	r := &streamReader{store: s, stream: stream, subject: subject, prefetch: prefetch}
	pending, err := r.begin(ctx)
	if err != nil {
		return nil, err
	}
	r.left = pending
	return r, nil
}

// begin makes a consumer that begins after the last message, and returns how many
// messages it has.
func (r *streamReader) begin(ctx context.Context) (pending uint64, err error) {
	ctx, cancel := within(ctx)
	defer cancel()
	defer func() { err = explained(ctx, err) }()
	if err := r.store.connected(ctx); err != nil {
		return 0, err
	}
	config := jetstream.ConsumerConfig{
		FilterSubject: r.subject, AckPolicy: jetstream.AckNonePolicy, MemoryStorage: true, Replicas: 1, InactiveThreshold: consumerThreshold,
	}
	if r.last > 0 {
		config.DeliverPolicy, config.OptStartSeq = jetstream.DeliverByStartSequencePolicy, r.last+1
	}
	if r.consumer, err = r.store.js.CreateConsumer(ctx, r.stream, config); err != nil {
		return 0, err
	}
	if r.messages, err = r.consumer.Messages(r.prefetch, jetstream.PullHeartbeat(pullHeartbeat)); err != nil {
		r.Close()
		return 0, err
	}
	r.taken = 0
	return r.consumer.CachedInfo().NumPending, nil
}

var errOutOfOrder = errors.New("a message is missing")

// next returns the next message. If the consumer fails, it goes on with another
// one until ctx ends.
func (r *streamReader) next(ctx context.Context) (jetstream.Msg, error) {
	for {
		message, err := r.try(ctx)
		if err == nil {
			return message, nil
		}
		r.Close()
		var gone *goneError
		if errors.As(err, &gone) || r.store.conn.IsClosed() {
			return nil, err
		}
		select {
		case <-time.After(resumePause):
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
	}
}

// goneError says that the stream has not the messages any more that are to come.
type goneError struct{ stored, left uint64 }

func (e *goneError) Error() string {
	return fmt.Sprintf("%d messages are to come, and %d are stored", e.left, e.stored)
}

func (r *streamReader) try(ctx context.Context) (jetstream.Msg, error) {
	if r.consumer == nil {
		pending, err := r.begin(ctx)
		if err != nil {
			return nil, err
		}
		if pending < r.left {
			return nil, &goneError{pending, r.left}
		}
	}
	message, err := r.messages.Next(jetstream.NextContext(ctx))
	if err != nil {
		return nil, err
	}
	meta, err := message.Metadata()
	if err != nil {
		return nil, err
	}
	if meta.Sequence.Consumer != r.taken+1 {
		return nil, errOutOfOrder
	}
	r.taken, r.last = meta.Sequence.Consumer, meta.Sequence.Stream
	r.left--
	return message, nil
}

// Close deletes the consumer. It waits for nothing: the server may be away.
func (r *streamReader) Close() error {
	if r.consumer == nil {
		return nil
	}
	if r.messages != nil {
		r.messages.Stop()
	}
	name := r.consumer.CachedInfo().Name
	r.consumer, r.messages = nil, nil
	if !r.store.conn.IsConnected() {
		return nil // the server forgets it
	}
	go func() {
		ctx, cancel := within(context.Background())
		defer cancel()
		r.store.js.DeleteConsumer(ctx, r.stream, name) //nolint:errcheck // the server forgets it
	}()
	return nil
}
