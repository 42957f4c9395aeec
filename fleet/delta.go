package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"

	"github.com/poolswap/poolswap/reload"
)

// MaxDeltas bounds the deltas between a revision and the whole content that they change.
// They have a quarter of its bytes at most.
const MaxDeltas = 256

// ErrSnapshot is returned by PublishDelta and StoreDelta if there are as many deltas as a
// whole content can have: publish the whole.
var ErrSnapshot = errors.New("a snapshot is due: publish whole content")

// StoreDelta is [Publisher.Store] of content that changes a stored revision, base. Replicas
// that run base fetch it alone; the others fetch the last whole content and each delta
// since. They need a Reloader of reload.NewLog.
func (p *Publisher) StoreDelta(ctx context.Context, base string, delta io.Reader) (Revision, error) {
	if err := p.checkBase(base); err != nil {
		return Revision{}, err
	}
	return p.storeNew(ctx, base, delta)
}

// PublishDelta is [Publisher.Publish] of content that changes a stored revision, base.
func (p *Publisher) PublishDelta(ctx context.Context, base string, delta io.Reader, why string) (Revision, *Plan, error) {
	if err := p.checkBase(base); err != nil {
		return Revision{}, nil, err
	}
	return p.publish(ctx, base, delta, why)
}

// WithState returns a Publisher for content that leads to the digest state: that of all rows
// that replicas have once they have loaded it, by package oplog/lthash or any other that
// reload.LogOptions.Digest of the replicas returns. It becomes Revision.State, and replicas
// do not publish rows of another digest.
func (p *Publisher) WithState(state [sha256.Size]byte) *Publisher {
	with := *p
	with.state = hex.EncodeToString(state[:])
	return &with
}

func (p *Publisher) checkBase(base string) error {
	if err := CheckName("id of the base", base); err != nil {
		return fmt.Errorf("fleet: the delta for %s was not stored: %w", p.name, err)
	}
	return nil
}

// Chain returns the revisions whose contents make that of r: a whole one and the deltas
// since, in their order, or those after the revision from, if r follows from it.
func (c *Client) Chain(ctx context.Context, name string, r Revision, from string) ([]Revision, error) {
	if r.Base == "" {
		return []Revision{r}, nil
	}
	var answer struct {
		Revisions []Revision `json:"revisions"`
	}
	op := "get the chain of a revision of " + name
	query := url.Values{}
	if from != "" {
		query.Set("from", from)
	}
	if _, err := c.do(ctx, &request{op: op, method: http.MethodGet, path: []string{"names", name, "revisions", r.ID, "chain"}, query: query, into: &answer}); err != nil {
		return nil, err
	}
	if err := checkChain(answer.Revisions, r, from); err != nil {
		return nil, fmt.Errorf("fleet: %s: the server sent another chain: %w", op, err)
	}
	return answer.Revisions, nil
}

// checkChain returns an error unless chain leads to r, from a whole content or from a
// revision.
func checkChain(chain []Revision, r Revision, from string) error {
	if len(chain) == 0 || len(chain) > MaxDeltas+1 {
		return fmt.Errorf("it has %d revisions", len(chain))
	}
	last := chain[len(chain)-1]
	if last.ID != r.ID || last.Base != r.Base || last.State != r.State || last.SHA256 != r.SHA256 || last.Size != r.Size {
		return fmt.Errorf("it ends with %q", oneLine(last.ID))
	}
	if base := chain[0].Base; base != "" && base != from {
		return fmt.Errorf("it begins on %q", oneLine(base))
	}
	for i, one := range chain[1:] {
		if one.Base != chain[i].ID {
			return fmt.Errorf("%q is not on %q", oneLine(one.ID), oneLine(chain[i].ID))
		}
	}
	return nil
}

// chain returns the content of a revision that is a delta: with those before it that the
// Reloader does not have. The first has a transfer of its own, and the others share one.
func (s *Source) chain(ctx context.Context, want Revision, mirrors []string) (*reload.Content, error) {
	chain, err := s.client.Chain(ctx, s.name, want, reload.DeltaBase(ctx))
	if err != nil {
		return nil, err
	}
	for _, r := range chain {
		if err := r.check(s.name, s.options.Keys); err != nil {
			return nil, &refusedError{want.ID, fmt.Errorf("revision %q, on which it rests: %w", r.ID, err)}
		}
	}
	// They connect at the first Read.
	first := &transfer{client: s.client, name: s.name, ctx: ctx, want: chain[0], mirrors: slices.Clone(mirrors), avoid: s.avoid, sent: map[string]bool{}}
	others := &transfer{client: s.client, name: s.name, ctx: ctx, want: Revision{ID: want.ID}, from: chain[0].ID}
	contents := []*reload.Content{contentOf(first)}
	for _, r := range chain[1:] {
		part := &part{transfer: others, begin: others.want.Size, size: r.Size}
		others.want.Size += r.Size
		content := contentOf(&transfer{client: s.client, want: r}) // for its Verify
		content.Body = part
		contents = append(contents, content)
	}
	for _, t := range []*transfer{first, others} {
		if t.want.Size == 0 {
			t.finish()
		}
	}
	return reload.Chain(contents...), nil
}

// part is the body of one of the deltas that a transfer brings. They are read one after
// the other.
type part struct {
	transfer    *transfer
	begin, size int64
	read        int64
}

// Read implements io.Reader.
func (p *part) Read(b []byte) (n int, err error) {
	if p.read == p.size {
		return 0, io.EOF
	}
	if at := p.begin + p.read; p.transfer.offset != at {
		return 0, fmt.Errorf("fleet: the deltas are not read in their order: at %d of them, not %d", p.transfer.offset, at)
	}
	n, err = p.transfer.Read(b[:min(int64(len(b)), p.size-p.read)])
	p.read += int64(n)
	return n, err
}

// Close ends the transfer, unless others may go on with it.
func (p *part) Close() error {
	if p.read == p.size && p.transfer.err == nil {
		return nil
	}
	return p.transfer.Close()
}

// contentOf returns the content that a transfer reads.
func contentOf(t *transfer) *reload.Content {
	r := t.want
	return &reload.Content{Revision: r.ID, Base: r.Base, State: r.State, Size: r.Size, Modified: r.Created, Body: t, Verify: t.verify}
}
