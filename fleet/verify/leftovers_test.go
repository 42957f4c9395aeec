package verify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/reload"
)

// consumers returns how many consumers the streams of a fleet have.
func consumers(t testing.TB, conn *nats.Conn) (n int) {
	t.Helper()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	streams := js.ListStreams(t.Context())
	for info := range streams.Info() {
		n += info.State.Consumers
	}
	if err := streams.Err(); err != nil {
		t.Fatal(err)
	}
	return n
}

// leavesNothing calls use and fails the test if consumers or subscriptions are
// left.
func leavesNothing(t testing.TB, admin, conn *nats.Conn, what string, use func()) {
	t.Helper()
	subscriptions := conn.NumSubscriptions()
	use()
	eventually(t, what+" leaves no consumer", func() bool { return consumers(t, admin) == 0 })
	if now := conn.NumSubscriptions(); now > subscriptions+1 { // one for the answers to requests
		t.Errorf("%s leaves %d subscriptions, there were %d", what, now, subscriptions)
	}
}

func TestNothingIsLeftOnTheServer(t *testing.T) {
	long(t)
	verifyNoLeak(t)
	rounds := 30
	m := newTeam(t, 0)
	m.publish(t, strings.Repeat("content", 1<<18))
	admin, conn := m.dial(), m.dial()
	r := newReplica(t, conn, "r", fleet.SourceOptions{})
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	errEarly := errors.New("early")
	early := reload.New(r.objects, r.source, func(_ context.Context, _, _ *object, content *reload.Content) error {
		content.Body.Read(make([]byte, 1))
		return reload.Retryable(errEarly)
	}, reload.Options{Logger: quiet})
	controller, err := fleet.NewController(conn, "table", "bob")
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	leavesNothing(t, admin, conn, "a transfer that is given up", func() {
		for range rounds {
			if err := early.Reload(t.Context()); !errors.Is(err, errEarly) {
				t.Fatal(err)
			}
		}
	})
	leavesNothing(t, admin, conn, "a look at the fleet", func() {
		for range rounds {
			if _, err := controller.History(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := controller.Status(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := controller.Verify(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	})
	leavesNothing(t, admin, conn, "a Wait that is given up", func() {
		for i := range rounds {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%5)*time.Millisecond)
			if err := r.source.Wait(ctx, r.Reloader.Status().Revision); err == nil {
				t.Fatal("Wait returned nil without news")
			}
			cancel()
		}
	})
	t.Logf("%d rounds each in %v", rounds, time.Since(began))
}

// A replica whose connection breaks again and again uses one watcher, and leaves
// none behind.
func TestManyReconnectionsLeaveNoConsumers(t *testing.T) {
	long(t)
	verifyNoLeak(t)
	reconnections := 500
	m := newTeam(t, 0)
	m.publish(t, "first")
	conn, admin := m.dial(), m.dial()
	r := run(t, conn, "r", fleet.SourceOptions{})
	r.awaitText(t, "first")
	most := 0
	for i := range reconnections {
		before := conn.Stats().Reconnects
		if err := conn.ForceReconnect(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "it is connected again", func() bool { return conn.Stats().Reconnects > before && conn.IsConnected() })
		if i%10 == 0 {
			most = max(most, consumers(t, admin))
		}
	}
	t.Logf("up to %d consumers", most)
	if most > 4 { // one watches, the others are of transfers that were interrupted
		t.Errorf("up to %d consumers", most)
	}
	m.publish(t, "last")
	r.awaitText(t, "last")
	r.stop()
	eventually(t, "no consumer is left", func() bool { return consumers(t, admin) == 0 })
}

// Plans that come while a replica is busy do not hold up anything that is left
// behind when it stops.
func TestAWatcherThatIsNotReadIsClosed(t *testing.T) {
	verifyNoLeak(t)
	m := newTeam(t, 0)
	first := m.publish(t, "content")
	conn := m.dial()
	r := newReplica(t, conn, "r", fleet.SourceOptions{})
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	admin := m.dial()
	tamper(t, admin, func(*fleet.Plan) {})
	wait := func(have string) error { return r.source.Wait(ctx, have) }
	if err := wait("another"); err != nil { // the watcher stays open
		t.Fatal(err)
	}
	for range 600 {
		tamper(t, admin, func(*fleet.Plan) {})
	}
	time.Sleep(100 * time.Millisecond) // they come
	cancel()
	eventually(t, "Wait ends", func() bool { return wait(first.ID) != nil })
	eventually(t, "no consumer is left", func() bool { return consumers(t, admin) == 0 })
}

// A server that comes back without its store cannot go on with a transfer, which
// still ends with its ctx.
func TestATransferOfContentThatIsGoneEndsWithItsContext(t *testing.T) {
	verifyNoLeak(t)
	p := newPartitioned(t, time.Minute)
	p.publish(t, &pattern{left: 8 << 20})
	conn := dialAlert(t, fmt.Sprintf("nats://127.0.0.1:%d", p.port))
	r := newReplica(t, conn, "r", fleet.SourceOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := r.loads(1<<20, func() {
		p.kill()
		if err := os.RemoveAll(p.dir); err != nil {
			t.Error(err)
		}
		before := conn.Stats().Reconnects
		p.launch()
		go func() {
			for t.Context().Err() == nil && conn.Stats().Reconnects == before {
				time.Sleep(time.Millisecond)
			}
			time.Sleep(100 * time.Millisecond) // it is told that there is no such stream
			cancel()
		}()
	}).Reload(ctx)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the attempt ends with %v", err)
	}
}

// A transfer goes on when the server was restarted in the middle, with the chunks
// that it did not have yet.
func TestATransferGoesOnWithARestartedServer(t *testing.T) {
	long(t)
	p := newPartitioned(t, time.Minute)
	published := p.publish(t, &pattern{left: 8 << 20})
	r := newReplica(t, p.dial(), "r", fleet.SourceOptions{})
	if err := r.loads(1<<20, func() {
		p.kill()
		p.launch()
	}).Reload(t.Context()); err != nil || int64(len(r.text())) != published.Size { // its SHA-256 was checked
		t.Errorf("%v, %d bytes", err, len(r.text()))
	}
}
