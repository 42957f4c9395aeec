package reload

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
)

// VerifySigned returns source with each content checked against the signature that
// signatures has: an Ed25519 signature of [Statement](name, sum), raw or in base64, by any
// of keys. It says who made the content, and that it belongs to name. Content without a
// good signature is not published, as with [VerifySHA256], and a [Cache] goes around it,
// too. VerifySigned panics without a name or a key, or with a key of the wrong length.
//
// A signature does not say that the content is the newest: content that was signed once
// can be served again.
func VerifySigned(source, signatures Source, name string, keys ...ed25519.PublicKey) Source {
	if name == "" {
		panic("reload: VerifySigned without a name")
	}
	return signed(source, signatures, name, constant(keys, "VerifySigned"), "VerifySigned")
}

// VerifyEd25519 is [VerifySigned] for signatures of the content's SHA-256 alone (its 32
// bytes), which other tools make. They do not say what the content is for: a list of
// allowed users passes as a list of denied ones if the same key signs both.
func VerifyEd25519(source, signatures Source, keys ...ed25519.PublicKey) Source {
	return signed(source, signatures, "", constant(keys, "VerifyEd25519"), "VerifyEd25519")
}

// VerifyWithKeys is [VerifySigned], or [VerifyEd25519] if name is "", with keys that change
// while the process runs, such as those of [KeysFrom]. It panics if keys is nil.
func VerifyWithKeys(source, signatures Source, name string, keys Keys) Source {
	if keys == nil {
		panic("reload: VerifyWithKeys without Keys")
	}
	return signed(source, signatures, name, keys, "VerifyWithKeys")
}

// Statement returns the text to sign with Ed25519 for [VerifySigned]: that content
// with this SHA-256 belongs to name. For signers in other languages, it is three lines,
// each with its newline: "poolswap reload content", name as strconv.Quote has it, and
// the sum in lower-case hexadecimal.
func Statement(name string, sum [sha256.Size]byte) []byte {
	return fmt.Appendf(nil, "poolswap reload content\n%q\n%x\n", name, sum)
}

// constant returns Keys that do not change.
func constant(keys []ed25519.PublicKey, op string) Keys {
	if len(keys) == 0 {
		panic("reload: " + op + " without a key")
	}
	for _, key := range keys {
		if len(key) != ed25519.PublicKeySize {
			panic(fmt.Sprintf("reload: %s with a key of %d bytes, not %d", op, len(key), ed25519.PublicKeySize))
		}
	}
	keys = slices.Clone(keys)
	return func(context.Context) ([]ed25519.PublicKey, error) { return keys, nil }
}

// signed returns source with each content checked against a signature of its Statement,
// or of its digest if name is "".
func signed(source, signatures Source, name string, keys Keys, op string) Source {
	refuseJoin(source, op, "Join("+op+"(a, signatures, keys...), b)")
	check := "Ed25519"
	if name != "" {
		check = fmt.Sprintf("Ed25519 of %q", name)
	}
	return &checkedSource{Source: source, side: signatures, check: check, today: func(ctx context.Context) (sideVerify, error) {
		today, err := keys.get(ctx)
		if err != nil {
			return nil, err
		}
		return func(side []byte, sum [sha256.Size]byte) error {
			signature, err := signatureIn(side)
			if err != nil {
				return fmt.Errorf("%s holds %w", nameOf(signatures), err)
			}
			text := sum[:]
			if name != "" {
				text = Statement(name, sum)
			}
			for _, key := range today {
				if ed25519.Verify(key, text, signature) {
					return nil
				}
			}
			return fmt.Errorf("the signature in %s is of other content, or by none of the keys", nameOf(signatures))
		}, nil
	}}
}

var errNoSignature = fmt.Errorf("no Ed25519 signature of %d bytes, raw or in base64", ed25519.SignatureSize)

// signatureIn returns the signature that a side holds.
func signatureIn(side []byte) ([]byte, error) {
	if len(side) == ed25519.SignatureSize {
		return side, nil
	}
	signature, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(side)))
	if err != nil || len(signature) != ed25519.SignatureSize {
		return nil, errNoSignature
	}
	return signature, nil
}
