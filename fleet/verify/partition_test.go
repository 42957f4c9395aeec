package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/reload"
)

// partitioned is a server in a process of its own, and who publishes and steers
// without a proxy.
type partitioned struct {
	*process
	*fleet.Controller
	publisher *fleet.Publisher
}

func newPartitioned(t testing.TB, reportTTL time.Duration) *partitioned {
	t.Helper()
	p := &partitioned{process: newProcess(t)}
	conn := p.dial()
	if err := fleet.Setup(t.Context(), conn, fleet.SetupOptions{ReportTTL: reportTTL}); err != nil {
		t.Fatal(err)
	}
	var err error
	if p.publisher, err = fleet.NewPublisher(conn, "table", fleet.PublisherOptions{By: "alice"}); err != nil {
		t.Fatal(err)
	}
	if p.Controller, err = fleet.NewController(conn, "table", "bob"); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *partitioned) publish(t testing.TB, content io.Reader) fleet.Revision {
	t.Helper()
	r, _, err := p.publisher.Publish(t.Context(), content, "")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// reporting returns the ids of the replicas that report, sorted.
func (p *partitioned) reporting(t testing.TB) (ids []string) {
	t.Helper()
	status, err := p.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range status.Replicas {
		ids = append(ids, r.ID)
	}
	return ids
}

// verifyNoLeak fails the test if goroutines are left when everything is closed. It
// must be called first, for its cleanup to be the last.
func verifyNoLeak(t testing.TB) {
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() {
		if !t.Failed() {
			goleak.VerifyNone(t, before)
		}
	})
}

// A replica without a network serves what it has. The others do not notice, and
// it follows when the network is back, never backwards.
func TestAPartitionedReplicaServesWhatItHasAndCatchesUp(t *testing.T) {
	long(t)
	verifyNoLeak(t)
	p := newPartitioned(t, 3*time.Second)
	order := map[string]int{p.publish(t, strings.NewReader("0")).ID: 0}
	near := run(t, p.dial(), "near", fleet.SourceOptions{})
	far, proxies := map[string]*replica{}, map[string]*proxy{}
	all := []string{near.id}
	for what := range faults {
		proxies[what] = newProxy(t, p.port)
		far[what] = run(t, dialAlert(t, proxies[what].url()), what, fleet.SourceOptions{})
		all = append(all, what)
	}
	slices.Sort(all)
	everywhere := func(text string) {
		near.awaitText(t, text)
		for _, r := range far {
			r.awaitText(t, text)
		}
		eventually(t, "all report", func() bool { return slices.Equal(p.reporting(t), all) })
	}
	everywhere("0")

	for what, fault := range faults {
		fault(proxies[what])
	}
	for i := 1; i <= 3; i++ {
		order[p.publish(t, strings.NewReader(fmt.Sprint(i))).ID] = i
		near.awaitText(t, fmt.Sprint(i))
	}
	eventually(t, "those without a network do not report", func() bool { return slices.Equal(p.reporting(t), []string{near.id}) })
	for what, r := range far {
		if got := r.text(); got != "0" {
			t.Errorf("%s: readers get %q", what, got)
		}
		eventually(t, what+": the status says stale", func() bool { return r.Reloader.Status().State() == reload.Stale })
		t.Logf("%s: %v", what, r.Reloader.Status().Err)
	}

	for _, proxy := range proxies {
		proxy.heal()
	}
	everywhere("3")
	for what, r := range far {
		r.stop()
		for i := 1; i < len(r.runs); i++ {
			if order[r.runs[i]] <= order[r.runs[i-1]] {
				t.Errorf("%s went from publication %d to %d", what, order[r.runs[i-1]], order[r.runs[i]])
			}
		}
	}
	near.stop()
	if near.Reloader.Status().TotalFailures > 0 {
		t.Errorf("the replica with a network has failed: %v", near.Reloader.Status().Err)
	}
}

