package store

import (
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// The nodes tell each other how much room they have: a node whose disk is full is
// lost until it is restarted.
const (
	sparePrefix  = "spare."
	spareForgets = 10 * time.Second
)

// nodeSpare is the disk of another node above its reserve.
type nodeSpare struct {
	bytes int64
	heard time.Time
}

// Disk returns the bytes of the disk of this node that are free and that are free above
// the reserve, and whether they are known.
func (s *Store) Disk() (free, spare int64, known bool) {
	free, known = diskFree(s.o.Dir)
	return free, free - max(s.o.Reserve, 0), known
}

func (s *Store) tellSpare() {
	if _, spare, known := s.Disk(); known && s.o.Cluster != nil {
		s.conn.Publish(sparePrefix+s.node, strconv.AppendInt(nil, spare, 10)) //nolint:errcheck // the next one comes
	}
}

func (s *Store) hearSpare(m *nats.Msg) {
	bytes, err := strconv.ParseInt(string(m.Data), 10, 64)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spare[strings.TrimPrefix(m.Subject, sparePrefix)] = nodeSpare{bytes, time.Now()}
}

// checkRoom returns an error if a node has no room for more bytes of content.
func (s *Store) checkRoom(more int64) error {
	if s.o.Reserve < 0 {
		return nil
	}
	if _, spare, known := s.Disk(); known && spare < more {
		return errFull("this node", spare, more)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for node, spare := range s.spare {
		if node != s.node && time.Since(spare.heard) < spareForgets && spare.bytes < more {
			return errFull("node "+node, spare.bytes, more)
		}
	}
	return nil
}

func errFull(where string, spare, more int64) error {
	return errorOf(ErrFull, "the disk of %s has %d bytes above its reserve, and %d are needed: delete files beside the store, keep fewer revisions, or lower -reserve", where, max(spare, 0), more)
}

// floor is the free space that even plans leave: JetStream stops where there is none.
func (s *Store) floor() int64 { return max(s.o.Reserve, 0) / 8 }

// checkFloor returns an error if the disk of this node has no room for more bytes of
// plans, or of content that it has to serve.
func (s *Store) checkFloor(more int64) error {
	if free, known := diskFree(s.o.Dir); known && free-more < s.floor() {
		return errorOf(ErrFull, "the disk has %d free bytes, and JetStream could stop: delete files beside the store, or lower -reserve", free)
	}
	return nil
}
