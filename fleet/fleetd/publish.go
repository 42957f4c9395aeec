package main

import (
	"context"
	"fmt"
	"os"

	"github.com/nats-io/nats.go"

	"github.com/poolswap/poolswap/fleet"
)

// publish stores a file and makes it stable.
func publish(ctx context.Context, c *call) error {
	client := changeFlags(c.flags)
	return upload(c, client.client, func(conn *nats.Conn, p *fleet.Publisher, name string, file *os.File) error {
		r, plan, err := p.Publish(ctx, file, *client.why)
		c.printRevision(r) // it may be stored although it was not published
		if err != nil {
			return err
		}
		f, err := fleet.NewController(conn, name, client.author())
		if err != nil {
			return err
		}
		return awaitReplicas(ctx, c, f, plan, *client.wait)
	})
}

// storeFile stores a file.
func storeFile(ctx context.Context, c *call) error {
	return upload(c, clientFlags(c.flags), func(_ *nats.Conn, p *fleet.Publisher, _ string, file *os.File) error {
		r, err := p.Store(ctx, file)
		c.printRevision(r)
		return err
	})
}

func (c *call) printRevision(r fleet.Revision) {
	if r.ID != "" {
		fmt.Fprintln(c.stdout, r.ID)
	}
}

func upload(c *call, client *client, send func(conn *nats.Conn, p *fleet.Publisher, name string, file *os.File) error) error {
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
	return send(conn, p, args[0], file)
}
