// Package store keeps plans, history, reports, content and tokens of a fleet. It runs
// a server of NATS inside the process, which no client can reach, and keeps all in
// its JetStream: on one node, or on a cluster of nodes, of which a majority has what
// was acknowledged.
//
// Each node has all plans, tokens, reports and descriptions of revisions in memory,
// and follows the streams: reading asks nobody. It has content on its disk by digest,
// and fetches the rest from the stream of content when it is asked for.
package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// DefaultReserve stands for Options.Reserve of 0.
const DefaultReserve = 256 << 20

// Options configure [Open].
type Options struct {
	Dir     string       // of this node alone
	Reserve int64        // bytes of the disk that content leaves free; 0 stands for DefaultReserve, a negative number for none
	Quota   int64        // bytes of content that a name may have; 0: no limit
	Cluster *Cluster     // nil: one node
	Logger  *slog.Logger // nil: slog.Default()

	// For tests; 0 stands for the constants.
	reportTTL    time.Duration
	maxRevisions int
}

// reportTTL is how long a replica is listed after its last report.
const reportTTL = 10 * time.Minute

// maxRevisions bounds the stored revisions of a name, which each node has in memory.
const maxRevisions = 10_000

const (
	dirMode  = 0o700
	fileMode = 0o600
)

// Store is one node of a store. All its methods can be called by many goroutines at
// once. Errors name the name; their kinds are those of this package, ErrConflict and
// ErrNoPlan of package fleet, and the error of a ctx that has ended.
type Store struct {
	o      Options
	node   string // "single" without a cluster
	log    *slog.Logger
	unlock func()
	server *server.Server
	conn   *nats.Conn
	js     jetstream.JetStream

	ctx   context.Context // until Close
	end   context.CancelFunc
	tasks sync.WaitGroup

	began atomic.Pointer[error] // why begin has not ended yet; nil: it has
	stuck atomic.Bool           // JetStream could not write
	kick  chan struct{}         // a follower has missed a message

	// These are set before began is nil, and never again.
	history, content jetstream.Stream
	state, reports   *follower

	mu      sync.Mutex // guards the rest
	closed  bool       // no further tasks begin
	memory  memory
	flights map[string]*flight   // by digest: content on its way to the disk
	uploads map[string]bool      // subjects of chunks that Put or Verify is storing
	spare   map[string]nodeSpare // by node: bytes above the reserve

	verifying bool // files, since another node asks for it
}

// Open starts a node. One without a cluster is ready when Open returns. One of a
// cluster becomes ready when it has found a majority, see [Store.Ready]; until then
// all methods return ErrUnavailable. ctx bounds Open alone.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.Reserve == 0 {
		o.Reserve = DefaultReserve
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.reportTTL == 0 {
		o.reportTTL = reportTTL
	}
	if o.maxRevisions == 0 {
		o.maxRevisions = maxRevisions
	}
	s := &Store{o: o, node: "single", log: o.Logger, kick: make(chan struct{}, 1), flights: map[string]*flight{}, uploads: map[string]bool{}, spare: map[string]nodeSpare{}}
	s.memory.init(s.dropFile)
	s.ctx, s.end = context.WithCancel(context.Background())
	starting := errors.New("the node is starting")
	s.began.Store(&starting)
	if o.Cluster != nil {
		s.node = o.Cluster.Node
	}
	if err := s.open(ctx); err != nil {
		s.Close()
		return nil, fmt.Errorf("the store in %s: %w", o.Dir, err)
	}
	return s, nil
}

func (s *Store) open(ctx context.Context) (err error) {
	if err := os.MkdirAll(s.contentDir(), dirMode); err != nil {
		return err
	}
	if s.unlock, err = lock(s.o.Dir); err != nil {
		return err
	}
	if err := s.start(); err != nil {
		return err
	}
	if s.o.Cluster == nil {
		if err := s.begin(ctx); err != nil {
			return err
		}
	}
	s.tasks.Go(s.keep)
	return nil
}

