package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"
)

// uploadAnswer is how long the servers may take once they have all bytes: a majority
// writes them.
const uploadAnswer = 5 * time.Minute

// payload is content on its way to the servers, which can be read again and again.
type payload struct {
	io.ReaderAt
	start, size int64
	sum         string
	file        *os.File // a temporary one, or nil
}

func (l *payload) reader() io.Reader { return io.NewSectionReader(l.ReaderAt, l.start, l.size) }

// newPayload reads content to its end. It writes content that can be read only once, such
// as that of a pipe, to a temporary file.
func newPayload(ctx context.Context, content io.Reader) (l *payload, err error) {
	l = new(payload)
	if !l.seek(content) {
		if l.file, err = os.CreateTemp("", "fleet-content-*"); err != nil {
			return nil, err
		}
		l.ReaderAt = l.file
		l.size, err = io.Copy(l.file, contextReader{content, ctx})
	}
	sum := sha256.New()
	if err == nil {
		var n int64
		if n, err = io.Copy(sum, contextReader{l.reader(), ctx}); err == nil && n != l.size {
			err = fmt.Errorf("%d of %d bytes could be read", n, l.size)
		}
	}
	if err != nil {
		l.Close()
		return nil, err
	}
	l.sum = hex.EncodeToString(sum.Sum(nil))
	return l, nil
}

// seek finds out where content begins and ends, if it can be read again.
func (l *payload) seek(content io.Reader) bool {
	file, ok := content.(interface {
		io.ReaderAt
		io.Seeker
	})
	if !ok {
		return false
	}
	start, err := file.Seek(0, io.SeekCurrent)
	if err != nil { // a pipe
		return false
	}
	end, err := file.Seek(0, io.SeekEnd)
	l.ReaderAt, l.start, l.size = file, start, end-start
	return err == nil && end >= start && end > 0 // a device has no end
}

// Close removes the temporary file.
func (l *payload) Close() {
	if l.file != nil {
		l.file.Close()
		os.Remove(l.file.Name())
	}
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

// upload stores content as r. It asks another server after a failure.
func (c *Client) upload(ctx context.Context, name string, r Revision, load *payload) error {
	query := url.Values{"id": {r.ID}, "created": {r.Created.Format(time.RFC3339Nano)}}
	if r.Base != "" {
		query.Set("base", r.Base)
	}
	if r.State != "" {
		query.Set("state", r.State)
	}
	q := &request{op: "store content for " + name, method: http.MethodPost, path: []string{"names", name, "revisions"}, query: query}
	return c.each(ctx, false, func(server *url.URL) error {
		attempt, clock := newStopwatch(ctx)
		defer clock.end()
		clock.start(answerTimeout, "no answer")
		response, err := c.send(attempt, server, q, func() (io.Reader, int64) {
			return &timedReader{load.reader(), clock}, r.Size
		}, "Content-Type", "application/octet-stream", "Expect", "100-continue")
		if err != nil {
			return err
		}
		defer response.Body.Close()
		clock.start(bodyTimeout, "the answer did not end")
		if response.StatusCode >= 300 {
			return c.refusal(server, q.op, response)
		}
		var stored Revision
		text, err := io.ReadAll(io.LimitReader(response.Body, maxFailure))
		if err == nil {
			err = json.Unmarshal(text, &stored)
		}
		if err == nil && (stored.ID != r.ID || stored.Base != r.Base || stored.State != r.State || !stored.Created.Equal(r.Created) || stored.Size != r.Size || stored.SHA256 != r.SHA256) {
			err = errors.New("the server stored other content, or the content changed meanwhile")
		}
		if err != nil {
			return fmt.Errorf("fleet: %s: %s: %w", q.op, server, withoutToken(causeOf(attempt, err), c.token.get()))
		}
		return nil
	})
}

// timedReader is the body of an upload. The connection has a time for each part of it,
// and the servers for their answer to all.
type timedReader struct {
	io.Reader
	clock *stopwatch
}

func (t *timedReader) Read(p []byte) (n int, err error) {
	if n, err = t.Reader.Read(p); err == nil {
		t.clock.start(stallTimeout, "no byte of the content was taken")
	} else {
		t.clock.start(uploadAnswer, "no answer to the content")
	}
	return n, err
}
