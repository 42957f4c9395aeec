package main

import (
	"context"
	"errors"
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

// refuseUnsigned returns an error if the stable revision is signed: replicas with
// keys would refuse one that is not.
func refuseUnsigned(conn *nats.Conn, name string) error {
	f, err := fleet.NewController(conn, name, "fleetd")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	plan, err := f.Plan(ctx)
	switch {
	case errors.Is(err, fleet.ErrNoPlan):
		return nil
	case err != nil:
		return err
	case len(plan.Revisions[plan.Stable].Signature) > 0:
		return fmt.Errorf("fleetd: %s: the stable revision is signed: give -key, or -unsigned if no replica has keys", name)
	}
	return nil
}

func (c *call) printRevision(r fleet.Revision) {
	if r.ID != "" {
		fmt.Fprintln(c.stdout, r.ID)
	}
}

func upload(c *call, client *client, send func(conn *nats.Conn, p *fleet.Publisher, name string, file *os.File) error) error {
	key := c.flags.String("key", "", "`file` with the key that signs the revision, as the command key makes it")
	unsigned := c.flags.Bool("unsigned", false, "sign nothing, although the stable revision is signed")
	args, err := c.parse(2, 2)
	if err != nil {
		return err
	}
	options := fleet.PublisherOptions{By: client.author()}
	if *key != "" {
		if options.Key, err = signingKey(*key); err != nil {
			return fmt.Errorf("fleetd: -key: %w", err)
		}
	}
	file := os.Stdin
	if args[1] != "-" {
		if file, err = os.Open(args[1]); err != nil {
			return fmt.Errorf("fleetd: %w", err)
		}
		defer file.Close()
	}
	conn, err := client.connect()
	if err != nil {
		return err
	}
	defer conn.Close()
	if options.Key == nil && !*unsigned {
		if err := refuseUnsigned(conn, args[0]); err != nil {
			return err
		}
	}
	p, err := fleet.NewPublisher(conn, args[0], options)
	if err != nil {
		return err
	}
	return send(conn, p, args[0], file)
}
