package reloadtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/poolswap/poolswap/reload"
)

// Fake is a Source and Waiter for tests. The zero Fake has no content: Fetch
// fails. It is safe for any number of goroutines.
type Fake struct {
	mu      sync.Mutex
	content []byte
	number  int           // of Push, the revision
	pushed  chan struct{} // closed by the next Push
	err     error
	delay   time.Duration
	cut     int // bytes that are left of a body, or -1
	broken  error
	fetches int
	open    int // bodies that were not closed
}

var (
	_ reload.Source = (*Fake)(nil)
	_ reload.Waiter = (*Fake)(nil)
	_ Origin        = (*Fake)(nil)
)

// ErrEmpty is the error of Fetch before the first Push.
var ErrEmpty = errors.New("reloadtest: nothing was pushed")

// Push gives the Fake this content, and ends its failures.
func (f *Fake) Push(content []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.content, f.err, f.cut, f.broken = bytes.Clone(content), nil, -1, nil
	f.number++
	if f.pushed != nil {
		close(f.pushed)
		f.pushed = nil
	}
}

// Put is Push, for TestSource.
func (f *Fake) Put(_ testing.TB, content []byte) { f.Push(content) }

// Remove makes Fetch fail until the next Push.
func (f *Fake) Remove(testing.TB) { f.Fail(ErrEmpty) }

// Fail makes Fetch return err until the next Push.
func (f *Fake) Fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

// Delay makes each Fetch wait for d, or for its ctx to end.
func (f *Fake) Delay(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.delay = d
}

// Truncate makes bodies end after n bytes, with err, or like a whole body if err
// is nil, until the next Push. The announced size stays.
func (f *Fake) Truncate(n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cut, f.broken = n, err
}

// Fetches returns how often Fetch was called.
func (f *Fake) Fetches() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fetches
}

// Open returns how many bodies were fetched and not closed.
func (f *Fake) Open() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.open
}

// String returns "fake".
func (f *Fake) String() string { return "fake" }

// Fetch implements reload.Source.
func (f *Fake) Fetch(ctx context.Context, have string) (*reload.Content, error) {
	f.mu.Lock()
	f.fetches++
	delay := f.delay
	f.mu.Unlock()
	if delay > 0 {
		timer := time.NewTimer(delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	revision := strconv.Itoa(f.number)
	switch {
	case f.err != nil:
		return nil, f.err
	case f.number == 0:
		return nil, ErrEmpty
	case have == revision:
		return nil, reload.ErrNotModified
	}
	text, end := f.content, io.EOF
	if f.cut >= 0 && f.cut < len(text) {
		text = text[:f.cut]
		if f.broken != nil {
			end = f.broken
		}
	}
	f.open++
	return &reload.Content{Revision: revision, Size: int64(len(f.content)), Body: &fakeBody{fake: f, ctx: ctx, text: text, end: end}}, nil
}

// Wait implements reload.Waiter: it returns when Push is called, or at once if
// have is not the revision of the last Push.
func (f *Fake) Wait(ctx context.Context, have string) error {
	f.mu.Lock()
	if have != strconv.Itoa(f.number) && f.number > 0 {
		f.mu.Unlock()
		return ctx.Err()
	}
	if f.pushed == nil {
		f.pushed = make(chan struct{})
	}
	pushed := f.pushed
	f.mu.Unlock()
	select {
	case <-pushed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// fakeBody is a body that ends as the Fake was told.
type fakeBody struct {
	fake   *Fake
	ctx    context.Context
	text   []byte
	end    error
	closed bool
}

func (b *fakeBody) Read(p []byte) (int, error) {
	if b.closed {
		return 0, errors.New("reloadtest: Read of a closed body")
	}
	if err := b.ctx.Err(); err != nil {
		return 0, fmt.Errorf("reloadtest: the ctx of Fetch ended before the body was read: %w", err)
	}
	if len(b.text) == 0 {
		return 0, b.end
	}
	n := copy(p, b.text)
	b.text = b.text[n:]
	return n, nil
}

func (b *fakeBody) Close() error {
	b.fake.mu.Lock()
	defer b.fake.mu.Unlock()
	if b.closed {
		return errors.New("reloadtest: a body was closed twice")
	}
	b.closed = true
	b.fake.open--
	return nil
}
