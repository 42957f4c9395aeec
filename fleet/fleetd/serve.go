package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/access"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/api"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/page"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/steer"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/store"
)

// Times of a server.
const (
	startTime   = time.Minute // to join its cluster
	grace       = 30 * time.Second
	retainEvery = time.Hour
	retainAge   = 24 * time.Hour
)

// serveFlags are the flags of a server.
type serveFlags struct {
	address, metrics, cert, key, dir *string
	insecure                         *bool
	mirrors                          list
	quota, reserve, maxContent       *int64
	keep, conns                      *int
	page                             *bool
	hosts                            list

	node, listen, clusterCert, clusterKey, clusterCA *string
	routes                                           list
	size                                             *int
}

// list is a flag that may be given more than once, or with commas.
type list []string

func (l *list) String() string { return strings.Join(*l, ",") }

// Set implements flag.Value.
func (l *list) Set(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			*l = append(*l, part)
		}
	}
	return nil
}

func newServeFlags(f *flag.FlagSet) *serveFlags {
	s := &serveFlags{
		address:    f.String("addr", "127.0.0.1:8422", "serve at this `address`"),
		metrics:    f.String("metrics", "", "serve /metrics without a token at this `address`, too"),
		cert:       f.String("cert", "", "`file` with the certificate of the server; it is read again when it changes"),
		key:        f.String("key", "", "`file` with its key"),
		insecure:   f.Bool("insecure", false, "serve other machines without TLS, so that tokens can be read on the way"),
		dir:        f.String("dir", "fleet.data", "`directory` of the store"),
		quota:      f.Int64("quota", 0, "`bytes` of content that a name may have; 0 for any"),
		reserve:    f.Int64("reserve", store.DefaultReserve, "`bytes` of the disk that stay free"),
		maxContent: f.Int64("max-content", api.DefaultMaxContent, "`bytes` that a revision may have"),
		keep:       f.Int("keep", 10, "`number` of revisions of a name to keep beside those in use and of the last day; 0 keeps all"),
		conns:      f.Int("max-conns", api.DefaultMaxConns, "`number` of connections at once"),

		node:        f.String("node", "", "`name` of this node in a cluster"),
		listen:      f.String("cluster", "", "`address` at which the other nodes of a cluster reach this one"),
		clusterCert: f.String("cluster-cert", "", "`file` with the certificate of this node"),
		clusterKey:  f.String("cluster-key", "", "`file` with its key"),
		clusterCA:   f.String("cluster-ca", "", "`file` with the certificate that signed those of all nodes"),
		size:        f.Int("cluster-size", 3, "`number` of nodes of the cluster"),
	}
	s.page = f.Bool("page", true, "serve the page for people, too")
	f.Var(&s.hosts, "page-host", "`name` of the page's host in links, if it has others than its address; may be given more than once")
	f.Var(&s.mirrors, "mirror", "`URL` that serves content as URL/NAME/SHA256, too; may be given more than once")
	f.Var(&s.routes, "route", "`address` of another node of the cluster; may be given more than once")
	return s
}

// check returns an error for flags that do not go together.
func (s *serveFlags) check() error {
	switch {
	case (*s.cert == "") != (*s.key == ""):
		return errors.New("-cert and -key belong together")
	case *s.keep < 0 || *s.quota < 0 || *s.reserve < 0 || *s.maxContent < 1 || *s.conns < 1:
		return errors.New("-keep, -quota and -reserve must not be negative, -max-content and -max-conns must be positive")
	case *s.listen == "" && (*s.node != "" || len(s.routes) > 0 || *s.clusterCert+*s.clusterKey+*s.clusterCA != ""):
		return errors.New("the flags of a cluster need -cluster")
	case *s.listen != "" && (*s.node == "" || len(s.routes) == 0 || *s.clusterCert == "" || *s.clusterKey == "" || *s.clusterCA == ""):
		return errors.New("-cluster needs -node, -route, -cluster-cert, -cluster-key and -cluster-ca")
	}
	for _, mirror := range s.mirrors {
		if u, err := url.Parse(mirror); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.RawQuery != "" || u.User != nil {
			return fmt.Errorf("-mirror %q is no URL of a mirror", mirror)
		}
	}
	return nil
}

// checkOpen returns an error for an address at which others could read tokens on the
// way.
func (s *serveFlags) checkOpen(at net.Addr) error {
	tcp, ok := at.(*net.TCPAddr)
	if *s.cert != "" || *s.insecure || ok && tcp.IP.IsLoopback() {
		return nil
	}
	return fmt.Errorf("other machines reach %v: give -cert and -key, or -insecure if tokens may be read on the way", at)
}

// storeFiles are those that are left for the store and the like.
const storeFiles = 256

// connsOf returns how many connections a process may have that may have so many files
// open, and how many of them may get content at once: each has a file open, too.
func connsOf(conns, files int) (most, downloads int) {
	most = max(1, min(conns, files/4*3-storeFiles))
	return most, max(1, min(most, files-most-storeFiles))
}

