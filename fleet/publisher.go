package fleet

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/nats-io/nats.go"

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
	u, err := s.upload(ctx, content)
	if err != nil {
		return Revision{}, err
	}
	r.Size, r.SHA256 = u.size, hex.EncodeToString(u.digest)
	if p.options.Key != nil {
		r.Signature = ed25519.Sign(p.options.Key, r.Statement(s.name))
	}
	if err := s.finish(ctx, r, u); err != nil {
		return Revision{}, err
	}
	return r, nil
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
	p.Stable, p.Canary, p.CanaryIDs, p.CanarySeq, p.Hold = r.ID, "", nil, 0, ""
}
