package fleet

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/poolswap/poolswap/reload"
)

// SourceOptions configure a [Source].
type SourceOptions struct {
	// ID names the replica in plans and reports. No two replicas of a name may
	// have the same. It should survive a restart, as a host name does: pins and
	// canaries name it.
	ID string

	// Keys, if there are any, are those of publishers: content whose revision none
	// of them has signed is refused.
	Keys []ed25519.PublicKey

	// Floor refuses revisions that were created before it, by the clocks of their
	// publishers; the clock of the replica does not matter. It keeps who writes
	// plans from going back to content that must not run any more.
	Floor time.Time

	// Logger receives Warn for a new epoch; nil stands for slog.Default().
	Logger *slog.Logger
}

// Source is a reload.Source that follows the plan of a name. Wrap it into a
// reload.Cache, so that a replica that restarts while the server is down has what
// it had. Pass Observe as reload.Options.Observe, so that it reports what the
// replica runs. One Source serves one Reloader.
//
// A Source fetches the plan straight from the server each time. It never goes
// back to an earlier plan of the same epoch, whatever a server sends.
// That is for as long as the process lives: what a Cache has kept is what was
// loaded last when the process ended, or what was before if it was killed between
// the swap and the record of it. A replica that starts serves that until the
// server answers.
type Source struct {
	store   store
	options SourceOptions

	mu     sync.Mutex // guards what follows
	plan   *Plan      // the latest, nil before the first
	report Report

	watch planWatch // of Wait, which one goroutine calls at a time
}

// NewSource returns a Source of a name. It does not talk to the server yet, which
// may be down: connect with ReplicaOptions, so that conn comes back by itself.
// Without nats.IgnoreAuthErrorAbort nats.go closes conn for good when the server
// has refused it twice, as it does once a token has expired: the replica goes on
// serving what it has, and each Fetch fails and says so, until the program connects
// anew.
//
// How soon conn notices that a network has gone silent is up to nats.PingInterval
// (30 s by ReplicaOptions, else 2 minutes), and takes two to three of it. Requests
// fail after 5 s meanwhile, and the replica asks again.
func NewSource(conn *nats.Conn, name string, options SourceOptions) (*Source, error) {
	if conn == nil {
		return nil, errors.New("fleet: NewSource with a nil Conn")
	}
	if err := errors.Join(checkName("name", name), checkName("id of the replica (ID)", options.ID)); err != nil {
		return nil, err
	}
	for _, key := range options.Keys {
		if len(key) != ed25519.PublicKeySize {
			return nil, fmt.Errorf("fleet: NewSource with a key of %d bytes, not %d", len(key), ed25519.PublicKeySize)
		}
	}
	if options.Logger == nil {
		options.Logger = slog.Default()
	}
	s := &Source{store: store{conn: conn, name: name}, options: options}
	s.report.ID = options.ID
	return s, nil
}

// String returns the name.
func (s *Source) String() string { return "fleet " + s.store.name }

// Identity returns the name, and which keys and floor the Source has. So a
// reload.Cache does not use what was kept under others.
func (s *Source) Identity() string {
	text := s.String()
	if len(s.options.Keys) > 0 {
		all := sha256.New()
		for _, key := range slices.SortedFunc(slices.Values(s.options.Keys), func(a, b ed25519.PublicKey) int { return bytes.Compare(a, b) }) {
			all.Write(key)
		}
		text += fmt.Sprintf(", keys %x", all.Sum(nil)[:4])
	}
	if !s.options.Floor.IsZero() {
		text += ", since " + s.options.Floor.UTC().Format(time.RFC3339Nano)
	}
	return text
}

// Fetch implements reload.Source: it returns the content of the revision that the
// plan wants this replica to have.
func (s *Source) Fetch(ctx context.Context, have string) (*reload.Content, error) {
	plan, _, err := s.store.plan(ctx)
	if err != nil {
		return nil, err
	}
	plan = s.accept(plan)
	want := plan.Wanted(s.options.ID)
	if plan.Paused && have != "" {
		return nil, reload.ErrNotModified
	}
	if err := s.check(want); err != nil { // also of what it has: a Cache may have kept it from before the floor
		return nil, &refusedError{want.ID, err}
	}
	if want.ID == have {
		return nil, reload.ErrNotModified
	}
	body, err := s.store.openContent(ctx, want)
	if err != nil {
		return nil, err
	}
	return &reload.Content{Revision: want.ID, Size: want.Size, Modified: want.Created, Body: body, Verify: func(sum [sha256.Size]byte) error {
		if got := hex.EncodeToString(sum[:]); got != want.SHA256 {
			return fmt.Errorf("its SHA-256 is %s, and %s was published", got, want.SHA256)
		}
		return nil
	}}, nil
}

// accept returns the later one of the plan that the server has and of the latest
// plan that was seen. A plan of another epoch is of a server that has lost its
// plans: it is accepted here alone, where it came as the answer to a question.
func (s *Source) accept(plan *Plan) *Plan {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.plan == nil || plan.after(s.plan):
		s.plan = plan
	case plan.Epoch != s.plan.Epoch:
		s.options.Logger.Warn("fleet: the plans of the server begin anew", slog.String("name", s.store.name),
			slog.Uint64("epoch", plan.Epoch), slog.Uint64("seq", plan.Seq), slog.Uint64("epoch_before", s.plan.Epoch), slog.Uint64("seq_before", s.plan.Seq))
		s.plan = plan
	}
	return s.plan
}

// check refuses what the plan must not make this replica load.
func (s *Source) check(want Revision) error {
	if err := want.check(s.store.name, s.options.Keys); err != nil {
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

// latest returns the latest plan that was seen, or nil.
func (s *Source) latest() *Plan {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.plan
}
