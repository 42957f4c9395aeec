package reload

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// transferBody is the body of a response on its way. It ends a transfer that
// stalls or trickles.
type transferBody struct {
	io.ReadCloser
	ctx     context.Context
	cancel  context.CancelCauseFunc
	timer   *time.Timer
	stall   time.Duration
	rate    int64 // the least number of bytes a second, 0 for none
	secrets []string

	waited time.Duration // how long Reads took since the rate was last looked at
	got    int64         // the bytes that they returned
}

// ratePeriod is how long Reads wait until the rate of a transfer is judged.
const ratePeriod = time.Minute

func (b *transferBody) stalled() {
	b.cancel(fmt.Errorf("no byte of the body within %v", b.stall))
}

func (b *transferBody) Read(p []byte) (n int, err error) {
	began := time.Now()
	b.timer.Reset(b.stall)
	n, err = b.ReadCloser.Read(p)
	b.timer.Stop() // the time that load takes between two Reads does not count
	b.waited += time.Since(began)
	b.got += int64(n)
	switch {
	case err != nil && err != io.EOF: //nolint:errorlint // Read returns io.EOF itself
		err = withoutSecrets(causeOf(b.ctx, err), b.secrets)
	case err == nil && b.waited >= ratePeriod:
		if b.got < b.rate*int64(ratePeriod/time.Second) {
			err = fmt.Errorf("%d bytes of the body came in %v, less than %d a second", b.got, b.waited.Round(time.Second), b.rate)
		}
		b.waited, b.got = 0, 0
	}
	return n, err
}

func (b *transferBody) Close() error {
	b.timer.Stop()
	b.cancel(nil)
	return b.ReadCloser.Close()
}

// framed reports whether the protocol tells a whole body from one that was cut
// off: by a length, by chunks, or by the end of a stream of HTTP/2. Gzip does not: it
// looks whole between two members.
func framed(response *http.Response) bool {
	return response.ContentLength >= 0 || len(response.TransferEncoding) > 0 || response.ProtoMajor >= 2
}

func isGzip(response *http.Response) bool { return strings.EqualFold(encodingOf(response), "gzip") }

// encodingOf returns the encodings of a body, which may come in several headers, with
// commas between them.
func encodingOf(response *http.Response) string {
	all := strings.FieldsFunc(strings.Join(response.Header.Values("Content-Encoding"), ","), func(r rune) bool {
		return r == ',' || r == ' ' || r == '\t'
	})
	return strings.Join(all, ", ")
}

// decoded returns the body with its encoding undone, if HTTP asked for gzip, and
// its size. asked is false if the Client or Prepare decide on the encoding: the
// body is then left as it is.
func (h *httpSource) decoded(response *http.Response, body *transferBody, asked bool) (io.ReadCloser, int64, error) {
	encoding := encodingOf(response)
	switch {
	case !asked, encoding == "", strings.EqualFold(encoding, "identity"):
		return body, response.ContentLength, nil
	case isGzip(response):
		return &gzipBody{transferBody: body, most: h.options.MaxExpansion}, -1, nil
	}
	return nil, 0, fmt.Errorf("the response has the Content-Encoding %.20q, which was not asked for", encoding)
}

// gzipBody undoes gzip.
type gzipBody struct {
	*transferBody
	most       int // how many times longer than its gzip form the content may be
	compressed countedReader
	zip        *gzip.Reader
	read       int64
	err        error
}

var errExpands = errors.New("the gzip content expands too much")

// expansionSlack is how much content may come before its expansion is judged.
const expansionSlack = 1 << 20

// leastExpansion is how many times longer than the content its gzip form may be, after
// expansionSlack: MaxBytes does not end a stream that holds nothing.
const leastExpansion = 10

func (b *gzipBody) Read(p []byte) (n int, err error) {
	if b.zip == nil && b.err == nil {
		b.compressed.Reader = b.transferBody
		b.zip, b.err = gzip.NewReader(&b.compressed)
		if b.err == io.EOF { //nolint:errorlint // NewReader returns io.EOF itself
			b.err = io.ErrUnexpectedEOF // nothing is no gzip
		}
	}
	if b.err != nil {
		return 0, b.err
	}
	b.compressed.max = expansionSlack + leastExpansion*b.read
	n, err = b.zip.Read(p)
	b.read += int64(n)
	if b.read > expansionSlack && b.read/int64(b.most) > b.compressed.read {
		err = fmt.Errorf("%w: %d bytes of it are %d already, and HTTPOptions.MaxExpansion is %d", errExpands, b.compressed.read, b.read, b.most)
	}
	b.err = err
	return n, err
}

// countedReader counts the bytes that it returned, and fails once they are more than
// max, if that is not 0.
type countedReader struct {
	io.Reader
	read, max int64
}

func (c *countedReader) Read(p []byte) (n int, err error) {
	n, err = c.Reader.Read(p)
	c.read += int64(n)
	if c.max != 0 && c.read > c.max {
		err = fmt.Errorf("%d bytes of gzip hold next to no content", c.read)
	}
	return n, err
}
