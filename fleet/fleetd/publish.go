package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

// upload is a file that a command stores.
type upload struct {
	client             *clientFlags
	key, base          *string
	rows               *string
	unsigned, new, any *bool
}

func newUpload(c *call, client *clientFlags) *upload {
	return &upload{
		client:   client,
		key:      c.flags.String("key", "", "`file` with the key that signs the revision, as the command key makes it"),
		base:     notEmpty(c, "delta-from", "the file has the changes since this `revision` (with -rows, all rows): replicas that run it fetch them alone, and need reload.NewLog"),
		rows:     notEmpty(c, "rows", "the file has all rows, in a `format` of diff: lines, csv or jsonl, or csv:KEY or jsonl:KEY. Replicas can compare their rows with it. With -delta-from, its changes are published, or all if a snapshot is due"),
		unsigned: c.flags.Bool("unsigned", false, "sign nothing, although the stable revision is signed"),
		new:      c.flags.Bool("new", false, "begin a name under which nothing was published yet"),
		any:      c.flags.Bool("empty", false, "take a file without a byte, too"),
	}
}

// notEmpty defines a flag that an unset variable of a script must not leave out: what has
// the changes would be published as the whole.
func notEmpty(c *call, name, usage string) *string {
	value := new(string)
	c.flags.Func(name, usage, func(text string) error {
		if text == "" {
			return errors.New("it is empty")
		}
		*value = text
		return nil
	})
	return value
}

// storeEach calls store with the content and its Publisher, on a base if it is a delta.
type storeEach = func(store func(p *fleet.Publisher, base string, content io.Reader) error) error

// send opens a file, or the standard input, for a Publisher and a Controller.
func (u *upload) send(ctx context.Context, c *call, name, fileName string, send func(controller *fleet.Controller, each storeEach) error) error {
	options := fleet.PublisherOptions{New: *u.new, AllowEmpty: *u.any}
	var err error
	if *u.key != "" {
		if options.Key, err = signingKey(*u.key); err != nil {
			return fmt.Errorf("fleetd: -key: %w", err)
		}
	}
	content := c.stdin
	if fileName != "-" {
		file, err := os.Open(fileName)
		if err != nil {
			return fmt.Errorf("fleetd: %w", err)
		}
		defer file.Close()
		content = file
	}
	client, err := u.client.client()
	if err != nil {
		return err
	}
	controller, err := fleet.NewController(client, name)
	if err != nil {
		return err
	}
	if options.Key == nil && !*u.unsigned {
		if err := refuseUnsigned(ctx, controller, name); err != nil {
			return err
		}
	}
	publisher, err := fleet.NewPublisher(client, name, options)
	if err != nil {
		return err
	}
	err = send(controller, func(store func(*fleet.Publisher, string, io.Reader) error) error {
		return u.storeContent(ctx, c, client, publisher, name, content, store)
	})
	if errors.Is(err, errNoChange) {
		fmt.Fprintln(c.stdout, *u.base)
		fmt.Fprintln(c.stderr, err)
		return nil
	}
	if errors.Is(err, fleet.ErrNoPlan) && !*u.new {
		err = fmt.Errorf("fleetd: nothing was published under the name %q yet: -new begins it", name)
	}
	return err
}

