package reload

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync/atomic"
)

// bodies are the Bodies of a content: its own, or those of its Parts. load may
// read them side by side.
type bodies struct {
	ctx   context.Context // of the attempt, for sources whose reads do not look at it
	max   int64
	all   []*body
	total atomic.Int64 // bytes read
	outer io.Closer    // the Source's Body, which closes those of the parts
}

// newBodies returns the Bodies of content, and a copy of content for load, with a
// body in the place of each. The Source's own stays as it is, for its Body to close
// its parts.
func newBodies(ctx context.Context, content *Content, maxBytes int64) (*bodies, *Content) {
	b := &bodies{ctx: ctx, max: maxBytes, outer: content.Body}
	return b, b.add(*content, "")
}

func (b *bodies) add(content Content, part string) *Content {
	if len(content.Parts) == 0 {
		one := &body{of: b, inner: content.Body, part: part, size: content.Size, verify: content.Verify, digest: content.digest, changed: content.Changed, hash: sha256.New()}
		one.checked = len(content.proofs) > 0 || one.verify != nil && one.digest == nil
		content.Body, content.finish = one, one.finish
		b.all = append(b.all, one)
		return &content
	}
	content.Parts = slices.Clone(content.Parts)
	for i, part := range content.Parts {
		copied := *part
		copied.Accepted = content.Accepted
		copied.Source = cmp.Or(copied.Source, content.Source)
		content.Parts[i] = b.add(copied, part.Source)
	}
	content.Body = io.NopCloser(readerOf(content.Parts))
	content.finish = func() ([sha256.Size]byte, error) {
		sums, err := b.finish()
		return digestOf(sums), err
	}
	return &content
}

// servedBy returns the sources that content is of, or "" if name says them all.
func (c *Content) servedBy(name string) string {
	by := c.Source
	if by == "" && !c.isChain() {
		names := make([]string, len(c.Parts))
		for i, part := range c.Parts {
			names[i] = part.Source
		}
		by = strings.Join(names, ", ")
	}
	if by == name {
		return ""
	}
	return by
}

// readerOf returns a reader of the Bodies of parts, one after the other.
func readerOf(parts []*Content) io.Reader {
	readers := make([]io.Reader, len(parts))
	for i, part := range parts {
		readers[i] = part.Body
	}
	return io.MultiReader(readers...)
}

// announced returns how many bytes the Source announced at least.
func (b *bodies) announced() (size int64) {
	for _, one := range b.all {
		size += min(max(one.size, 0), math.MaxInt64-size)
	}
	return size
}

// failure returns the error of reading, or else ErrChanged if the content
// is known to have changed, or else nil.
func (b *bodies) failure() (err error) {
	for _, one := range b.all {
		err = cmp.Or(err, one.failure())
	}
	for _, one := range b.all {
		err = cmp.Or(err, one.unchanged())
	}
	return err
}

// finish reads the rest that load left, and returns the digest of each Body.
func (b *bodies) finish() (sums [][sha256.Size]byte, err error) {
	for _, one := range b.all {
		sum, err := one.finish()
		if err != nil {
			return nil, err
		}
		sums = append(sums, sum)
	}
	return sums, nil
}

// verify calls Verify of each content with the digest of its Body.
func (b *bodies) verify(sums [][sha256.Size]byte) error {
	for i, one := range b.all {
		if one.verify == nil {
			continue
		}
		if err := recovered(func() error { return one.verify(sums[i]) }); err != nil {
			return one.named(err)
		}
	}
	return nil
}

// checked reports whether a Source verifies content. Verify of a Cache alone finds
// changes of its file.
func (b *bodies) checked() bool {
	return slices.ContainsFunc(b.all, func(one *body) bool { return one.checked })
}

// verifyFirst calls Verify of content whose digest is known before it is read.
func (c *Content) verifyFirst() error {
	for _, part := range c.Parts {
		if err := part.verifyFirst(); err != nil {
			return fmt.Errorf("%s: %w", part.Source, err)
		}
	}
	if c.Verify == nil || c.digest == nil {
		return nil
	}
	return recovered(func() error { return c.Verify(*c.digest) })
}

// digestOf returns a digest of digests.
func digestOf(sums [][sha256.Size]byte) [sha256.Size]byte {
	if len(sums) == 1 {
		return sums[0]
	}
	all := sha256.New()
	for _, sum := range sums {
		all.Write(sum[:])
	}
	return [sha256.Size]byte(all.Sum(nil))
}

// end closes the Source's Body, and makes every later Read fail.
func (b *bodies) end() error {
	for _, one := range b.all {
		one.end()
	}
	return b.outer.Close()
}

// closeMalformed returns the error of malformed, and then closes the Body, if any.
func (c *Content) closeMalformed() error {
	err := c.malformed()
	if err != nil && c != nil && c.Body != nil {
		recovered(c.Body.Close) //nolint:errcheck // err says more
	}
	return err
}

// malformed returns the mistake of the Source that made c, or nil.
func (c *Content) malformed() error {
	switch {
	case c == nil:
		return errors.New("the Source returned neither content nor an error")
	case c.Body == nil:
		return errors.New("the Source returned content without a Body")
	case len(c.Parts) > 0 && (c.Verify != nil || c.Changed != nil):
		return errors.New("the Source returned content with Parts and a Verify or Changed: give it to a part")
	}
	for _, part := range c.Parts {
		if err := part.malformed(); err != nil {
			return err
		}
	}
	return c.malformedDelta()
}
