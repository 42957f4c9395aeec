package fleet

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"
)

// ClientOptions configure a [Client]. Either Token or TokenFile is needed.
type ClientOptions struct {
	// Token is the token that fleetd made.
	Token string

	// TokenFile is the file that holds the token. It is read again when a server
	// refuses the token, so that a token can be replaced while the program runs.
	TokenFile string

	// CAFile is a file with certificates in PEM. Servers must have one that these
	// vouch for; without it, one that the system trusts.
	CAFile string

	// Insecure allows http to hosts other than this one. Everyone on the way reads
	// the token then.
	Insecure bool

	// Transport, if not nil, makes the requests, those to mirrors too. It must leave
	// the bodies as they are, and excludes CAFile.
	Transport http.RoundTripper
}

// Client speaks to the servers of a fleet, for the Sources, Publishers and
// Controllers that are made with it, and manages names and tokens. It is safe for
// any number of goroutines. Its methods end with ctx, and return an [*Error] if the
// server refused or did not answer.
type Client struct {
	servers []*url.URL
	current atomic.Int32 // index of the server that answered last
	token   *credentials
	http    *http.Client // for servers: with the CA, without redirects
	mirrors *http.Client
}

// NewClient returns a Client of one fleetd or a cluster: servers are the URLs of its
// nodes, with commas between them. When one does not answer, the next is asked. It
// makes no request.
func NewClient(servers string, options ClientOptions) (*Client, error) {
	c := new(Client)
	for i, text := range strings.Split(servers, ",") {
		server, err := parseServer(strings.TrimSpace(text), options.Insecure)
		if err != nil {
			return nil, fmt.Errorf("fleet: URL %d of the servers: %w", i+1, err)
		}
		c.servers = append(c.servers, server)
	}
	c.current.Store(rand.Int32N(int32(len(c.servers)))) // replicas spread over the nodes
	var err error
	if c.token, err = newCredentials(options.Token, options.TokenFile); err != nil {
		return nil, fmt.Errorf("fleet: %w", err)
	}
	forServers, forMirrors, err := transports(options)
	if err != nil {
		return nil, fmt.Errorf("fleet: %w", err)
	}
	refuse := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.http = &http.Client{Transport: forServers, CheckRedirect: refuse}
	c.mirrors = &http.Client{Transport: forMirrors}
	return c, nil
}

// parseServer returns the URL of a server. Its errors do not quote the text, which
// may hold a password.
func parseServer(text string, insecure bool) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http":
		return nil, errors.New("it is no https URL with a host")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("it has a user, a query or a fragment: the token has a file of its own")
	case u.Scheme == "http" && !insecure && !isLoopback(u.Hostname()):
		return nil, fmt.Errorf("http would send the token to %s in the clear: use https, or ClientOptions.Insecure", u.Hostname())
	}
	return u, nil
}

func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.Unmap().IsLoopback()
}

// transports returns those for servers and for mirrors. A CAFile is for servers alone:
// mirrors get no token, and their bytes are compared with the digest.
func transports(options ClientOptions) (servers, mirrors http.RoundTripper, err error) {
	switch {
	case options.Transport != nil && options.CAFile != "":
		return nil, nil, errors.New("ClientOptions with both CAFile and Transport")
	case options.Transport != nil:
		return options.Transport, options.Transport, nil
	case options.CAFile == "":
		all := newTransport(nil)
		return all, all, nil
	}
	text, err := os.ReadFile(options.CAFile)
	if err != nil {
		return nil, nil, fmt.Errorf("the CA: %w", err)
	}
	own, ours := x509.NewCertPool(), x509.NewCertPool()
	if system, err := x509.SystemCertPool(); err == nil {
		ours = system
	}
	if !own.AppendCertsFromPEM(text) || !ours.AppendCertsFromPEM(text) {
		return nil, nil, fmt.Errorf("the CA: %s has no certificate in PEM", options.CAFile)
	}
	return newTransport(own), newTransport(ours), nil
}

func newTransport(roots *x509.CertPool) *http.Transport {
	dialer := &net.Dialer{
		Timeout:         5 * time.Second,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3},
	}
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12, ClientSessionCache: tls.NewLRUClientSessionCache(8)},
		TLSHandshakeTimeout:    10 * time.Second,
		ExpectContinueTimeout:  2 * time.Second,
		IdleConnTimeout:        30 * time.Second,
		MaxIdleConnsPerHost:    1,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// String returns the URLs of the servers.
func (c *Client) String() string {
	all := make([]string, len(c.servers))
	for i, server := range c.servers {
		all[i] = server.String()
	}
	return strings.Join(all, ",")
}

// CloseIdleConnections closes connections that carry no request. A program that ends
// need not call it.
func (c *Client) CloseIdleConnections() {
	c.http.CloseIdleConnections()
	c.mirrors.CloseIdleConnections()
}