// refuseUnsigned returns an error if the stable revision is signed: replicas with
// keys would refuse one that is not.
func refuseUnsigned(ctx context.Context, controller *fleet.Controller, name string) error {
	plan, err := controller.Plan(ctx)
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

// publish stores a file and makes it stable, at once or as a rollout.
func publish(ctx context.Context, c *call) error {
	change := newChangeFlags(c.flags)
	u := newUpload(c, change.clientFlags)
	r := newRolloutFlags(c)
	args, err := c.parse(2, 2)
	if err != nil {
		return err
	}
	steps, err := r.parsed()
	if err != nil {
		return err
	}
	return u.send(ctx, c, args[0], args[1], func(controller *fleet.Controller, each storeEach) error {
		if len(steps) > 0 {
			if err := checkFleet(ctx, c, controller); err != nil { // before anything is stored
				return err
			}
		}
		var revision fleet.Revision
		var plan *fleet.Plan
		err := each(func(p *fleet.Publisher, base string, text io.Reader) (err error) {
			switch {
			case len(steps) > 0:
				revision, err = storeOn(ctx, p, base, text)
			case base != "":
				revision, plan, err = p.PublishDelta(ctx, base, text, *change.why)
			default:
				revision, plan, err = p.Publish(ctx, text, *change.why)
			}
			return err
		})
		if err == nil && len(steps) > 0 {
			plan, err = controller.Do(ctx, r.operation(revision.ID, steps, *change.why))
		}
		c.printRevision(revision) // it may be stored although it was not published
		if err != nil {
			return err
		}
		return change.await(ctx, c, controller, plan)
	})
}

// storeFile stores a file.
func storeFile(ctx context.Context, c *call) error {
	u := newUpload(c, newClientFlags(c.flags))
	args, err := c.parse(2, 2)
	if err != nil {
		return err
	}
	return u.send(ctx, c, args[0], args[1], func(_ *fleet.Controller, each storeEach) error {
		return each(func(p *fleet.Publisher, base string, content io.Reader) error {
			r, err := storeOn(ctx, p, base, content)
			c.printRevision(r)
			return err
		})
	})
}

// storeOn stores content, of a delta if there is a base.
func storeOn(ctx context.Context, p *fleet.Publisher, base string, content io.Reader) (fleet.Revision, error) {
	if base == "" {
		return p.Store(ctx, content)
	}
	return p.StoreDelta(ctx, base, content)
}

func (c *call) printRevision(r fleet.Revision) {
	if r.ID != "" {
		fmt.Fprintln(c.stdout, r.ID)
	}
}

// rolloutFlags are the flags of a rollout.
type rolloutFlags struct {
	steps *string
	bake  *time.Duration
}

func newRolloutFlags(c *call) *rolloutFlags {
	return &rolloutFlags{
		steps: c.flags.String("steps", "", "widen to these `shares` of the replicas, one after the other, such as 1%,10%,50%,100%"),
		bake:  c.flags.Duration("bake", 10*time.Minute, "`duration` for which each step is watched"),
	}
}

func (r *rolloutFlags) operation(revision string, steps []float64, why string) fleet.Operation {
	return fleet.Operation{Kind: fleet.KindRollout, Revision: revision, Steps: steps, Bake: *r.bake, Why: why}
}

// checkFleet returns an error if no replica would run a rollout, and says that the one
// of a small fleet goes on without a comparison.
func checkFleet(ctx context.Context, c *call, controller *fleet.Controller) error {
	s, err := controller.Status(ctx)
	if err != nil {
		return err
	}
	n, report := len(s.Replicas), "replicas report"
	switch {
	case s.Plan == nil:
		return errors.New("fleetd: a rollout needs a stable revision to go back to: publish the first one without -steps")
	case n == 0:
		return errors.New("fleetd: no replica reports, so nothing would tell whether the revision works: publish it without -steps")
	case n == 1:
		report = "replica reports"
	}
	if n < leastCompared {
		fmt.Fprintf(c.stderr, "fleetd: %d %s: a rollout compares errors from %d replicas on, and latency from %d on; without that, refusals and silence alone end it\n", n, report, leastCompared, leastTimed)
	}
	return nil
}

// A step has three replicas, if there are so many. Errors are compared with two
// others, latencies of four with four.
const (
	leastCompared = 5
	leastTimed    = 8
)

// parsed returns the steps as shares. 1 is the last.
func (r *rolloutFlags) parsed() (steps []float64, err error) {
	if *r.steps == "" {
		return nil, nil
	}
	for text := range strings.SplitSeq(*r.steps, ",") {
		step, err := share(text)
		if err != nil {
			return nil, fmt.Errorf("fleetd: -steps: %w", err)
		}
		steps = append(steps, step)
	}
	if steps[len(steps)-1] < 1 {
		steps = append(steps, 1)
	}
	return steps, nil
}

// share returns a share that is given as 10% or 0.1.
func share(text string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	value, err := strconv.ParseFloat(number, 64)
	if percent {
		value /= 100
	}
	if err != nil || !(value > 0 && value <= 1) {
		return 0, fmt.Errorf("%q is no share such as 10%% or 0.1", text)
	}
	return value, nil
}
