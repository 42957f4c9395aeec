package main

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// newKey writes a new signing key to a file and prints the public one.
func newKey(_ context.Context, c *call) error {
	public := c.flags.Bool("public", false, "print the public key of the one that FILE has")
	args, err := c.parse(1, 1)
	if err != nil {
		return err
	}
	var key ed25519.PrivateKey
	if *public {
		key, err = signingKey(args[0])
	} else {
		key, err = makeKey(args[0])
	}
	if err != nil {
		return fmt.Errorf("fleetd: key: %w", err)
	}
	fmt.Fprintln(c.stdout, base64.StdEncoding.EncodeToString(key[ed25519.SeedSize:]))
	return nil
}

// makeKey writes a new key to a file that must not be there: a key that is
// overwritten is lost.
func makeKey(name string) (ed25519.PrivateKey, error) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return nil, err
	}
	_, err = io.WriteString(file, base64.StdEncoding.EncodeToString(key)+"\n")
	return key, errors.Join(err, file.Close())
}

// fileMode is that of files with secrets.
const fileMode = 0o600

// signingKey returns the key in a file: the 64 bytes of an ed25519.PrivateKey in
// base64. Its seed alone would look like a public key.
func signingKey(name string) (ed25519.PrivateKey, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimRight(string(text), "\r\n"))
	if err != nil || len(key) != ed25519.PrivateKeySize || !ed25519.NewKeyFromSeed(key[:ed25519.SeedSize]).Equal(ed25519.PrivateKey(key)) {
		return nil, fmt.Errorf("%s holds no Ed25519 private key as `fleetd key` makes it", name)
	}
	return key, nil
}
