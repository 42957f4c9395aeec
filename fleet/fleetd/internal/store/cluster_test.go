package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/store"
)

// NATS has the client in the format of a line.
func TestConnectionsOfStrangersAreLoggedOnce(t *testing.T) {
	var text bytes.Buffer
	log := store.NewServerLogger(slog.New(slog.NewTextHandler(&text, nil)))
	for i := range 100 {
		log.Errorf(fmt.Sprintf("10.0.0.1:%d - rid:%d - TLS route handshake error: %%v", 40_000+i, i), "no certificate")
	}
	log.Errorf("another error")
	if lines := strings.Count(text.String(), "\n"); lines != 2 {
		t.Errorf("there are %d lines, want 2: %.300s", lines, text.String())
	}
}

func TestClusterNeedsItsConfiguration(t *testing.T) {
	ca := newAuthority(t)
	cert, key := ca.issue("n0")
	all := []string{"a:1", "b:1", "c:1"}
	for want, c := range map[string]*store.Cluster{
		"the nodes need a certificate":        {Node: "a", Listen: "127.0.0.1:1", Routes: all},
		"needs a name of letters":             {Node: "a b", Listen: "127.0.0.1:1", Routes: all, Cert: cert, Key: key, CA: ca.file},
		"3 or 5 nodes":                        {Node: "a", Listen: "127.0.0.1:1", Routes: all, Cert: cert, Key: key, CA: ca.file, Size: 2},
		"1 are given":                         {Node: "a", Listen: "127.0.0.1:1", Routes: all[:1], Cert: cert, Key: key, CA: ca.file},
		"no port":                             {Node: "a", Listen: "127.0.0.1:x", Routes: all, Cert: cert, Key: key, CA: ca.file},
		"has no certificate":                  {Node: "a", Listen: "127.0.0.1:1", Routes: all, Cert: cert, Key: key, CA: key},
		"the node does not listen at 8.8.8.8": {Node: "a", Listen: "8.8.8.8:1", Routes: all, Cert: cert, Key: key, CA: ca.file},
	} {
		_, err := store.Open(t.Context(), store.Options{Dir: t.TempDir(), Cluster: c, Logger: logger(t)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Open returned %v, want %q in it", err, want)
		}
	}
}

// reaches waits until all of nodes have a plan and returns after how long.
func (c *cluster) reaches(plan *fleet.Plan, nodes ...int) time.Duration {
	c.t.Helper()
	began := time.Now()
	for _, i := range nodes {
		eventually(c.t, fmt.Sprintf("node %d has plan %s", i, plan.Version()), func() bool {
			got, err := c.nodes[i].Plan(plan.Name)
			return err == nil && !plan.After(got.Epoch, got.Seq)
		})
	}
	return time.Since(began)
}

func TestClusterLosesNodes(t *testing.T) {
	t.Parallel() // it waits for elections
	c := newCluster(t)
	plan := publish(t, c.nodes[0], "asn", "r1", large(1))
	t.Logf("all have the first plan after %v", c.reaches(plan, 0, 1, 2))
	for _, node := range c.nodes {
		wantContent(t, node, "asn", plan.Revisions["r1"], large(1))
	}

	lost := c.leader()
	c.nodes[lost].Close()
	a, b := (lost+1)%size, (lost+2)%size
	began := time.Now()
	var r2 fleet.Revision
	put := func(id string) {
		eventually(t, "two nodes take content", func() bool {
			var err error
			r2, err = c.nodes[a].Put(t.Context(), "asn", fleet.Revision{ID: id, Created: time.Now()}, -1, strings.NewReader(large(2)))
			return err == nil
		})
		eventually(t, "two nodes take a plan", func() bool {
			var err error
			plan, err = tryPublish(t.Context(), c.nodes[a], "asn", "", id)
			return err == nil
		})
	}
	put("r2")
	t.Logf("two nodes took a revision after %v", time.Since(began))
	c.reaches(plan, a, b)

	c.nodes[b].Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	began = time.Now()
	if _, err := tryPublish(ctx, c.nodes[a], "asn", "", "r1"); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("one node of three: %v", err)
	}
	t.Logf("one node refused a plan after %v", time.Since(began))
	if _, err := c.nodes[a].Put(ctx, "asn", fleet.Revision{ID: "r3", Created: time.Now()}, -1, strings.NewReader(large(3))); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("one node of three takes content: %v", err)
	}
	if err := c.nodes[a].Report(ctx, "asn", fleet.Report{ID: "x"}); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("one node of three takes a report: %v", err)
	}
	wantContent(t, c.nodes[a], "asn", plan.Revisions["r2"], large(2))
	if got, err := c.nodes[a].Plan("asn"); err != nil || got.Stable != "r2" {
		t.Errorf("the node that is alone has %+v, %v", got, err)
	}
	eventually(t, "the node says that it is alone", func() bool { return c.nodes[a].Ready() != nil })

	c.start(lost)
	put("r4")
	c.options[b].Reserve = 1 << 60
	c.start(b)
	c.awaitReady(0, 1, 2)
	t.Logf("three nodes again: %v", c.reaches(plan, 0, 1, 2))
	wantContent(t, c.nodes[lost], "asn", r2, large(2))

	// A disk that is full anywhere is full everywhere.
	eventually(t, "the others hear of the full disk", func() bool {
		_, err := c.nodes[a].Put(t.Context(), "asn", fleet.Revision{ID: "too much", Created: time.Now()}, -1, noise(300_000))
		return errors.Is(err, store.ErrFull) && strings.Contains(err.Error(), fmt.Sprint("the disk of node n", b))
	})

	// Verify on one node repairs the files of the others.
	file := filepath.Join(c.options[lost].Dir, "content", r2.SHA256)
	if err := os.WriteFile(file, []byte(large(9)), 0o600); err != nil {
		t.Fatal(err)
	}
	if checked, damaged, err := c.nodes[a].Verify(t.Context(), "asn"); err != nil || checked < 3 || len(damaged) > 0 {
		t.Errorf("Verify checked %d and found %q, %v", checked, damaged, err)
	}
	eventually(t, "the file is repaired", func() bool { text, err := os.ReadFile(file); return err == nil && string(text) == large(2) })
}

func TestReadyNodeServesAlone(t *testing.T) {
	t.Parallel() // it waits for elections
	c := newCluster(t)
	plan := publish(t, c.nodes[0], "asn", "r1", large(1))
	for i := range size { // before a replica asks
		file := filepath.Join(c.options[i].Dir, "content", plan.Revisions["r1"].SHA256)
		eventually(t, fmt.Sprintf("node %d has the content", i), func() bool { _, err := os.Stat(file); return err == nil })
	}
	c.nodes[2].Close()
	eventually(t, "two nodes publish", func() bool {
		_, err := c.nodes[0].Put(t.Context(), "asn", fleet.Revision{ID: "r2", Created: time.Now()}, -1, strings.NewReader(large(2)))
		return err == nil
	})
	eventually(t, "two nodes take a plan", func() bool {
		var err error
		plan, err = tryPublish(t.Context(), c.nodes[0], "asn", "", "r2")
		return err == nil
	})
	c.start(2)
	c.awaitReady(2)
	c.nodes[0].Close()
	c.nodes[1].Close()
	wantContent(t, c.nodes[2], "asn", plan.Revisions["r2"], large(2))
}
