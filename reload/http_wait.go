package reload

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"
)

// httpWaiter is an httpSource with HTTPOptions.Wait.
type httpWaiter struct {
	*httpSource
	hasty atomic.Int32 // new answers in a row that came at once
}

func newHTTPWaiter(source *httpSource) *httpWaiter {
	options := source.options
	if _, err := url.ParseQuery(options.WaitQuery); err != nil {
		panic("reload: HTTP with a WaitQuery that is no query")
	}
	transport, ok := options.Client.Transport.(*http.Transport)
	if ok && transport.ResponseHeaderTimeout > 0 && transport.ResponseHeaderTimeout <= options.Wait {
		panic("reload: HTTP with a Wait that the ResponseHeaderTimeout of the Client's Transport would end")
	}
	return &httpWaiter{httpSource: source}
}

// askToWait makes a request one that the server may answer later.
func (h *httpSource) askToWait(request *http.Request) {
	switch query := h.options.WaitQuery; {
	case query == "":
		request.Header.Set("Prefer", fmt.Sprintf("wait=%.0f", math.Ceil(h.options.Wait.Seconds())))
	case request.URL.RawQuery == "":
		request.URL.RawQuery = query
	default:
		request.URL.RawQuery += "&" + query
	}
}

// atOnce is the time below which no server has waited.
const atOnce = time.Second

// Wait implements Waiter. It is of no use without a revision: the server would send the
// whole content.
func (h *httpWaiter) Wait(ctx context.Context, have string) error {
	if !setConditions(make(http.Header), have) {
		<-ctx.Done()
		return ctx.Err()
	}
	began := time.Now()
	newer, err := h.await(ctx, have)
	if err != nil {
		return err
	}
	took := time.Since(began)
	switch {
	case !newer && took < h.options.Wait/2: // the server does not wait
		sleep(ctx, h.options.Wait-took)
	case newer && took < min(atOnce, h.options.Wait/2): // its revisions may differ each time
		if n := h.hasty.Add(1); n > 1 {
			sleep(ctx, min(h.options.Wait, minHint<<min(n, 20)))
		}
		return ctx.Err()
	}
	h.hasty.Store(0)
	return ctx.Err()
}

// await sends a request that waits, and reports whether there is something newer.
func (h *httpWaiter) await(ctx context.Context, have string) (newer bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	x, err := h.exchange(ctx, cancel, have, true)
	if err != nil {
		return false, err
	}
	defer x.body.Close()
	switch {
	case x.notModified():
		return isOfAnotherDate(x.response, have), nil
	case x.response.StatusCode == http.StatusOK: // perhaps of a server that knows no conditions
		revision, _ := revisionOf(x.response.Header)
		return revision != have, nil
	}
	return false, h.statusError(x.response, x.body, x.asked)
}
