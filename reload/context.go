package reload

import (
	"context"
	"io"
)

// MaxBytes returns how many bytes content may have: Options.MaxBytes of the Reloader
// that gave ctx to Fetch or Restore, or DefaultMaxBytes if none did. It is for a
// Source that reads bodies itself, such as one that keeps them on disk. The Reloader
// compares the length of each Body in any case.
func MaxBytes(ctx context.Context) int64 {
	if r := reloaderOf(ctx); r != nil {
		return r.options.MaxBytes
	}
	return DefaultMaxBytes
}

// Scheduled reports whether the timer of Run began the attempt whose Reloader gave ctx to
// Fetch: see Options.Every. A Source whose Wait hears of changes need not ask its origin
// then. A Reload always makes or joins an attempt that is not scheduled.
func Scheduled(ctx context.Context) bool {
	r := reloaderOf(ctx)
	return r != nil && r.scheduled.Load()
}

// reloaderContext is the ctx that a Reloader gives to its Source: a Source that wraps
// another one passes it on as a matter of course.
type reloaderContext struct {
	context.Context
	r *Reloader
}

// reloaderKey is the key of the Reloader.
type reloaderKey struct{}

// Value implements context.Context.
func (c *reloaderContext) Value(key any) any {
	switch key {
	case reloaderKey{}:
		return c.r
	case deltaKey{}:
		return c.r.deltaBase()
	}
	return c.Context.Value(key)
}

// reloaderOf returns the Reloader that gave ctx to its Source, or nil.
func reloaderOf(ctx context.Context) *Reloader {
	r, _ := ctx.Value(reloaderKey{}).(*Reloader)
	return r
}

// contextFor returns ctx for the Source. It makes a new one only if ctx is not that of
// the attempt before, so that an idle poll allocates nothing. The caller has the turn.
func (r *Reloader) contextFor(ctx context.Context) context.Context {
	if r.ctx == nil || !same(r.ctx.Context, ctx) {
		r.ctx = &reloaderContext{ctx, r}
	}
	return r.ctx
}

// same reports whether two are equal. A type whose values cannot be compared panics.
func same(a, b context.Context) (equal bool) {
	defer func() { _ = recover() }()
	return a == b
}

// contextReader reads until ctx ends.
type contextReader struct {
	io.Reader
	ctx context.Context
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.Reader.Read(p)
}