// serve runs a server until ctx ends.
func serve(ctx context.Context, c *call) (err error) {
	f := newServeFlags(c.flags)
	if _, err := c.parse(0, 0); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("fleetd: serve: %w", err)
		}
	}()
	if os.Getenv("GOGC") == "" { // ten thousand polls keep 300 MB, which need not be doubled
		debug.SetGCPercent(25)
	}
	if err := f.check(); err != nil {
		return err
	}
	logger := slog.New(slog.NewTextHandler(c.stderr, nil))
	listener, err := listen(*f.address)
	if err != nil {
		return err
	}
	defer listener.Close()
	if err := f.checkOpen(listener.Addr()); err != nil {
		return err
	}
	var metrics *net.TCPListener
	if *f.metrics != "" {
		if metrics, err = listen(*f.metrics); err != nil {
			return fmt.Errorf("-metrics: %w", err)
		}
		defer metrics.Close()
	}
	var config *tls.Config
	var certificate *api.Certificate
	if *f.cert != "" {
		if certificate, err = api.NewCertificate(ctx, *f.cert, *f.key, logger); err != nil {
			return fmt.Errorf("the certificate: %w", err)
		}
		config = certificate.Config()
	}
	s, err := f.open(ctx, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()

	conns, downloads := *f.conns, *f.conns
	if files, known := maxFiles(); known {
		if conns, downloads = connsOf(conns, files); conns < *f.conns {
			logger.Warn("fleetd: the limit of open files bounds the connections: raise it (ulimit -n)", slog.Int("files", files), slog.Int("connections", conns))
		}
	}
	server := api.New(s, api.Options{Mirrors: f.mirrors, MaxContent: *f.maxContent, MaxConns: conns, MaxDownloads: downloads, Logger: logger})
	// What works with the store ends before the store is closed.
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	var work sync.WaitGroup
	defer work.Wait()
	defer stop()
	work.Go(func() { steer.Run(working, s, logger) })
	work.Go(func() { retain(working, s, *f.keep, logger) })
	if certificate != nil {
		work.Go(func() { certificate.Run(working) }) //nolint:errcheck // it ends with its context
	}
	var handler http.Handler = server
	var people *page.Page
	if *f.page {
		people, err = page.New(page.Options{Store: s, Hosts: f.hosts, Secure: config != nil, Logger: logger, Check: func(text string) (fleet.Token, error) {
			return access.Check(s.Token, text, time.Now())
		}})
		if err != nil {
			return err
		}
		defer people.Close()
		handler = server.Beside(people)
	}
	web := api.NewHTTPServer(server, handler)
	if web.TLSConfig = config; people != nil {
		web.RegisterOnShutdown(people.Close)
	}
	ended := make(chan error, 2)
	go func() { ended <- serveOn(web, api.LimitListener(listener, conns)) }()
	defer web.Close()
	if metrics != nil {
		inside := &http.Server{Handler: server.Metrics(), ReadHeaderTimeout: 10 * time.Second, WriteTimeout: time.Minute}
		go func() { ended <- inside.Serve(metrics) }()
		defer inside.Close()
	}
	scheme := "http"
	if config != nil {
		scheme = "https"
	}
	fmt.Fprintf(c.stdout, "serving at %s://%s\n", scheme, listener.Addr())
	// Its line is the second: a program that starts fleetd reads both.
	work.Go(func() { firstToken(working, c, server, s, *f.dir, logger) })
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if err := web.Shutdown(ending); err != nil {
		logger.Warn("fleetd: some requests were cut off", slog.Any("error", err))
	}
	return nil
}

func serveOn(web *http.Server, l net.Listener) error {
	if web.TLSConfig != nil {
		return web.ServeTLS(l, "", "")
	}
	return web.Serve(l)
}

func listen(address string) (*net.TCPListener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	return l.(*net.TCPListener), nil
}

// open opens the store.
func (s *serveFlags) open(ctx context.Context, logger *slog.Logger) (*store.Store, error) {
	o := store.Options{Dir: *s.dir, Reserve: *s.reserve, Quota: *s.quota, Logger: logger}
	if o.Reserve == 0 {
		o.Reserve = -1
	}
	if *s.listen != "" {
		o.Cluster = &store.Cluster{Node: *s.node, Listen: *s.listen, Routes: s.routes, Cert: *s.clusterCert, Key: *s.clusterKey, CA: *s.clusterCA, Size: *s.size}
	}
	return store.Open(ctx, o)
}

// firstToken makes the first token of an administrator. In a cluster one node does.
func firstToken(ctx context.Context, c *call, server *api.Server, s *store.Store, dir string, logger *slog.Logger) {
	file := filepath.Join(dir, "admin.token")
	for ctx.Err() == nil {
		if s.Leader() {
			within, cancel := context.WithTimeout(ctx, startTime)
			made, err := server.FirstToken(within, file)
			cancel()
			if err == nil {
				if made {
					fmt.Fprintf(c.stdout, "the token of an administrator is in %s\n", file)
				}
				return
			}
			if ctx.Err() == nil {
				logger.Warn("fleetd: the first token was not made", slog.Any("error", err))
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// retain deletes old content each hour, until ctx ends.
func retain(ctx context.Context, s *store.Store, keep int, logger *slog.Logger) {
	for next := time.Minute; keep > 0; next = retainEvery {
		select {
		case <-ctx.Done():
			return
		case <-time.After(next):
		}
		if !s.Leader() {
			continue
		}
		for _, name := range s.Names() {
			gone, err := s.Retain(ctx, name, keep, retainAge)
			if err != nil && ctx.Err() == nil {
				logger.Warn("fleetd: old content is not deleted", slog.String("name", name), slog.Any("error", err))
			}
			if len(gone) > 0 {
				logger.Info("fleetd: old content was deleted", slog.String("name", name), slog.Int("revisions", len(gone)))
			}
		}
	}
}
