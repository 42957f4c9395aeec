package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strconv"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/access"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/steer"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/store"
)

// failure is an error as the protocol answers it.
type failure struct {
	status int
	code   string
	text   string
	after  int // seconds for Retry-After; 0: none
}

func (f *failure) Error() string { return f.text }

func badRequest(format string, args ...any) error {
	return &failure{http.StatusBadRequest, "bad_request", fmt.Sprintf(format, args...), 0}
}

func forbidden(format string, args ...any) error {
	return &failure{http.StatusForbidden, "forbidden", fmt.Sprintf(format, args...), 0}
}

func tooMany(after int, format string, args ...any) error {
	return &failure{http.StatusTooManyRequests, "too_many", fmt.Sprintf(format, args...), after}
}

func tooLarge(format string, args ...any) error {
	return &failure{http.StatusRequestEntityTooLarge, "too_large", fmt.Sprintf(format, args...), 0}
}

// statusGone is the status for a client that seems to have closed its connection. It is
// sent all the same: net/http would send 200 instead, to one that still reads.
const statusGone = 499

// asFailure returns the answer to an error. The text of an error that no client can
// act on stays in the log.
func asFailure(err error) *failure {
	var f *failure
	var long *http.MaxBytesError
	var refused *steer.RefusedError
	text := err.Error()
	switch {
	case errors.As(err, &f):
		return f
	case errors.Is(err, access.ErrUnauthorized):
		return &failure{http.StatusUnauthorized, "unauthorized", text, 0}
	case errors.As(err, &long):
		return &failure{http.StatusRequestEntityTooLarge, "too_large", fmt.Sprintf("the body has more than %d bytes", long.Limit), 0}
	case errors.Is(err, fleet.ErrConflict):
		return &failure{http.StatusPreconditionFailed, "conflict", text, 0}
	case errors.Is(err, fleet.ErrNoPlan):
		return &failure{http.StatusNotFound, "no_plan", text, 0}
	case errors.Is(err, store.ErrSnapshot):
		return &failure{http.StatusConflict, "snapshot", text, 0}
	case errors.As(err, &refused), errors.Is(err, store.ErrRefused):
		return &failure{http.StatusConflict, "refused", text, 0}
	case errors.Is(err, store.ErrInvalid):
		return &failure{http.StatusBadRequest, "bad_request", text, 0}
	case errors.Is(err, store.ErrNotFound):
		return &failure{http.StatusNotFound, "not_found", text, 0}
	case errors.Is(err, store.ErrTooLarge):
		return &failure{http.StatusRequestEntityTooLarge, "too_large", text, 0}
	case errors.Is(err, store.ErrFull):
		return &failure{http.StatusInsufficientStorage, "full", text, 0}
	case errors.Is(err, store.ErrUnavailable):
		return &failure{http.StatusServiceUnavailable, "unavailable", text, retryAfter}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return &failure{http.StatusServiceUnavailable, "unavailable", "the server has not done it in time; it may still happen", retryAfter}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &failure{http.StatusRequestTimeout, "too_slow", "the body came too slowly", 0}
	}
	return &failure{http.StatusInternalServerError, "internal", "the server failed; its log says why", 0}
}

// answerError answers the error of a route, and logs it if an operator should know.
func (s *Server) answerError(q *request, err error) {
	f := asFailure(err)
	if q.Context().Err() != nil && f.status >= 500 {
		f = &failure{statusGone, "unavailable", "the connection was closed; a change may still happen", 0}
	}
	switch {
	case f.status == http.StatusUnauthorized || f.status == http.StatusForbidden:
		q.w.Header().Set("Connection", "close")
		s.logFew(&s.refused, slog.LevelWarn, "a request was refused", q, slog.String("error", bounded(err.Error(), 500)))
	case f.status >= 500:
		s.logFew(&s.failed, slog.LevelError, "a request failed", q, slog.Int("status", f.status), slog.String("error", bounded(err.Error(), 1000)))
	}
	if q.w.status != 0 {
		return // the answer has begun
	}
	if f.after > 0 {
		q.w.Header().Set("Retry-After", strconv.Itoa(f.after))
	}
	if f.status == http.StatusUnauthorized {
		q.w.Header().Set("WWW-Authenticate", `Bearer realm="fleetd"`)
	}
	if f.status == http.StatusRequestTimeout || f.status == http.StatusRequestEntityTooLarge {
		q.w.Header().Set("Connection", "close")
	}
	text, _ := json.Marshal(struct {
		Error string `json:"error"`
		Code  string `json:"code"`
	}{f.text, f.code})
	q.bytes(f.status, append(text, '\n')) //nolint:errcheck // it returns nil
}

// json answers with a value, as JSON.
func (q *request) json(status int, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("the answer cannot be encoded: %w", err)
	}
	return q.bytes(status, append(text, '\n'))
}

// bytes answers with JSON that is encoded.
func (q *request) bytes(status int, text []byte) error {
	h := q.w.Header()
	h["Content-Type"] = jsonType
	h["Cache-Control"] = noStore
	h["Content-Length"] = []string{strconv.Itoa(len(text))}
	q.made()
	q.w.answerWithin(0)
	q.w.WriteHeader(status)
	q.w.Write(text) //nolint:errcheck // the client is gone
	return nil
}

// none answers with 204.
func (q *request) none() error {
	q.w.Header()["Cache-Control"] = noStore
	q.w.answerWithin(0)
	q.w.WriteHeader(http.StatusNoContent)
	return nil
}

// Values of headers, which every answer shares.
var (
	jsonType = []string{"application/json"}
	noStore  = []string{"no-store"}
)

// read reads the body of a request, of at most limit bytes.
func (q *request) read(limit int64) ([]byte, error) {
	if q.ContentLength > limit {
		return nil, tooLarge("the body has %d bytes, more than %d", q.ContentLength, limit)
	}
	text, err := io.ReadAll(http.MaxBytesReader(q.w.ResponseWriter, q.Body, limit))
	q.w.readWithin(0)
	return text, bodyError(err)
}

// bodyError returns an error of reading a body as the protocol answers it: the client
// is at fault.
func bodyError(err error) error {
	var long *http.MaxBytesError
	if err == nil || errors.As(err, &long) || errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return badRequest("the body cannot be read: %s", bounded(err.Error(), 200))
}

// decode decodes the body of a request into value. An unknown field is an error: the
// client asks for something that this version does not do.
func (q *request) decode(limit int64, value any) error {
	text, err := q.read(limit)
	if err != nil {
		return err
	}
	return strictly(text, value)
}
