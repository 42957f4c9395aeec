package reload

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// Defaults for HTTPOptions that are zero.
const (
	DefaultHeaderTimeout = 30 * time.Second
	DefaultStallTimeout  = 30 * time.Second
	DefaultMinRate       = 1 << 10
	DefaultMaxExpansion  = 200
)

// HTTPOptions configure [HTTP]. The zero HTTPOptions will do.
type HTTPOptions struct {
	// Client makes the requests: the place for proxies, TLS and redirects; nil
	// stands for http.DefaultClient. A Timeout of the Client bounds the whole
	// transfer: leave it 0 if bodies are large. http.DefaultClient keeps idle
	// connections after Run has ended; for a Client with a Transport of its own
	// the caller can call CloseIdleConnections then.
	Client *http.Client

	// Prepare, if not nil, is called once for each Fetch, before its first request
	// is sent, and not for redirects: the place for credentials. The headers that
	// it adds or changes are sent again to the same host only, with TLS if the
	// first request had it, and errors do not show values of four bytes or more.
	// The headers If-None-Match and If-Modified-Since are the Source's.
	Prepare func(*http.Request) error

	// HeaderTimeout bounds the time until the response's header has come,
	// redirects included; 0 stands for DefaultHeaderTimeout.
	HeaderTimeout time.Duration

	// StallTimeout bounds the time in which no byte of the body comes; 0 stands
	// for DefaultStallTimeout. There is no bound for the whole transfer.
	StallTimeout time.Duration

	// MinRate is the least rate of a body, in bytes a second over each minute that
	// its reader waited for it; 0 stands for DefaultMinRate. A negative MinRate
	// accepts every rate.
	MinRate int

	// MaxExpansion is how many times longer than its gzip form a body may be; 0
	// stands for DefaultMaxExpansion. The first MiB may be longer. Content that
	// expands more is refused.
	MaxExpansion int

	// AllowUnframed accepts responses of HTTP/1 that have neither a length nor
	// chunks. Nothing tells such a body from one that was cut off, so
	// check its content, by [VerifySHA256] say.
	AllowUnframed bool

	// Wait, if not 0, makes the Source a [Waiter] by long polling: besides the polls it
	// sends requests with "Prefer: wait=N" (RFC 7240), N being Wait in seconds, which a
	// server answers once it has something newer, or with "not modified" after N seconds.
	// Either gives a hint. A server that answers so at once is asked no more often
	// than once in Wait. Keep it below the timeouts of proxies, such as 50 s. HeaderTimeout
	// begins after it, and a Timeout of the Client does not count. A request that waits
	// takes a connection of its own.
	Wait time.Duration

	// WaitQuery, if not empty, is added to the URL's query in place of that header, for
	// servers that look for it there: "wait=50s".
	WaitQuery string

	// RedirectHosts, if not nil, are the hosts that redirects may lead to besides
	// that of the URL, as in "cdn.example.com" or "cdn.example.com:8443". No
	// redirect is followed from https to http, to a link-local address that is not
	// among them, or to a URL of more than 8 KiB.
	RedirectHosts []string
}

