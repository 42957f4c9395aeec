package store

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// entry is the value of a subject: a message of state or reports.
type entry struct {
	subject string
	data    []byte
	seq     uint64    // in the stream; 0: there is none
	at      time.Time // by the clock of the node that led the stream
}

func entryOf(m *jetstream.RawStreamMsg) entry { return entry{m.Subject, m.Data, m.Sequence, m.Time} }

// follower keeps the memory of a node like a stream. It takes the news that JetStream
// sends at once, and asks the leader of the stream every second for all that it has
// not taken yet. So it needs no consumer, which could be lost or late, and a lost
// message costs a second.
//
// Each value has the sequence of its message, and the memory takes only later ones.
// So a follower may take messages twice or too early.
type follower struct {
	store  *Store
	stream jetstream.Stream
	name   string

	mu       sync.Mutex // one message at a time
	last     uint64     // all messages up to this one were taken
	backward int        // how often in a row the stream ended before last
	again    bool       // the stream is read from its beginning

	caught atomic.Pointer[time.Time] // when the last poll that reached the end began
}

func newFollower(s *Store, stream jetstream.Stream) *follower {
	f := &follower{store: s, stream: stream, name: stream.CachedInfo().Config.Name}
	f.caught.Store(&time.Time{})
	return f
}

// caughtUp returns a time before which nothing was stored that the memory lacks.
func (f *follower) caughtUp() time.Time { return *f.caught.Load() }

// take gives a value to the memory.
func (f *follower) take(e entry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.takeLocked(e)
}

func (f *follower) takeLocked(e entry) {
	f.store.learn(e)
	if e.seq == f.last+1 {
		f.last = e.seq
	}
}

// news takes a message that JetStream says it has stored.
func (s *Store) news(m *nats.Msg) {
	f := s.state
	if m.Header.Get("Nats-Stream") == reportsStream {
		f = s.reports
	}
	seq, err := strconv.ParseUint(m.Header.Get("Nats-Sequence"), 10, 64)
	at, err2 := time.Parse(time.RFC3339Nano, m.Header.Get("Nats-Time-Stamp"))
	if errors.Join(err, err2) != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.takeLocked(entry{strings.TrimPrefix(m.Subject, newsPrefix), m.Data, seq, at})
	if seq > f.last {
		select {
		case s.kick <- struct{}{}:
		default:
		}
	}
}

// maxAway is how long a node may hear nothing and rely on tombstones.
const maxAway = tombstoneTTL / 2

// poll takes all that the stream has after last.
func (f *follower) poll(ctx context.Context) error {
	began := time.Now()
	short, cancel := context.WithTimeoutCause(ctx, attemptTimeout, errNoAnswer)
	info, err := f.stream.Info(short)
	if err == nil {
		err = f.store.led(info.Cluster)
	}
	err = explain(short, err)
	cancel()
	if err != nil {
		return err
	}
	f.mu.Lock()
	last := f.last
	if info.State.LastSeq < last {
		f.backward++
	} else {
		f.backward = 0
	}
	// A leader that was deposed may know less. Twice in a row means that the stream
	// has begun anew: reports are lost when all nodes were down, and a majority may
	// have been set back.
	f.again = f.again || f.backward > 1 || began.Sub(f.caughtUp()) > maxAway
	again := f.again
	if again {
		f.last, f.backward, last = 0, 0, 0
	}
	f.mu.Unlock()
	if again {
		f.store.forgetSeqs(f.name)
	}
	for info.State.LastSeq > last {
		message, err := ask(ctx, func(ctx context.Context) (*jetstream.RawStreamMsg, error) {
			return f.stream.GetMsg(ctx, last+1, jetstream.WithGetMsgSubject(">"))
		})
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			break
		}
		if err != nil {
			return err
		}
		last = message.Sequence
		f.mu.Lock()
		f.store.learn(entryOf(message))
		f.last = max(f.last, last)
		f.mu.Unlock()
	}
	if again {
		f.store.forgetUnseen(f.name)
		f.mu.Lock()
		f.again = false
		f.mu.Unlock()
	}
	f.caught.Store(&began)
	return nil
}

// led returns an error unless the leader has answered and has a majority: a node that
// follows nobody answers, too, and one that lost the others leads for some time.
func (s *Store) led(c *jetstream.ClusterInfo) error {
	if s.o.Cluster == nil {
		return nil
	}
	there := 0
	if c != nil && c.Leader != "" {
		there = 1
		for _, peer := range c.Replicas {
			if !peer.Offline && peer.Active < quiet {
				there++
			}
		}
	}
	if size := s.o.Cluster.size(); 2*there <= size {
		return errorOf(ErrUnavailable, "%d of %d nodes are there", there, size)
	}
	return nil
}

// learn gives a value to the memory, and logs one that cannot be read.
func (s *Store) learn(e entry) {
	kind, name, id, ok := parts(e.subject)
	if !ok {
		s.log.Error("fleetd: the store has a message of an unknown subject", slog.String("subject", e.subject))
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	switch kind {
	case planKind:
		if err = s.memory.setPlan(name, e); err == nil && s.began.Load() == nil {
			s.stock(s.memory.names[name])
		}
	case revisionKind:
		err = s.memory.setRevision(name, id, e)
	case tokenKind:
		err = s.memory.setToken(name, e)
	case reportKind:
		err = s.memory.setReport(name, id, e)
	}
	if err != nil {
		s.log.Error("fleetd: the store has a damaged value", slog.String("kind", kind), slog.String("name", name), slog.String("id", id), slog.Any("error", err))
	}
}
