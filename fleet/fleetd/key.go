package main

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"os"
)

// newKey writes a new signing key to a file and prints the public one.
func newKey(_ context.Context, c *call) error {
	args, err := c.parse(1, 1)
	if err != nil {
		return err
	}
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return fmt.Errorf("fleetd: key: %w", err)
	}
	// A key that is overwritten is lost.
	file, err := os.OpenFile(args[0], os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return fmt.Errorf("fleetd: key: %w", err)
	}
	_, err = fmt.Fprintln(file, base64.StdEncoding.EncodeToString(private.Seed()))
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("fleetd: key: %w", err)
	}
	fmt.Fprintln(c.stdout, base64.StdEncoding.EncodeToString(public))
	return nil
}
