package fleet

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// PublisherOptions configure a [Publisher]. The zero PublisherOptions will do for a
// name that has a plan.
type PublisherOptions struct {
	// Key, if not nil, signs each revision.
	Key ed25519.PrivateKey

	// Check, if not nil, reads content before any of it is sent, and returns an error
	// to refuse it.
	Check func(ctx context.Context, content io.Reader) error

	// New allows the first publication under a name. Without it, a name that has no
	// plan is refused, so that a misspelled name does not come into being.
	New bool

	// AllowEmpty allows content of no bytes.
	AllowEmpty bool
}

// Publisher stores content and makes it the revision that the replicas of a name want.
// It is safe for any number of goroutines, and any number of publishers can share a
// name: each change of the plan is compared and set.
type Publisher struct {
	client  *Client
	name    string
	options PublisherOptions
	state   string // see WithState
}

// NewPublisher returns a Publisher of a name. It makes no request.
func NewPublisher(client *Client, name string, options PublisherOptions) (*Publisher, error) {
	switch err := CheckName("name", name); {
	case client == nil:
		return nil, errors.New("fleet: NewPublisher with a nil Client")
	case err != nil:
		return nil, fmt.Errorf("fleet: NewPublisher: %w", err)
	case options.Key != nil && len(options.Key) != ed25519.PrivateKeySize:
		return nil, fmt.Errorf("fleet: NewPublisher with a key of %d bytes, not %d", len(options.Key), ed25519.PrivateKeySize)
	}
	return &Publisher{client: client, name: name, options: options}, nil
}

// Store stores content and publishes nothing: a canary or a rollout can name the
// Revision that it returns. It reads content to its end: a file where it is, anything
// that is no io.ReaderAt and io.Seeker by a temporary file. When it returns, a majority of
// the servers has it. A name without a plan is refused with ErrNoPlan unless
// PublisherOptions.New is set.
func (p *Publisher) Store(ctx context.Context, content io.Reader) (Revision, error) {
	return p.storeNew(ctx, "", content)
}

// storeNew stores content, of a delta if there is a base, under a name that has a plan or
// may begin.
func (p *Publisher) storeNew(ctx context.Context, base string, content io.Reader) (Revision, error) {
	if _, err := p.before(ctx); err != nil {
		return Revision{}, err
	}
	return p.store(ctx, base, content)
}

// Publish stores content and makes it stable: every replica wants it, unless it is
// pinned. It ends a canary and a rollout. why is for the history. A name without a plan
// is refused with ErrNoPlan unless PublisherOptions.New is set.
//
// If another change comes between the call and the publication, Publish returns
// ErrConflict beside the Revision: the content is stored, and the plan is the other's.
// Once Publish has returned nil, a majority of the servers has the content and the plan.
func (p *Publisher) Publish(ctx context.Context, content io.Reader, why string) (Revision, *Plan, error) {
	return p.publish(ctx, "", content, why)
}

func (p *Publisher) publish(ctx context.Context, base string, content io.Reader, why string) (Revision, *Plan, error) {
	before, err := p.before(ctx)
	if err != nil {
		return Revision{}, nil, err
	}
	r, err := p.store(ctx, base, content)
	if err != nil {
		return Revision{}, nil, err
	}
	plan, err := p.client.change(ctx, p.name, before, Operation{Kind: KindPublish, Revision: r.ID, Why: why})
	return r, plan, err
}

// before returns the version of the plan, "0.0" without one.
func (p *Publisher) before(ctx context.Context) (string, error) {
	plan, err := p.client.plan(ctx, p.name, "", 0)
	switch {
	case errors.Is(err, ErrNoPlan) && p.options.New:
		return "0.0", nil
	case errors.Is(err, ErrNoPlan):
		return "", fmt.Errorf("%w: if %q is not misspelled, allow a new name (PublisherOptions.New)", err, p.name)
	case err != nil:
		return "", err
	}
	return plan.Version(), nil
}

func (p *Publisher) store(ctx context.Context, base string, content io.Reader) (Revision, error) {
	r := Revision{ID: newID(), Base: base, State: p.state, Created: time.Now().UTC().Truncate(time.Millisecond)}
	load, err := newPayload(ctx, content)
	if err == nil {
		defer load.Close()
		r.Size, r.SHA256 = load.size, load.sum
		if p.options.Key != nil {
			r.Signature = ed25519.Sign(p.options.Key, r.Statement(p.name))
		}
		if err = p.check(ctx, load); err == nil {
			err = p.upload(ctx, r, load)
		}
	}
	if err != nil {
		return Revision{}, fmt.Errorf("fleet: the content for %s was not stored: %w", p.name, err)
	}
	return r, nil
}

// check refuses content that must not be stored.
func (p *Publisher) check(ctx context.Context, load *payload) error {
	if load.size == 0 && !p.options.AllowEmpty {
		return errors.New("it is empty (PublisherOptions.AllowEmpty allows that)")
	}
	if p.options.Check == nil {
		return nil
	}
	if err := p.options.Check(ctx, contextReader{load.reader(), ctx}); err != nil {
		return fmt.Errorf("the check refuses it: %w", err)
	}
	return nil
}

// upload stores content as r, with its signature.
func (p *Publisher) upload(ctx context.Context, r Revision, load *payload) error {
	if err := p.client.upload(ctx, p.name, r, load); err != nil || len(r.Signature) == 0 {
		return err
	}
	_, err := p.client.do(ctx, &request{
		op: "sign a revision of " + p.name, method: http.MethodPut,
		path: []string{"names", p.name, "revisions", r.ID, "signature"},
		body: map[string][]byte{"signature": r.Signature},
	})
	return err
}

// Restore stores content as the revision r, with its id, time and signature, such as a
// copy that [Client.Content] made. It fails if the content is not that of r. Check, New
// and Key are not used.
func (p *Publisher) Restore(ctx context.Context, r Revision, content io.Reader) error {
	err := r.check(p.name, nil)
	if err == nil {
		var load *payload
		if load, err = newPayload(ctx, content); err == nil {
			defer load.Close()
			if load.sum != r.SHA256 || load.size != r.Size {
				err = fmt.Errorf("its SHA-256 is %s, and not %s", load.sum, r.SHA256)
			} else {
				err = p.upload(ctx, r, load)
			}
		}
	}
	if err != nil {
		return fmt.Errorf("fleet: revision %q of %s was not restored: %w", r.ID, p.name, err)
	}
	return nil
}

// newID returns an ID that no other revision has: the time, for people, and a random
// part.
func newID() string {
	random := make([]byte, 5)
	rand.Read(random)
	return time.Now().UTC().Format("20060102T150405") + "-" + strings.ToLower(base32.StdEncoding.EncodeToString(random))
}
