package verify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/reload"
)

// object is what replicas run.
type object struct {
	poolswap.Ref
	text []byte
}

var quiet = slog.New(slog.DiscardHandler)

var errBad = errors.New("bad row 3")

// replica is one of a fleet.
type replica struct {
	*reload.Reloader
	id      string
	objects *poolswap.Container[object, *object]
	source  *fleet.Source
	stop    func()

	mu   sync.Mutex
	runs []string // the revisions that it loaded, one after another
	bad  []string // the revisions that it refused
}

// loadObject refuses "bad".
func loadObject(_ context.Context, next, _ *object, content *reload.Content) (err error) {
	if next.text, err = io.ReadAll(content.Body); err == nil && string(next.text) == "bad" {
		err = errBad
	}
	return err
}

// newReplica returns a replica of the name "table" that does not run yet.
func newReplica(t testing.TB, conn *nats.Conn, id string, options fleet.SourceOptions) *replica {
	t.Helper()
	options.ID, options.Logger = id, quiet
	source, err := fleet.NewSource(conn, "table", options)
	if err != nil {
		t.Fatal(err)
	}
	pool := poolswap.NewPool(func() *object { return new(object) }, nil)
	r := &replica{id: id, source: source, objects: poolswap.NewEmptyContainer(pool)}
	r.Reloader = reload.New(r.objects, source, loadObject, reload.Options{Every: time.Second, Logger: quiet, Observe: func(e reload.Event) {
		source.Observe(e)
		r.mu.Lock()
		defer r.mu.Unlock()
		switch e.Outcome {
		case reload.Loaded, reload.Unchanged:
			r.runs = append(r.runs, e.Revision)
		case reload.Failed:
			if e.Revision != "" {
				r.bad = append(r.bad, e.Revision)
			}
		}
	}})
	return r
}

// run starts a replica that runs until the test ends or stop is called.
func run(t testing.TB, conn *nats.Conn, id string, options fleet.SourceOptions) *replica {
	t.Helper()
	r := newReplica(t, conn, id, options)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.Run(ctx)
	}()
	r.stop = func() {
		cancel()
		<-ended
	}
	t.Cleanup(r.stop)
	return r
}

// text returns what the replica's readers get.
func (r *replica) text() string {
	obj := r.objects.Acquire()
	defer r.objects.Release(obj)
	if obj == nil {
		return ""
	}
	return string(obj.text)
}

// awaitText waits until the replica's readers get want.
func (r *replica) awaitText(t testing.TB, want string) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s has %q, it has %q", r.id, want, r.text()), func() bool { return r.text() == want })
}
