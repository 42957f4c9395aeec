package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"
)

// The streams. Of each subject of state, reports and history the last message counts
// alone: one is a value.
const (
	stateStream   = "state"   // plan.NAME, revision.NAME.ID, token.ID
	reportsStream = "reports" // report.NAME.ID
	historyStream = "history" // history.NAME.EPOCH.SEQ
	contentStream = "content" // chunk.NODE.UPLOAD

	planKind, revisionKind, tokenKind, reportKind = "plan", "revision", "token", "report"

	// JetStream tells of each stored message of state and reports there. A message
	// can be missed: followers ask, too.
	newsPrefix = "new."
)

// tombstoneTTL is how long a removed revision or token is remembered, so that nodes
// which were away hear of it. One that was away for longer reads all again.
const tombstoneTTL = 24 * time.Hour

// maxReportsBytes bounds the memory of reports.
const maxReportsBytes = 512 << 20

func (s *Store) streamConfigs() []jetstream.StreamConfig {
	replicas := 1
	if s.o.Cluster != nil {
		replicas = s.o.Cluster.size()
	}
	news := &jetstream.RePublish{Source: ">", Destination: newsPrefix + ">"}
	all := []jetstream.StreamConfig{
		{Name: stateStream, Subjects: []string{"plan.*", "revision.*.*", "token.*"}, MaxMsgsPerSubject: 1, AllowMsgTTL: true, RePublish: news},
		{Name: reportsStream, Subjects: []string{"report.*.*"}, MaxMsgsPerSubject: 1, Storage: jetstream.MemoryStorage, MaxAge: s.o.reportTTL, MaxBytes: maxReportsBytes, Discard: jetstream.DiscardNew, RePublish: news},
		{Name: historyStream, Subjects: []string{"history.*.*.*"}, MaxMsgsPerSubject: 1, DenyDelete: true},
		{Name: contentStream, Subjects: []string{"chunk.*.*"}, AllowDirect: true}, // a chunk never changes: any node may answer
	}
	for i := range all {
		all[i].Replicas = replicas
	}
	return all
}

// openStreams creates the streams or changes their settings where they differ.
func (s *Store) openStreams(ctx context.Context) error {
	if s.state != nil {
		return nil
	}
	streams := map[string]jetstream.Stream{}
	for _, config := range s.streamConfigs() {
		one, err := s.openStream(ctx, config)
		if err != nil {
			return fmt.Errorf("stream %s: %w", config.Name, err)
		}
		streams[config.Name] = one
	}
	s.history, s.content = streams[historyStream], streams[contentStream]
	s.state, s.reports = newFollower(s, streams[stateStream]), newFollower(s, streams[reportsStream])
	_, err := s.conn.Subscribe(newsPrefix+">", s.news)
	_, err2 := s.conn.Subscribe(sparePrefix+"*", s.hearSpare)
	_, err3 := s.conn.Subscribe(verifyPrefix+"*", s.hearVerify)
	return errors.Join(err, err2, err3)
}

func (s *Store) openStream(ctx context.Context, config jetstream.StreamConfig) (jetstream.Stream, error) {
	short, cancel := context.WithTimeoutCause(ctx, pollEvery, errNoAnswer)
	one, err := s.js.Stream(short, config.Name)
	cancel()
	ctx, cancel = context.WithTimeoutCause(ctx, requestTimeout, errNoAnswer)
	defer cancel()
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound):
		one, err = s.js.CreateStream(ctx, config)
	case err == nil && differs(one.CachedInfo().Config, config):
		one, err = s.js.UpdateStream(ctx, config)
	}
	return one, explain(ctx, err)
}

// differs reports whether a setting that this version makes is another one.
func differs(is, want jetstream.StreamConfig) bool {
	return is.Replicas != want.Replicas || is.MaxAge != want.MaxAge || is.MaxBytes != max(want.MaxBytes, -1) && want.MaxBytes != 0 ||
		is.MaxMsgsPerSubject != want.MaxMsgsPerSubject && want.MaxMsgsPerSubject != 0 || is.AllowMsgTTL != want.AllowMsgTTL ||
		is.DenyDelete != want.DenyDelete || is.AllowDirect != want.AllowDirect || (is.RePublish == nil) != (want.RePublish == nil)
}

// checkCopies returns an error until this node's copies of the streams have all that the
// leaders' have. A node that were ready before that would let an upgrade go on to the
// next one, and with the last node that has all of it the reports would end, which are
// in memory alone.
func (s *Store) checkCopies(ctx context.Context) error {
	if s.o.Cluster == nil {
		return nil
	}
	for _, stream := range []jetstream.Stream{s.state.stream, s.reports.stream, s.history, s.content} {
		info, err := ask(ctx, func(ctx context.Context) (*jetstream.StreamInfo, error) { return stream.Info(ctx) })
		if err != nil {
			return err
		}
		current := info.Cluster != nil && (info.Cluster.Leader == s.node || slices.ContainsFunc(info.Cluster.Replicas, func(p *jetstream.PeerInfo) bool { return p.Name == s.node && p.Current }))
		if name := info.Config.Name; !current || !s.server.JetStreamIsStreamCurrent(server.DEFAULT_GLOBAL_ACCOUNT, name) {
			return errorOf(ErrUnavailable, "this node catches up with the others in %s", name)
		}
	}
	return nil
}

// get returns the last message of a subject as a majority has it. It is zero if there
// is none.
func (s *Store) get(ctx context.Context, f *follower, subject string) (entry, error) {
	message, err := ask(ctx, func(ctx context.Context) (*jetstream.RawStreamMsg, error) {
		return f.stream.GetLastMsgForSubject(ctx, subject)
	})
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return entry{subject: subject}, nil
	}
	if err != nil {
		return entry{}, err
	}
	return entryOf(message), nil
}

// whatever stands for any sequence.
const whatever = 1<<64 - 1

// set stores a value of a subject in place of the one of sequence expect, and tells
// this node of it. It returns when a majority has it. If the error is overtaken, the
// subject has another value, and had this one before that at most; after
// ErrUnavailable nothing is known.
func (s *Store) set(ctx context.Context, f *follower, subject string, value []byte, expect uint64, options ...jetstream.PublishOpt) error {
	if f == s.state && len(value) > 0 {
		if err := s.checkFloor(0); err != nil {
			return err
		}
	}
	options = append(options, jetstream.WithExpectStream(f.name))
	if expect != whatever {
		options = append(options, jetstream.WithExpectLastSequencePerSubject(expect))
	}
	seq, err := ask(ctx, func(ctx context.Context) (uint64, error) {
		ack, err := s.js.Publish(ctx, subject, value, options...)
		if overtaken(err) {
			return s.seqOf(ctx, f, subject, value, expect, err)
		}
		if err != nil {
			return 0, err
		}
		return ack.Sequence, nil
	})
	if err != nil {
		return err
	}
	f.take(entry{subject, value, seq, time.Now()})
	return nil
}

// seqOf returns the sequence of a value that JetStream has refused as overtaken. It
// can be stored all the same: by an attempt that was not answered, or since two nodes
// believed to lead, of which the wrong one answered first.
func (s *Store) seqOf(ctx context.Context, f *follower, subject string, value []byte, expect uint64, refusal error) (uint64, error) {
	stored, err := s.get(ctx, f, subject)
	switch {
	case err != nil:
		return 0, err
	case stored.seq <= expect: // by what was it overtaken?
		return 0, errorOf(ErrUnavailable, "it is not known whether the change was stored, look before you try again: %w", refusal)
	case !bytes.Equal(stored.data, value):
		return 0, refusal
	}
	return stored.seq, nil
}
