package fleet

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/poolswap/poolswap/reload"
)

// SourceOptions configure a [Source].
type SourceOptions struct {
	// ID names the replica in plans and reports. No two replicas of a name may have
	// the same. It should survive a restart, as a host name does: pins and canaries
	// name it.
	ID string

	// Labels are for selections, such as region=eu. At most 20, and 4 KiB in all.
	Labels map[string]string

	// Keys, if there are any, are those of publishers: content whose revision none
	// of them has signed is refused.
	Keys []ed25519.PublicKey

	// Floor refuses revisions that were created before it, by the clocks of their
	// publishers; the clock of the replica does not matter. So no plan goes back to
	// content that must not run any more.
	Floor time.Time

	// Health, if not nil, returns the requests and errors since the process began,
	// and a latency. It is called for each report, and must return at once. A rollout
	// compares replicas by it.
	Health func() Health

	// ReportEvery is the time between two reports, of a second to MaxReportEvery; 0
	// stands for DefaultReportEvery.
	ReportEvery time.Duration

	// Logger receives Warn for a new epoch, and when the server cannot be reached for
	// hints or reports; nil stands for slog.Default().
	Logger *slog.Logger
}

// DefaultReportEvery is the default of SourceOptions.ReportEvery.
const DefaultReportEvery = 30 * time.Second

// Source is a reload.Source that follows the plan of a name. Wrap it into a
// reload.Cache, so that a replica that restarts while the server is down has content.
// Pass Observe as reload.Options.Observe, so that it reports. One Source serves one
// Reloader, whose Run calls Wait and so learns of plans at once.
//
// A Source never goes back to an earlier plan, whatever a server sends, for as long as
// the process lives. A replica that starts serves the content of its Cache until the
// server answers.
type Source struct {
	client  *Client
	name    string
	options SourceOptions
	health  *healthCount // nil without SourceOptions.Health

	mu      sync.Mutex           // guards the fields below
	plan    *Plan                // the latest, nil before the first
	looked  version              // of the plan that the last Fetch used, or that Wait found to change nothing
	failed  bool                 // the last Fetch failed
	busy    bool                 // a Fetch has begun, and its attempt has not come to Observe
	fetches int                  // that have begun
	fetched time.Time            // the last of them began
	changed chan struct{}        // closed when any of these changes
	avoided map[string]time.Time // mirrors that sent wrong bytes, and when
	follower
	reporter
}

// version is the place of a plan in the order of plans.
type version struct{ epoch, seq uint64 }

// NewSource returns a Source of a name. It makes no request.
func NewSource(client *Client, name string, options SourceOptions) (*Source, error) {
	if client == nil {
		return nil, errors.New("fleet: NewSource with a nil Client")
	}
	options.ReportEvery = cmp.Or(options.ReportEvery, DefaultReportEvery)
	report := Report{ID: options.ID, Labels: maps.Clone(options.Labels), Every: options.ReportEvery}
	if err := errors.Join(CheckName("name", name), report.Check()); err != nil {
		return nil, fmt.Errorf("fleet: NewSource: %w", err)
	}
	labels, err := encode(options.Labels)
	switch {
	case err != nil || len(labels) > maxLabelBytes:
		return nil, fmt.Errorf("fleet: NewSource with labels of more than %d bytes", maxLabelBytes)
	case options.ReportEvery < time.Second:
		return nil, errors.New("fleet: NewSource with a ReportEvery of less than a second")
	}
	for _, key := range options.Keys {
		if len(key) != ed25519.PublicKeySize {
			return nil, fmt.Errorf("fleet: NewSource with a key of %d bytes, not %d", len(key), ed25519.PublicKeySize)
		}
	}
	options.Labels, options.Keys = report.Labels, slices.Clone(options.Keys)
	if options.Logger == nil {
		options.Logger = slog.Default()
	}
	s := &Source{client: client, name: name, options: options, changed: make(chan struct{}), avoided: map[string]time.Time{}}
	s.report, s.due, s.next = report, never, time.Now().Add(pollRest) // a Fetch usually begins at once
	s.leaving, s.leave = context.WithCancel(context.Background())
	if options.Health != nil {
		s.health = &healthCount{read: options.Health}
	}
	return s, nil
}

// String returns the name.
func (s *Source) String() string { return "fleet " + s.name }

// Identity returns the name, and which keys and floor the Source has. So a
// reload.Cache does not use content that was kept under others.
func (s *Source) Identity() string {
	text := s.String()
	if len(s.options.Keys) > 0 {
		all := sha256.New()
		for _, key := range slices.SortedFunc(slices.Values(s.options.Keys), func(a, b ed25519.PublicKey) int { return bytes.Compare(a, b) }) {
			all.Write(key)
		}
		text += fmt.Sprintf(", keys %x", all.Sum(nil)[:8])
	}
	if !s.options.Floor.IsZero() {
		text += ", since " + s.options.Floor.UTC().Format(time.RFC3339Nano)
	}
	return text
}

