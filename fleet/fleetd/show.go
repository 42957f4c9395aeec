package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

// show prints a value of a name, as JSON with the flag -json.
func show[T any](c *call, get func(client *fleet.Client, f *fleet.Controller, name string) (T, error), text func(w *tabwriter.Writer, value T)) error {
	flags := newClientFlags(c.flags)
	asJSON := c.flags.Bool("json", false, "print JSON")
	args, err := c.parse(1, 1)
	if err != nil {
		return err
	}
	client, controller, err := flags.controller(args[0])
	if err != nil {
		return err
	}
	value, err := get(client, controller, args[0])
	if err != nil {
		return err
	}
	return c.print(*asJSON, value, func(w *tabwriter.Writer) { text(w, value) })
}

// print prints a value as JSON or as a table.
func (c *call) print(asJSON bool, value any, text func(w *tabwriter.Writer)) error {
	if asJSON {
		encoder := json.NewEncoder(c.stdout)
		encoder.SetIndent("", "  ")
		return encoder.Encode(value)
	}
	w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	text(w)
	return w.Flush()
}

// names prints the names, a line each.
func names(ctx context.Context, c *call) error {
	flags := newClientFlags(c.flags)
	if _, err := c.parse(0, 0); err != nil {
		return err
	}
	client, err := flags.client()
	if err != nil {
		return err
	}
	all, err := client.Names(ctx)
	for _, name := range all {
		fmt.Fprintln(c.stdout, plain(name))
	}
	return err
}

func status(ctx context.Context, c *call) error {
	return show(c, func(_ *fleet.Client, f *fleet.Controller, _ string) (*fleet.Status, error) { return f.Status(ctx) }, func(w *tabwriter.Writer, s *fleet.Status) {
		plan := s.Plan
		if plan == nil {
			plan = new(fleet.Plan)
			fmt.Fprintln(w, "Nothing was published under this name.")
		} else {
			fmt.Fprintln(w, summary(plan))
		}
		if len(s.Replicas) == 0 {
			fmt.Fprintln(w, "No replica reports.")
			return
		}
		if text := fleet.TotalDeltas(s.Replicas).String(); text != "" {
			fmt.Fprintln(w, plain(text))
		}
		fmt.Fprintln(w, "REPLICA\tSTATE\tREVISION\tFOR\tREPORTED\tLABELS\tREQUESTS\tERROR")
		for i := range s.Replicas {
			r := &s.Replicas[i]
			printPlain(w, "%s\t%s\t%s\t%s\t%s ago\t%s\t%s\t%s\n", r.ID, string(r.State(plan, s.Now)), r.Revision, since(r.Since, r.At), since(r.Received, s.Now),
				(&fleet.Selection{Labels: r.Labels}).String(), requests(r.Health), r.Error)
		}
	})
}

// requests says how many requests a replica has had with its revision.
func requests(h *fleet.Health) string {
	switch {
	case h == nil:
		return ""
	case h.Requests == 0:
		return "none"
	}
	text := fmt.Sprintf("%d of %d fail", h.Errors, h.Requests)
	if h.Latency > 0 {
		text += ", " + h.Latency.String()
	}
	return text
}

// summary says in a line what a plan wants.
func summary(p *fleet.Plan) string {
	text := fmt.Sprintf("plan %s: stable %s", p.Version(), p.Stable)
	if p.Canary != nil {
		text += fmt.Sprintf(", canary %s on %s", p.Canary.Revision, &p.Canary.Selection)
		if p.Canary.Hold != "" {
			text += ", on hold: " + p.Canary.Hold
		}
	}
	if p.Rollout != nil {
		text += fmt.Sprintf(", step %d of %d", p.Rollout.Step+1, len(p.Rollout.Steps))
	}
	for _, id := range slices.Sorted(maps.Keys(p.Pins)) {
		text += fmt.Sprintf(", %s pinned to %s", id, p.Pins[id])
	}
	if p.Paused {
		text += ", paused"
	}
	return plain(text)
}

// since returns the time between then and now, by one clock, or "" if one is unknown.
func since(then, now time.Time) string {
	if then.IsZero() || now.IsZero() {
		return ""
	}
	return now.Sub(then).Round(time.Second).String()
}

// history prints the changes, the oldest first.
func history(ctx context.Context, c *call) error {
	limit := c.flags.Int("limit", 100, "show this `number` of changes, the newest ones")
	return show(c, func(_ *fleet.Client, f *fleet.Controller, _ string) ([]fleet.Change, error) {
		all := []fleet.Change{}
		for before := ""; len(all) < *limit; {
			want := min(*limit-len(all), 1000)
			page, err := f.History(ctx, before, want)
			if err != nil {
				return nil, err
			}
			all = append(all, page...)
			if len(page) < want {
				break
			}
			last := page[len(page)-1]
			before = (&fleet.Plan{Epoch: last.Epoch, Seq: last.Seq}).Version()
		}
		slices.Reverse(all)
		return all, nil
	}, func(w *tabwriter.Writer, all []fleet.Change) {
		fmt.Fprintln(w, "PLAN\tAT\tBY\tCHANGE\tFROM\tTO\tREPLICAS\tWHY")
		for _, h := range all {
			selected := ""
			if h.Selected != nil {
				selected = h.Selected.String()
			}
			printPlain(w, "%d.%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", h.Epoch, h.Seq, h.At.UTC().Format(time.DateTime), h.By, string(h.Kind), h.From, h.To, selected, h.Why)
		}
	})
}

func stored(ctx context.Context, c *call) error {
	return show(c, func(_ *fleet.Client, f *fleet.Controller, _ string) ([]fleet.Stored, error) { return f.Revisions(ctx) }, func(w *tabwriter.Writer, all []fleet.Stored) {
		fmt.Fprintln(w, "REVISION\tBYTES\tSTORED\tSIGNED\tSHA-256")
		for _, one := range all {
			signed := map[bool]string{true: "yes", false: "no"}[len(one.Signature) > 0]
			printPlain(w, "%s\t%d\t%s\t%s\t%s\n", one.ID, one.Size, one.At.UTC().Format(time.DateTime), signed, one.SHA256)
		}
	})
}

// verified is the result of the command verify.
type verified struct {
	Checked int      `json:"checked"`
	Damaged []string `json:"damaged"`
}

func verify(ctx context.Context, c *call) error {
	var result verified
	err := show(c, func(client *fleet.Client, _ *fleet.Controller, name string) (_ verified, err error) {
		result.Checked, result.Damaged, err = client.Verify(ctx, name)
		return result, err
	}, func(w *tabwriter.Writer, v verified) {
		fmt.Fprintf(w, "%d of %d revisions have the bytes that were published\n", v.Checked-len(v.Damaged), v.Checked)
	})
	if err == nil && len(result.Damaged) > 0 {
		err = fmt.Errorf("fleetd: damaged: %s", strings.Join(result.Damaged, "; "))
	}
	return err
}

func printTokens(w *tabwriter.Writer, all []fleet.Token) {
	fmt.Fprintln(w, "ID\tNAME\tROLE\tNAMES\tIDS\tMADE\tBY\tEXPIRES")
	for _, t := range all {
		expires := "never"
		if !t.Expires.IsZero() {
			expires = t.Expires.UTC().Format(time.DateTime)
		}
		printPlain(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", t.ID, t.Name, string(t.Role), t.Names, cmp.Or(t.IDs, "-"), t.Created.UTC().Format(time.DateTime), t.By, expires)
	}
}
