package reload

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// VerifySHA256 returns source with each content checked against the SHA-256 that
// sums has, as sha256sum writes it: 64 hexadecimal digits, perhaps followed by a
// name. sums is the File or HTTP beside the content, perhaps signed itself, as in
// VerifySHA256(source, VerifySigned(sums, signatures, name, key)). Content that does not fit is
// not published and not refused, but fetched again: it may have gone wrong on the way,
// and its revision does not tell.
//
// For a [Cache] wrap the result: Cache(VerifySHA256(source, sums), dir). The other
// way round, the checksum would be missing when the origin is down.
//
// VerifySHA256 panics if source is a [Join]: wrap the sources that have a checksum, as
// in Join(VerifySHA256(a, sums), b).
func VerifySHA256(source, sums Source) Source {
	refuseJoin(source, "VerifySHA256", "Join(VerifySHA256(a, sums), b)")
	compare := func(side []byte, sum [sha256.Size]byte) error {
		text, _, _ := strings.Cut(strings.TrimSpace(string(side)), " ")
		want, err := hex.DecodeString(text)
		if err != nil || len(want) != sha256.Size {
			return fmt.Errorf("%s holds no SHA-256 of 64 hexadecimal digits", nameOf(sums))
		}
		if !bytes.Equal(want, sum[:]) {
			return fmt.Errorf("its SHA-256 is %x, and %s says %x", sum, nameOf(sums), want)
		}
		return nil
	}
	return &checkedSource{Source: source, side: sums, check: "SHA-256", today: func(context.Context) (sideVerify, error) { return compare, nil }}
}

// checkedSource is a Source with another one, its side, beside it, which has the
// checksum or signature. Its revisions are those of the content, each joined with a
// digest of the side: content that was wrong may be right when the side changes.
type checkedSource struct {
	Source
	side  Source
	check string                                    // names the check
	today func(context.Context) (sideVerify, error) // with the keys of today
}

// sideVerify compares the digest of content with a side.
type sideVerify = func(side []byte, sum [sha256.Size]byte) error

// maxSide bounds the content of a source of checksums or signatures.
const maxSide = 64 << 10

const joint = " | " // between a revision and a digest, which is without it

// String returns the name of the source that is checked.
func (c *checkedSource) String() string { return nameOf(c.Source) }

// Wait implements Waiter.
func (c *checkedSource) Wait(ctx context.Context, have string) error {
	inner, _ := cutDigest(have)
	return waitFor(ctx, c.Source, inner)
}

// Identity implements Identifier. It tells c from a source with another check. It has no
// keys: a Cache verifies its content with those of today.
func (c *checkedSource) Identity() string { return identityOf(c.Source) + joint + c.check }

// Fetch implements Source.
func (c *checkedSource) Fetch(ctx context.Context, have string) (*Content, error) {
	side, proofs, err := c.fetchSide(ctx)
	if err != nil {
		return nil, errorOf(c.side, err)
	}
	digest := sideDigest(side)
	inner, against := cutDigest(have)
	if against != digest {
		inner = "" // the same content may be right now, or wrong
	}
	content, err := c.Source.Fetch(withDeltaBase(ctx, ""), inner) // no digest tells a delta from the whole
	if err != nil {
		return nil, err
	}
	if err := content.closeMalformed(); err != nil {
		return nil, err
	}
	if content.isDelta() || content.isChain() {
		content.discard()
		return nil, fmt.Errorf("%s gave a delta, which no %s can check", nameOf(c.Source), c.check)
	}
	if _, err := c.today(ctx); err != nil { // before the transfer, which would be in vain
		content.discard()
		return nil, err
	}
	if content.Revision != "" { // content without one is fetched each time
		content.Revision += joint + digest
	}
	content.proofs = slices.Concat(content.proofs, proofs)
	content.Verify = both(content.Verify, func(sum [sha256.Size]byte) error {
		if r := reloaderOf(ctx); r != nil {
			r.checks.Add(1)
		}
		verify, err := c.today(ctx) // a slow transfer does not outlast a key
		if err != nil {
			return err
		}
		return verify(side, sum)
	})
	return content, nil
}

func sideDigest(side []byte) string {
	sum := sha256.Sum256(side)
	return hex.EncodeToString(sum[:8])
}

type verifyFunc = func(sum [sha256.Size]byte) error

