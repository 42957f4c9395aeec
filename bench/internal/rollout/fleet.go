package rollout

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/poolswap/poolswap/bench/internal/runner"
	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/reload"
)

// name is the name that each measurement publishes.
const name = "table"

// daemon is a fleetd.
type daemon struct {
	*process
	url, ca   string
	token     string // the file of the administrator's
	replicas  string // the file of the replicas'
	published bool
}

// startFleetd starts a fleetd, with TLS or without.
func startFleetd(secure bool) (*daemon, error) {
	dir, err := os.MkdirTemp("", "bench-fleetd-")
	if err != nil {
		return nil, err
	}
	arguments := []string{"serve", "-addr", "127.0.0.1:0", "-dir", filepath.Join(dir, "data")}
	d := new(daemon)
	if secure {
		cert, key, err := certify(dir)
		if err != nil {
			return nil, err
		}
		d.ca = cert
		arguments = append(arguments, "-cert", cert, "-key", key)
	}
	if d.process, err = start("fleet/fleetd", dir, arguments...); err != nil {
		return nil, err
	}
	if d.url, err = d.line("serving at "); err == nil {
		d.token, err = d.line("the token of an administrator is in ")
	}
	if err == nil {
		err = d.admit()
	}
	if err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

// admit makes the token of the replicas.
func (d *daemon) admit() error {
	client, err := d.client(d.token)
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	token, err := client.NewToken(context.Background(), fleet.Token{Name: "replicas", Role: fleet.ReplicaRole, Names: name, IDs: "*"})
	if err != nil {
		return err
	}
	d.replicas = filepath.Join(d.dir, "replicas.token")
	return os.WriteFile(d.replicas, []byte(token.Text), 0o600)
}

// client returns a client with connections of its own.
func (d *daemon) client(token string) (*fleet.Client, error) {
	return fleet.NewClient(d.url, fleet.ClientOptions{TokenFile: token, CAFile: d.ca})
}

// publication is a publication that replicas follow.
type publication struct {
	revision string
	plan     string        // its version
	stored   time.Duration // how long storing the content took
	begin    time.Time     // of the change of the plan
	spent    time.Duration // CPU time of the server until then
}

// publish stores content and changes the plan.
func (d *daemon) publish(content []byte) (p publication, err error) {
	client, err := d.client(d.token)
	if err != nil {
		return p, err
	}
	defer client.CloseIdleConnections()
	publisher, err := fleet.NewPublisher(client, name, fleet.PublisherOptions{New: true})
	if err != nil {
		return p, err
	}
	controller, err := fleet.NewController(client, name)
	if err != nil {
		return p, err
	}
	if !d.published {
		controller = controller.At(0, 0) // there is no plan
	}
	begin := time.Now()
	r, err := publisher.Store(context.Background(), bytes.NewReader(content))
	if err != nil {
		return p, err
	}
	p = publication{revision: r.ID, stored: time.Since(begin), begin: time.Now(), spent: d.processorTime()}
	plan, err := controller.Do(context.Background(), fleet.Operation{Kind: fleet.KindPublish, Revision: r.ID})
	if err != nil {
		return p, err
	}
	d.published, p.plan = true, plan.Version()
	return p, nil
}

// Fleet measures a publication of size bytes to n replicas of this process, each with
// connections of its own, from the change of the plan until the last one has
// swapped. They hash the content and drop it.
func Fleet(n, size int, secure bool) (sample runner.Sample, err error) {
	server, err := startFleetd(secure)
	if err != nil {
		return sample, err
	}
	defer server.close()
	first, err := server.publish([]byte("first"))
	if err != nil {
		return sample, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	swapped := make(chan swap, 2*n)
	for i := range n {
		if err := server.follow(ctx, &running, i, swapped); err != nil {
			return sample, err
		}
	}
	if _, err := await(swapped, n, first.revision); err != nil {
		return sample, err
	}
	time.Sleep(settle)
	p, err := server.publish(random(size))
	if err != nil {
		return sample, err
	}
	last, err := await(swapped, n, p.revision)
	if err != nil {
		return sample, err
	}
	return server.sample(n, p.spent, map[string]float64{"publish-ns": float64(p.stored), "last-ns": float64(last.Sub(p.begin))}), nil
}

// swap says that a replica has another revision.
type swap struct {
	revision string
	at       time.Time
	base     string // of a delta
	bytes    int64
}

var silent = slog.New(slog.DiscardHandler)

// follow runs a replica until ctx ends.
func (d *daemon) follow(ctx context.Context, running *sync.WaitGroup, i int, swapped chan<- swap) error {
	client, err := d.client(d.replicas)
	if err != nil {
		return err
	}
	source, err := fleet.NewSource(client, name, fleet.SourceOptions{ID: fmt.Sprintf("replica-%06d", i), Logger: silent})
	if err != nil {
		return err
	}
	load := func(_ context.Context, content *reload.Content) (int, error) { // the Reloader hashes
		_, err := io.Copy(io.Discard, content.Body)
		return 0, err
	}
	value := reload.NewValue(source, load, reload.Options{Logger: silent, Observe: func(e reload.Event) {
		source.Observe(e)
		if e.Outcome == reload.Loaded {
			swapped <- swap{e.Revision, time.Now(), e.Base, e.Size}
		}
	}})
	running.Go(func() {
		_ = value.Run(ctx)
		client.CloseIdleConnections()
	})
	return nil
}

// settle is how long replicas are left alone before a publication: the clock is not
// for what they did before.
const settle = 500 * time.Millisecond

// patience bounds how long replicas may take to swap.
const patience = 5 * time.Minute

// await waits until n replicas have swapped to a revision, and returns when the last
// one had.
func await(swapped <-chan swap, n int, revision string) (last time.Time, err error) {
	timeout := time.After(patience)
	for n > 0 {
		select {
		case s := <-swapped:
			if s.revision == revision {
				last = s.at
				n--
			}
		case <-timeout:
			return last, fmt.Errorf("%d replicas do not swap to revision %s within %v", n, revision, patience)
		}
	}
	return last, nil
}

// random returns content that nothing can compress.
func random(size int) []byte {
	content := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(content)
	return content
}
