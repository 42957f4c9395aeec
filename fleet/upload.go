package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// uploaded is content whose chunks are stored, and which finish makes a revision.
type uploaded struct {
	chunks string // id of them
	count  uint32
	size   int64
	digest []byte // SHA-256
}

// storeTimeout bounds how long the server may take to store a chunk.
const storeTimeout = 10 * time.Second

// uploadWindow is how many chunks the server may not have stored yet.
const uploadWindow = 64

// metadataKey is where an object has its Revision, as JSON.
const metadataKey = "poolswap-revision"

// upload stores content in chunks. If it fails, it removes them.
//
// ObjectStore.Put sends up to 4,000 chunks ahead, and a server with a slow disk
// refuses what it cannot queue; and it makes a chunk of each Read, however short.
func (s *store) upload(ctx context.Context, content io.Reader) (u *uploaded, err error) {
	js, err := jetstream.New(s.conn, jetstream.WithPublishAsyncMaxPending(2*uploadWindow), jetstream.WithPublishAsyncTimeout(storeTimeout))
	if err != nil {
		return nil, err
	}
	defer js.CleanupPublisher()
	u = &uploaded{chunks: newID()}
	defer func() {
		if err != nil {
			s.discard(ctx, u)
		}
	}()
	sum := sha256.New()
	var window []sentChunk
	for end := false; !end; {
		var chunk []byte
		if len(window) < uploadWindow {
			chunk = make([]byte, chunkSize)
		} else { // nats.go has a chunk until it is stored
			if err := stored(ctx, window[0].ack); err != nil {
				return u, err
			}
			chunk, window = window[0].chunk, window[1:]
		}
		n, err := fill(chunk, content)
		if end = err == io.EOF; err != nil && !end { //nolint:errorlint // the end and nothing else
			return u, err
		}
		if n == 0 {
			break
		}
		sum.Write(chunk[:n])
		u.count, u.size = u.count+1, u.size+int64(n)
		// A chunk that is sent once more comes after those that followed it.
		ack, err := js.PublishAsync(chunkPrefix+u.chunks, chunk[:n], jetstream.WithExpectStream(contentStream), jetstream.WithRetryAttempts(0))
		if err != nil {
			return u, err
		}
		window = append(window, sentChunk{chunk, ack})
	}
	for _, sent := range window {
		if err := stored(ctx, sent.ack); err != nil {
			return u, err
		}
	}
	u.digest = sum.Sum(nil)
	return u, nil
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

// sentChunk is a chunk that the server may not have stored yet.
type sentChunk struct {
	chunk []byte
	ack   jetstream.PubAckFuture
}

// stored waits until the server has stored a message.
func stored(ctx context.Context, message jetstream.PubAckFuture) error {
	select {
	case <-message.Ok():
		return nil
	case err := <-message.Err():
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// discard removes chunks that no object has. If it fails, sweepChunks does.
func (s *store) discard(ctx context.Context, u *uploaded) {
	ctx, cancel := within(context.WithoutCancel(ctx))
	defer cancel()
	if stream, err := s.js.Stream(ctx, contentStream); err == nil {
		stream.Purge(ctx, jetstream.WithPurgeSubject(chunkPrefix+u.chunks)) //nolint:errcheck // see above
	}
}

// finish makes uploaded content a revision. It writes what ADR-20 of NATS says of
// an object, so that its tools read it, too.
func (s *store) finish(ctx context.Context, r Revision, u *uploaded) error {
	revision, err := json.Marshal(r)
	if err != nil {
		return err
	}
	name := objectName(s.name, r.ID)
	info, err := json.Marshal(jetstream.ObjectInfo{
		ObjectMeta: jetstream.ObjectMeta{
			Name: name, Opts: &jetstream.ObjectMetaOptions{ChunkSize: chunkSize}, Metadata: map[string]string{metadataKey: string(revision)},
		},
		Bucket: contentBucket, NUID: u.chunks, Size: uint64(u.size), Chunks: u.count, //nolint:gosec // it is not negative
		Digest: "SHA-256=" + base64.URLEncoding.EncodeToString(u.digest),
	})
	if err != nil {
		return err
	}
	short, cancel := within(ctx)
	defer cancel()
	if err = s.putDescription(short, name, info); err == nil {
		return nil
	}
	var refused *jetstream.APIError
	if errors.As(err, &refused) { // otherwise it may be stored
		s.discard(ctx, u)
	}
	return explained(short, fmt.Errorf("its description: %w", err))
}
