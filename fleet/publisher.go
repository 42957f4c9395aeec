package fleet

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/poolswap/poolswap/fleet/internal/clock"
)

// PublisherOptions configure a [Publisher].
type PublisherOptions struct {
	// By says who publishes, for the history.
	By string

	// Key, if not nil, signs each revision.
	Key ed25519.PrivateKey
}

// Publisher stores content and makes it what the replicas of a name want. It is
// safe for any number of goroutines, and any number of publishers can share a
// name: each change of the plan is compared and set.
type Publisher struct {
	store   store
	options PublisherOptions
}

// NewPublisher returns a Publisher of a name. It does not talk to the server yet.
func NewPublisher(conn *nats.Conn, name string, options PublisherOptions) (*Publisher, error) {
	if conn == nil {
		return nil, errors.New("fleet: NewPublisher with a nil Conn")
	}
	if options.Key != nil && len(options.Key) != ed25519.PrivateKeySize {
		return nil, fmt.Errorf("fleet: NewPublisher with a key of %d bytes, not %d", len(options.Key), ed25519.PrivateKeySize)
	}
	return &Publisher{store: store{conn: conn, name: name}, options: options}, errors.Join(checkName("name", name), checkName("name of who publishes (By)", options.By))
}

// metadataKey is where an object has its Revision, as JSON.
const metadataKey = "poolswap-revision"

// Store stores content and publishes nothing: a canary or a rollback can name the
// Revision that it returns. It reads content to its end, once. When it returns,
// the server has written all of it; if it fails, nothing is left that a plan could
// name.
func (p *Publisher) Store(ctx context.Context, content io.Reader) (Revision, error) {
	r, err := p.storeContent(ctx, content)
	if err != nil {
		return Revision{}, p.store.named(fmt.Errorf("the content was not stored: %w", err))
	}
	return r, nil
}

func (p *Publisher) storeContent(ctx context.Context, content io.Reader) (Revision, error) {
	s := &p.store
	short, cancel := within(ctx)
	defer cancel()
	if err := s.open(short); err != nil {
		return Revision{}, err
	}
	r := Revision{ID: newID(), Created: clock.Now().UTC()}
	var err error
	if r.Size, r.SHA256, err = s.putContent(ctx, r.ID, content); err != nil {
		return Revision{}, err
	}
	if p.options.Key != nil {
		r.Signature = ed25519.Sign(p.options.Key, r.Statement(s.name))
	}
	if err := s.finish(ctx, r); err != nil {
		return Revision{}, err
	}
	return r, nil
}

// putContent stores the content of what finish makes a revision.
func (s *store) putContent(ctx context.Context, id string, content io.Reader) (size int64, digest string, err error) {
	sum := sha256.New()
	meta := jetstream.ObjectMeta{Name: objectName(s.name, id), Opts: &jetstream.ObjectMetaOptions{ChunkSize: chunkSize}}
	info, err := s.content.Put(ctx, meta, io.TeeReader(content, sum))
	if err != nil {
		return 0, "", err
	}
	return int64(info.Size), hex.EncodeToString(sum.Sum(nil)), nil //nolint:gosec // no object has 2^63 bytes
}

// finish makes stored content a revision: only now its size and digest are known.
// An object that never came here is no revision, and retention removes it.
func (s *store) finish(ctx context.Context, r Revision) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	short, cancel := within(ctx)
	defer cancel()
	name := objectName(s.name, r.ID)
	return s.content.UpdateMeta(short, name, jetstream.ObjectMeta{
		Name: name, Opts: &jetstream.ObjectMetaOptions{ChunkSize: chunkSize}, Metadata: map[string]string{metadataKey: string(text)},
	})
}

// newID returns an ID that no other revision has: the time, for people, and a
// random part.
func newID() string {
	random := make([]byte, 5)
	rand.Read(random)
	return clock.Now().UTC().Format("20060102T150405") + "-" + strings.ToLower(base32.StdEncoding.EncodeToString(random))
}

// Publish stores content and makes it stable: every replica wants it, unless it is
// pinned. It ends a canary. why is for the history.
//
// If another change comes between, Publish returns ErrConflict; the content is
// stored, and the plan is the other's. Once Publish has returned nil, the server
// has the content and the plan on its disk.
func (p *Publisher) Publish(ctx context.Context, content io.Reader, why string) (Revision, *Plan, error) {
	before, _, err := p.store.plan(ctx)
	if err != nil && !errors.Is(err, ErrNoPlan) {
		return Revision{}, nil, p.store.named(err)
	}
	r, err := p.Store(ctx, content)
	if err != nil {
		return Revision{}, nil, err
	}
	plan, err := p.store.change(ctx, Change{By: p.options.By, What: "publish", To: r.ID, Why: why}, func(next *Plan, change *Change) error {
		if before != nil && (next.Epoch != before.Epoch || next.Seq != before.Seq) || before == nil && next.Seq > 0 {
			return ErrConflict
		}
		change.From = next.Stable
		next.release(r)
		return nil
	})
	return r, plan, err
}

// release makes r stable and ends a canary.
func (p *Plan) release(r Revision) {
	if r.ID != p.Stable {
		p.Previous = p.Stable
	}
	p.add(r)
	p.Stable, p.Canary, p.CanaryIDs, p.Hold = r.ID, "", nil, ""
}
