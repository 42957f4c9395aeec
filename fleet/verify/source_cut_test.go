package verify

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/poolswap/poolswap/fleet"
)

// What an HTTP body or a gzip stream that was cut off ends with is no end.
func TestContentThatWasCutOffIsNotPublished(t *testing.T) {
	m := newTeam(t, 0)
	first := m.publish(t, "one")
	for _, length := range []int{0, 1, 128 << 10, 200 << 10} {
		cut := io.MultiReader(strings.NewReader(strings.Repeat("x", length)), iotest.ErrReader(io.ErrUnexpectedEOF))
		if _, _, err := m.publisher.Publish(t.Context(), cut, ""); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d bytes and an unexpected end: Publish returned %v", length, err)
		}
	}
	if status, err := m.Status(t.Context()); err != nil || status.Plan.Stable != first.ID {
		t.Errorf("the plan is %+v, %v", status, err)
	}
}

// pieces is content in pieces of a chunk's length. Before each it calls before.
type pieces struct {
	count, sent int
	before      func(i int)
}

func (p *pieces) Read(b []byte) (int, error) {
	if p.sent == p.count {
		return 0, io.EOF
	}
	p.before(p.sent)
	p.sent++
	n := min(len(b), 128<<10)
	for i := range n {
		b[i] = byte(p.sent)
	}
	return n, nil
}

// Without a leader a cluster has no responder for a while. A chunk that is sent
// again then must not come after those that followed it.
func TestChunksAreStoredInTheirOrder(t *testing.T) {
	h := newHost(t)
	conn := h.dial()
	js, err := jetstream.New(h.dial())
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), "OBJ_poolswap-content")
	if err != nil {
		t.Fatal(err)
	}
	config := stream.CachedInfo().Config
	all := config.Subjects
	listen := func(subjects []string) {
		if err := conn.Flush(); err != nil { // the server has the pieces before
			t.Error(err)
		}
		config.Subjects = subjects
		if _, err := js.UpdateStream(t.Context(), config); err != nil {
			t.Error(err)
		}
	}
	publisher, err := fleet.NewPublisher(conn, "table", fleet.PublisherOptions{By: "alice"})
	if err != nil {
		t.Fatal(err)
	}
	revision, _, err := publisher.Publish(t.Context(), &pieces{count: 8, before: func(i int) {
		switch i {
		case 3:
			listen(all[1:]) // all but those of chunks
		case 4:
			listen(all)
		}
	}}, "")
	if err == nil {
		c, err := fleet.NewController(h.dial(), "table", "bob")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Verify(t.Context()); err != nil {
			t.Errorf("revision %s is published and damaged: %v", revision.ID, err)
		}
	} else if !errors.Is(err, jetstream.ErrNoStreamResponse) {
		t.Errorf("Publish returned %v", err)
	}
}
