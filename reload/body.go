package reload

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
)

// body is a Body that load reads. It counts and hashes the bytes, and holds the
// Source to the size that it announced.
type body struct {
	of      *bodies // that it is one of
	inner   io.ReadCloser
	part    string // the name of its source if there are others, or ""
	size    int64  // announced, or -1
	verify  func(sum [sha256.Size]byte) error
	digest  *[sha256.Size]byte // known before load, or nil
	changed func() error       // see Content, or nil
	checked bool               // see bodies
	read    int64
	hash    hash.Hash
	err     error // of the last Read: io.EOF if the content is whole
}

var errTooLarge = errors.New("larger than Options.MaxBytes")

// Read implements io.Reader.
func (b *body) Read(p []byte) (n int, err error) {
	if b.err != nil {
		return 0, b.err
	}
	if err := b.of.ctx.Err(); err != nil {
		b.err = err
		return 0, err
	}
	err = recovered(func() (err error) {
		n, err = b.inner.Read(p)
		if n < 0 || n > len(p) {
			n, err = 0, fmt.Errorf("the Body's Read returned an invalid count, %d for %d bytes", n, len(p))
		}
		return err
	})
	b.read += int64(n)
	b.hash.Write(p[:n])
	switch {
	case b.of.total.Add(int64(n)) > b.of.max:
		err = fmt.Errorf("%w (%d)", errTooLarge, b.of.max)
	case err != nil && err != io.EOF: //nolint:errorlint // io.EOF itself; another error says more than the length
		err = b.named(err)
	case b.size >= 0 && b.read > b.size, err == io.EOF && b.read < b.size: //nolint:errorlint // the same
		err = b.named(wrongLength(b.read, b.size))
	}
	b.err = err
	return n, err
}

// named returns an error, if it is one, that says which part it is of.
func (b *body) named(err error) error {
	if err == nil || b.part == "" {
		return err
	}
	return fmt.Errorf("%s: %w", b.part, err)
}

// wrongLength is the error of a body of another length than announced.
func wrongLength(read, announced int64) error {
	if read > announced {
		return fmt.Errorf("the body is longer than the %d bytes that the source announced", announced)
	}
	return fmt.Errorf("the body ends after %d of %d bytes: %w", read, announced, io.ErrUnexpectedEOF)
}

// Close does nothing: the Reloader closes the inner body, when load has returned
// and the rest was read.
func (b *body) Close() error { return nil }

// finish reads the rest that load left, and returns the digest of the whole.
func (b *body) finish() (sum [sha256.Size]byte, err error) {
	if _, err := io.Copy(io.Discard, b); err != nil {
		return sum, err
	}
	b.hash.Sum(sum[:0])
	return sum, nil
}

// failure returns the error of reading, or nil.
func (b *body) failure() error {
	if b.err == io.EOF { //nolint:errorlint // Read returns io.EOF itself
		return nil
	}
	return b.err
}

// unchanged returns ErrChanged if the content is known to have changed.
func (b *body) unchanged() error {
	if b.changed == nil {
		return nil
	}
	return b.named(recovered(b.changed))
}

// end makes every later Read fail, for a load that kept the Body.
func (b *body) end() {
	if b.failure() == nil {
		b.err = errors.New("reload: Read of a Body after load had returned")
	}
}
