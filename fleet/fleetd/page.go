package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/poolswap/poolswap/fleet/fleetd/internal/page"
)

// pageAddress is where the page is, usually: 8222 is that of a NATS server's own
// monitoring.
const pageAddress = "127.0.0.1:8422"

// pageEnd bounds how long requests to the page may take when the server ends.
const pageEnd = 5 * time.Second

// pageFlags are the flags of the page.
type pageFlags struct {
	flags          *flag.FlagSet
	address, hosts *string
}

func newPageFlags(flags *flag.FlagSet) *pageFlags {
	return &pageFlags{
		flags:   flags,
		address: flags.String("page", pageAddress, `serve the page at this `+"`address`"+`; "off" for none`),
		hosts:   flags.String("page-host", "", "`names` of the page's host in links, with commas, if it is reached by others than its address"),
	}
}

// given reports whether the address was chosen.
func (f *pageFlags) given() (given bool) {
	f.flags.Visit(func(one *flag.Flag) { given = given || one.Name == "page" })
	return given
}

// servedPage is a page that is being served.
type servedPage struct {
	url    string
	page   *page.Page
	server *http.Server
	ended  chan error
	public bool // without TLS at an address that other machines reach
}

// serve serves the page, with TLS if there is a certificate, by conn, which stays
// the caller's. It returns nil if there is to be none.
func (f *pageFlags) serve(conn *nats.Conn, password, cert, key string) (*servedPage, error) {
	if *f.address == "" || *f.address == "off" {
		return nil, nil //nolint:nilnil // there is none
	}
	secure := cert != "" || key != ""
	var config *tls.Config
	if secure {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("the certificate of the page: %w", err)
		}
		config = &tls.Config{Certificates: []tls.Certificate{pair}}
	}
	var hosts []string
	for name := range strings.SplitSeq(*f.hosts, ",") {
		if name = strings.TrimSpace(name); name != "" {
			hosts = append(hosts, name)
		}
	}
	listener, err := net.Listen("tcp", *f.address)
	if err != nil {
		return nil, fmt.Errorf("the page: %w (choose another address with -page, or off)", err)
	}
	p, err := page.New(page.Options{Conn: conn, Password: password, Hosts: hosts, Secure: secure})
	if err != nil {
		listener.Close()
		return nil, err
	}
	s := &servedPage{page: p, server: page.NewServer(p), ended: make(chan error, 1)}
	s.server.TLSConfig = config
	s.url, s.public = pageURL(listener.Addr(), hosts, secure)
	go func() {
		if secure {
			s.ended <- s.server.ServeTLS(listener, "", "")
		} else {
			s.ended <- s.server.Serve(listener)
		}
	}()
	return s, nil
}

// pageURL returns the address of the page, and whether passwords can be read on
// the way to it.
func pageURL(at net.Addr, hosts []string, secure bool) (url string, public bool) {
	host, port, _ := net.SplitHostPort(at.String())
	ip := net.ParseIP(host)
	public = !secure && !ip.IsLoopback()
	switch {
	case len(hosts) > 0 && !strings.Contains(hosts[0], ":"):
		host = hosts[0]
	case ip.IsUnspecified():
		host = "localhost"
	}
	scheme := "http"
	if secure {
		scheme = "https"
	}
	return scheme + "://" + net.JoinHostPort(host, port) + "/", public
}

// close ends the page: first what streams, then the requests.
func (s *servedPage) close() {
	if s == nil {
		return
	}
	s.page.Close()
	ctx, cancel := context.WithTimeout(context.Background(), pageEnd)
	defer cancel()
	if err := s.server.Shutdown(ctx); err != nil {
		s.server.Close()
	}
}

// say prints where the page is.
func (s *servedPage) say(c *call) {
	if s == nil {
		return
	}
	fmt.Fprintf(c.stdout, "page at %s\n", s.url)
	if s.public {
		fmt.Fprintln(c.stderr, "fleetd: the page is served without TLS to other machines: who listens on the way can read the password")
	}
}

// servePage serves the page of a fleet that is elsewhere, until ctx ends.
func servePage(ctx context.Context, c *call) error {
	client, f := clientFlags(c.flags), newPageFlags(c.flags)
	cert := c.flags.String("page-cert", "", "`file` with the certificate of the page")
	key := c.flags.String("page-key", "", "`file` with its key")
	file := c.flags.String("page-password-file", "page.password", "`file` with the password that the page asks for; it is made if there is none")
	if _, err := c.parse(0, 0); err != nil {
		return err
	}
	if *f.address == "" || *f.address == "off" {
		return errors.New("fleetd: page: -page names no address")
	}
	password, err := passwordIn(*file)
	if err != nil {
		return fmt.Errorf("fleetd: page: -page-password-file: %w", err)
	}
	conn, err := client.connect(nats.MaxReconnects(-1))
	if err != nil {
		return err
	}
	defer conn.Close()
	s, err := f.serve(conn, password, *cert, *key)
	if err != nil {
		return fmt.Errorf("fleetd: page: %w", err)
	}
	defer s.close()
	s.say(c)
	fmt.Fprintf(c.stdout, "its password is in %s\n", *file)
	select {
	case <-ctx.Done():
		return nil
	case err := <-s.ended:
		return fmt.Errorf("fleetd: page: %w", err)
	}
}

// ofServer serves the page of a server that runs in this process, as the
// publisher: that is all that steering takes. A page that cannot be served where
// it usually is does not keep the server from running.
func (f *pageFlags) ofServer(c *call, s *server.Server, users *users, cert, key string) (end func(), err error) {
	conn, err := nats.Connect("", nats.InProcessServer(s), nats.UserInfo(users.publisher.name, users.publisher.password), nats.MaxReconnects(-1))
	if err != nil {
		return nil, err
	}
	served, err := f.serve(conn, users.admin.password, cert, key)
	if err != nil && !f.given() {
		fmt.Fprintf(c.stderr, "fleetd: serve: %v\n", err)
		err = nil
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	served.say(c)
	return func() {
		served.close()
		conn.Close()
	}, nil
}