// Fetch implements reload.Source: it returns the content of the revision that the plan
// wants this replica to have. It asks for the plan each time, but for scheduled attempts
// while a poll of Wait is open: that poll tells of a later plan.
func (s *Source) Fetch(ctx context.Context, have string) (*reload.Content, error) {
	s.set(func() { s.busy, s.fetches, s.fetched = true, s.fetches+1, time.Now() })
	content, err := s.fetch(ctx, have)
	s.set(func() { s.failed, s.reached = err != nil && !errors.Is(err, reload.ErrNotModified), false })
	return content, err
}

func (s *Source) fetch(ctx context.Context, have string) (*reload.Content, error) {
	plan, err := s.polled(ctx)
	if plan == nil && err == nil {
		plan, err = s.client.plan(ctx, s.name, "", 0)
	}
	if err != nil {
		return nil, err
	}
	s.set(func() {
		s.accept(plan)
		plan = s.plan
		s.looked = version{plan.Epoch, plan.Seq}
	})
	want := plan.Wanted(s.options.ID, s.options.Labels)
	if plan.Paused && have != "" {
		current, named := plan.Revisions[have]
		if !named {
			return nil, reload.ErrNotModified
		}
		want = current
	}
	if err := s.check(want); err != nil { // also of the current one: a Cache may have kept it from before the floor
		return nil, &refusedError{want.ID, err}
	}
	if want.ID == have {
		return nil, reload.ErrNotModified
	}
	if want.Base != "" {
		return s.chain(ctx, want, s.trusted(plan.Mirrors))
	}
	body, err := openTransfer(&transfer{client: s.client, name: s.name, ctx: ctx, want: want, mirrors: s.trusted(plan.Mirrors), avoid: s.avoid})
	if err != nil {
		return nil, err
	}
	return contentOf(body), nil
}

// polled returns the latest plan or the failure of the last poll if the attempt of ctx is
// scheduled and Wait runs, which has the one connection of the replica. It returns nothing
// if the server must be asked. An open poll that no server holds any more ends soon.
func (s *Source) polled(ctx context.Context) (*Plan, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.plan == nil || !reload.Scheduled(ctx):
	case s.cut():
		return nil, s.failure
	case s.open:
		return s.plan, nil
	}
	return nil, nil
}

// plan returns the plan of a name, or nil if the server has waited in vain for one later
// than after.
func (c *Client) plan(ctx context.Context, name, after string, wait time.Duration) (*Plan, error) {
	query := url.Values{}
	if after != "" {
		query.Set("after", after)
	}
	if wait > 0 {
		query.Set("wait", wait.String())
	}
	plan := new(Plan)
	op := "get the plan of " + name
	status, err := c.do(ctx, &request{op: op, method: http.MethodGet, path: []string{"names", name, "plan"}, query: query, into: plan, wait: wait})
	switch {
	case err != nil:
		return nil, err
	case status == http.StatusNoContent && after != "":
		return nil, nil
	case plan.Name != name: // also of an answer without one
		return nil, fmt.Errorf("fleet: %s: the server sent a plan of %q", op, oneLine(plan.Name))
	}
	return plan, nil
}

// set changes fields under mu, and wakes Wait.
func (s *Source) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	s.wake()
}

// wake makes Wait look again. The caller has mu.
func (s *Source) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// accept takes a plan if it is later than the latest. The caller has mu.
func (s *Source) accept(plan *Plan) bool {
	if s.plan != nil && !plan.After(s.plan.Epoch, s.plan.Seq) {
		return false
	}
	if s.plan != nil && plan.Epoch != s.plan.Epoch {
		s.options.Logger.Warn("fleet: the plans of the server begin anew", slog.String("name", s.name),
			slog.Uint64("epoch", plan.Epoch), slog.Uint64("seq", plan.Seq), slog.Uint64("epoch_before", s.plan.Epoch), slog.Uint64("seq_before", s.plan.Seq))
	}
	s.plan = plan
	return true
}

// check returns why this replica must not run a revision.
func (s *Source) check(want Revision) error {
	if err := want.check(s.name, s.options.Keys); err != nil {
		return err
	}
	if want.Created.Before(s.options.Floor) {
		return fmt.Errorf("it was created at %v, before the floor of this replica, %v", want.Created, s.options.Floor)
	}
	return nil
}

// refusedError is the error of a revision that check refuses.
type refusedError struct {
	revision string
	err      error
}

func (e *refusedError) Error() string {
	return fmt.Sprintf("revision %q of the plan is refused: %v", e.revision, e.err)
}

func (e *refusedError) Unwrap() error { return e.err }