// loads returns a Reloader of a replica's objects and source that calls middle
// when it has read a part of the content.
func (r *replica) loads(part int64, middle func()) *reload.Reloader {
	return reload.New(r.objects, r.source, func(_ context.Context, next, _ *object, content *reload.Content) error {
		var text bytes.Buffer
		if _, err := io.CopyN(&text, content.Body, part); err != nil {
			return err
		}
		middle()
		_, err := text.ReadFrom(content.Body)
		next.text = text.Bytes()
		return err
	}, reload.Options{Logger: quiet, Observe: r.source.Observe})
}

// A network that fails during a transfer delays it. The transfer goes on where it
// was, and the content is whole.
func TestATransferGoesOnAfterAPartition(t *testing.T) {
	long(t)
	verifyNoLeak(t)
	p := newPartitioned(t, time.Minute)
	want, err := io.ReadAll(&pattern{left: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	p.publish(t, bytes.NewReader(want))
	for what, fault := range faults {
		proxy := newProxy(t, p.port)
		conn := dialAlert(t, proxy.url())
		r := newReplica(t, conn, "r", fleet.SourceOptions{})
		broken := make(chan struct{})
		go func() {
			<-broken
			// It lasts until the client has noticed, where it can.
			for ctx := t.Context(); ctx.Err() == nil && conn.IsConnected(); {
				time.Sleep(time.Millisecond)
			}
			proxy.heal()
		}()
		err := r.loads(1<<20, func() {
			fault(proxy)
			close(broken)
		}).Reload(t.Context())
		if err != nil || r.text() != string(want) {
			t.Errorf("%s: %v, %d bytes", what, err, len(r.text()))
		}
	}
}

// While the network is away a transfer ends with its ctx.
func TestAPartitionedTransferEndsWithItsContext(t *testing.T) {
	long(t)
	verifyNoLeak(t)
	p := newPartitioned(t, time.Minute)
	p.publish(t, &pattern{left: 8 << 20})
	for what, fault := range faults {
		proxy := newProxy(t, p.port)
		conn := dialAlert(t, proxy.url())
		r := newReplica(t, conn, "r", fleet.SourceOptions{})
		ctx, cancel := context.WithCancel(t.Context())
		broken := make(chan struct{})
		go func() {
			<-broken
			for t.Context().Err() == nil && conn.IsConnected() {
				time.Sleep(time.Millisecond)
			}
			cancel()
		}()
		if err := r.loads(1<<20, func() {
			fault(proxy)
			close(broken)
		}).Reload(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: the attempt ends with %v", what, err)
		}
		cancel()
	}
}

// A replica that one node of a cluster does not reach goes on with another.
func TestAReplicaThatLosesANodeGoesOnWithAnother(t *testing.T) {
	long(t)
	c := newCluster(t)
	publisher, err := fleet.NewPublisher(c.dial(), "table", fleet.PublisherOptions{By: "alice"})
	if err != nil {
		t.Fatal(err)
	}
	publish := func(text string) {
		t.Helper()
		if _, _, err := publisher.Publish(t.Context(), strings.NewReader(text), ""); err != nil {
			t.Fatal(err)
		}
	}
	var addresses []string
	proxies := map[string]*proxy{}
	for _, port := range c.ports {
		p := newProxy(t, port)
		addresses, proxies[p.url()] = append(addresses, p.url()), p
	}
	conn := dialAlert(t, strings.Join(addresses, ","))
	r := run(t, conn, "r", fleet.SourceOptions{})
	publish("one")
	r.awaitText(t, "one")
	var lost []*proxy
	for i, what := range []string{"black hole", "half open, to client", "half open, to server"} {
		var at string
		eventually(t, "it is connected", func() bool { at = conn.ConnectedUrl(); return proxies[at] != nil })
		for _, p := range lost {
			p.heal()
		}
		faults[what](proxies[at])
		lost = append(lost, proxies[at])
		text := fmt.Sprint("after ", i)
		publish(text)
		r.awaitText(t, text)
		if now := conn.ConnectedUrl(); now == at {
			t.Errorf("it is still connected to %s", at)
		}
	}
}
