package fleet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/poolswap/poolswap/fleet/internal/clock"
)

// DefaultReportTTL is how long a report of a replica is kept: three times
// reload.DefaultEvery and a little.
const DefaultReportTTL = 200 * time.Second

// SetupOptions configure [Setup]. The zero SetupOptions will do for one server.
type SetupOptions struct {
	// Replicas is how many servers of a cluster keep each message: 1, 3 or 5; 0
	// stands for 1.
	Replicas int

	// ReportTTL is how long a replica that is silent is still listed, by the clock of
	// the server; 0 stands for DefaultReportTTL. It must be longer than the replicas'
	// reload.Options.Every.
	ReportTTL time.Duration
}

// Setup creates what a fleet needs on the server, or changes its settings. It
// needs a user that may create streams; publishers and replicas need no such.
func Setup(ctx context.Context, conn *nats.Conn, options SetupOptions) error {
	if options.Replicas < 0 || options.ReportTTL < 0 {
		return errors.New("fleet: Setup with a negative Replicas or ReportTTL")
	}
	replicas, ttl := max(options.Replicas, 1), options.ReportTTL
	if ttl == 0 {
		ttl = DefaultReportTTL
	}
	js, err := jetstream.New(conn)
	if err != nil {
		return fmt.Errorf("fleet: %w", err)
	}
	_, err = js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: plansBucket, Description: "which revision replicas want", History: 1, Replicas: replicas})
	if err == nil {
		_, err = js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: reportsBucket, Description: "what replicas run", History: 1, TTL: ttl, Replicas: replicas})
	}
	if err == nil {
		_, err = js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: contentBucket, Description: "content, an object a revision", Replicas: replicas})
	}
	if err == nil {
		_, err = js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{Name: historyStream, Description: "changes of plans", Subjects: []string{historySubject + ".>"}, Replicas: replicas, DenyDelete: true})
	}
	if err == nil {
		err = forbidRollup(ctx, js, reportsBucket)
	}
	if err != nil {
		return fmt.Errorf("fleet: Setup: %w", err)
	}
	return nil
}

// forbidRollup makes the server refuse messages that replace others by a header,
// which a bucket takes for Purge: one who may write one report could remove all.
func forbidRollup(ctx context.Context, js jetstream.JetStream, bucket string) error {
	stream, err := js.Stream(ctx, "KV_"+bucket)
	if err != nil {
		return err
	}
	config := stream.CachedInfo().Config
	config.AllowRollup = false
	_, err = js.UpdateStream(ctx, config)
	return err
}

// store is what a fleet keeps on the server. It is opened when it is first used:
// the server may be down when a replica starts.
type store struct {
	conn *nats.Conn
	name string

	mu      sync.Mutex // guards what follows
	js      jetstream.JetStream
	plans   jetstream.KeyValue
	reports jetstream.KeyValue
	content jetstream.ObjectStore
}

// requestTimeout bounds a request of which ctx says nothing.
const requestTimeout = 5 * time.Second

var errNoAnswer = fmt.Errorf("the server does not answer within %v", requestTimeout)

// within returns ctx with a deadline, which nats.go wants.
func within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, requestTimeout, errNoAnswer)
}

