package fleet

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/nats-io/nats.go"
)

// Controller steers which replica of a name runs what. Each method is one change
// of the plan, compared and set: ErrConflict if another change came between. It is
// safe for any number of goroutines.
type Controller struct {
	store store
	by    string
	shown *Plan // that changes are made to; nil: the one that there is
}

// NewController returns a Controller of a name. by says who steers, for the
// history. It does not talk to the server yet.
func NewController(conn *nats.Conn, name, by string) (*Controller, error) {
	if conn == nil {
		return nil, errors.New("fleet: NewController with a nil Conn")
	}
	return &Controller{store: store{conn: conn, name: name}, by: by}, errors.Join(checkName("name", name), checkName("name of who steers", by))
}

// At returns a Controller whose changes are made to one plan alone, by its epoch
// and seq: they end with ErrConflict if there is another one. It is for a person
// who decides by what was shown a while ago.
func (c *Controller) At(epoch, seq uint64) *Controller {
	return &Controller{store: store{conn: c.store.conn, name: c.store.name}, by: c.by, shown: &Plan{Epoch: epoch, Seq: seq}}
}

// Status returns the plan and the reports of the replicas. Where nothing was
// published yet it returns ErrNoPlan, and those reports with a nil Plan.
func (c *Controller) Status(ctx context.Context) (*Status, error) {
	status, err := c.store.status(ctx)
	return status, c.store.named(err)
}

// Plan returns the plan.
func (c *Controller) Plan(ctx context.Context) (*Plan, error) {
	plan, _, err := c.store.plan(ctx)
	return plan, c.store.named(err)
}

// History returns the changes of the plan, the oldest first.
func (c *Controller) History(ctx context.Context) ([]Change, error) {
	all, err := c.store.history(ctx)
	return all, c.store.named(err)
}

// Canary lets some replicas run a stored revision: those of ids, or without ids
// the share of the replicas that report, rounded up. They are chosen by a hash
// that the revision salts, so it is not always the same ones that take the risk.
// It replaces an earlier canary.
func (c *Controller) Canary(ctx context.Context, revision string, share float64, why string, ids ...string) (*Plan, error) {
	if len(ids) == 0 && (math.IsNaN(share) || share <= 0 || share > 1) {
		return nil, c.store.named(fmt.Errorf("a canary needs ids or a share above 0 and up to 1, not %g", share))
	}
	for _, id := range ids {
		if err := checkName("id of a replica", id); err != nil {
			return nil, err
		}
	}
	r, err := c.store.claim(ctx, revision)
	if err != nil {
		return nil, c.store.named(err)
	}
	if len(ids) == 0 {
		replicas, err := c.store.replicas(ctx)
		if err != nil {
			return nil, c.store.named(err)
		}
		if len(replicas) == 0 {
			return nil, c.store.named(errors.New("no replica reports, of which some could be the canary"))
		}
		ids = choose(replicas, revision, share)
	}
	return c.change(ctx, canaryChange, why, func(next *Plan, change *Change) error {
		if revision == next.Stable {
			return fmt.Errorf("revision %q is stable already", revision)
		}
		next.add(r)
		next.Canary, next.CanaryIDs, next.CanarySeq, next.Hold = r.ID, slices.Clone(ids), next.Seq+1, ""
		change.From, change.To, change.Whom = next.Stable, r.ID, next.CanaryIDs
		return nil
	})
}

// choose returns the ids of ceil(share x len(replicas)) replicas.
func choose(replicas []Report, salt string, share float64) (ids []string) {
	type ranked struct {
		id   string
		rank [sha256.Size]byte
	}
	var all []ranked
	for _, r := range replicas {
		all = append(all, ranked{r.ID, sha256.Sum256([]byte(salt + "\x00" + r.ID))})
	}
	slices.SortFunc(all, func(a, b ranked) int {
		return cmp.Or(slices.Compare(a.rank[:], b.rank[:]), cmp.Compare(a.id, b.id))
	})
	n := int(math.Ceil(share*float64(len(all)) - 1e-9)) // 0.07*100 is above 7
	for _, r := range all[:max(n, 1)] {
		ids = append(ids, r.id)
	}
	slices.Sort(ids)
	return ids
}

