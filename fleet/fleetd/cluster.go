package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/poolswap/poolswap/fleet"
)

// setup prepares a server that fleetd does not run.
func setup(ctx context.Context, c *call) error {
	client := clientFlags(c.flags)
	replicas := c.flags.Int("replicas", 1, "how many `servers` of a cluster keep each message: 1, 3 or 5")
	ttl := c.flags.Duration("report-ttl", fleet.DefaultReportTTL, "how `long` a replica that is silent is still listed")
	if _, err := c.parse(0, 0); err != nil {
		return err
	}
	conn, err := client.connect()
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	return fleet.Setup(ctx, conn, fleet.SetupOptions{Replicas: *replicas, ReportTTL: *ttl})
}

// keepElsewhere does for a fleet that is elsewhere what serve does for its own.
func keepElsewhere(ctx context.Context, c *call) error {
	client := clientFlags(c.flags)
	keep := keepFlag(c.flags)
	if _, err := c.parse(0, 0); err != nil {
		return err
	}
	if *keep < 0 {
		return errKeep(*keep)
	}
	conn, err := client.connect()
	if err != nil {
		return err
	}
	defer conn.Close()
	fmt.Fprintln(c.stdout, "keeping")
	(&keeper{conn: conn, keep: *keep, logger: slog.New(slog.NewTextHandler(c.stderr, nil))}).run(ctx)
	return nil
}
