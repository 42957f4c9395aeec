package reload

import (
	"context"
	"fmt"
	"time"
)

// Identifier is a Source whose name does not tell it from all others: two addresses
// with another query, or the same file with and without a signature, have the same
// name.
type Identifier interface {
	// Identity returns a text that is unique for the Source, and the same in each
	// process. A [Cache] does not use content that it kept of a Source with another
	// one. It may hold secrets, so it is not shown and not kept. Without it, the
	// name stands for the Source.
	Identity() string
}

// Wrapper is for embedding in a Source that wraps another one. It passes on all that
// the other can do: to wait and to restore, its identity and its name. A struct that
// embeds the interface Source hides these.
//
// A Source with a Fetch of its own changes the Content that it got, or gives a new one
// its fields, such as Verify. If it changes the Body, its Restore does so too, and it
// goes inside a [Cache] and the checks, which know the digest of theirs. Package
// reloadtest tests wrappers.
type Wrapper struct{ Source }

// String returns the name of the Source.
func (w Wrapper) String() string { return nameOf(w.Source) }

// Identity implements [Identifier].
func (w Wrapper) Identity() string { return identityOf(w.Source) }

// Wait implements [Waiter]. Without hints of the Source, it returns when ctx ends.
func (w Wrapper) Wait(ctx context.Context, have string) error { return waitFor(ctx, w.Source, have) }

// Restore implements [Restorer]. It returns nil if the Source keeps nothing.
func (w Wrapper) Restore(ctx context.Context) (content *Content, checked time.Time, err error) {
	return restore(ctx, w.Source)
}

// nameOf returns the name of a source.
func nameOf(source Source) string {
	if named, ok := source.(fmt.Stringer); ok {
		return named.String()
	}
	return fmt.Sprintf("%T", source)
}

// identityOf returns a text that is unique for a source. It may hold secrets.
func identityOf(source Source) string {
	if i, ok := source.(Identifier); ok {
		return i.Identity()
	}
	return nameOf(source)
}

// waitFor is Wait of a source that another one wraps. One that is no Waiter
// gives no hints.
func waitFor(ctx context.Context, source Source, have string) error {
	if waiter, ok := source.(Waiter); ok {
		return waiter.Wait(ctx, have)
	}
	<-ctx.Done()
	return ctx.Err()
}

// restore is Restore of a source that another one wraps. One that is no Restorer
// keeps nothing.
func restore(ctx context.Context, source Source) (*Content, time.Time, error) {
	if restorer, ok := source.(Restorer); ok {
		return restorer.Restore(ctx)
	}
	return nil, time.Time{}, nil
}
