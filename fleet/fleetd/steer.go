package main

import (
	"context"
	"fmt"

	"github.com/poolswap/poolswap/fleet"
)

// steer runs a change of the plan of the name that is the first argument.
func steer(ctx context.Context, c *call, least, most int, change func(f *fleet.Controller, args []string, why string) (*fleet.Plan, error)) error {
	client := changeFlags(c.flags)
	args, err := c.parse(least, most)
	if err != nil {
		return err
	}
	f, conn, err := client.controller(args[0])
	if err != nil {
		return err
	}
	defer conn.Close()
	plan, err := change(f, args[1:], *client.why)
	if err != nil {
		return err
	}
	fmt.Fprintln(c.stdout, summary(plan))
	return awaitReplicas(ctx, c, f, plan, *client.wait)
}

func canary(ctx context.Context, c *call) error {
	share := c.flags.Float64("share", 0, "`part` of the replicas, 0.1 for a tenth, instead of ids")
	return steer(ctx, c, 2, many, func(f *fleet.Controller, args []string, why string) (*fleet.Plan, error) {
		if *share != 0 && len(args) > 1 {
			return nil, fmt.Errorf("fleetd: canary takes -share or ids, not both")
		}
		return f.Canary(ctx, args[0], *share, why, args[1:]...)
	})
}

func promote(ctx context.Context, c *call) error {
	return steer(ctx, c, 1, 1, func(f *fleet.Controller, _ []string, why string) (*fleet.Plan, error) { return f.Promote(ctx, why) })
}

func rollback(ctx context.Context, c *call) error {
	return steer(ctx, c, 1, 2, func(f *fleet.Controller, args []string, why string) (*fleet.Plan, error) {
		revision := ""
		if len(args) > 0 {
			revision = args[0]
		}
		return f.Rollback(ctx, revision, why)
	})
}

func pin(ctx context.Context, c *call) error {
	return steer(ctx, c, 3, 3, func(f *fleet.Controller, args []string, why string) (*fleet.Plan, error) {
		return f.Pin(ctx, args[0], args[1], why)
	})
}

func unpin(ctx context.Context, c *call) error {
	return steer(ctx, c, 2, 2, func(f *fleet.Controller, args []string, why string) (*fleet.Plan, error) {
		return f.Unpin(ctx, args[0], why)
	})
}

func pause(ctx context.Context, c *call) error {
	return steer(ctx, c, 1, 1, func(f *fleet.Controller, _ []string, why string) (*fleet.Plan, error) { return f.Pause(ctx, why) })
}

func resume(ctx context.Context, c *call) error {
	return steer(ctx, c, 1, 1, func(f *fleet.Controller, _ []string, why string) (*fleet.Plan, error) { return f.Resume(ctx, why) })
}
