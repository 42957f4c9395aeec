package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/poolswap/poolswap/fleet"
)

// changePlan runs a change of the plan of the name that is the first argument.
func changePlan(ctx context.Context, c *call, least, most int, change func(f *fleet.Controller, args []string, why string) (*fleet.Plan, error)) error {
	flags := newChangeFlags(c.flags)
	args, err := c.parse(least, most)
	if err != nil {
		return err
	}
	_, controller, err := flags.controller(args[0])
	if err != nil {
		return err
	}
	plan, err := change(controller, args[1:], *flags.why)
	if err != nil {
		return err
	}
	fmt.Fprintln(c.stdout, summary(plan))
	return flags.await(ctx, c, controller, plan)
}

func canary(ctx context.Context, c *call) error {
	text := c.flags.String("share", "", "`part` of the replicas, 10% or 0.1, beside the ids; with -label, the default is all that have the labels")
	labels := labels{}
	c.flags.Var(labels, "label", "only replicas with this `label`, KEY=VALUE, belong to the share; may be given more than once")
	return changePlan(ctx, c, 2, many, func(f *fleet.Controller, args []string, why string) (_ *fleet.Plan, err error) {
		selection := fleet.Selection{Labels: labels, IDs: args[1:]}
		if *text == "" && len(labels) > 0 {
			selection.Share = 1
		} else if *text != "" {
			if selection.Share, err = share(*text); err != nil {
				return nil, fmt.Errorf("fleetd: -share: %w", err)
			}
		}
		return f.Canary(ctx, args[0], selection, why)
	})
}

func rollout(ctx context.Context, c *call) error {
	r := newRolloutFlags(c)
	return changePlan(ctx, c, 2, 2, func(f *fleet.Controller, args []string, why string) (*fleet.Plan, error) {
		steps, err := r.parsed()
		if err == nil && len(steps) == 0 {
			err = errors.New("fleetd: rollout needs -steps, such as 1%,10%,50%,100%")
		}
		if err != nil {
			return nil, err
		}
		if err := checkFleet(ctx, c, f); err != nil {
			return nil, err
		}
		return f.Do(ctx, r.operation(args[0], steps, why))
	})
}

// change returns a command that asks for a change. The arguments behind the name are
// those of fields.
func change(kind fleet.Kind, least int, fields ...func(*fleet.Operation) *string) func(context.Context, *call) error {
	return func(ctx context.Context, c *call) error {
		return changePlan(ctx, c, 1+least, 1+len(fields), func(f *fleet.Controller, args []string, why string) (*fleet.Plan, error) {
			op := fleet.Operation{Kind: kind, Why: why}
			for i, arg := range args {
				*fields[i](&op) = arg
			}
			plan, err := f.Do(ctx, op)
			if err == nil && kind == fleet.KindPin {
				warnOfUnknown(ctx, c, f, op.ID)
			}
			return plan, err
		})
	}
}

// warnOfUnknown says that no replica has the id, which may be misspelled.
func warnOfUnknown(ctx context.Context, c *call, f *fleet.Controller, id string) {
	s, err := f.Status(ctx)
	if err == nil && !slices.ContainsFunc(s.Replicas, func(r fleet.Report) bool { return r.ID == id }) {
		fmt.Fprintf(c.stderr, "fleetd: no replica %s reports: the pin waits for one\n", plain(id))
	}
}

func revisionField(op *fleet.Operation) *string { return &op.Revision }
func idField(op *fleet.Operation) *string       { return &op.ID }
