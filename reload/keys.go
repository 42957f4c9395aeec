package reload

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
)

// Keys returns the public keys that are good today. It is called for each new content,
// before and after its transfer, by several goroutines perhaps, and when a [Cache] restores
// some. An error fails the attempt. A key that has gone verifies nothing more, kept
// content included, but what it verified stays loaded until something newer comes.
type Keys func(ctx context.Context) ([]ed25519.PublicKey, error)

// KeysFrom returns the keys that source has in PEM, as "openssl pkey -pubout" writes
// them, one after the other. source is asked each time, so keys are rotated without a
// restart. Nothing is verified without it: it should be a [File], or another one that
// answers while the origin is down. It may be signed itself. Of a [Fallback], older keys do
// not replace newer ones while the process runs.
func KeysFrom(source Source) Keys {
	if source == nil {
		panic("reload: KeysFrom with a nil Source")
	}
	f := &keyFile{source: source, turn: make(chan struct{}, 1), loader: Reloader{setup: setup{options: Options{MaxBytes: maxSide}}}}
	return func(ctx context.Context) ([]ed25519.PublicKey, error) {
		keys, err := f.read(ctx)
		if err != nil {
			return nil, errorOf(source, err)
		}
		return keys, nil
	}
}

// keyFile is a Source of keys.
type keyFile struct {
	source Source

	turn     chan struct{} // full while the source is asked; guards the fields below
	loader   Reloader      // for a Fallback: the loaded content is that of the keys
	revision string        // of keys
	keys     []ed25519.PublicKey
}

func (f *keyFile) read(ctx context.Context) ([]ed25519.PublicKey, error) {
	select {
	case f.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-f.turn }()
	content, err := f.source.Fetch(&reloaderContext{ctx, &f.loader}, f.revision)
	if f.revision != "" && errors.Is(err, ErrNotModified) {
		return f.keys, nil
	}
	if err != nil {
		return nil, notFirst(err)
	}
	text, err := content.readSmall("file of keys")
	if err != nil {
		return nil, err
	}
	keys, err := parseKeys(text)
	if err == nil && len(keys) == 0 {
		err = errors.New("it holds no public key in PEM")
	}
	if err != nil {
		return nil, err
	}
	f.revision, f.keys = content.Revision, keys
	f.loader.status.Version++
	if content.Published != nil {
		recovered(content.Published) //nolint:errcheck // of a Cache, which says nothing of the keys
	}
	return keys, nil
}

// parseKeys returns the keys of a text in PEM.
func parseKeys(text []byte) (keys []ed25519.PublicKey, err error) {
	for {
		block, rest := pem.Decode(text)
		if block == nil {
			if bytes.Contains(rest, []byte("-----BEGIN")) {
				return nil, fmt.Errorf("block %d does not end", len(keys)+1)
			}
			return keys, nil
		}
		public, err := x509.ParsePKIXPublicKey(block.Bytes)
		key, ok := public.(ed25519.PublicKey)
		if block.Type != "PUBLIC KEY" || err != nil || !ok {
			return nil, fmt.Errorf("block %d is no public key of Ed25519", len(keys)+1)
		}
		keys, text = append(keys, key), rest
	}
}

// get returns the keys of today, one at least.
func (k Keys) get(ctx context.Context) (keys []ed25519.PublicKey, err error) {
	err = recovered(func() (err error) {
		keys, err = k(ctx)
		return err
	})
	if err == nil && len(keys) == 0 {
		err = errors.New("there are none")
	}
	for _, key := range keys {
		if err == nil && len(key) != ed25519.PublicKeySize {
			err = fmt.Errorf("one has %d bytes, not %d", len(key), ed25519.PublicKeySize)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the keys: %w", err)
	}
	return keys, nil
}
