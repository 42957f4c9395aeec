package reload

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// DeltaBase returns the revision that content of Fetch can change, with that as its Base:
// the one that the Reloader of [NewLog] that gave ctx to Fetch has loaded. It returns ""
// if the content must be whole. It is for a Source that has deltas.
func DeltaBase(ctx context.Context) string {
	base, _ := ctx.Value(deltaKey{}).(string)
	return base
}

// withDeltaBase returns ctx with another DeltaBase, for a Source that wraps one and has
// other revisions.
func withDeltaBase(ctx context.Context, base string) context.Context {
	if DeltaBase(ctx) == base {
		return ctx
	}
	return context.WithValue(ctx, deltaKey{}, base)
}

// deltaKey is the key of the DeltaBase.
type deltaKey struct{}

// deltaBase returns the revision that a delta of the attempt that runs can change.
func (r *Reloader) deltaBase() string {
	if r == nil || r.base == nil || r.whole.Load() {
		return ""
	}
	return r.base()
}

// isDelta reports whether c needs the content of another revision.
func (c *Content) isDelta() bool { return c.Base != "" }

// isChain reports whether Parts are a content and deltas on it.
func (c *Content) isChain() bool { return len(c.Parts) > 0 && c.Parts[len(c.Parts)-1].Base != "" }

// contents returns the parts of a chain, or c.
func (c *Content) contents() []*Content {
	if c.isChain() {
		return c.Parts
	}
	return []*Content{c}
}

// malformedDelta returns the mistake of the Source that made c and its Base, or nil.
func (c *Content) malformedDelta() error {
	switch {
	case c.Base != "" && c.Revision == "":
		return errors.New("the Source returned a delta without a Revision")
	case len(c.Parts) > 0 && (c.Base == "") != (c.Parts[0].Base == ""): // the texts differ behind a Fallback
		return fmt.Errorf("the Source returned content with Base %.100q, and %.100q for its first part", c.Base, c.Parts[0].Base)
	case !c.isChain():
		for _, part := range c.Parts {
			if part.Base != "" {
				return errors.New("the Source returned a delta as one of several parts")
			}
		}
		return nil
	}
	if n := len(c.Parts); n > maxDeltas+1 {
		return fmt.Errorf("the Source returned a chain of %d contents, more than %d", n, maxDeltas+1)
	}
	if last := c.Parts[len(c.Parts)-1].Revision; !strings.HasSuffix(c.Revision, last) { // behind a Fallback, there is more before it
		return fmt.Errorf("the Source returned a chain of revision %.100q that ends with %.100q", c.Revision, last)
	}
	for i, part := range c.Parts {
		if len(part.Parts) > 0 {
			return fmt.Errorf("the Source returned a chain whose part %d has Parts", i)
		}
	}
	for i, part := range c.Parts[1:] {
		if part.Base == "" || part.Base != c.Parts[i].Revision {
			return fmt.Errorf("the Source returned a chain whose part %d changes %.100q, not %.100q", i+1, part.Base, c.Parts[i].Revision)
		}
	}
	return nil
}

// errBase is why a delta does not fit.
var errBase = errors.New("it changes another content than the loaded one")

// errNoLog is why New refuses deltas.
var errNoLog = errors.New("the Source returned a delta, which takes a Reloader of NewLog")