// Promote makes the canary stable. It is refused as long as no replica of the
// canary runs it, and while it is on hold.
func (c *Controller) Promote(ctx context.Context, why string) (*Plan, error) {
	replicas, err := c.store.replicas(ctx)
	if err != nil {
		return nil, c.store.named(err)
	}
	return c.change(ctx, "promote", why, func(next *Plan, change *Change) error {
		switch {
		case next.Canary == "":
			return errors.New("there is no canary")
		case next.Hold != "":
			return fmt.Errorf("the canary is on hold: %s", next.Hold)
		case slices.ContainsFunc(replicas, next.failedCanary):
			return errors.New("a replica of the canary could not load it")
		case !slices.ContainsFunc(replicas, func(r Report) bool {
			return r.Revision == next.Canary && next.isOfCanary(r)
		}):
			return fmt.Errorf("no replica of the canary runs revision %q yet", next.Canary)
		}
		change.From, change.To = next.Stable, next.Canary
		next.release(next.Revisions[next.Canary])
		return nil
	})
}

// Rollback makes a stored revision stable, and ends a canary. With revision ""
// it ends the canary if there is one, and otherwise goes back to what was stable
// before. It does so once: what was rolled back from does not come back unless it
// is named.
func (c *Controller) Rollback(ctx context.Context, revision, why string) (*Plan, error) {
	var r Revision
	if revision != "" {
		var err error
		if r, err = c.store.claim(ctx, revision); err != nil {
			return nil, c.store.named(err)
		}
	}
	return c.change(ctx, "rollback", why, func(next *Plan, change *Change) error {
		change.From = cmp.Or(next.Canary, next.Stable)
		to := r
		switch {
		case revision != "":
		case next.Canary != "":
			to = next.Revisions[next.Stable]
		case next.Previous != "":
			to = next.Revisions[next.Previous]
		default:
			return errors.New("nothing was stable before, or it was rolled back from: name a revision")
		}
		endsCanary := to.ID == next.Stable
		change.To = to.ID
		next.release(to)
		if !endsCanary {
			next.Previous = ""
		}
		return nil
	})
}

// Pin lets one replica run a stored revision, whatever is stable or a canary.
func (c *Controller) Pin(ctx context.Context, id, revision, why string) (*Plan, error) {
	if err := checkName("id of the replica", id); err != nil {
		return nil, err
	}
	r, err := c.store.claim(ctx, revision)
	if err != nil {
		return nil, c.store.named(err)
	}
	return c.change(ctx, "pin", why, func(next *Plan, change *Change) error {
		change.From, change.To, change.Whom = next.Wanted(id).ID, r.ID, []string{id}
		if next.Pins == nil {
			next.Pins = map[string]string{}
		}
		next.add(r)
		next.Pins[id] = r.ID
		return nil
	})
}

// Unpin ends a pin.
func (c *Controller) Unpin(ctx context.Context, id, why string) (*Plan, error) {
	return c.change(ctx, "unpin", why, func(next *Plan, change *Change) error {
		if _, ok := next.Pins[id]; !ok {
			return fmt.Errorf("replica %q is not pinned", id)
		}
		change.From, change.Whom = next.Pins[id], []string{id}
		delete(next.Pins, id)
		change.To = next.Wanted(id).ID
		return nil
	})
}

// Pause lets every replica that runs something stay with it, until Resume.
func (c *Controller) Pause(ctx context.Context, why string) (*Plan, error) {
	return c.setPaused(ctx, "pause", true, why)
}

// Resume ends a pause.
func (c *Controller) Resume(ctx context.Context, why string) (*Plan, error) {
	return c.setPaused(ctx, "resume", false, why)
}

func (c *Controller) setPaused(ctx context.Context, what string, paused bool, why string) (*Plan, error) {
	return c.change(ctx, what, why, func(next *Plan, _ *Change) error {
		if next.Paused == paused {
			return fmt.Errorf("paused is %t already", paused)
		}
		next.Paused = paused
		return nil
	})
}

func (c *Controller) change(ctx context.Context, what, why string, f func(*Plan, *Change) error) (*Plan, error) {
	return c.store.change(ctx, Change{By: c.by, What: what, Why: why}, func(next *Plan, change *Change) error {
		if c.shown != nil && (next.Epoch != c.shown.Epoch || next.Seq != c.shown.Seq) {
			return ErrConflict
		}
		if err := f(next, change); err != nil {
			return err
		}
		if next.Stable == "" {
			return fmt.Errorf("%w: publish first, so that every replica has something to run", ErrNoPlan)
		}
		return nil
	})
}
