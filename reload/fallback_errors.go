package reload

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// failures are the errors of sources.
type failures []error

func (f failures) Error() string {
	texts := make([]string, len(f))
	for i, err := range f {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; ")
}

// Unwrap returns the errors.
func (f failures) Unwrap() []error { return f }

// nameSources reports whether each text in err names its source.
func nameSources(err error) bool {
	_, ok := err.(failures) //nolint:errorlint // what wraps it has a text of its own
	return ok
}

// RetryAfter is how long the most impatient of the sources asked to be left alone.
func (f failures) RetryAfter() time.Duration {
	least := retryAfter(f[0])
	for _, err := range f[1:] {
		least = min(least, retryAfter(err))
	}
	return least
}

// asError returns nil if there are none.
func (f failures) asError() error {
	if len(f) == 0 {
		return nil
	}
	return f
}

// join returns an error of two, either of which may be nil.
func join(first, second error) error {
	switch {
	case first == nil:
		return second
	case second == nil:
		return first
	}
	return fmt.Errorf("%w; %w", first, second)
}

// staleError is ErrNotModified of a source that is not the first.
type staleError struct{ stale error }

func (e *staleError) Error() string { return fmt.Sprintf("%v, but %v", ErrNotModified, e.stale) }

// Is makes it ErrNotModified.
func (e *staleError) Is(target error) bool { return target == ErrNotModified }

// notModified returns ErrNotModified. stale is why there may be something newer, or nil.
func notModified(stale error) error {
	if stale == nil {
		return ErrNotModified
	}
	return &staleError{stale}
}

// staleOf returns why there may be something newer though a source had nothing.
func staleOf(err error) error {
	if e, ok := errors.AsType[*staleError](err); ok {
		return e.stale
	}
	return nil
}
