package store_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/store"
)

// watchOrder fails the test if a node serves a plan that is older than one before,
// until ctx ends.
func watchOrder(ctx context.Context, t testing.TB, s *store.Store, name string) {
	last := &fleet.Plan{}
	for ctx.Err() == nil {
		changed := s.PlanChanged(name)
		plan, err := s.Plan(name)
		switch {
		case errors.Is(err, fleet.ErrNoPlan), errors.Is(err, store.ErrUnavailable):
		case err != nil:
			t.Error(err)
		case last.After(plan.Epoch, plan.Seq):
			t.Errorf("plan %s follows %s", plan.Version(), last.Version())
		default:
			last = plan
		}
		select {
		case <-ctx.Done():
		case <-changed:
		}
	}
}

// A node that is cut off serves what it has, refuses changes and follows when it is
// back; the others go on. What was acknowledged stays, whoever led.
func TestPartition(t *testing.T) {
	t.Parallel() // it waits for elections
	c := newCluster(t)
	c.refusesStrangers()
	publish(t, c.nodes[0], "asn", "r1", "one")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	l := newLedger()
	var all sync.WaitGroup
	for i, node := range c.nodes {
		all.Go(func() { watchOrder(ctx, t, node, "asn") })
		all.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				if err := l.change(context.WithoutCancel(ctx), node, "asn", fmt.Sprint(i, " ", n)); err != nil {
					t.Error(err)
				}
				time.Sleep(10 * time.Millisecond) // others have work to do, too
			}
		})
	}
	more := func(what string, nodes ...int) {
		t.Helper()
		for _, i := range nodes {
			before := l.acknowledged(i)
			eventually(t, what, func() bool { return l.acknowledged(i) > before+2 })
		}
	}
	more("all nodes change plans", 0, 1, 2)

	for range 2 {
		cut := c.leader()
		a, b := (cut+1)%size, (cut+2)%size
		c.cut(cut, true)
		more("the others go on", a, b)
		var r fleet.Revision
		eventually(t, "the others take content", func() bool {
			var err error
			r, err = c.nodes[a].Put(t.Context(), "asn", fleet.Revision{ID: fmt.Sprint("after ", cut), Created: time.Now()}, -1, noise(300_000))
			return err == nil
		})
		eventually(t, "the node says that it is cut off", func() bool { return errors.Is(c.nodes[cut].Ready(), store.ErrUnavailable) && !c.nodes[cut].Leader() })
		if plan, err := c.nodes[cut].Plan("asn"); err != nil || plan.Stable != "r1" {
			t.Errorf("the node that is cut off has %+v, %v", plan, err)
		}
		if _, err := tryPublish(t.Context(), c.nodes[cut], "asn", "", "r1"); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("the node that is cut off makes a change: %v", err)
		}

		c.cut(cut, false)
		c.awaitReady(0, 1, 2)
		more("all nodes change plans again", 0, 1, 2)
		if file, err := c.nodes[cut].Content(t.Context(), "asn", r.SHA256); err != nil {
			t.Errorf("content of the time between: %v", err)
		} else {
			file.Close()
		}
	}
	cancel()
	touch(t, c, "asn") // wakes watchOrder
	all.Wait()
	for i := range size {
		l.check(t, c.nodes[i], "asn")
	}
}

// touch makes a change that all nodes have.
func touch(t testing.TB, c *cluster, name string) {
	t.Helper()
	var plan *fleet.Plan
	eventually(t, "a change is made", func() bool {
		var err error
		plan, err = tryPublish(t.Context(), c.nodes[0], name, "", "r1")
		return err == nil
	})
	t.Logf("the others have the last plan after %v", c.reaches(plan, 0, 1, 2))
}

// acknowledged returns how many changes of a node were acknowledged.
func (l *ledger) acknowledged(node int) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, err := range l.ended {
		if err == nil && id[0] == byte('0'+node) {
			n++
		}
	}
	return n
}

// refusesStrangers fails the test if a node speaks to one without a certificate by the
// CA of the cluster.
func (c *cluster) refusesStrangers() {
	c.t.Helper()
	other := newAuthority(c.t)
	cert, err := tls.LoadX509KeyPair(other.issue("n1"))
	if err != nil {
		c.t.Fatal(err)
	}
	for what, config := range map[string]*tls.Config{
		"no certificate":              {InsecureSkipVerify: true},                                        //nolint:gosec // the server is to refuse
		"a certificate by another CA": {InsecureSkipVerify: true, Certificates: []tls.Certificate{cert}}, //nolint:gosec // the server is to refuse
	} {
		conn, err := net.Dial("tcp", c.options[0].Cluster.Listen)
		if err != nil {
			c.t.Fatal(err)
		}
		conn.SetDeadline(time.Now().Add(patience))
		secure := tls.Client(conn, config)
		err = secure.Handshake()
		if err == nil {
			_, err = secure.Read(make([]byte, 1))
		}
		if err == nil || !strings.Contains(err.Error(), "tls: ") {
			c.t.Errorf("a node with %s is not refused: %v", what, err)
		}
		conn.Close()
	}
}