// HTTP returns a Source that GETs a URL. Revisions are the ETag, or else
// Last-Modified, and requests are conditional: content that was not modified is not
// transferred. Compression by gzip is asked for and undone, unless the Client's
// transport or Prepare decide on it; another encoding is an error. An ETag of more
// than 1 KiB is not used, nor one that is no UTF-8 or stands for any content ("*") or for several. Status, logs and errors show the URL's scheme, host
// and path only: its query may be a licence key. The header Referer has no more
// after a redirect. Errors of load are shown as they are: if a body quotes
// the URL and load quotes the body, the URL is not redacted.
//
// It panics if address is not a URL with the scheme http or https and a host, if a
// timeout, Wait or MaxExpansion is negative, if WaitQuery is no query, or if the
// ResponseHeaderTimeout of the Client's Transport would end each Wait.
func HTTP(address string, options HTTPOptions) Source {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		panic("reload: HTTP with an address that is no http or https URL with a host") // it is not shown: it may hold a key
	}
	if options.HeaderTimeout < 0 || options.StallTimeout < 0 || options.Wait < 0 || options.MaxExpansion < 0 {
		panic("reload: HTTP with a negative HeaderTimeout, StallTimeout, Wait or MaxExpansion")
	}
	if options.Client == nil {
		options.Client = http.DefaultClient
	}
	options.HeaderTimeout = cmp.Or(options.HeaderTimeout, DefaultHeaderTimeout)
	options.StallTimeout = cmp.Or(options.StallTimeout, DefaultStallTimeout)
	options.MinRate = max(0, cmp.Or(options.MinRate, DefaultMinRate))
	options.MaxExpansion = cmp.Or(options.MaxExpansion, DefaultMaxExpansion)
	options.RedirectHosts = slices.Clone(options.RedirectHosts)
	source := &httpSource{u, options}
	if options.Wait > 0 {
		return newHTTPWaiter(source)
	}
	return source
}

type httpSource struct {
	url     *url.URL
	options HTTPOptions
}

// String returns scheme, host and path.
func (h *httpSource) String() string {
	return (&url.URL{Scheme: h.url.Scheme, Host: h.url.Host, Path: h.url.Path}).String()
}

// HTTPError is a response that is no content.
type HTTPError struct {
	Status int    // 404
	Body   string // how the response's body begins
	After  time.Duration
}

func (e *HTTPError) Error() string {
	text := fmt.Sprintf("status %d %s", e.Status, http.StatusText(e.Status))
	if e.Body != "" {
		text += fmt.Sprintf(", %q", e.Body)
	}
	return text
}

// RetryAfter returns how long the server asked to be left alone, or 0.
func (e *HTTPError) RetryAfter() time.Duration { return e.After }

// Fetch implements Source.
func (h *httpSource) Fetch(ctx context.Context, have string) (*Content, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	content, err := h.fetch(ctx, cancel, have)
	if err != nil {
		cancel(nil)
		return nil, err
	}
	return content, nil
}

func (h *httpSource) fetch(ctx context.Context, cancel context.CancelCauseFunc, have string) (*Content, error) {
	x, err := h.exchange(ctx, cancel, have, false)
	if err != nil {
		return nil, err
	}
	switch {
	case x.response.StatusCode == http.StatusOK:
		var content *Content
		if content, err = h.content(x.response, x.body, x.asked); err == nil {
			return content, nil
		}
		err = withoutSecrets(err, x.body.secrets)
	case x.notModified():
		err = ErrNotModified
	default:
		err = h.statusError(x.response, x.body, x.asked)
	}
	x.body.Close()
	return nil, err
}

// exchange is a response whose header has come.
type exchange struct {
	response    *http.Response
	body        *transferBody // of it
	asked       bool          // for gzip
	conditional bool          // on a revision
}

func (x *exchange) notModified() bool {
	return x.response.StatusCode == http.StatusNotModified && x.conditional
}

// exchange asks for something newer than have. A server may wait for it if waits is
// true.
func (h *httpSource) exchange(ctx context.Context, cancel context.CancelCauseFunc, have string, waits bool) (*exchange, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, h.url.String(), nil)
	if err != nil {
		return nil, err
	}
	// A client tells the server that it is redirected to where it comes from, its
	// query included, unless this header says something else.
	request.Header.Set("Referer", h.String())
	if waits {
		h.askToWait(request)
	}
	prepared, err := h.prepare(request)
	if err != nil {
		return nil, fmt.Errorf("HTTPOptions.Prepare: %w", withoutSecrets(err, secretsOf(h.url, prepared, request)))
	}
	conditional := setConditions(request.Header, have)
	asked := h.asksForGzip(request)
	response, err := h.do(request, prepared, cancel, waits)
	if err == nil && conditional && isOfAnotherDate(response, have) && !waits {
		response.Body.Close()
		request, conditional = request.Clone(ctx), false
		request.Header.Del("If-Modified-Since")
		response, err = h.do(request, prepared, cancel, false) //nolint:bodyclose // by transferBody
	}
	if err != nil {
		return nil, withoutSecrets(causeOf(ctx, err), secretsOf(h.url, prepared, request))
	}
	secrets := secretsOf(h.url, prepared, request, response.Request) // the last after redirects
	body := &transferBody{
		ReadCloser: response.Body, ctx: ctx, cancel: cancel, secrets: secrets,
		stall: h.options.StallTimeout, rate: int64(h.options.MinRate),
	}
	body.timer = time.AfterFunc(body.stall, body.stalled)
	body.timer.Stop() // until Read
	return &exchange{response, body, asked, conditional}, nil
}

