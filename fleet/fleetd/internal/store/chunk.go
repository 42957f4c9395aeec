package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	chunkSize    = 256 << 10
	uploadWindow = 16               // chunks on their way to a majority
	storeTimeout = 10 * time.Second // of a chunk
)

// sentChunk is a chunk that a majority may not have yet.
type sentChunk struct {
	chunk []byte
	ack   jetstream.PubAckFuture
}

// putChunks stores content under a subject of its own and returns the number of its
// chunks when a majority has all. It asks check after each for leave to go on.
func (s *Store) putChunks(ctx context.Context, subject string, content io.Reader, check func(size int64) error) (count int, size int64, err error) {
	var window []sentChunk
	defer func() { // chunks that are stored later would stay
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), attemptTimeout)
		defer cancel()
		for _, sent := range window {
			stored(ctx, sent.ack) //nolint:errcheck // they are given up
		}
	}()
	for end := false; !end; {
		var chunk []byte
		if len(window) < uploadWindow {
			chunk = make([]byte, chunkSize)
		} else { // nats.go has a chunk until it is stored
			first := window[0]
			chunk, window = first.chunk, window[1:]
			if err := stored(ctx, first.ack); err != nil {
				return 0, 0, err
			}
		}
		n, err := fill(chunk, content)
		if end = err == io.EOF; err != nil && !end { //nolint:errorlint // the end and nothing else
			return 0, 0, err
		}
		if n == 0 {
			break
		}
		count, size = count+1, size+int64(n)
		if err := errors.Join(check(size), ctx.Err()); err != nil {
			return 0, 0, err
		}
		// A chunk that is sent once more comes after those that followed it.
		ack, err := s.js.PublishAsync(subject, chunk[:n], jetstream.WithExpectStream(contentStream), jetstream.WithRetryAttempts(0))
		if err != nil {
			return 0, 0, explain(ctx, err)
		}
		window = append(window, sentChunk{chunk, ack})
	}
	for len(window) > 0 {
		first := window[0]
		window = window[1:]
		if err := stored(ctx, first.ack); err != nil {
			return 0, 0, err
		}
	}
	return count, size, nil
}

// fill reads until chunk is full. It returns io.EOF only if content does: io.ReadFull
// makes io.ErrUnexpectedEOF of that, which is how content ends that was cut off.
func fill(chunk []byte, content io.Reader) (n int, err error) {
	for n < len(chunk) && err == nil {
		var more int
		more, err = content.Read(chunk[n:])
		n += more
	}
	return n, err
}

// stored waits until a majority has a chunk.
func stored(ctx context.Context, chunk jetstream.PubAckFuture) error {
	select {
	case <-chunk.Ok():
		return nil
	case err := <-chunk.Err():
		return explain(ctx, err)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// dropChunks removes chunks that no revision has. If it fails, sweepUploads does.
func (s *Store) dropChunks(ctx context.Context, subject string) error {
	return try(context.WithoutCancel(ctx), func(ctx context.Context) error {
		return s.content.Purge(ctx, jetstream.WithPurgeSubject(subject))
	})
}

// damageError says that stored content is not the content of its revision.
type damageError struct{ err error }

func (e *damageError) Error() string { return e.err.Error() }
func (e *damageError) Unwrap() error { return e.err }

func damage(format string, args ...any) error { return &damageError{fmt.Errorf(format, args...)} }

// readChunks writes the stored content of a revision to w and checks its digest. The
// error is a *damageError if there are no such chunks, or others.
func (s *Store) readChunks(ctx context.Context, d *description, w io.Writer) error {
	sum := sha256.New()
	var seq uint64
	size := int64(0)
	for i := range d.Count {
		chunk, err := s.readChunk(ctx, d, i, seq+1)
		if err != nil {
			return err
		}
		seq = chunk.Sequence
		if size += int64(len(chunk.Data)); size > d.Size {
			return damage("more than %d bytes are stored", d.Size)
		}
		sum.Write(chunk.Data)
		if _, err := w.Write(chunk.Data); err != nil {
			return err
		}
	}
	if got := hex.EncodeToString(sum.Sum(nil)); size != d.Size || got != d.SHA256 {
		return damage("%d bytes with the SHA-256 %s are stored, and %d with %s were published", size, got, d.Size, d.SHA256)
	}
	return nil
}

// readChunk returns the next chunk at seq or behind it. Any node of a cluster may answer,
// also one that does not have it yet, or that was the leader before it was cut off and
// still counts too few, so it asks again for a while.
func (s *Store) readChunk(ctx context.Context, d *description, i int, seq uint64) (*jetstream.RawStreamMsg, error) {
	for began := time.Now(); ; {
		chunk, err := ask(ctx, func(ctx context.Context) (*jetstream.RawStreamMsg, error) {
			return s.content.GetMsg(ctx, seq, jetstream.WithGetMsgSubject(d.Chunks))
		})
		if !errors.Is(err, jetstream.ErrMsgNotFound) {
			return chunk, err
		}
		if s.o.Cluster != nil && time.Since(began) < requestTimeout {
			time.Sleep(attemptPause)
			continue
		}
		info, err := ask(ctx, func(ctx context.Context) (*jetstream.StreamInfo, error) {
			return s.content.Info(ctx, jetstream.WithSubjectFilter(d.Chunks))
		})
		if err != nil {
			return nil, err
		}
		return nil, damage("chunk %d of %d cannot be read, and %d are stored", i+1, d.Count, info.State.Subjects[d.Chunks])
	}
}
