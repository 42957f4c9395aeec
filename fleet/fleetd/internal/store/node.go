package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Limits of the server of NATS. Reserve and Quota bound content.
const (
	maxMemory  = 1 << 30 // of reports
	maxStorage = 1 << 50
	startTime  = 10 * time.Second
)

// start starts the server of NATS and connects to it inside the process.
func (s *Store) start() error {
	options := &server.Options{
		ServerName: s.node, DontListen: true, NoSigs: true,
		JetStream: true, StoreDir: s.o.Dir, JetStreamMaxMemory: maxMemory, JetStreamMaxStore: maxStorage,
		SyncAlways: true, // what is acknowledged is on the disk
	}
	mode := nodeMode{Node: s.node, Size: 1}
	if s.o.Cluster != nil {
		if err := s.o.Cluster.configure(options); err != nil {
			return fmt.Errorf("the cluster: %w", err)
		}
		mode.Size = s.o.Cluster.size()
	}
	if err := mode.check(s.o.Dir); err != nil {
		return err
	}
	node, err := server.NewServer(options)
	if err != nil {
		return err
	}
	logger := &serverLogger{log: s.log, stuck: &s.stuck, last: map[string]time.Time{}}
	node.SetLoggerV2(logger, false, false, false)
	s.server = node
	node.Start()
	for began := time.Now(); s.o.Cluster != nil && node.ClusterAddr() == nil; time.Sleep(10 * time.Millisecond) {
		if why := logger.fatal.Load(); why != nil || time.Since(began) > startTime {
			return fmt.Errorf("the node does not listen at %s: %v", s.o.Cluster.Listen, why)
		}
	}
	switch {
	case node.Addr() != nil:
		return errors.New("NATS listens for clients")
	case !node.JetStreamEnabled():
		return fmt.Errorf("JetStream does not start: %v", logger.fatal.Load())
	}
	s.conn, err = nats.Connect("", nats.InProcessServer(node), nats.Name("fleetd"), nats.Timeout(startTime), nats.MaxReconnects(-1),
		nats.ReconnectWait(50*time.Millisecond), nats.ReconnectBufSize(-1), nats.ErrorHandler(s.connError))
	if err != nil {
		return err
	}
	s.js, err = jetstream.New(s.conn, jetstream.WithPublishAsyncTimeout(storeTimeout))
	return err
}

func (s *Store) connError(_ *nats.Conn, _ *nats.Subscription, err error) {
	s.log.Debug("fleetd: the connection to JetStream", slog.Any("error", err))
}

// reviveRoom is the free space above the floor that JetStream needs to start again.
const reviveRoom = 1 << 20

// revive starts JetStream again, which writes no more once a write has failed.
func (s *Store) revive() {
	if free, known := diskFree(s.o.Dir); known && free < s.floor()+reviveRoom {
		return
	}
	s.stuck.Store(false)
	err := s.server.ShutdownJetStream()
	if err == nil {
		err = s.server.EnableJetStream(&server.JetStreamConfig{StoreDir: s.o.Dir, MaxMemory: maxMemory, MaxStore: maxStorage, SyncAlways: true, Strict: true})
	}
	for _, config := range s.streamConfigs() { // one in memory is gone
		if err == nil {
			_, err = s.openStream(s.ctx, config)
		}
	}
	if err != nil {
		s.stuck.Store(true)
	}
	s.log.Warn("fleetd: JetStream had stopped and is started again", slog.Any("error", err))
}

// nodeMode is written into a directory, since JetStream would delete streams of a
// single node that starts as one of a cluster.
type nodeMode struct {
	Node string `json:"node"`
	Size int    `json:"size"`
}

func (m nodeMode) check(dir string) error {
	file := filepath.Join(dir, "node.json")
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		text, err = json.Marshal(m)
		if err != nil {
			return err
		}
		return writeFile(file, text)
	}
	if err != nil {
		return err
	}
	var was nodeMode
	if err := json.Unmarshal(text, &was); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if was != m {
		return fmt.Errorf("the directory is of node %q of %d, and cannot become node %q of %d: give that one an empty directory", was.Node, was.Size, m.Node, m.Size)
	}
	return nil
}

// writeFile writes a file so that it is whole or not there.
func writeFile(file string, text []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(file), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	if _, err := temp.Write(text); err != nil {
		temp.Close()
		return err
	}
	return commit(temp, file)
}

// commit gives a temporary file its content for good and its name, and closes it.
func commit(temp *os.File, file string) error {
	if err := errors.Join(temp.Sync(), temp.Close()); err != nil {
		return err
	}
	if err := os.Rename(temp.Name(), file); err != nil {
		return err
	}
	if runtime.GOOS == "windows" { // which cannot sync a directory
		return nil
	}
	dir, err := os.Open(filepath.Dir(file))
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

// Cluster makes a store one of several nodes, which reach each other by mutual TLS.
type Cluster struct {
	Node      string   // name of this node alone, and the same for ever
	Listen    string   // HOST:PORT for the other nodes
	Advertise string   // HOST:PORT at which they reach it, if it is not Listen
	Routes    []string // HOST:PORT of all nodes; this one's may be left out
	Cert      string   // file: of this node, for its host of Routes, by CA
	Key       string   // file
	CA        string   // file: a process with a certificate by it can change the whole store
	Size      int      // how many nodes there are: 3 or 5; 0 stands for 3
}

func (c *Cluster) size() int {
	if c.Size == 0 {
		return 3
	}
	return c.Size
}

func (c *Cluster) configure(o *server.Options) error {
	switch size := c.size(); {
	case c.Cert == "" || c.Key == "" || c.CA == "":
		return errors.New("the nodes need a certificate, its key and the CA of the cluster: whoever can reach an open node can change everything")
	case c.Node == "" || token(c.Node) != c.Node || c.Node == "single":
		return fmt.Errorf("a node needs a name of letters, digits, - and _, and %q is none", c.Node)
	case size != 3 && size != 5:
		return fmt.Errorf("a cluster has 3 or 5 nodes, not %d", size)
	case len(c.Routes) != size && len(c.Routes) != size-1:
		return fmt.Errorf("a cluster of %d nodes needs the addresses of all, or of all others, and %d are given", size, len(c.Routes))
	}
	host, portText, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return err
	}
	port, err := strconv.Atoi(portText)
	if err != nil || port < 1 || port > 65535 {
		return fmt.Errorf("%q is no port", portText)
	}
	for _, route := range c.Routes {
		if _, _, err := net.SplitHostPort(route); err != nil {
			return fmt.Errorf("the address of a node: %w", err)
		}
		o.Routes = append(o.Routes, &url.URL{Scheme: "nats", Host: route})
	}
	config, err := routeTLS(c.Cert, c.Key, c.CA)
	if err != nil {
		return err
	}
	// DontListen keeps the server from starting its routes, too: they wait until it has
	// tried to listen for clients. So it tries that at a port that does not exist.
	o.DontListen, o.Host, o.Port = false, "127.0.0.1", noPort
	o.Cluster = server.ClusterOpts{
		Name: "fleetd", Host: host, Port: port, NoAdvertise: true, Advertise: c.Advertise,
		TLSConfig: config, TLSTimeout: 5, AuthTimeout: 5, PingInterval: 5 * time.Second, MaxPingsOut: 2,
	}
	return nil
}

// noPort is above the highest port.
const noPort = 1 << 16
