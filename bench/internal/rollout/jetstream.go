package rollout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/poolswap/poolswap/bench/internal/measure"
	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/reload"
)

// name is what is published in each measurement.
const name = "table"

// host is a fleetd that runs, with the users and settings of `fleetd serve`.
type host struct {
	*process
	dir      string
	url      string
	accounts map[string]string // files with passwords
	wire     wire
	mu       sync.Mutex
	conns    []*nats.Conn
}

func startFleetd() (*host, error) {
	program, err := fleetd()
	if err != nil {
		return nil, err
	}
	h := &host{accounts: map[string]string{}}
	if h.dir, err = os.MkdirTemp("", "bench-fleetd-"); err != nil {
		return nil, err
	}
	if h.process, err = start(program, "serve", "-addr", "127.0.0.1:0", "-dir", h.dir); err != nil {
		return nil, err
	}
	if h.url, err = h.line("serving at "); err != nil {
		h.close()
		return nil, err
	}
	for _, user := range []string{"replica", "publisher"} {
		h.accounts[user] = filepath.Join(h.dir, user+".password")
	}
	return h, nil
}

// connect returns a connection of a user.
func (h *host) connect(user string) (*nats.Conn, error) {
	password, err := os.ReadFile(h.accounts[user])
	if err != nil {
		return nil, err
	}
	conn, err := nats.Connect(h.url, nats.UserInfo(user, strings.TrimSpace(string(password))), nats.SetCustomDialer(&h.wire),
		nats.MaxReconnects(-1), nats.Timeout(time.Minute))
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	h.conns = append(h.conns, conn)
	h.mu.Unlock()
	return conn, nil
}

// flush waits until the server has everything that was sent to it.
func (h *host) flush() error {
	for _, conn := range h.conns {
		if err := conn.FlushTimeout(time.Minute); err != nil {
			return err
		}
	}
	return nil
}

// messages returns how many went to the server or came from it.
func (h *host) messages() (n float64) {
	for _, conn := range h.conns {
		stats := conn.Stats()
		n += float64(stats.InMsgs + stats.OutMsgs)
	}
	return n
}

func (h *host) close() {
	for _, conn := range h.conns {
		conn.Close()
	}
	h.stop()
	_ = os.RemoveAll(h.dir)
}

// startReplicas starts replicas that follow this server.
func (h *host) startReplicas(n, size int) (*replicas, error) {
	return startReplicas(n, size, reload.DefaultEvery, func(i int) (reload.Source, func(reload.Event), error) {
		conn, err := h.connect("replica")
		if err != nil {
			return nil, nil, err
		}
		source, err := fleet.NewSource(conn, name, fleet.SourceOptions{ID: fmt.Sprintf("replica-%06d", i), Logger: silent})
		if err != nil {
			return nil, nil, err
		}
		return source, source.Observe, nil
	})
}

// team is a server with a publisher and replicas that have swapped once because a
// watcher told them, so every watcher is at work.
type team struct {
	*host
	publisher *fleet.Publisher
	replicas  *replicas
	refused   float64 // publications, see overrun
}

func newTeam(n, size int) (*team, error) {
	h, err := startFleetd()
	if err != nil {
		return nil, err
	}
	t := &team{host: h}
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
	if t.replicas, err = t.startReplicas(n, size); err != nil {
		return err
	}
	if _, err := t.replicas.await(first.ID, time.Now()); err != nil {
		return err
	}
	_, _, err = t.publish([]byte("second"))
	return err
}

// publish publishes content, waits until every replica has it and returns the
// times until Publish had returned and until each replica had swapped. Of a
// publication that was refused and repeated, they are those of the last call.
func (t *team) publish(content []byte) (published time.Duration, swapped []time.Duration, err error) {
	var begin time.Time
	var revision fleet.Revision
	for tries := 0; tries == 0 || overrun(err) && tries < mostTries; tries++ {
		begin = time.Now()
		revision, _, err = t.publisher.Publish(context.Background(), bytes.NewReader(content), "")
		published = time.Since(begin)
		if overrun(err) {
			t.refused++
		}
	}
	if err != nil {
		return 0, nil, err
	}
	if swapped, err = t.replicas.await(revision.ID, begin); err != nil {
		return 0, nil, err
	}
	if err := t.flush(); err != nil { // the reports
		return 0, nil, err
	}
	return published, swapped, t.replicas.check(revision.ID, content)
}

const mostTries = 10

// overrun reports whether the server has refused content because it came faster
// than the disk took it: a stream lets 128 MiB wait.
func overrun(err error) bool {
	const tooManyRequests = 10167 // JSStreamTooManyRequests of the server
	var api *jetstream.APIError
	return errors.As(err, &api) && api.ErrorCode == tooManyRequests
}

func (t *team) close() {
	if t.replicas != nil {
		t.replicas.stop()
	}
	t.host.close()
}

// randomBytes returns content that does not compress.
func randomBytes(size, seed int) []byte {
	content := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{byte(seed)}).Read(content)
	return content
}

// JetStream measures a publication of size bytes to n replicas by a fleetd. Where
// keep is false, replicas only read and hash content.
func JetStream(n, size int, keep bool) (measure.Sample, error) {
	kept := 0
	if keep {
		kept = size
	}
	content := randomBytes(size, 0)
	t, err := newTeam(n, kept)
	if err != nil {
		return measure.Sample{}, err
	}
	defer t.close()
	time.Sleep(settle)
	before, failures := t.messages(), t.replicas.failures()
	use := watch(t.process, &t.wire)
	published, swapped, err := t.publish(content)
	if err != nil {
		return measure.Sample{}, err
	}
	sample := use.sample(published, swapped)
	sample.Values["msgs"] = t.messages() - before
	sample.Values["refused"] = t.refused
	sample.Values["failures"] = t.replicas.failures() - failures
	return sample, nil
}
