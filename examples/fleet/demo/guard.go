package main

import (
	"context"
	"os"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/poolswap/poolswap/fleet"
)

// guard puts a canary on hold that does not load, until ctx ends.
func (d *demo) guard(ctx context.Context) error {
	password, err := os.ReadFile(d.file("server/publisher.password"))
	if err != nil {
		return err
	}
	conn, err := nats.Connect("nats://"+d.address, nats.UserInfo("publisher", strings.TrimSpace(string(password))), nats.MaxReconnects(-1))
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, conn.Close)
	controller, err := fleet.NewController(conn, "asn", "guard")
	if err != nil {
		return err
	}
	go controller.Guard(ctx) //nolint:errcheck // it ends with ctx
	return nil
}
