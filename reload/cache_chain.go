package reload

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// maxDeltas bounds the deltas that a Cache keeps, and with them the bytes of their
// record. They have a quarter of the bytes of the content that they change, too.
const maxDeltas = 256

// all returns the record of each content.
func (k *kept) all() []kept { return append([]kept{*k}, k.Deltas...) }

// newest returns the revision of the whole.
func (k *kept) newest() string {
	if n := len(k.Deltas); n > 0 {
		return k.Deltas[n-1].Revision
	}
	return k.Revision
}

// has reports whether a file is one of the kept content.
func (k *kept) has(file string) bool {
	return file == k.fileName() || slices.ContainsFunc(k.Deltas, func(delta kept) bool { return file == delta.fileName() })
}

// full reports whether the deltas since the kept content are as many as a Cache keeps, or
// as many bytes as the Reloader takes: then it is time for whole content. Those that could
// not be kept count, too.
func (c *cacheSource) full(maxBytes int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	bytes := c.unkeptBytes
	for _, delta := range c.last.Deltas {
		bytes += delta.Size
	}
	return len(c.last.Deltas)+c.unkept >= maxDeltas || bytes > c.last.Size/4 || c.last.Size+bytes > maxBytes
}

// notKept counts deltas that could not be kept.
func (c *cacheSource) notKept(deltas []kept) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unkept += len(deltas)
	for _, delta := range deltas {
		c.unkeptBytes += delta.Size
	}
}

// chain returns the record of contents, or of the kept content and contents.
func (c *cacheSource) chain(base string, contents []kept) (kept, error) {
	var last kept
	if base == "" {
		last, contents = contents[0], contents[1:]
	} else {
		c.mu.Lock()
		last = c.last
		c.mu.Unlock()
		if last.SHA256 == "" || last.newest() != base {
			return kept{}, errors.New("a delta is not kept, since the content before was not")
		}
	}
	last.Source, last.Identity = c.keptName(), identify(c.source, newSalt())
	last.Deltas = slices.Concat(last.Deltas, contents)
	if n := len(last.Deltas); n > maxDeltas {
		return kept{}, fmt.Errorf("it is not kept: with it there are %d deltas, more than %d", n, maxDeltas)
	}
	if slices.ContainsFunc(last.all(), func(one kept) bool { return !utf8.ValidString(one.Revision) }) {
		return kept{}, errors.New("it is not kept: its revision is no UTF-8")
	}
	return last, nil
}

// Chain returns the content of several, each of which but the first is a delta on the one
// before, for a Source that has deltas: they are loaded as one.
func Chain(contents ...*Content) *Content { return chainOf("", contents) }

// chainOf returns the content of a chain, of which the first is perhaps a delta, too.
func chainOf(source string, contents partsBody) *Content {
	if len(contents) == 1 {
		contents[0].Source = source
		return contents[0]
	}
	all := &Content{Source: source, Revision: contents[len(contents)-1].Revision, Base: contents[0].Base}
	for _, part := range contents {
		all.addPart(part)
	}
	all.Body = contents.body()
	return all
}