// Close ends the node. Calls that run meanwhile fail.
func (s *Store) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.end()
	s.tasks.Wait()
	if s.conn != nil {
		s.conn.Close()
	}
	if s.server != nil {
		s.server.Shutdown()
		s.server.WaitForShutdown()
	}
	if s.unlock != nil {
		s.unlock()
		s.unlock = nil
	}
	return nil
}

// begin creates the streams or finds them, and reads what they have.
func (s *Store) begin(ctx context.Context) error {
	if err := s.openStreams(ctx); err != nil {
		return err
	}
	for _, f := range []*follower{s.state, s.reports} {
		if err := f.poll(ctx); err != nil {
			return err
		}
	}
	s.tidyFiles()
	if err := s.checkCopies(ctx); err != nil {
		return err
	}
	if err := s.stockAll(); err != nil {
		return err
	}
	s.began.Store(nil)
	return nil
}

// usable returns why the node can do nothing yet, or does nothing any more.
func (s *Store) usable() error {
	if s.ctx.Err() != nil {
		return errorOf(ErrUnavailable, "the server ends")
	}
	if why := s.began.Load(); why != nil {
		return errorOf(ErrUnavailable, "%w", *why)
	}
	return nil
}

// writable returns why the node cannot store anything.
func (s *Store) writable() error {
	if err := s.usable(); err != nil {
		return err
	}
	if s.stuck.Load() || !s.server.JetStreamEnabled() {
		return errorOf(ErrFull, "JetStream has stopped, since the disk is full or broken: it starts again when there is room")
	}
	return nil
}

// quiet is the time without an answer by the majority after which a node is not ready.
const quiet = 5 * time.Second

// Ready returns why this node cannot serve changes now, or nil. Plans that it has it
// serves all the same, once it was ready.
func (s *Store) Ready() error {
	if err := s.usable(); err != nil {
		return err
	}
	if err := s.writable(); err != nil {
		return err
	}
	if silence := time.Since(s.state.caughtUp()); silence > quiet {
		return errorOf(ErrUnavailable, "no majority of the nodes has answered for %v", silence.Round(time.Second))
	}
	return nil
}

// Leader reports whether this node is the one that drives rollouts. Two may believe
// so for some seconds; only one can change plans.
func (s *Store) Leader() bool {
	return s.Ready() == nil && (s.o.Cluster == nil || s.server.JetStreamIsStreamLeader(server.DEFAULT_GLOBAL_ACCOUNT, stateStream))
}

// The pace of a node.
const (
	pollEvery   = time.Second
	sweepEvery  = time.Hour
	reviveEvery = 5 * time.Second
)

// keep makes the node ready and keeps its memory current, until Close.
func (s *Store) keep() {
	var revive, sweep time.Time
	for s.ctx.Err() == nil {
		if (s.stuck.Load() || !s.server.JetStreamEnabled()) && time.Since(revive) > reviveEvery {
			s.revive()
			revive = time.Now()
		}
		switch err := s.keepOnce(); {
		case err != nil:
			s.log.Debug("fleetd: the node is not current", slog.Any("error", err))
		case time.Since(sweep) > sweepEvery && s.sweepUploads(s.ctx) == nil:
			sweep = time.Now()
		}
		s.forgetReports(time.Now())
		s.tellSpare()
		select {
		case <-s.ctx.Done():
		case <-s.kick:
		case <-time.After(pollEvery):
		}
	}
}

// keepOnce makes the node ready, or its memory current.
func (s *Store) keepOnce() error {
	if s.began.Load() == nil {
		return errors.Join(s.state.poll(s.ctx), s.reports.poll(s.ctx))
	}
	if err := s.begin(s.ctx); err != nil {
		why := fmt.Errorf("the node waits for the others: %w", err)
		s.began.Store(&why)
		return why
	}
	s.log.Info("fleetd: the node is ready", slog.String("node", s.node))
	return nil
}

func (s *Store) contentDir() string { return filepath.Join(s.o.Dir, "content") }
