package fleet

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Stored is content that the server keeps.
type Stored struct {
	Revision           // zero but for ID if Store did not end
	At       time.Time // the server stored it, or a change last claimed it, by its clock
	Name     string    // of its object

	chunks string // id of them
}

// Stored returns what the server keeps of a name, the newest first.
func (c *Controller) Stored(ctx context.Context) ([]Stored, error) {
	all, _, err := c.store.stored(ctx)
	return all, c.store.named(err)
}

// stored returns what is stored of the name, the newest first, and which chunks
// objects of any name have.
func (s *store) stored(ctx context.Context) (all []Stored, chunks map[string]bool, err error) {
	ctx, cancel := within(ctx)
	defer cancel()
	if err := s.open(ctx); err != nil {
		return nil, nil, err
	}
	infos, err := s.content.List(ctx)
	if err != nil && !errors.Is(err, jetstream.ErrNoObjectsFound) {
		return nil, nil, explained(ctx, err)
	}
	chunks = map[string]bool{}
	for _, info := range infos {
		chunks[info.NUID] = true
		if !strings.HasPrefix(info.Name, token(s.name)+"/") {
			continue
		}
		one := Stored{At: info.ModTime, Name: info.Name, chunks: info.NUID}
		json.Unmarshal([]byte(info.Metadata[metadataKey]), &one.Revision) //nolint:errcheck // then it is no revision
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b Stored) int { return b.At.Compare(a.At) })
	return all, chunks, nil
}

// DefaultMinAge is how old content must be before [Controller.Retain] deletes it.
const DefaultMinAge = 24 * time.Hour

// RetainOptions configure [Controller.Retain].
type RetainOptions struct {
	Keep   int           // how many revisions are kept beside those in use; at least 1
	MinAge time.Duration // 0 stands for DefaultMinAge
}

// Retain deletes old content and returns what it deleted. It keeps what the plan
// names, what a replica reports, what a change within MinAge was about, which a
// replica may be loading, the newest Keep of the other revisions, and all that is
// younger than MinAge. What a Publisher did not finish is deleted once it is older,
// of every name.
//
// Ages are by the clock of the server alone: that of the caller, of a Publisher or
// of a replica may be wrong. If the server's is set an hour ahead, what was stored
// before is an hour older.
func (c *Controller) Retain(ctx context.Context, options RetainOptions) ([]Stored, error) {
	if options.Keep < 1 || options.MinAge < 0 {
		return nil, c.store.named(fmt.Errorf("Retain with Keep %d and MinAge %v: at least 1, and not negative", options.Keep, options.MinAge))
	}
	gone, err := c.store.retain(ctx, options.Keep, cmp.Or(options.MinAge, DefaultMinAge))
	return gone, c.store.named(err)
}

func (s *store) retain(ctx context.Context, keep int, minAge time.Duration) (gone []Stored, err error) {
	// What is stored comes first: what is published after that is not on the list.
	state, err := s.contentState(ctx)
	if err != nil {
		return nil, err
	}
	before := state.now.Add(-minAge)
	all, chunks, err := s.stored(ctx)
	if err != nil {
		return nil, err
	}
	used, err := s.used(ctx, before)
	if err != nil {
		return nil, err
	}
	for _, one := range all {
		switch {
		case one.At.After(before), used[one.ID]:
			continue
		case one.ID != "" && keep > 0:
			keep--
			continue
		}
		deleted, err := s.deleteUnclaimed(ctx, one, before)
		if err != nil {
			return gone, err
		}
		if !deleted {
			continue
		}
		gone = append(gone, one)
	}
	return gone, s.sweepChunks(ctx, state, chunks, before)
}

// used returns the revisions that somebody wants, runs, or may be loading.
func (s *store) used(ctx context.Context, since time.Time) (map[string]bool, error) {
	used := map[string]bool{}
	if err := s.eachChange(ctx, (&wantedSince{since: since, used: used}).add); err != nil {
		return nil, err
	}
	status, err := s.status(ctx)
	if err != nil {
		return nil, err
	}
	for _, id := range status.Plan.named() {
		used[id] = true
	}
	for _, r := range status.Replicas {
		used[r.Revision], used[r.Failed] = true, true
	}
	delete(used, "") // an object that is no revision
	return used, nil
}

// wantedSince collects which revisions were wanted after a time. A change names what
// it begins, and not all that it ends: a publication ends a canary, too.
type wantedSince struct {
	since          time.Time
	used           map[string]bool
	stable, canary string // after the last change
}

// add takes the next change, and when it was stored, or zero for now.
func (w *wantedSince) add(c Change, stored time.Time) {
	if stored.IsZero() || stored.After(w.since) {
		for _, id := range []string{w.stable, w.canary, c.From, c.To} {
			w.used[id] = true
		}
	}
	switch c.What {
	case canaryChange:
		w.canary = c.To
	case "publish", "promote", "rollback", "restore":
		w.stable, w.canary = c.To, ""
	}
}

// Verify reads the content of every stored revision, and of those that the plan
// names, and returns an error that names each one whose bytes are not those that
// were published.
func (c *Controller) Verify(ctx context.Context) (checked int, err error) {
	stored, _, err := c.store.stored(ctx)
	if err != nil {
		return 0, c.store.named(err)
	}
	plan, _, err := c.store.plan(ctx)
	if err != nil && !errors.Is(err, ErrNoPlan) {
		return 0, c.store.named(err)
	}
	all := map[string]Revision{}
	for _, one := range stored {
		if one.ID != "" {
			all[one.ID] = one.Revision
		}
	}
	if plan != nil {
		maps.Copy(all, plan.Revisions)
	}
	var bad []error
	for _, id := range slices.Sorted(maps.Keys(all)) {
		if err := c.store.copyContent(ctx, io.Discard, all[id]); err != nil {
			bad = append(bad, c.store.named(err))
		}
	}
	return len(all), errors.Join(bad...)
}

// copyContent copies the content of a revision, and checks it.
func (s *store) copyContent(ctx context.Context, w io.Writer, r Revision) error {
	body, err := s.openContent(ctx, r)
	if err != nil {
		return err
	}
	defer body.Close()
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(w, sum), body); err != nil {
		return fmt.Errorf("the content of revision %q: %w", r.ID, err)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != r.SHA256 {
		return fmt.Errorf("the SHA-256 of revision %q is %s, and %s was published", r.ID, got, r.SHA256)
	}
	return nil
}
