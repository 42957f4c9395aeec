package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/poolswap/poolswap/fleet"
)

const (
	namesEvery  = 5 * time.Second // how soon a name that is new has a keeper
	retainEvery = time.Hour
)

func keepFlag(flags *flag.FlagSet) *int {
	return flags.Int("keep", 10, "how `many` revisions of a name to keep beside those in use and of the last day; 0 keeps all")
}

func errKeep(keep int) error {
	return fmt.Errorf("fleetd: -keep is %d, and must not be negative", keep)
}

// keeper looks after every name, so that operators need not: it puts canaries
// on hold that fail, and deletes old content.
type keeper struct {
	conn   *nats.Conn
	keep   int // revisions; 0 deletes nothing
	logger *slog.Logger
}

// run keeps until ctx ends, and returns when all it started has ended.
func (k *keeper) run(ctx context.Context) {
	ended := make(chan struct{})
	kept := map[string]bool{}
	for {
		names, err := fleet.Names(ctx, k.conn)
		if err != nil && ctx.Err() == nil {
			k.logger.Warn("fleetd: the names are not known", slog.Any("error", err))
		}
		for _, name := range names {
			if kept[name] {
				continue
			}
			kept[name] = true
			go func() {
				k.runName(ctx, name)
				ended <- struct{}{}
			}()
		}
		select {
		case <-ctx.Done():
			for range kept {
				<-ended
			}
			return
		case <-time.After(namesEvery):
		}
	}
}

// runName keeps one name until ctx ends.
func (k *keeper) runName(ctx context.Context, name string) {
	c, err := fleet.NewController(k.conn, name, "fleetd serve")
	if err != nil {
		k.logger.Warn("fleetd: a name without a keeper", slog.Any("error", err))
		return
	}
	guard := make(chan struct{})
	go func() {
		c.Guard(ctx) //nolint:errcheck // it ends with ctx
		close(guard)
	}()
	for {
		k.retain(ctx, c, name)
		select {
		case <-ctx.Done():
			<-guard
			return
		case <-time.After(retainEvery):
		}
	}
}

func (k *keeper) retain(ctx context.Context, c *fleet.Controller, name string) {
	if k.keep == 0 {
		return
	}
	gone, err := c.Retain(ctx, fleet.RetainOptions{Keep: k.keep})
	if err != nil && ctx.Err() == nil {
		k.logger.Warn("fleetd: old content is not deleted", slog.Any("error", err))
	}
	if len(gone) > 0 {
		k.logger.Info("fleetd: old content is deleted", slog.String("name", name), slog.Int("objects", len(gone)))
	}
}
