package store

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// The kinds of errors, beside those of package fleet. Their texts say more.
var (
	ErrNotFound    = errors.New("not found")
	ErrInvalid     = errors.New("the request can never succeed")
	ErrRefused     = errors.New("the store as it is does not allow it")
	ErrSnapshot    = errors.New("a snapshot is due")
	ErrFull        = errors.New("the store is full")
	ErrUnavailable = errors.New("the store is not available")
	ErrTooLarge    = errors.New("too large")
)

// kindError is an error of a kind, with the text of err alone.
type kindError struct{ kind, err error }

func (e *kindError) Error() string   { return e.err.Error() }
func (e *kindError) Unwrap() []error { return []error{e.kind, e.err} }

func errorOf(kind error, format string, args ...any) error {
	return &kindError{kind, fmt.Errorf(format, args...)}
}

func refuse(err error) error {
	if err == nil {
		return nil
	}
	return &kindError{ErrInvalid, err}
}

// named puts the name before an error.
func named(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", name, err)
}

// While the nodes elect a leader a request gets no answer, and it does not come later.
const (
	requestTimeout = 5 * time.Second // of all attempts
	attemptTimeout = 1500 * time.Millisecond
	attemptPause   = 50 * time.Millisecond
)

var errNoAnswer = fmt.Errorf("no majority of the nodes has answered within %v", requestTimeout)

// ask makes a request to JetStream, again if it is not answered. Its errors have their
// kind.
func ask[T any](ctx context.Context, request func(ctx context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, requestTimeout, errNoAnswer)
	defer cancel()
	for {
		short, cancel := context.WithTimeoutCause(ctx, attemptTimeout, errNoAnswer)
		answer, err := request(short)
		err = explain(short, err)
		cancel()
		if !errors.Is(err, ErrUnavailable) || ctx.Err() != nil {
			return answer, err
		}
		select {
		case <-ctx.Done():
		case <-time.After(attemptPause):
		}
	}
}

// try is ask for a request without an answer.
func try(ctx context.Context, request func(ctx context.Context) error) error {
	_, err := ask(ctx, func(ctx context.Context) (struct{}, error) { return struct{}{}, request(ctx) })
	return err
}

// Codes of the server for which nats.go has no names.
const (
	codeNotAvailable jetstream.ErrorCode = 10008
	codeNoResources  jetstream.ErrorCode = 10023
	codeNoStorage    jetstream.ErrorCode = 10047
	codeStoreFailed  jetstream.ErrorCode = 10077
)

// explain gives an error of JetStream its kind. ctx is the one of the request.
func explain(ctx context.Context, err error) error {
	var api *jetstream.APIError
	isAPI := errors.As(err, &api)
	switch {
	case err == nil, errors.Is(err, ErrUnavailable), errors.Is(err, ErrFull):
		return err
	case ctx.Err() != nil && context.Cause(ctx) != errNoAnswer: //nolint:errorlint // the very cause
		return context.Cause(ctx) // the caller has given up
	case context.Cause(ctx) == errNoAnswer: //nolint:errorlint // the very cause
		return errorOf(ErrUnavailable, "%w: %w", errNoAnswer, err)
	case errors.Is(err, syscall.ENOSPC), isAPI && (api.ErrorCode == codeNoResources || api.ErrorCode == codeNoStorage || api.ErrorCode == codeStoreFailed):
		return errorOf(ErrFull, "%w: there is no room: delete files beside the store, or keep fewer revisions", err)
	case isAPI && api.ErrorCode == codeNotAvailable,
		errors.Is(err, nats.ErrNoResponders), errors.Is(err, nats.ErrConnectionClosed), errors.Is(err, nats.ErrDisconnected), errors.Is(err, nats.ErrReconnectBufExceeded),
		errors.Is(err, jetstream.ErrNoStreamResponse), errors.Is(err, jetstream.ErrAsyncPublishTimeout), errors.Is(err, nats.ErrTimeout),
		errors.Is(err, jetstream.ErrStreamNotFound), errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return errorOf(ErrUnavailable, "no majority of the nodes is there: %w", err)
	}
	return err
}

// overtaken reports whether JetStream refused a message since the subject has
// another one than expected.
func overtaken(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}
