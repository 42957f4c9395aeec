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
		return nil, explained(short, err)
	}
	if int64(info.Size) != r.Size { //nolint:gosec // no object has 2^63 bytes
		return nil, fmt.Errorf("the content of revision %q has %d bytes, and %d were published", r.ID, info.Size, r.Size)
	}
	if info.Chunks == 0 {
		return &chunks{}, nil
	}
	reader, err := s.newStreamReader(ctx, contentStream, chunkPrefix+info.NUID, jetstream.PullMaxMessages(prefetch))
	if err != nil {
		return nil, err
	}
	if reader.left != uint64(info.Chunks) {
		reader.Close()
		return nil, fmt.Errorf("the content of revision %q is not whole: %d of %d chunks are stored", r.ID, reader.left, info.Chunks)
	}
	return &chunks{ctx: ctx, reader: reader}, nil
}

// chunks reads the chunks of an object.
type chunks struct {
	ctx    context.Context
	reader *streamReader // nil for an object without any
	rest   []byte        // of the last one
}

func (c *chunks) Read(p []byte) (n int, err error) {
	for len(c.rest) == 0 {
		if c.reader == nil || c.reader.left == 0 {
			return 0, io.EOF
		}
		ctx, cancel := context.WithTimeoutCause(c.ctx, stallTimeout, fmt.Errorf("no chunk within %v", stallTimeout))
		message, err := c.reader.next(ctx)
		cancel()
		if err != nil {
			return 0, err
		}
		c.rest = message.Data()
	}
	n = copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// Close implements io.Closer.
func (c *chunks) Close() error {
	if c.reader == nil {
		return nil
	}
	return c.reader.Close()
}
