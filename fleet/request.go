package fleet

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

const (
	answerTimeout = 15 * time.Second // until the header of an answer comes
	bodyTimeout   = 30 * time.Second // from then on, for JSON
	maxAnswer     = 4 << 20          // of a plan
	maxPage       = 16 << 20         // of a list
	maxFailure    = 16 << 10         // of an error
)

// request is a small request with JSON, both ways.
type request struct {
	op       string // for errors
	method   string
	path     []string // segments behind /v1/, not escaped
	query    url.Values
	match    string // If-Match
	body     any
	into     any           // the answer is decoded into it, unless it is nil
	limit    int64         // of the answer; 0 stands for maxAnswer
	patience time.Duration // until the header of the answer comes; 0 stands for answerTimeout
	wait     time.Duration // the server may take so much longer
	once     bool          // it must not be sent twice
}

// get gets a list or a status.
func (c *Client) get(ctx context.Context, op string, into any, query url.Values, path ...string) error {
	_, err := c.do(ctx, &request{op: op, method: http.MethodGet, path: path, query: query, into: into, limit: maxPage})
	return err
}

// do sends a request to one server after the other until one answers.
func (c *Client) do(ctx context.Context, r *request) (status int, err error) {
	var body []byte
	if r.body != nil {
		if body, err = encode(r.body); err != nil {
			return 0, fmt.Errorf("fleet: %s: %w", r.op, err)
		}
	}
	err = c.each(ctx, r.once, func(server *url.URL) error {
		status, err = c.ask(ctx, server, r, body)
		return err
	})
	return status, err
}

// encode returns JSON that is no longer than it must be.
func encode(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return text.Bytes(), err
}

// each calls ask with one server after the other, beginning with the one that answered
// last, until one answers. With once, it goes on only if the request was not sent.
func (c *Client) each(ctx context.Context, once bool, ask func(server *url.URL) error) error {
	start := c.current.Load()
	n := int32(len(c.servers))
	var before error // of the servers before
	for i := range n {
		at := (start + i) % n
		err := ask(c.servers[at])
		var failed *Error
		switch {
		case ctx.Err() != nil && err != nil:
			return err
		case !errors.As(err, &failed) || !failed.elsewhere():
			c.current.CompareAndSwap(start, at)
			if errors.Is(err, ErrConflict) && before != nil { // perhaps the change that a server before made, and did not say so
				return fmt.Errorf("%w; before: %w", err, before)
			}
			return err
		case once && !isDial(err):
			return fmt.Errorf("%w (it may have been done all the same)", err)
		}
		if before == nil {
			before = err
		} else {
			before = fmt.Errorf("%w; %w", before, err)
		}
	}
	c.rotate()
	return before
}

// rotate makes the next request begin with another server.
func (c *Client) rotate() {
	at := c.current.Load()
	c.current.CompareAndSwap(at, (at+1)%int32(len(c.servers)))
}

