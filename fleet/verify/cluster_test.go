package verify

import (
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/poolswap/poolswap/fleet"
)

// cluster is three servers that keep each message three times.
type cluster struct {
	t     testing.TB
	dir   string
	ports [3]int // of clients
	inner [3]int // of the servers among themselves
	nodes [3]*server.Server
}

func newCluster(t testing.TB) *cluster {
	t.Helper()
	c := &cluster{t: t, dir: t.TempDir()}
	for i := range c.ports {
		c.ports[i], c.inner[i] = freePort(t), freePort(t)
	}
	for i := range c.nodes {
		c.start(i)
	}
	t.Cleanup(func() {
		for i := range c.nodes {
			c.stop(i)
		}
	})
	conn := c.dial()
	eventually(t, "the cluster is set up", func() bool {
		return fleet.Setup(t.Context(), conn, fleet.SetupOptions{Replicas: 3}) == nil
	})
	return c
}

func freePort(t testing.TB) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

func (c *cluster) start(i int) {
	c.t.Helper()
	var routes []*url.URL
	for _, port := range c.inner {
		routes = append(routes, &url.URL{Scheme: "nats", Host: fmt.Sprintf("127.0.0.1:%d", port)})
	}
	s, err := server.NewServer(&server.Options{
		ServerName: fmt.Sprintf("node%d", i), Host: "127.0.0.1", Port: c.ports[i], JetStream: true, StoreDir: filepath.Join(c.dir, fmt.Sprint(i)), NoLog: true, NoSigs: true,
		Cluster: server.ClusterOpts{Name: "fleet", Host: "127.0.0.1", Port: c.inner[i]}, Routes: routes,
	})
	if err != nil {
		c.t.Fatal(err)
	}
	go s.Start()
	if !s.ReadyForConnections(30 * time.Second) {
		c.t.Fatal("a server does not become ready")
	}
	c.nodes[i] = s
}

func (c *cluster) stop(i int) {
	c.nodes[i].Shutdown()
	c.nodes[i].WaitForShutdown()
}

// dial returns a connection that knows all three servers.
func (c *cluster) dial() *nats.Conn {
	c.t.Helper()
	var addresses []string
	for _, port := range c.ports {
		addresses = append(addresses, fmt.Sprintf("nats://127.0.0.1:%d", port))
	}
	return dial(c.t, strings.Join(addresses, ","))
}

// leader returns the node that leads the stream of plans.
func (c *cluster) leader() int {
	for i, node := range c.nodes {
		if node.Running() && node.JetStreamIsStreamLeader("$G", "KV_"+plansBucket) {
			return i
		}
	}
	return -1
}

func TestAClusterSurvivesItsLeaderAndSaysWhenItCannot(t *testing.T) {
	long(t)
	c := newCluster(t)
	publisher, err := fleet.NewPublisher(c.dial(), "table", fleet.PublisherOptions{By: "alice"})
	if err != nil {
		t.Fatal(err)
	}
	publish := func(text string) error {
		_, _, err := publisher.Publish(t.Context(), strings.NewReader(text), "")
		return err
	}
	replicas := []*replica{run(t, c.dial(), "a", fleet.SourceOptions{}), run(t, c.dial(), "b", fleet.SourceOptions{})}
	await := func(text string) {
		t.Helper()
		for _, r := range replicas {
			r.awaitText(t, text)
		}
	}
	if err := publish("three nodes"); err != nil {
		t.Fatal(err)
	}
	await("three nodes")

	first := c.leader()
	c.stop(first)
	eventually(t, "two nodes accept a publication", func() bool { return publish("two nodes") == nil })
	await("two nodes")

	second := (first + 1) % 3
	c.stop(second)
	if err := publish("one node"); err == nil {
		t.Error("one node of three accepts a publication")
	} else {
		t.Log("without a quorum: ", err)
	}
	await("two nodes")

	c.start(first)
	c.start(second)
	eventually(t, "three nodes accept a publication again", func() bool { return publish("three again") == nil })
	await("three again")
}
