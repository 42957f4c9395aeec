package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// objectName is the name of a revision's object.
func objectName(name, revision string) string { return token(name) + "/" + token(revision) }

// Of content that is on its way, a replica holds prefetch chunks at most. Chunks
// have 128 KiB, as long as a Publisher of this package stored them.
const (
	chunkSize = 128 << 10
	prefetch  = 8
)

// stallTimeout bounds the time in which no chunk comes.
const stallTimeout = 30 * time.Second

// openContent opens the content of a revision. The transfer goes on as long as
// ctx lives and chunks come.
//
// It reads the chunks itself. ObjectStore.Get pushes them as fast as the server
// can, so a slow reader would hold many of them; and it needs a deadline for the
// whole transfer, which a large object on a slow line does not know.
func (s *store) openContent(ctx context.Context, r Revision) (io.ReadCloser, error) {
	short, cancel := within(ctx)
	defer cancel()
	info, err := s.content.GetInfo(short, objectName(s.name, r.ID))
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return nil, fmt.Errorf("the content of revision %q is not stored any more", r.ID)
	}
	if err != nil {
		return nil, err
	}
	if int64(info.Size) != r.Size { //nolint:gosec // no object has 2^63 bytes
		return nil, fmt.Errorf("the content of revision %q has %d bytes, and %d were published", r.ID, info.Size, r.Size)
	}
	if info.Chunks == 0 {
		return io.NopCloser(&chunks{}), nil
	}
	// The subject of chunks is that of ADR-20 of NATS.
	consumer, err := s.js.OrderedConsumer(short, "OBJ_"+contentBucket, jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{"$O." + contentBucket + ".C." + info.NUID}, InactiveThreshold: time.Minute,
	})
	if err != nil {
		return nil, err
	}
	// A consumer that begins with fewer chunks would wait for the others.
	if stored := consumer.CachedInfo().NumPending; stored != uint64(info.Chunks) {
		return nil, fmt.Errorf("the content of revision %q is not whole: %d of %d chunks are stored", r.ID, stored, info.Chunks)
	}
	messages, err := consumer.Messages(jetstream.PullMaxMessages(prefetch))
	if err != nil {
		return nil, err
	}
	return &chunks{ctx: ctx, messages: messages, left: info.Chunks}, nil
}

// chunks reads the chunks of an object.
type chunks struct {
	ctx      context.Context
	messages jetstream.MessagesContext
	left     uint32 // that are still to come
	rest     []byte // of the last one
}

func (c *chunks) Read(p []byte) (n int, err error) {
	for len(c.rest) == 0 {
		if c.left == 0 {
			return 0, io.EOF
		}
		ctx, cancel := context.WithTimeoutCause(c.ctx, stallTimeout, fmt.Errorf("no chunk within %v", stallTimeout))
		message, err := c.messages.Next(jetstream.NextContext(ctx))
		if err != nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		cancel()
		if err != nil {
			return 0, err
		}
		c.rest = message.Data()
		c.left--
	}
	n = copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// Close implements io.Closer.
func (c *chunks) Close() error {
	c.messages.Stop()
	return nil
}
