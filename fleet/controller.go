package fleet

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Controller steers which replica of a name runs which revision. Each method that
// returns a Plan is one change of it, compared and set: ErrConflict if another change
// came between. The history has the name of the token. It is safe for any number of
// goroutines.
type Controller struct {
	client *Client
	name   string
	at     string // version of the only plan to change, or ""
}

// NewController returns a Controller of a name. It makes no request.
func NewController(client *Client, name string) (*Controller, error) {
	if client == nil {
		return nil, errors.New("fleet: NewController with a nil Client")
	}
	if err := CheckName("name", name); err != nil {
		return nil, fmt.Errorf("fleet: NewController: %w", err)
	}
	return &Controller{client: client, name: name}, nil
}

// At returns a Controller whose changes are made to one plan alone: they end with
// ErrConflict if there is another one. It is for a person who decides by what was shown
// a while ago.
func (c *Controller) At(epoch, seq uint64) *Controller {
	return &Controller{c.client, c.name, fmt.Sprintf("%d.%d", epoch, seq)}
}

// Plan returns the plan, or ErrNoPlan.
func (c *Controller) Plan(ctx context.Context) (*Plan, error) {
	return c.client.plan(ctx, c.name, "", 0)
}

// maxReplicas bounds the replicas of a Status.
const maxReplicas = 200_000

// Status returns the plan and the reports of all replicas. Without a plan, Status.Plan
// is nil.
func (c *Controller) Status(ctx context.Context) (*Status, error) {
	var all *Status
	for after := ""; ; {
		page, query := new(Status), url.Values{"limit": {"1000"}}
		if after != "" {
			query.Set("after", after)
		}
		if err := c.client.get(ctx, "get the status of "+c.name, page, query, "names", c.name, "status"); err != nil {
			return nil, err
		}
		if all != nil {
			page.Replicas = append(all.Replicas, page.Replicas...)
		}
		all = page // plan and counts are those of the last page
		switch {
		case page.Next == "":
			return all, nil
		case page.Next <= after, len(all.Replicas) > maxReplicas:
			return nil, fmt.Errorf("fleet: get the status of %s: the pages of the server do not end", c.name)
		}
		after, all.Next = page.Next, ""
	}
}

// History returns up to limit changes before the plan with the version before, or the
// latest ones if that is "". The newest is the first. Plan.Version and the Epoch and
// Seq of the last Change say where the next page begins.
func (c *Controller) History(ctx context.Context, before string, limit int) ([]Change, error) {
	query := url.Values{"limit": {strconv.Itoa(limit)}}
	if before != "" {
		query.Set("before", before)
	}
	var page struct{ Changes []Change }
	err := c.client.get(ctx, "get the history of "+c.name, &page, query, "names", c.name, "history")
	return page.Changes, err
}

// Revisions returns the stored revisions, the newest first.
func (c *Controller) Revisions(ctx context.Context) ([]Stored, error) {
	var page struct{ Revisions []Stored }
	err := c.client.get(ctx, "get the revisions of "+c.name, &page, nil, "names", c.name, "revisions")
	return page.Revisions, err
}

// Canary lets the selected replicas try a stored revision. It replaces an earlier
// canary.
func (c *Controller) Canary(ctx context.Context, revision string, selection Selection, why string) (*Plan, error) {
	return c.Do(ctx, Operation{Kind: KindCanary, Revision: revision, Selection: selection, Why: why})
}

// Promote makes the canary stable. The server refuses it on hold, and until most
// replicas of the canary run it.
func (c *Controller) Promote(ctx context.Context, why string) (*Plan, error) {
	return c.Do(ctx, Operation{Kind: KindPromote, Why: why})
}

// Rollback makes a stored revision stable, and ends a canary or a rollout. With
// revision "" it ends these if there are any, and otherwise goes back to the revision
// that was stable before and that replicas ran.
func (c *Controller) Rollback(ctx context.Context, revision, why string) (*Plan, error) {
	return c.Do(ctx, Operation{Kind: KindRollback, Revision: revision, Why: why})
}

// Rollout lets growing shares of the replicas run a stored revision, each for the time
// bake. The server takes the steps by itself, and goes back if the replicas of a step
// fail.
func (c *Controller) Rollout(ctx context.Context, revision string, steps []float64, bake time.Duration, why string) (*Plan, error) {
	return c.Do(ctx, Operation{Kind: KindRollout, Revision: revision, Steps: steps, Bake: bake, Why: why})
}

// Pin lets one replica run a stored revision, whatever is stable or a canary.
func (c *Controller) Pin(ctx context.Context, id, revision, why string) (*Plan, error) {
	return c.Do(ctx, Operation{Kind: KindPin, ID: id, Revision: revision, Why: why})
}

// Unpin ends a pin.
func (c *Controller) Unpin(ctx context.Context, id, why string) (*Plan, error) {
	return c.Do(ctx, Operation{Kind: KindUnpin, ID: id, Why: why})
}

// Pause lets every replica that runs something stay with it, until Resume.
func (c *Controller) Pause(ctx context.Context, why string) (*Plan, error) {
	return c.Do(ctx, Operation{Kind: KindPause, Why: why})
}

// Resume ends a pause.
func (c *Controller) Resume(ctx context.Context, why string) (*Plan, error) {
	return c.Do(ctx, Operation{Kind: KindResume, Why: why})
}

// Do makes the change that op describes, as the methods named after the kinds of changes
// do. After At(0, 0), it is made only if there is no plan yet.
func (c *Controller) Do(ctx context.Context, op Operation) (*Plan, error) {
	at := c.at
	if at == "" {
		plan, err := c.Plan(ctx)
		if err != nil {
			return nil, err
		}
		at = plan.Version()
	}
	return c.client.change(ctx, c.name, at, op)
}

// change changes the plan whose version is at. It always says which, so it can be sent
// to another server without being done twice.
func (c *Client) change(ctx context.Context, name, at string, op Operation) (*Plan, error) {
	if err := op.Check(); err != nil {
		return nil, fmt.Errorf("fleet: %s %s: %w", op.Kind, name, err)
	}
	plan := new(Plan)
	_, err := c.do(ctx, &request{
		op: string(op.Kind) + " " + name, method: http.MethodPatch,
		path: []string{"names", name, "plan"}, match: at, body: op, into: plan,
	})
	if err != nil {
		return nil, err
	}
	return plan, nil
}