// both returns a Verify that calls first, if it is not nil, and then second.
func both(first, second verifyFunc) verifyFunc {
	if first == nil {
		return second
	}
	return func(sum [sha256.Size]byte) error {
		if err := first(sum); err != nil {
			return err
		}
		return second(sum)
	}
}

// proofsOf returns how many proofs a Cache keeps with content of source.
func proofsOf(source Source) int {
	c, ok := source.(*checkedSource)
	if !ok {
		return 0
	}
	return proofsOf(c.Source) + proofsOf(c.side) + 1
}

// verifyKept returns the Verify of content of source that was kept with proofs, or
// nil if source verifies nothing. It fails unless the proofs are themselves what the
// sides' own checks ask for. The revision must be of the same proofs: with that of
// newer content, the origin would say for good that nothing is newer.
func verifyKept(ctx context.Context, source Source, revision string, proofs [][]byte) (verifyFunc, error) {
	switch n := proofsOf(source); {
	case len(proofs) > n:
		return nil, errHidden
	case len(proofs) < n:
		return nil, errors.New("it was kept without its checksum or signature")
	case n == 0:
		return nil, nil
	}
	c := source.(*checkedSource)
	own, last := proofsOf(c.Source), len(proofs)-1
	side := proofs[last]
	inner, digest := cutDigest(revision)
	if revision != "" && digest != sideDigest(side) {
		return nil, errors.New("its revision is of another checksum or signature")
	}
	verifySide, err := verifyKept(ctx, c.side, "", proofs[own:last])
	if err == nil && verifySide != nil {
		err = verifySide(sha256.Sum256(side))
	}
	if err != nil {
		return nil, errorOf(c.side, err)
	}
	first, err := verifyKept(ctx, c.Source, inner, proofs[:own])
	if err != nil {
		return nil, err
	}
	verify, err := c.today(ctx)
	return both(first, func(sum [sha256.Size]byte) error { return verify(side, sum) }), err
}

// refuseHidden returns a Verify of content without proofs. It fails if a check of this
// package is within verify: a Source that wraps it has made content of its own, and
// nothing would verify that when it was kept.
func refuseHidden(ctx context.Context, verify verifyFunc) verifyFunc {
	r := reloaderOf(ctx)
	if r == nil {
		return verify
	}
	return func(sum [sha256.Size]byte) error {
		before := r.checks.Load()
		err := verify(sum)
		if err == nil && r.checks.Load() != before {
			err = errHidden
		}
		return err
	}
}

// errHidden is the error of a Cache that could not verify kept content.
var errHidden = errors.New("its source is wrapped, so a Cache cannot verify kept content: put your own Source inside VerifySHA256 or VerifySigned, and the Cache around these")

// cutDigest takes a revision apart.
func cutDigest(revision string) (inner, digest string) {
	i := strings.LastIndex(revision, joint)
	if i < 0 {
		return revision, ""
	}
	return revision[:i], revision[i+len(joint):]
}

// fetchSide returns the checksum or signature, and all that a Cache has to keep to
// verify with it. It is small and transferred each time: an answer that it was not
// modified would make a lie of the origin last, such as old content and its
// signature under the revisions of the newest.
func (c *checkedSource) fetchSide(ctx context.Context) (side []byte, proofs [][]byte, err error) {
	content, err := c.side.Fetch(&reloaderContext{ctx, nil}, "") // that the Reloader has loaded another content says nothing of the side
	if err != nil {
		return nil, nil, notFirst(err)
	}
	if side, err = content.readSmall("checksum or signature"); err != nil {
		return nil, nil, err
	}
	return side, append(slices.Clip(content.proofs), side), nil
}

// readSmall reads the Body of small content, and closes it.
func (c *Content) readSmall(what string) (text []byte, err error) {
	if err := c.closeMalformed(); err != nil {
		return nil, err
	}
	defer c.Body.Close()
	text, err = io.ReadAll(io.LimitReader(c.Body, maxSide+1))
	switch {
	case err != nil:
	case len(text) > maxSide:
		err = fmt.Errorf("more than the %d bytes that a %s may have", maxSide, what)
	case c.Size >= 0 && c.Size != int64(len(text)):
		err = wrongLength(int64(len(text)), c.Size)
	case len(c.Parts) > 0:
		err = fmt.Errorf("a Join is no %s", what)
	case c.Verify != nil:
		err = c.Verify(sha256.Sum256(text))
	}
	return text, err
}
