package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	stallTimeout  = 30 * time.Second
	minRate       = 1 << 10  // bytes a second, after stallTimeout
	leastProgress = 64 << 10 // of a connection that did not break in vain
	maxFruitless  = 4        // connections to servers in a row
	maxMirrors    = 8        // that are tried for one content
	avoidTime     = 10 * time.Minute
)

// Content returns the content of a stored revision, for copies of it. Its Read fails at
// the end if the bytes are not those of r. The caller closes it; ctx lives until then.
func (c *Client) Content(ctx context.Context, name string, r Revision) (io.ReadCloser, error) {
	if err := errors.Join(CheckName("name", name), r.check(name, nil)); err != nil {
		return nil, fmt.Errorf("fleet: get content of %s: revision %q: %w", name, r.ID, err)
	}
	return openTransfer(&transfer{client: c, name: name, ctx: ctx, want: r, sum: sha256.New()})
}

// trusted returns the mirrors that did not send wrong bytes of late.
func (s *Source) trusted(mirrors []string) (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.avoided, func(_ string, when time.Time) bool { return time.Since(when) > avoidTime })
	for _, mirror := range mirrors {
		if _, bad := s.avoided[mirror]; !bad && len(all) < maxMirrors {
			all = append(all, mirror)
		}
	}
	return all
}

// avoid leaves out a mirror for some time.
func (s *Source) avoid(mirror string) { s.set(func() { s.avoided[mirror] = time.Now() }) }

// transfer reads the content of a revision, from mirrors and in the end from the
// servers. It goes on after a break where it was.
type transfer struct {
	client  *Client
	name    string
	ctx     context.Context
	want    Revision
	from    string              // if not empty, all deltas from it to want are read, of want.Size in all
	mirrors []string            // the first is in use, or the servers if there is none
	avoid   func(mirror string) // called with those that sent bytes if the bytes are wrong

	sum       hash.Hash       // nil if a Reloader compares the digest
	offset    int64           // of the next byte
	began     int64           // offset of this connection
	fruitless int             // connections in a row
	sent      map[string]bool // mirrors whose bytes were read
	err       error           // the end: io.EOF, or why it was given up

	*connection // nil between two
}

// connection is a response that is read. It ends itself if it stalls or trickles.
type connection struct {
	body   io.ReadCloser
	ctx    context.Context
	clock  *stopwatch
	waited time.Duration // of Reads: the time that load takes between them does not count
	got    int64
}

func (c *connection) Read(p []byte) (n int, err error) {
	began := time.Now()
	c.clock.start(stallTimeout, "no byte of the content")
	n, err = c.body.Read(p)
	c.clock.stop()
	c.waited += time.Since(began)
	c.got += int64(n)
	if err != nil {
		return n, causeOf(c.ctx, err)
	}
	if c.waited > stallTimeout+time.Duration(c.got/minRate)*time.Second {
		err = fmt.Errorf("%d bytes of the content came in %v", c.got, c.waited.Round(time.Second))
	}
	return n, err
}

// openTransfer begins a transfer.
func openTransfer(t *transfer) (*transfer, error) {
	t.sent = map[string]bool{}
	if t.want.Size == 0 {
		t.finish()
	} else if err := t.connect(); err != nil {
		return nil, err
	}
	return t, nil
}

// connect opens a connection for the next byte. It tries until it gives up.
func (t *transfer) connect() error {
	for {
		err := t.try()
		if err == nil {
			return nil
		}
		if err := t.broke(err); err != nil {
			return err
		}
	}
}

// broke decides how to go on after a break: at the same place after progress, else at
// the next mirror, or with the servers. It returns an error to give up.
func (t *transfer) broke(err error) error {
	progress := t.offset-t.began >= leastProgress
	t.Close()
	t.began = t.offset
	var failed *Error
	switch {
	case t.ctx.Err() != nil:
		return t.ctx.Err()
	case progress:
		t.fruitless = 0
	case len(t.mirrors) > 0:
		t.mirrors = t.mirrors[1:]
		return nil
	case errors.As(err, &failed) && failed.Status >= 400 && failed.Status < 500: // another try would change nothing
		return err
	default:
		if t.fruitless++; t.fruitless > maxFruitless {
			return fmt.Errorf("%w (after %d of %d bytes)", err, t.offset, t.want.Size)
		}
		t.client.rotate()
	}
	sleep(t.ctx, backoff(pollRest, firstPollRetry, t.fruitless+1))
	return nil
}

