package api_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/api"
)

// TestOddRequestsAreRefused sends what proxies and servers read in different ways.
func TestOddRequestsAreRefused(t *testing.T) {
	s := newServer(t)
	s.publish("asn", "one")
	admin := s.token(fleet.AdminRole, "*", "")
	host := "Host: fleet\r\nAuthorization: Bearer " + admin + "\r\n"
	patch := "PATCH /v1/names/asn/plan HTTP/1.1\r\n" + host
	behind := "GET /v1/tokens HTTP/1.1\r\n" + host + "Connection: close\r\n\r\n" // must not be served
	for _, test := range []struct {
		name, text string
		statuses   string // of all answers
	}{
		{"two lengths", patch + "Content-Length: 5\r\nContent-Length: 6\r\n\r\n" + behind, "400"},
		{"a length with a sign", patch + "Content-Length: +5\r\n\r\n" + behind, "400"},
		{"a length in hexadecimal", patch + "Content-Length: 0x5\r\n\r\n" + behind, "400"},
		{"an unknown encoding", patch + "Transfer-Encoding: xchunked\r\n\r\n" + behind, "501"},
		{"two encodings", patch + "Transfer-Encoding: gzip, chunked\r\n\r\n" + behind, "501"},
		{"a length beside chunks", patch + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + behind, "400"},
		{"a chunk of a wrong length", patch + "Transfer-Encoding: chunked\r\n\r\n-1\r\n" + behind, "400"},
		{"an upload with a chunk of a wrong length", "POST /v1/names/asn/revisions HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n-1\r\n" + behind, "400"},
		{"a folded header", "GET /v1/names HTTP/1.1\r\nHost: fleet\r\nX: a\r\n\tb: c\r\nConnection: close\r\n\r\n", "401"},
		{"a space before the colon", patch + "Content-Length : 5\r\n\r\n" + behind, "400"},
		{"no host", "GET /v1/names HTTP/1.1\r\n\r\n" + behind, "400"},
		{"two hosts", "GET /v1/names HTTP/1.1\r\nHost: a\r\n" + host + "\r\n" + behind, "400"},
		{"two tokens", "GET /v1/names HTTP/1.1\r\n" + host + "Authorization: Bearer x\r\n\r\n" + behind, "401"},
		{"a body of a GET", "GET /v1/names HTTP/1.1\r\n" + host + "Content-Length: 3\r\n\r\nabc" + behind, "400"},
		{"a body without a token", "GET /healthz HTTP/1.1\r\nHost: fleet\r\nContent-Length: 3\r\n\r\nabc" + behind, "200"},
		{"the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + behind, "404"},
		{"OPTIONS of the server", "OPTIONS * HTTP/1.1\r\n" + host + "Connection: close\r\n\r\n", "404"},
		{"CONNECT", "CONNECT fleet:80 HTTP/1.1\r\nHost: fleet:80\r\nConnection: close\r\n\r\n", "404"},
		{"an absolute address", "GET http://other/v1/names HTTP/1.1\r\n" + host + "Connection: close\r\n\r\n", "200"},
		{"two requests", "GET /v1/names HTTP/1.1\r\n" + host + "\r\n" + behind, "200 200"},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := s.raw(test.text)
			var statuses []string
			for line := range strings.SplitSeq(text, "\n") {
				if fields := strings.Fields(line); len(fields) > 1 && strings.HasPrefix(line, "HTTP/1.") {
					statuses = append(statuses, strings.TrimSuffix(fields[1], ":"))
				}
			}
			if got := strings.Join(statuses, " "); got != test.statuses {
				t.Errorf("%s, want %s: %s", got, test.statuses, text)
			}
		})
	}
}

func TestOddPathsAreNotFound(t *testing.T) {
	s := newServer(t)
	s.publish("asn", "one")
	s.publish("a%2Fb%20%C3%BC%25", "two")
	admin := s.token(fleet.AdminRole, "*", "")
	for path, status := range map[string]int{
		"/v1/names/a%2Fb%20%C3%BC%25/plan": 200, "/v1/names/a%2fb%20%c3%bc%25/plan": 200, "/%76%31/names": 200, "/V1/names": 404, "/v2/names": 404,
		"/": 404, "/v1": 404, "/v1/": 404, "/v1/names/": 404, "/v1/names/asn/plan/": 404, "//v1/names": 404, "/v1//names": 404, "/v1/names//plan": 404,
		"/v1/names/./plan": 404, "/v1/names/../names": 404, "/v1/names/asn/../../names": 404, "/v1/names/asn/content/../plan": 404,
		"/v1/names/%2e%2e/plan": 400, "/v1/names/%2E/plan": 400, "/v1/names/a%00b/plan": 400, "/v1/names/%ff/plan": 400, "/v1/names/a%0ab/plan": 400,
		"/v1/names/" + strings.Repeat("x", 129) + "/plan": 400, "/v1/names/asn/plan?after=1.1;wait=1s": 400, "/v1/names/asn/plan?%zz": 400,
	} {
		text := s.raw(fmt.Sprintf("GET %s HTTP/1.1\r\nHost: fleet\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n", path, admin))
		if !strings.HasPrefix(text, fmt.Sprintf("HTTP/1.1 %d ", status)) || strings.Contains(text, "Location:") {
			t.Errorf("%s, want %d: %s", path, status, text)
		}
	}
	if a := s.want(405, "bad_method", admin, "POST", planPath, "{}"); a.header.Get("Allow") != "GET, HEAD, PATCH" {
		t.Errorf("the header is %v", a.header)
	}
	s.want(405, "bad_method", "", "TRACE", "/v1/names", "")
	names := decode[struct{ Names []string }](t, s.want(200, "", s.token(fleet.ReaderRole, "a/*", ""), "GET", "/v1/names", "")).Names
	if fmt.Sprintf("%q", names) != `["a/b ü%"]` {
		t.Errorf("the names are %q", names)
	}
}

