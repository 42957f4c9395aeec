package rollout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/poolswap/poolswap/bench/internal/runner"
	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/reload"
)

// name is the name that each measurement publishes.
const name = "table"

// team is a fleetd, with the users and settings of `fleetd serve`, a publisher, and
// replicas that have swapped once because a watcher told them, so every watcher is
// at work.
type team struct {
	*process
	wire      wire
	conns     []*nats.Conn
	publisher *fleet.Publisher
	replicas  *replicas
}

func newTeam(n, size int) (*team, error) {
	server, err := start("github.com/poolswap/poolswap/fleet", "fleetd", func(dir string) []string {
		return []string{"serve", "-addr", "127.0.0.1:0", "-dir", dir}
	})
	if err != nil {
		return nil, err
	}
	t := &team{process: server}
	if err := t.prepare(n, size); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

func (t *team) prepare(n, size int) error {
	conn, err := t.connect("publisher")
	if err != nil {
		return err
	}
	if t.publisher, err = fleet.NewPublisher(conn, name, fleet.PublisherOptions{By: "bench"}); err != nil {
		return err
	}
	first, _, err := t.publisher.Publish(context.Background(), strings.NewReader("first"), "")
	if err != nil {
		return err
	}
	t.replicas, err = startReplicas(n, size, reload.DefaultEvery, func(i int) (reload.Source, func(reload.Event), error) {
		conn, err := t.connect("replica")
		if err != nil {
			return nil, nil, err
		}
		source, err := fleet.NewSource(conn, name, fleet.SourceOptions{ID: fmt.Sprintf("replica-%06d", i), Logger: silent})
		if err != nil {
			return nil, nil, err
		}
		return source, source.Observe, nil
	})
	if err != nil {
		return err
	}
	if _, err := t.replicas.await(first.ID, time.Now()); err != nil {
		return err
	}
	_, _, err = t.publish([]byte("second"))
	return err
}

// connect returns a connection of a user.
func (t *team) connect(user string) (*nats.Conn, error) {
	password, err := os.ReadFile(filepath.Join(t.dir, user+".password"))
	if err != nil {
		return nil, err
	}
	conn, err := nats.Connect(t.url, nats.UserInfo(user, strings.TrimSpace(string(password))), nats.SetCustomDialer(&t.wire),
		nats.MaxReconnects(-1), nats.Timeout(time.Minute))
	if err == nil {
		t.conns = append(t.conns, conn)
	}
	return conn, err
}

// publish publishes content, waits until every replica has it and returns the
// times until Publish had returned and until the last replica had swapped. Of a
// publication that was refused and repeated, they are those of the last call.
func (t *team) publish(content []byte) (published, last time.Duration, err error) {
	const mostTries = 10
	var begin time.Time
	var revision fleet.Revision
	for tries := 0; tries == 0 || overrun(err) && tries < mostTries; tries++ {
		begin = time.Now()
		revision, _, err = t.publisher.Publish(context.Background(), bytes.NewReader(content), "")
		published = time.Since(begin)
	}
	if err == nil {
		last, err = t.replicas.await(revision.ID, begin)
	}
	if err == nil {
		err = t.flush() // the reports
	}
	if err == nil {
		err = t.replicas.check(revision.ID, content)
	}
	return published, last, err
}

// overrun reports whether the server has refused content because it came faster
// than the disk took it: a stream lets 128 MiB wait.
func overrun(err error) bool {
	const tooManyRequests = 10167 // JSStreamTooManyRequests of the server
	var api *jetstream.APIError
	return errors.As(err, &api) && api.ErrorCode == tooManyRequests
}

// flush waits until the server has everything that was sent to it.
func (t *team) flush() error {
	for _, conn := range t.conns {
		if err := conn.FlushTimeout(time.Minute); err != nil {
			return err
		}
	}
	return nil
}

func (t *team) close() {
	if t.replicas != nil {
		t.replicas.stop()
	}
	for _, conn := range t.conns {
		conn.Close()
	}
	t.process.close()
}

// randomBytes returns content that does not compress.
func randomBytes(size, seed int) []byte {
	content := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{byte(seed)}).Read(content)
	return content
}

// JetStream measures a publication of size bytes to n replicas by a fleetd. Where
// keep is false, replicas only read and hash content.
func JetStream(n, size int, keep bool) (runner.Sample, error) {
	kept := 0
	if keep {
		kept = size
	}
	content := randomBytes(size, 0)
	t, err := newTeam(n, kept)
	if err != nil {
		return runner.Sample{}, err
	}
	defer t.close()
	time.Sleep(settle)
	before, _ := runner.ProcessorTime(t.command.Process.Pid)
	published, last, err := t.publish(content)
	return t.sample(n, published, last, before), err
}

// Idle measures the cost of n replicas that have nothing to do, by replica and
// minute. They ask for the plan once in the window, which should be
// reload.DefaultEvery: it begins half of that after they all asked last.
func Idle(n int, window time.Duration) (runner.Sample, error) {
	t, err := newTeam(n, 0)
	if err != nil {
		return runner.Sample{}, err
	}
	defer t.close()
	messages := func() (all float64) {
		for _, conn := range t.conns {
			stats := conn.Stats()
			all += float64(stats.InMsgs + stats.OutMsgs)
		}
		return all
	}
	pid := t.command.Process.Pid
	time.Sleep(window / 2)
	before, bytes, sent := messages(), t.wire.bytes.Load(), time.Now()
	cpu, _ := runner.ProcessorTime(pid)
	time.Sleep(window)
	if err := t.flush(); err != nil {
		return runner.Sample{}, err
	}
	per := float64(n) * time.Since(sent).Minutes()
	values := map[string]float64{"msgs": (messages() - before) / per, "wire-bytes": float64(t.wire.bytes.Load()-bytes) / per}
	if now, ok := runner.ProcessorTime(pid); ok {
		values["server-cpu-ns"] = float64(now-cpu) / per
	}
	return runner.Sample{Iterations: n, Values: values}, nil
}

// wire counts the bytes that go through connections in both directions, protocol
// included.
type wire struct{ bytes atomic.Int64 }

// Dial implements nats.CustomDialer.
func (w *wire) Dial(network, address string) (net.Conn, error) {
	c, err := net.Dial(network, address)
	return &countedConn{c, w}, err
}

type countedConn struct {
	net.Conn
	wire *wire
}

func (c *countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.wire.bytes.Add(int64(n))
	return n, err
}

func (c *countedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.wire.bytes.Add(int64(n))
	return n, err
}
