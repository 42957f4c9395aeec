package main

import (
	"context"
	"fmt"
	"os"

	"github.com/poolswap/poolswap/fleet"
)

// publish stores a file and makes it stable.
func publish(ctx context.Context, c *call) error {
	return upload(ctx, c, func(p *fleet.Publisher, file *os.File, why string) (fleet.Revision, error) {
		r, _, err := p.Publish(ctx, file, why)
		return r, err
	})
}

// storeFile stores a file.
func storeFile(ctx context.Context, c *call) error {
	return upload(ctx, c, func(p *fleet.Publisher, file *os.File, _ string) (fleet.Revision, error) {
		return p.Store(ctx, file)
	})
}

func upload(_ context.Context, c *call, send func(p *fleet.Publisher, file *os.File, why string) (fleet.Revision, error)) error {
	client := clientFlags(c.flags)
	key := c.flags.String("key", "", "`file` with an Ed25519 private key in base64, which signs the revision")
	args, err := c.parse(2, 2)
	if err != nil {
		return err
	}
	options := fleet.PublisherOptions{By: client.author()}
	if *key != "" {
		if options.Key, err = signingKey(*key); err != nil {
			return err
		}
	}
	file, err := os.Open(args[1])
	if err != nil {
		return fmt.Errorf("fleetd: %w", err)
	}
	defer file.Close()
	conn, err := client.connect()
	if err != nil {
		return err
	}
	defer conn.Close()
	p, err := fleet.NewPublisher(conn, args[0], options)
	if err != nil {
		return err
	}
	r, err := send(p, file, *client.why)
	if r.ID != "" { // it may be stored although it was not published
		fmt.Fprintln(c.stdout, r.ID)
	}
	return err
}