// explained says in an error of a request whose deadline has passed that it was
// the server that did not answer. ctx is what within returned.
func explained(ctx context.Context, err error) error {
	if err != nil && context.Cause(ctx) == errNoAnswer { //nolint:errorlint // the very cause
		return fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	return err
}

// connectTimeout bounds how long a request waits for a connection that is being
// made or made again. Without a connection nats.go would let it wait to its end.
const connectTimeout = 2 * time.Second

// connected waits until there is a connection.
func (s *store) connected(ctx context.Context) error {
	status := s.conn.StatusChanged(nats.CONNECTED, nats.CLOSED)
	defer s.conn.RemoveStatusListener(status)
	if s.conn.IsConnected() {
		return nil
	}
	if s.conn.IsClosed() {
		return s.notConnected()
	}
	timer := time.NewTimer(connectTimeout)
	defer timer.Stop()
	select {
	case now := <-status:
		if now == nats.CONNECTED {
			return nil
		}
		return s.notConnected()
	case <-timer.C:
		return s.notConnected()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// notConnected says why there is no connection, and whether there will be one.
func (s *store) notConnected() error {
	what := "there is no connection to the server"
	if s.conn.IsClosed() {
		what = "the connection to the server is closed and does not come back"
	}
	if err := s.conn.LastError(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return errors.New(what)
}

// open waits for a connection and opens what was not opened yet.
func (s *store) open(ctx context.Context) (err error) {
	defer func() { err = explained(ctx, err) }()
	if err := s.connected(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.js == nil {
		if s.js, err = jetstream.New(s.conn); err != nil {
			return err
		}
	}
	if s.plans == nil {
		if s.plans, err = s.js.KeyValue(ctx, plansBucket); err != nil {
			return notSetUp(err)
		}
	}
	if s.content == nil {
		if s.content, err = s.js.ObjectStore(ctx, contentBucket); err != nil {
			return notSetUp(err)
		}
	}
	return nil
}

// notSetUp says what to do about a bucket that is missing.
func notSetUp(err error) error {
	if errors.Is(err, jetstream.ErrBucketNotFound) || errors.Is(err, jetstream.ErrStreamNotFound) {
		return fmt.Errorf("%w: call fleet.Setup first", err)
	}
	return err
}

// Codes of the server for a store that is full, for which nats.go has no names.
const (
	codeNoResources jetstream.ErrorCode = 10023
	codeNoStorage   jetstream.ErrorCode = 10047
)

// named puts the name before an error. A server does not answer what a user may
// not ask: it tells the connection, which knows that then.
func (s *store) named(err error) error {
	if err == nil {
		return nil
	}
	timeout := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, jetstream.ErrAsyncPublishTimeout)
	var api *jetstream.APIError
	switch last := s.conn.LastError(); {
	case timeout && errors.Is(last, nats.ErrPermissionViolation):
		err = fmt.Errorf("%w: %w", last, err)
	case errors.Is(err, jetstream.ErrAsyncPublishTimeout):
		err = fmt.Errorf("%w (is the disk of the server full, or the majority of its cluster away?)", err)
	case errors.As(err, &api) && (api.ErrorCode == codeNoResources || api.ErrorCode == codeNoStorage):
		err = fmt.Errorf("%w (the server has no room: Retain makes some)", err)
	}
	return fmt.Errorf("fleet: %s: %w", s.name, err)
}

// plan returns the plan and the revision of its value, straight from the server.
func (s *store) plan(ctx context.Context) (*Plan, uint64, error) {
	ctx, cancel := within(ctx)
	defer cancel()
	if err := s.open(ctx); err != nil {
		return nil, 0, err
	}
	entry, err := s.plans.Get(ctx, token(s.name))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, 0, ErrNoPlan
	}
	if err != nil {
		return nil, 0, explained(ctx, err)
	}
	p, err := decodePlan(entry.Value())
	return p, entry.Revision(), err
}

// change makes the next plan by f, which gets a copy of the current one or, under
// a new name, an empty plan. It compares and sets: if somebody else changes the
// plan meanwhile, that change stands and this one ends with ErrConflict.
func (s *store) change(ctx context.Context, change Change, f func(next *Plan, change *Change) error) (*Plan, error) {
	current, revision, err := s.plan(ctx)
	if errors.Is(err, ErrNoPlan) {
		current = &Plan{Epoch: newEpoch(0)}
	} else if err != nil {
		return nil, s.named(err)
	}
	next := current.clone()
	if err := f(next, &change); err != nil {
		return nil, s.named(err)
	}
	next.Seq++
	change.Epoch, change.Seq, change.At = next.Epoch, next.Seq, clock.Now().UTC()
	next.Change = change
	next.forget()
	if current.Seq > 0 { // the one who made it may have ended before this
		if err := s.record(ctx, current.Change); err != nil {
			return nil, s.named(fmt.Errorf("the history: %w", err))
		}
	}
	if err := s.put(ctx, next, revision); err != nil {
		return nil, s.named(err)
	}
	s.record(ctx, change) //nolint:errcheck // the plan has it, and the next change records it
	return next, nil
}

// headerSize is what the header of a plan has at most. The server counts it in.
const headerSize = 128

// put writes a plan in place of the one of revision.
func (s *store) put(ctx context.Context, next *Plan, revision uint64) error {
	value, err := next.encode()
	if err != nil {
		return err
	}
	if limit := s.conn.MaxPayload() - headerSize; limit > 0 && int64(len(value)) > limit {
		return fmt.Errorf("the plan has %d bytes, and the server takes %d: remove pins, name fewer replicas, or say why in fewer words", len(value), limit)
	}
	ctx, cancel := within(ctx)
	defer cancel()
	if revision == 0 {
		_, err = s.plans.Create(ctx, token(s.name), value)
	} else {
		_, err = s.plans.Update(ctx, token(s.name), value, revision)
	}
	var api *jetstream.APIError
	if errors.Is(err, jetstream.ErrKeyExists) || errors.As(err, &api) && api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence {
		return fmt.Errorf("%w: %w", ErrConflict, err)
	}
	return explained(ctx, err)
}
