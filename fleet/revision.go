package fleet

import (
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"time"
)

// Revision describes one content of a name. The content of an ID never changes.
type Revision struct {
	ID        string    `json:"id"`
	Base      string    `json:"base,omitempty"`  // the revision that the content changes; "": it is whole
	State     string    `json:"state,omitempty"` // the digest of all rows with this content, if the publisher gave it: 64 hexadecimal digits
	Size      int64     `json:"size"`
	SHA256    string    `json:"sha256"`              // 64 hexadecimal digits
	Created   time.Time `json:"created"`             // by the clock of the publisher
	Signature []byte    `json:"signature,omitempty"` // by Ed25519, of what Statement returns
}

// Statement returns what a signature of the revision signs: that this content
// belongs to name. It is text, a line for each of name, ID, size, digest and time, and
// of Base and of State if there are these.
func (r Revision) Statement(name string) []byte {
	text := fmt.Appendf(nil, "poolswap fleet revision\n%q\n%q\n%d\n%s\n%s\n", name, r.ID, r.Size, r.SHA256, r.Created.UTC().Format(time.RFC3339Nano))
	if r.Base != "" {
		text = fmt.Appendf(text, "%q\n", r.Base) // in quotes, unlike State
	}
	if r.State != "" {
		text = fmt.Appendf(text, "%s\n", r.State)
	}
	return text
}

// check returns an error for a revision that cannot be, or that none of keys has
// signed, if there are any.
func (r Revision) check(name string, keys []ed25519.PublicKey) error {
	switch digest, err := hex.DecodeString(r.SHA256); {
	case r.ID == "" || r.Size < 0 || r.Created.IsZero():
		return errors.New("it lacks an id, a size or a time")
	case r.Base == r.ID:
		return errors.New("it changes itself")
	case err != nil || len(digest) != 32:
		return errors.New("its SHA-256 is not 64 hexadecimal digits")
	case r.State != "" && !IsDigest(r.State):
		return errors.New("its digest of rows is not 64 hexadecimal digits in lower case")
	case len(keys) == 0:
		return nil
	case len(r.Signature) == 0:
		return errors.New("it is not signed")
	}
	statement := r.Statement(name)
	for _, key := range keys {
		if ed25519.Verify(key, statement, r.Signature) {
			return nil
		}
	}
	return errors.New("its signature is by none of the keys")
}

// IsDigest reports whether text is a digest of 32 bytes in lower-case hexadecimal.
func IsDigest(text string) bool {
	digest, err := hex.DecodeString(text)
	return err == nil && len(digest) == 32 && text == hex.EncodeToString(digest)
}

// Stored is a revision that the server keeps.
type Stored struct {
	Revision
	At time.Time `json:"at"` // the server stored it, or a plan last named it, by the server's clock
}
