package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

// show prints something of a name, as JSON with the flag -json.
func show[T any](c *call, get func(f *fleet.Controller) (T, error), text func(w *tabwriter.Writer, of T)) error {
	client := clientFlags(c.flags)
	asJSON := c.flags.Bool("json", false, "print JSON")
	args, err := c.parse(1, 1)
	if err != nil {
		return err
	}
	f, conn, err := client.controller(args[0])
	if err != nil {
		return err
	}
	defer conn.Close()
	of, err := get(f)
	if err != nil {
		return err
	}
	if *asJSON {
		encoder := json.NewEncoder(c.stdout)
		encoder.SetIndent("", "  ")
		return encoder.Encode(of)
	}
	w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	text(w, of)
	return w.Flush()
}

// names prints the names, a line each.
func names(ctx context.Context, c *call) error {
	client := clientFlags(c.flags)
	if _, err := c.parse(0, 0); err != nil {
		return err
	}
	conn, err := client.connect()
	if err != nil {
		return err
	}
	defer conn.Close()
	all, err := fleet.Names(ctx, conn)
	for _, name := range all {
		fmt.Fprintln(c.stdout, plain(name))
	}
	return err
}

func status(ctx context.Context, c *call) error {
	return show(c, func(f *fleet.Controller) (*fleet.Status, error) {
		s, err := f.Status(ctx)
		if errors.Is(err, fleet.ErrNoPlan) && len(s.Replicas) > 0 {
			err = nil // those that wait for a publication
		}
		return s, err
	}, func(w *tabwriter.Writer, s *fleet.Status) {
		if s.Plan == nil {
			s.Plan = new(fleet.Plan)
			fmt.Fprintln(w, "Nothing was published under this name.")
		} else {
			fmt.Fprintln(w, summary(s.Plan))
		}
		if len(s.Replicas) == 0 {
			fmt.Fprintln(w, "No replica reports.")
			return
		}
		fmt.Fprintln(w, "REPLICA\tSTATE\tREVISION\tFOR\tREPORTED\tERROR")
		for _, r := range s.Replicas {
			printPlain(w, "%s\t%s\t%s\t%s\t%s ago\t%s\n", r.ID, r.State(s.Plan), r.Revision, since(r.Since), since(r.At), r.Error)
		}
	})
}

// summary says in a line what a plan wants.
func summary(p *fleet.Plan) string {
	text := fmt.Sprintf("plan %d: stable %s", p.Seq, p.Stable)
	if p.Canary != "" {
		text += fmt.Sprintf(", canary %s on %s", p.Canary, strings.Join(p.CanaryIDs, " "))
	}
	if p.Hold != "" {
		text += ", on hold: " + p.Hold
	}
	for _, id := range slices.Sorted(maps.Keys(p.Pins)) {
		text += fmt.Sprintf(", %s pinned to %s", id, p.Pins[id])
	}
	if p.Paused {
		text += ", paused"
	}
	return plain(text)
}

// since returns how long ago a time was, or nothing for the zero time.
func since(then time.Time) string {
	if then.IsZero() {
		return ""
	}
	return time.Since(then).Round(time.Second).String()
}

func history(ctx context.Context, c *call) error {
	return show(c, func(f *fleet.Controller) ([]fleet.Change, error) { return f.History(ctx) }, func(w *tabwriter.Writer, all []fleet.Change) {
		fmt.Fprintln(w, "PLAN\tAT\tBY\tWHAT\tFROM\tTO\tREPLICAS\tWHY")
		for _, h := range all {
			printPlain(w, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", h.Seq, h.At.UTC().Format(time.DateTime), h.By, h.What, h.From, h.To, strings.Join(h.Whom, " "), h.Why)
		}
	})
}

func stored(ctx context.Context, c *call) error {
	return show(c, func(f *fleet.Controller) ([]fleet.Stored, error) { return f.Stored(ctx) }, printStored)
}

func printStored(w *tabwriter.Writer, all []fleet.Stored) {
	fmt.Fprintln(w, "REVISION\tBYTES\tSTORED\tSHA-256")
	for _, one := range all {
		printPlain(w, "%s\t%d\t%s\t%s\n", cmp.Or(one.ID, "(not finished)"), one.Size, one.At.UTC().Format(time.DateTime), one.SHA256)
	}
}

func verify(ctx context.Context, c *call) error {
	return show(c, func(f *fleet.Controller) (int, error) { return f.Verify(ctx) }, func(w *tabwriter.Writer, checked int) {
		fmt.Fprintf(w, "%d revisions have the bytes that were published\n", checked)
	})
}

func retain(ctx context.Context, c *call) error {
	keep := c.flags.Int("keep", 10, "how `many` revisions to keep beside those in use")
	age := c.flags.Duration("age", fleet.DefaultMinAge, "how `old` content must be at least")
	return show(c, func(f *fleet.Controller) ([]fleet.Stored, error) {
		return f.Retain(ctx, fleet.RetainOptions{Keep: *keep, MinAge: *age})
	}, func(w *tabwriter.Writer, gone []fleet.Stored) {
		fmt.Fprintf(w, "%d objects were deleted\n", len(gone))
		if len(gone) > 0 {
			printStored(w, gone)
		}
	})
}
