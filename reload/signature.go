package reload

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
)

// VerifyEd25519 returns source with each content checked against the signature
// that signatures has: an Ed25519 signature of the content's SHA-256 (its 32
// bytes), raw or in base64, by any of keys. Content without a good signature is
// not published, as with [VerifySHA256], and a [Cache] goes around it, too. It panics
// without a key, or with one of the wrong length.
//
// Such a signature says who made the content. It does not say that the content is
// the newest: content that was signed once can be served again. Nor does it say
// what the content is for: a list of allowed users passes as a list of denied ones if
// the same key signs both. [VerifySigned] tells them apart.
func VerifyEd25519(source, signatures Source, keys ...ed25519.PublicKey) Source {
	return signed(source, signatures, keys, "VerifyEd25519", "Ed25519", func(sum [sha256.Size]byte) []byte { return sum[:] })
}

// VerifySigned is [VerifyEd25519] for signatures of [Statement](name, sum), which say
// that the content belongs to name. It panics without a name, too.
func VerifySigned(source, signatures Source, name string, keys ...ed25519.PublicKey) Source {
	if name == "" {
		panic("reload: VerifySigned without a name")
	}
	return signed(source, signatures, keys, "VerifySigned", fmt.Sprintf("Ed25519 of %q", name), func(sum [sha256.Size]byte) []byte {
		return Statement(name, sum)
	})
}

// Statement returns the text to sign with Ed25519 for [VerifySigned]: that content
// with this SHA-256 belongs to name.
func Statement(name string, sum [sha256.Size]byte) []byte {
	return fmt.Appendf(nil, "poolswap reload content\n%q\n%x\n", name, sum)
}

// signed returns source with each content checked against a signature of the text
// that statement returns for its digest.
func signed(source, signatures Source, keys []ed25519.PublicKey, op, check string, statement func(sum [sha256.Size]byte) []byte) Source {
	if len(keys) == 0 {
		panic("reload: " + op + " without a key")
	}
	refuseJoin(source, op, "Join("+op+"(a, signatures, keys...), b)")
	for _, key := range keys {
		if len(key) != ed25519.PublicKeySize {
			panic(fmt.Sprintf("reload: %s with a key of %d bytes, not %d", op, len(key), ed25519.PublicKeySize))
		}
	}
	return &checkedSource{Source: source, side: signatures, check: check + " " + keysOf(keys), verify: func(side []byte, sum [sha256.Size]byte) error {
		signature := side
		if len(side) != ed25519.SignatureSize {
			var err error
			if signature, err = base64.StdEncoding.DecodeString(strings.TrimSpace(string(side))); err != nil || len(signature) != ed25519.SignatureSize {
				return fmt.Errorf("%s holds no Ed25519 signature of %d bytes, raw or in base64", nameOf(signatures), ed25519.SignatureSize)
			}
		}
		for _, key := range keys {
			if ed25519.Verify(key, statement(sum), signature) {
				return nil
			}
		}
		return fmt.Errorf("the signature in %s is by none of the keys", nameOf(signatures))
	}}
}

// keysOf returns a text for keys, whatever their order.
func keysOf(keys []ed25519.PublicKey) string {
	sorted := slices.SortedFunc(slices.Values(keys), func(a, b ed25519.PublicKey) int { return bytes.Compare(a, b) })
	return fmt.Sprintf("%x", sorted)
}