// isDial reports whether no connection came about.
func isDial(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// ask sends a request to a server and decodes the answer.
func (c *Client) ask(ctx context.Context, server *url.URL, r *request, body []byte) (status int, err error) {
	ctx, clock := newStopwatch(ctx)
	defer clock.end()
	clock.start(cmp.Or(r.patience, answerTimeout)+r.wait, "no answer")
	response, err := c.send(ctx, server, r, func() (io.Reader, int64) { return bytes.NewReader(body), int64(len(body)) })
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	clock.start(bodyTimeout, "the answer did not end")
	if response.StatusCode >= 300 {
		return response.StatusCode, c.refusal(server, r.op, response)
	}
	if r.into == nil || response.StatusCode == http.StatusNoContent {
		return response.StatusCode, nil
	}
	limit := cmp.Or(r.limit, maxAnswer)
	text, err := io.ReadAll(io.LimitReader(response.Body, limit+1))
	switch {
	case err != nil:
		err = causeOf(ctx, err)
	case int64(len(text)) > limit:
		err = fmt.Errorf("the answer has more than %d bytes", limit)
	default:
		if err = json.Unmarshal(text, r.into); err == nil {
			return response.StatusCode, nil
		}
		err = fmt.Errorf("the answer makes no sense: %w", err)
	}
	return 0, &Error{Server: server.String(), Op: r.op, Status: response.StatusCode, Err: withoutToken(err, c.token.get())}
}

// send sends a request, and returns the response once its header has come. It calls body
// again if the server refused the token and there is a newer one.
func (c *Client) send(ctx context.Context, server *url.URL, r *request, body func() (io.Reader, int64), header ...string) (*http.Response, error) {
	address := server.JoinPath("v1")
	for _, segment := range r.path {
		if err := CheckName("name or id", segment); err != nil { // ".." would be another path
			return nil, fmt.Errorf("fleet: %s: %w", r.op, err)
		}
		address = address.JoinPath(url.PathEscape(segment))
	}
	address.RawQuery = r.query.Encode()
	token := c.token.get()
	for {
		content, length := body()
		request, err := http.NewRequestWithContext(ctx, r.method, address.String(), content)
		if err != nil {
			return nil, &Error{Server: server.String(), Op: r.op, Err: withoutURL(err)}
		}
		request.Header.Set("Authorization", "Bearer "+token)
		if r.body != nil {
			request.Header.Set("Content-Type", "application/json")
		}
		if r.match != "" {
			request.Header.Set("If-Match", `"`+r.match+`"`)
		}
		if request.ContentLength = length; length == 0 {
			request.Body = http.NoBody
		}
		setHeader(request, header)
		response, err := c.http.Do(request)
		if err != nil {
			return nil, &Error{Server: server.String(), Op: r.op, Err: withoutToken(causeOf(ctx, withoutURL(err)), token)}
		}
		if response.StatusCode != http.StatusUnauthorized {
			return response, nil
		}
		newer, ok := c.token.renewed(token)
		if !ok {
			return response, nil
		}
		response.Body.Close()
		token = newer
	}
}

// setHeader sets names and values, in turn.
func setHeader(request *http.Request, header []string) {
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
}

// refusal returns the error that a response stands for.
func (c *Client) refusal(server *url.URL, op string, response *http.Response) error {
	e := &Error{Server: server.String(), Op: op, Status: response.StatusCode, After: retryAfter(response.Header)}
	if e.Status < 400 {
		e.Text = "a redirect, which is not followed: the URL of the server is another one"
		return e
	}
	var failure struct{ Error, Code string }
	text, _ := io.ReadAll(io.LimitReader(response.Body, maxFailure)) // the status says the most
	if json.Unmarshal(text, &failure) == nil {
		hide := func(text string) string { return oneLine(strings.ReplaceAll(text, c.token.get(), "…")) }
		e.Text, e.Code = hide(failure.Error), hide(failure.Code)
	}
	return e
}

// withoutURL returns an error of http.Client without the URL before it, which may be
// that of a mirror with a query.
func withoutURL(err error) error {
	var asked *url.Error
	if errors.As(err, &asked) {
		return asked.Err
	}
	return err
}

// causeOf returns why ctx was ended, if it was, and err otherwise.
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// stopwatch ends a context when a step takes too long.
type stopwatch struct {
	cancel context.CancelCauseFunc

	mu    sync.Mutex // guards the fields below: a connection reads a body by a goroutine of its own
	step  string
	timer *time.Timer // of step
}

func newStopwatch(ctx context.Context) (context.Context, *stopwatch) {
	ctx, cancel := context.WithCancelCause(ctx)
	return ctx, &stopwatch{cancel: cancel}
}

// start begins a step, whose d is always the same.
func (s *stopwatch) start(d time.Duration, step string) {
	s.stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil && s.step == step { // as for each Read of a body
		s.timer.Reset(d)
		return
	}
	s.step = step
	s.timer = time.AfterFunc(d, func() { s.cancel(fmt.Errorf("%s within %v", step, d)) })
}

func (s *stopwatch) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil {
		s.timer.Stop()
	}
}

func (s *stopwatch) end() {
	s.stop()
	s.cancel(nil)
}
