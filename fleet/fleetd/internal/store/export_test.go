package store

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"
)

// What tests of the package see besides.
var (
	NameToken = token
	FromToken = untoken
	NewEpoch  = newEpoch
)

const MaxEpoch = maxEpoch

// NewServerLogger returns the logger of a server of NATS.
func NewServerLogger(log *slog.Logger) server.Logger {
	return &serverLogger{log: log, stuck: new(atomic.Bool), last: map[string]time.Time{}}
}

// WithReportTTL makes reports last for less than ten minutes.
func (o Options) WithReportTTL(ttl time.Duration) Options {
	o.reportTTL = ttl
	return o
}

// WithMaxRevisions lets a name have fewer revisions.
func (o Options) WithMaxRevisions(n int) Options {
	o.maxRevisions = n
	return o
}

// Inject stores a message that the package would not store.
func (s *Store) Inject(ctx context.Context, value string, kind string, names ...string) error {
	_, err := s.js.Publish(ctx, subject(kind, names...), []byte(value))
	return err
}

// Stored returns a value as it is stored.
func (s *Store) Stored(ctx context.Context, kind string, names ...string) (string, error) {
	e, err := s.get(ctx, s.state, subject(kind, names...))
	return string(e.data), err
}

// Messages returns how many messages a stream has.
func (s *Store) Messages(ctx context.Context, stream string) (uint64, error) {
	one, err := s.js.Stream(ctx, stream)
	if err != nil {
		return 0, err
	}
	info, err := one.Info(ctx)
	if err != nil {
		return 0, err
	}
	return info.State.Msgs, nil
}

// DropMessage deletes the first message of a stream.
func (s *Store) DropMessage(ctx context.Context, stream string) error {
	one, err := s.js.Stream(ctx, stream)
	if err != nil {
		return err
	}
	return one.DeleteMsg(ctx, one.CachedInfo().State.FirstSeq)
}

// Spoil replaces the chunks of a revision.
func (s *Store) Spoil(ctx context.Context, name, id, text string) error {
	d := s.described(name)[id]
	if err := s.dropChunks(ctx, d.Chunks); err != nil {
		return err
	}
	_, err := s.js.Publish(ctx, d.Chunks, []byte(text))
	return err
}

// Sweep removes the rests of uploads.
func (s *Store) Sweep(ctx context.Context) error { return s.sweepUploads(ctx) }

// ReadAgain makes the node read state and reports from their beginning, after the values
// of a kind were lost.
func (s *Store) ReadAgain(ctx context.Context, lost string) error {
	for _, f := range []*follower{s.state, s.reports} {
		if err := f.stream.Purge(ctx, jetstream.WithPurgeSubject(lost+".>")); err != nil {
			return err
		}
		f.mu.Lock()
		f.again = true
		f.mu.Unlock()
		if err := f.poll(ctx); err != nil {
			return err
		}
	}
	return nil
}

// CutConnection closes the connection to JetStream, which comes back.
func (s *Store) CutConnection() error { return s.conn.ForceReconnect() }

// Config returns the settings of a stream.
func (s *Store) Config(ctx context.Context, stream string) (jetstream.StreamConfig, error) {
	one, err := s.js.Stream(ctx, stream)
	if err != nil {
		return jetstream.StreamConfig{}, err
	}
	return one.CachedInfo().Config, nil
}

// Unclaim makes the claims of a name look old.
func Unclaim(s *Store, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, d := range s.memory.names[name].revisions {
		old := *d
		old.Claimed = false
		s.memory.names[name].revisions[id] = &old
	}
}