// do sends a request, and returns its response once the header has come.
func (h *httpSource) do(request *http.Request, prepared http.Header, cancel context.CancelCauseFunc, waits bool) (*http.Response, error) {
	client, timeout := h.client(prepared), h.options.HeaderTimeout
	if waits {
		client.Timeout = 0
		timeout += min(h.options.Wait, math.MaxInt64-timeout)
	}
	timer := time.AfterFunc(timeout, func() { cancel(fmt.Errorf("no response within %v", timeout)) })
	defer timer.Stop()
	return client.Do(request)
}

// prepare calls Prepare, and returns the headers that it added or changed, even
// if it failed. Those that make a request conditional are not Prepare's.
func (h *httpSource) prepare(request *http.Request) (prepared http.Header, err error) {
	if h.options.Prepare == nil {
		return nil, nil
	}
	before := request.Header.Clone()
	err = recovered(func() error { return h.options.Prepare(request) })
	request.Header.Del("If-None-Match")
	request.Header.Del("If-Modified-Since")
	return changedHeaders(before, request.Header), err
}

// asksForGzip asks for gzip unless the Client's transport or Prepare decide on the
// encoding, and reports whether it did.
func (h *httpSource) asksForGzip(request *http.Request) bool {
	transport, ok := h.options.Client.Transport.(*http.Transport)
	if ok && transport.DisableCompression || request.Header.Get("Accept-Encoding") != "" {
		return false
	}
	request.Header.Set("Accept-Encoding", "gzip")
	return true
}

func (h *httpSource) content(response *http.Response, body *transferBody, asked bool) (*Content, error) {
	if !framed(response) && !h.options.AllowUnframed {
		return nil, errors.New("the response has neither a length nor chunks, so its body may be cut off (see HTTPOptions.AllowUnframed)")
	}
	c := new(Content)
	var err error
	if c.Body, c.Size, err = h.decoded(response, body, asked); err != nil {
		return nil, err
	}
	c.Revision, c.Modified = revisionOf(response.Header)
	return c, nil
}

// errorStart is how many bytes of a response an error quotes.
const errorStart = 256

// statusError returns the error that a response stands for.
func (h *httpSource) statusError(response *http.Response, body *transferBody, asked bool) error {
	if response.StatusCode == http.StatusSwitchingProtocols { // its body is the connection, which ctx does not end
		return &HTTPError{Status: response.StatusCode}
	}
	var reader io.Reader = body
	if decoded, _, err := h.decoded(response, body, asked); err == nil {
		reader = decoded
	}
	text, _ := io.ReadAll(io.LimitReader(reader, errorStart+4<<10)) // an error of it says less than the status
	return &HTTPError{
		Status: response.StatusCode, Body: start(string(text), errorStart, body.secrets),
		After: parseRetryAfter(response.Header.Get("Retry-After")),
	}
}

// causeOf returns why ctx was ended, if it was, and err otherwise.
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// parseRetryAfter returns the time of a Retry-After header, in seconds or as a
// date, or 0.
func parseRetryAfter(text string) time.Duration {
	if seconds, err := strconv.ParseUint(text, 10, 32); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if date, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(date))
	}
	return 0
}

// Identity implements Identifier.
func (h *httpSource) Identity() string { return h.url.String() }
