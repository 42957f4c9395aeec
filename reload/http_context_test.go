package reload_test

import (
	"context"
	"io"
	"net/http"
	"testing"

	"github.com/poolswap/poolswap/reload"
)

// The ctx of a request ends with its attempt: Run's lives long, and would hold
// each of them.
func TestTheContextOfARequestEndsWithTheAttempt(t *testing.T) {
	t.Parallel()
	status := http.StatusOK
	s := site(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("ETag", `"1"`)
		w.WriteHeader(status)
		if status == http.StatusOK {
			io.WriteString(w, "content")
		}
	})
	var last context.Context
	r, c := fromHTTP(s.URL, reload.HTTPOptions{Prepare: func(request *http.Request) error {
		last = request.Context() //nolint:fatcontext // to be looked at after the request
		return nil
	}}, reload.Options{})
	succeeds(t, r, c, "content")
	if last.Err() == nil {
		t.Error("after a transfer it has not ended")
	}
	status = http.StatusNotModified
	succeeds(t, r, c, "content")
	if last.Err() == nil {
		t.Error("after status 304 it has not ended")
	}
	status = http.StatusNotFound
	failsWith(t, r, reload.Fetching)
	if last.Err() == nil {
		t.Error("after status 404 it has not ended")
	}
}