// fileConn counts the bytes that a connection sends by itself from a file.
type fileConn struct {
	*net.TCPConn
	sent *atomic.Int64
}

func (c *fileConn) ReadFrom(r io.Reader) (int64, error) {
	n, err := c.TCPConn.ReadFrom(r)
	if limited, ok := r.(*io.LimitedReader); ok {
		if _, ok := limited.R.(*os.File); ok {
			c.sent.Add(n)
		}
	}
	return n, err
}

type fileListener struct {
	*net.TCPListener
	sent atomic.Int64
}

func (l *fileListener) Accept() (net.Conn, error) {
	conn, err := l.AcceptTCP()
	if err != nil {
		return nil, err
	}
	return &fileConn{conn, &l.sent}, nil
}

// TestContentIsSentByTheSystem looks at the reader that a connection gets: a file, in
// one LimitedReader, is all that the system call sendfile takes.
func TestContentIsSentByTheSystem(t *testing.T) {
	s := newServer(t)
	content := strings.Repeat("0123456789abcdef", 1<<20)
	r, _ := s.publish("asn", content)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	counting := &fileListener{TCPListener: listener.(*net.TCPListener)}
	web := api.NewHTTPServer(s.api, s.api)
	go web.Serve(counting)
	defer web.Close()
	s.url = "http://" + listener.Addr().String()
	if a := s.want(200, "", s.token(fleet.ReplicaRole, "asn", "r"), "GET", "/v1/names/asn/content/"+r.SHA256, ""); a.text != content {
		t.Errorf("%d other bytes came", len(a.text))
	}
	if least := int64(len(content)) - 4096; counting.sent.Load() < least {
		t.Errorf("the system sent %d of %d bytes", counting.sent.Load(), len(content))
	}
}

// writeCertificate writes a new certificate for 127.0.0.1 and its key.
func writeCertificate(t *testing.T, cert, key string, number int64) []byte {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(number), Subject: pkix.Name{CommonName: "fleet"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	text, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	certText := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	for name, text := range map[string][]byte{cert: certText, key: pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: text})} {
		if err := os.WriteFile(name+".new", text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(name+".new", name); err != nil {
			t.Fatal(err)
		}
	}
	return certText
}

func TestCertificatesAreRenewed(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	logger := slog.New(slog.DiscardHandler)
	if _, err := api.NewCertificate(t.Context(), cert, key, logger); err == nil {
		t.Error("it takes files that are missing")
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(writeCertificate(t, cert, key, 1))
	certificate, err := api.NewCertificate(t.Context(), cert, key, logger)
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	web := api.NewHTTPServer(s.api, s.api)
	web.TLSConfig = certificate.Config()
	go web.ServeTLS(api.LimitListener(listener.(*net.TCPListener), 10), "", "")
	defer web.Close()
	serial := func() string {
		conn, err := tls.Dial("tcp", listener.Addr().String(), &tls.Config{RootCAs: roots, NextProtos: []string{"h2", "http/1.1"}})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if protocol := conn.ConnectionState().NegotiatedProtocol; protocol != "http/1.1" {
			t.Errorf("it speaks %q", protocol)
		}
		return conn.ConnectionState().PeerCertificates[0].SerialNumber.String()
	}
	if got := serial(); got != "1" {
		t.Errorf("the certificate is number %s", got)
	}
	roots.AppendCertsFromPEM(writeCertificate(t, cert, key, 2))
	if err := certificate.Reload(t.Context()); err != nil {
		t.Error(err)
	}
	if got := serial(); got != "2" {
		t.Errorf("the certificate is number %s", got)
	}
	other := filepath.Join(dir, "other.pem")
	writeCertificate(t, cert, other, 3) // its key is elsewhere
	if err := certificate.Reload(t.Context()); err == nil {
		t.Error("it takes a certificate beside the key of another one")
	}
	if got := serial(); got != "2" {
		t.Errorf("the certificate is number %s", got)
	}
}
