package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// pageRun is a command with a page that runs until the test ends.
type pageRun struct {
	t      *testing.T
	nats   string // address of the server
	url    string // of the page
	stderr *bytes.Buffer
	client *http.Client
	stop   func() int
}

// pageRunOf starts a command and waits until it says where its page is, or says
// none.
func pageRunOf(t *testing.T, last string, args ...string) *pageRun {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	said, ended := &output{make(chan string, 100)}, make(chan int, 1)
	p := &pageRun{t: t, stderr: new(bytes.Buffer)}
	go func() { ended <- run(ctx, args, said, p.stderr) }()
	stopped := false
	p.stop = func() int {
		stopped = true
		cancel()
		code := <-ended
		for len(said.lines) > 0 { // what it said besides
			if at, ok := strings.CutPrefix(<-said.lines, "page at "); ok {
				p.url = at
			}
		}
		return code
	}
	t.Cleanup(func() {
		if stopped {
			return
		}
		if code := p.stop(); code != 0 {
			t.Errorf("it ended with %d: %s", code, p.stderr)
		}
	})
	for late := time.After(time.Minute); ; {
		select {
		case text := <-said.lines:
			for line := range strings.Lines(text) {
				line = strings.TrimSpace(line)
				if at, ok := strings.CutPrefix(line, "serving at "); ok {
					p.nats = at
				}
				if at, ok := strings.CutPrefix(line, "page at "); ok {
					p.url = at
				}
				if strings.HasPrefix(line, last) {
					p.newClient()
					return p
				}
			}
		case code := <-ended:
			stopped = true
			t.Fatalf("it ended with %d: %s", code, p.stderr)
		case <-late:
			t.Fatalf("it does not say %q: %s", last, p.stderr)
		}
	}
}

func (p *pageRun) newClient() {
	p.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		p.t.Fatal(err)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // it made its own certificate
	p.t.Cleanup(transport.CloseIdleConnections)
	p.client = &http.Client{Jar: jar, Transport: transport, Timeout: time.Minute}
}

// logIn logs in with the password in a file and returns the first page.
func (p *pageRun) logIn(file string) (code int, text string) {
	p.t.Helper()
	password, err := secretOf(file)
	if err != nil {
		p.t.Fatal(err)
	}
	body := url.Values{"by": {"alice"}, "password": {password}}.Encode()
	request, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, p.url+"login", strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := p.client.Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	all, err := io.ReadAll(response.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return response.StatusCode, string(all)
}

// pageCertificate returns files with a certificate and its key.
func pageCertificate(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	for file, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), fileMode); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

func TestServeHasAPage(t *testing.T) {
	cert, key := pageCertificate(t)
	for name, more := range map[string][]string{"http": nil, "https": {"-tls-cert", cert, "-tls-key", key}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			p := pageRunOf(t, "page at ", append([]string{"serve", "-addr", "127.0.0.1:0", "-page", "127.0.0.1:0", "-dir", dir}, more...)...)
			if !strings.HasPrefix(p.url, name+"://127.0.0.1:") {
				t.Fatalf("the page is at %s", p.url)
			}
			if code, text := p.logIn(filepath.Join(dir, "admin.password")); code != http.StatusOK || !strings.Contains(text, "Nothing was published yet.") {
				t.Errorf("an administrator gets %d: %s", code, text)
			}
			p.newClient()
			for _, user := range []string{"publisher", "replica"} {
				if code, text := p.logIn(filepath.Join(dir, user+".password")); code != http.StatusForbidden && code != http.StatusTooManyRequests {
					t.Errorf("a %s gets %d: %s", user, code, text)
				}
			}
			at, err := url.Parse(p.url)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range p.client.Jar.Cookies(at) {
				t.Errorf("there is a cookie %s", c.Name)
			}
		})
	}
}

func TestServeHasNoPageIfItIsOff(t *testing.T) {
	for _, off := range []string{"", "off"} {
		if p := pageRunOf(t, "-user admin", "serve", "-addr", "127.0.0.1:0", "-page", off, "-dir", t.TempDir()); p.stop() != 0 || p.url != "" {
			t.Errorf("-page %q: the page is at %s: %s", off, p.url, p.stderr)
		}
	}
}

func TestAPageOfAFleetThatIsElsewhere(t *testing.T) {
	in := newInstance(t)
	in.as("publisher", 0, "publish", "table", in.file("one"))
	own := filepath.Join(t.TempDir(), "own.password")
	p := pageRunOf(t, "its password", "page", "-server", in.url, "-user", "publisher", "-password-file", filepath.Join(in.dir, "publisher.password"),
		"-page", "127.0.0.1:0", "-page-password-file", own)
	if code, text := p.logIn(own); code != http.StatusOK || !strings.Contains(text, "/fleet?name=table") {
		t.Errorf("it answers %d: %s", code, text)
	}
	p.newClient()
	if code, _ := p.logIn(filepath.Join(in.dir, "admin.password")); code != http.StatusForbidden {
		t.Errorf("the password of the fleet's administrator: %d", code)
	}
	if info, err := os.Stat(own); err != nil || info.Mode().Perm() != fileMode {
		t.Errorf("its password: %v, %v", info, err)
	}
	if code := p.stop(); code != 0 {
		t.Errorf("it ends with %d: %s", code, p.stderr)
	}
}

func TestAnAddressThatIsTaken(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	var stderr bytes.Buffer
	args := []string{"serve", "-addr", "127.0.0.1:0", "-page", listener.Addr().String(), "-dir", t.TempDir()}
	if code := run(t.Context(), args, io.Discard, &stderr); code != exitFailed || !strings.Contains(stderr.String(), "choose another address with -page, or off") {
		t.Errorf("it ends with %d: %s", code, &stderr)
	}
	// Where it usually is it does not keep the server from running.
	if usual, err := net.Listen("tcp", pageAddress); err == nil {
		defer usual.Close()
	}
	p := pageRunOf(t, "-user admin", "serve", "-addr", "127.0.0.1:0", "-dir", t.TempDir())
	if code := p.stop(); code != 0 || p.url != "" || !strings.Contains(p.stderr.String(), "choose another address with -page, or off") {
		t.Errorf("it ends with %d: %s", code, p.stderr)
	}
}

func TestThePageSaysWhereItIs(t *testing.T) {
	for _, c := range []struct {
		ip     string
		hosts  []string
		secure bool
		url    string
		public bool
	}{
		{"127.0.0.1", nil, false, "http://127.0.0.1:80/", false},
		{"::1", nil, false, "http://[::1]:80/", false},
		{"192.0.2.1", nil, false, "http://192.0.2.1:80/", true},
		{"192.0.2.1", nil, true, "https://192.0.2.1:80/", false},
		{"0.0.0.0", nil, false, "http://localhost:80/", true},
		{"::", []string{"fleet.example.org"}, true, "https://fleet.example.org:80/", false},
	} {
		if url, public := pageURL(&net.TCPAddr{IP: net.ParseIP(c.ip), Port: 80}, c.hosts, c.secure); url != c.url || public != c.public {
			t.Errorf("%+v: %s, %t", c, url, public)
		}
	}
}