// try opens a connection for the next byte.
func (t *transfer) try() error {
	if len(t.mirrors) > 0 {
		mirror, err := url.Parse(t.mirrors[0])
		if err != nil || mirror.Host == "" {
			return errors.New("a mirror of the plan is no URL")
		}
		if err := t.get(func(ctx context.Context, header []string) (*http.Response, error) {
			return t.client.askMirror(ctx, mirror.JoinPath(t.want.SHA256), header)
		}); err != nil {
			return fmt.Errorf("mirror %s: %w", mirror.Host, err) // its path and query may hold a key
		}
		return nil
	}
	c, r := t.client, &request{op: "get content of " + t.name, method: http.MethodGet, path: []string{"names", t.name, "content", t.want.SHA256}}
	if t.from != "" {
		r.op = "get deltas of " + t.name
		r.path, r.query = []string{"names", t.name, "revisions", t.want.ID, "deltas"}, url.Values{"from": {t.from}}
	}
	return c.each(t.ctx, false, func(server *url.URL) error {
		err := t.get(func(ctx context.Context, header []string) (*http.Response, error) {
			response, err := c.send(ctx, server, r, func() (io.Reader, int64) { return nil, 0 }, header...)
			if err == nil && response.StatusCode >= 300 {
				defer response.Body.Close()
				err = c.refusal(server, r.op, response)
			}
			return response, err
		})
		if err != nil && !errors.As(err, new(*Error)) {
			err = &Error{Server: server.String(), Op: r.op, Err: err}
		}
		return err
	})
}

// askMirror sends a request without the token.
func (c *Client) askMirror(ctx context.Context, address *url.URL, header []string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return nil, withoutURL(err)
	}
	setHeader(request, header)
	response, err := c.mirrors.Do(request)
	if err != nil {
		return nil, causeOf(ctx, withoutURL(err))
	}
	return response, nil
}

// get makes the answer to ask the connection, if it has the next byte.
func (t *transfer) get(ask func(ctx context.Context, header []string) (*http.Response, error)) error {
	t.Close()
	ctx, clock := newStopwatch(t.ctx)
	clock.start(answerTimeout, "no answer")
	header := []string{"Accept-Encoding", "identity"}
	if t.offset > 0 {
		header = append(header, "Range", fmt.Sprintf("bytes=%d-", t.offset))
	}
	response, err := ask(ctx, header) //nolint:bodyclose // by connection
	clock.stop()
	if err != nil {
		clock.end()
		return err
	}
	t.connection = &connection{body: response.Body, ctx: ctx, clock: clock}
	if err := t.use(response); err != nil {
		t.Close()
		return err
	}
	return nil
}

// use finds the next byte in a response.
func (t *transfer) use(response *http.Response) error {
	encoding := response.Header.Get("Content-Encoding")
	switch length := response.ContentLength; {
	case encoding != "" && !strings.EqualFold(encoding, "identity"):
		return fmt.Errorf("the content came in the encoding %.20q, which was not asked for", encoding)
	case response.StatusCode == http.StatusOK && length >= 0 && length != t.want.Size:
		return fmt.Errorf("the content has %d bytes, and %d were published", length, t.want.Size)
	case response.StatusCode == http.StatusOK: // of a server that knows no ranges, perhaps
		_, err := io.CopyN(io.Discard, t.connection, t.offset)
		return err
	case response.StatusCode != http.StatusPartialContent || t.offset == 0:
		return fmt.Errorf("status %d", response.StatusCode)
	}
	want := fmt.Sprintf("bytes %d-%d/%d", t.offset, t.want.Size-1, t.want.Size)
	if got := response.Header.Get("Content-Range"); got != want {
		return fmt.Errorf("the range %.60q came, and not %q", got, want)
	}
	return nil
}

// Read implements io.Reader.
func (t *transfer) Read(p []byte) (n int, err error) {
	for n == 0 && t.err == nil && len(p) > 0 {
		if t.connection == nil {
			if t.err = t.connect(); t.err != nil {
				break
			}
		}
		n, err = t.connection.Read(p[:min(int64(len(p)), t.want.Size-t.offset)])
		if t.sum != nil {
			t.sum.Write(p[:n])
		}
		if t.offset += int64(n); n > 0 && len(t.mirrors) > 0 {
			t.sent[t.mirrors[0]] = true
		}
		switch {
		case t.offset == t.want.Size:
			t.finish()
		case err == io.EOF: //nolint:errorlint // Read returns io.EOF itself
			t.err = t.broke(io.ErrUnexpectedEOF)
		case err != nil:
			t.err = t.broke(err)
		}
	}
	return n, t.err
}

// finish ends the transfer.
func (t *transfer) finish() {
	t.err = io.EOF
	if t.sum != nil {
		if err := t.verify([sha256.Size]byte(t.sum.Sum(nil))); err != nil {
			t.err = err
		}
	}
}

// verify compares the digest. If it is wrong, the next transfers avoid the mirrors of this
// one, or begin with another server.
func (t *transfer) verify(sum [sha256.Size]byte) error {
	got := hex.EncodeToString(sum[:])
	if got == t.want.SHA256 {
		return nil
	}
	err := fmt.Errorf("the SHA-256 of revision %q is %s, and %s was published", t.want.ID, got, t.want.SHA256)
	if len(t.sent) == 0 {
		t.client.rotate()
	}
	for mirror := range t.sent {
		t.avoid(mirror)
		if u, parsed := url.Parse(mirror); parsed == nil {
			err = fmt.Errorf("%w; mirror %s is avoided", err, u.Host)
		}
	}
	return err
}

// Close closes the connection.
func (t *transfer) Close() error {
	if t.connection != nil {
		t.body.Close()
		t.clock.end()
		t.connection = nil
	}
	return nil
}
