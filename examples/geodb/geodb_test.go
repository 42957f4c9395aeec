package main

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// service is a run of the program.
type service struct {
	t     *testing.T
	url   string
	stop  context.CancelFunc
	ended chan error
}

// start runs the program with a database until the test ends.
func start(t *testing.T, database string) *service {
	t.Helper()
	log.SetOutput(io.Discard)
	registry := prometheus.NewRegistry()
	prometheus.DefaultRegisterer, prometheus.DefaultGatherer = registry, registry
	ctx, stop := context.WithCancel(t.Context())
	s := &service{t, "", stop, make(chan error, 1)}
	address := make(chan string, 1)
	server := &http.Server{Addr: "127.0.0.1:0", BaseContext: func(listener net.Listener) context.Context {
		address <- listener.Addr().String()
		return ctx
	}}
	go func() { s.ended <- run(ctx, database, t.TempDir(), 10*time.Millisecond, server) }()
	s.url = "http://" + <-address
	t.Cleanup(s.end)
	return s
}

// end ends the service, and checks that it ends well.
func (s *service) end() {
	s.t.Helper()
	s.stop()
	if err := <-s.ended; err != nil {
		s.t.Error(err)
	}
}

func (s *service) get(path string) (status int, body string) {
	s.t.Helper()
	response, err := http.Get(s.url + path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return response.StatusCode, strings.TrimSpace(string(text))
}

// await asks until the answer has a text.
func (s *service) await(path, want string) {
	s.t.Helper()
	var body string
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if _, body = s.get(path); strings.Contains(body, want) {
			return
		}
	}
	s.t.Fatalf("%s does not say %q but %q", path, want, body)
}

func TestLookupsAreAnswered(t *testing.T) {
	s := start(t, tempDB(t, generation(7)))
	s.await("/ready", "ready")
	const common = `"record":{"country_code":"G7"},"version":1}`
	const none = `"record":null,"version":1}`
	for _, c := range []struct {
		query  string
		status int
		body   string
	}{
		{"ip=192.0.2.1", 200, `{"network":"192.0.2.0/24",` + common},
		{"ip=::ffff:192.0.2.255", 200, `{"network":"192.0.2.0/24",` + common},
		{"ip=198.51.100.127", 200, `{"network":"198.51.100.0/25",` + common},
		{"ip=198.51.100.128", 200, `{"network":"198.51.100.128/25",` + none},
		{"ip=2001:db8:ffff::", 200, `{"network":"2001:db8::/32",` + common},
		{"ip=2001:db9::", 200, `{"network":"2001:db9::/32",` + none},
		{"ip=1.2.3", 400, `ParseAddr("1.2.3"): IPv4 address too short`},
		{"", 400, `ParseAddr(""): unable to parse IP`},
	} {
		if status, body := s.get("/lookup?" + c.query); status != c.status || body != c.body {
			t.Errorf("%s: %d %s, want %d %s", c.query, status, body, c.status, c.body)
		}
	}
	for path, want := range map[string]string{
		"/status":  "The newest content is loaded.",
		"/metrics": `poolswap_reload_swaps_total{reloader="geodb"} 1`,
	} {
		if status, body := s.get(path); status != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
}

// Broken databases are refused, and the good one stays.
func TestBrokenFile(t *testing.T) {
	good := generation(1)
	path := tempDB(t, good)
	s := start(t, path)
	s.await("/lookup?ip=192.0.2.1", `{"country_code":"G1"},"version":1}`)
	for name, content := range brokenDBs() {
		replaceFile(t, path, content)
		s.await("/status?format=json", `"state": "refused"`)
		if status, body := s.get("/lookup?ip=192.0.2.1"); status != http.StatusOK || !strings.Contains(body, `"G1"`) {
			t.Errorf("with a database that is %s: %d %s", name, status, body)
		}
		replaceFile(t, path, good)
		s.await("/status?format=json", `"state": "fresh"`)
	}
	replaceFile(t, path, generation(2))
	s.await("/lookup?ip=192.0.2.1", `{"country_code":"G2"},"version":2}`)
}

// A database that is written over in place kills no reader: its copy is mapped.
func TestFileIsCutOffInPlace(t *testing.T) {
	path := tempDB(t, generation(1))
	s := start(t, path)
	s.await("/lookup?ip=192.0.2.1", `"version":1}`)
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if status, body := s.get("/lookup?ip=192.0.2.1"); status != http.StatusOK || !strings.Contains(body, `"G1"`) {
			t.Fatalf("%d %s", status, body)
		}
	}
	s.await("/status", "the file is empty")
	if err := os.WriteFile(path, generation(2), 0o600); err != nil {
		t.Fatal(err)
	}
	s.await("/lookup?ip=192.0.2.1", `{"country_code":"G2"},"version":2}`)
}

// The page says why nothing is loaded yet.
func TestNoDatabaseYet(t *testing.T) {
	path := tempDB(t, nil)
	s := start(t, path)
	s.await("/status", "the file is empty")
	for path, want := range map[string]string{
		"/lookup?ip=192.0.2.1": "no database is loaded: /status says why",
		"/ready":               `nothing is loaded from ["` + path + `"]`,
	} {
		if status, body := s.get(path); status != http.StatusServiceUnavailable || body != want {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	replaceFile(t, path, generation(1))
	s.await("/ready", "ready")
}

func TestDatabaseFromURL(t *testing.T) {
	path := tempDB(t, generation(1))
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, path) }))
	defer origin.Close()
	s := start(t, origin.URL+"/test.mmdb?licence_key=4711-0815")
	s.await("/lookup?ip=192.0.2.1", `{"country_code":"G1"},"version":1}`)
	if _, body := s.get("/status"); strings.Contains(body, "4711") {
		t.Error("the status shows the licence key")
	}
}

func TestServiceThatCannotBegin(t *testing.T) {
	for database, want := range map[string]string{"ftp://host/x": "only http, https and file are known", "x.mmdb": "missing port in address"} {
		prometheus.DefaultRegisterer = prometheus.NewRegistry()
		err := run(t.Context(), database, t.TempDir(), time.Second, &http.Server{Addr: "nonsense"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v", database, err)
		}
	}
}

// TestRealDatabase runs with the database that the environment names.
func TestRealDatabase(t *testing.T) {
	path := os.Getenv("POOLSWAP_MMDB")
	if path == "" {
		t.Skip("POOLSWAP_MMDB names no database: README.md shows how to get one")
	}
	s := start(t, path)
	s.await("/ready", "ready")
	found := 0
	for _, ip := range []string{"1.1.1.1", "8.8.8.8", "193.0.6.139", "2001:4860:4860::8888"} {
		status, body := s.get("/lookup?ip=" + ip)
		if status != http.StatusOK {
			t.Errorf("%s: %d %s", ip, status, body)
		}
		if !strings.Contains(body, `"record":null`) {
			found++
		}
	}
	if found == 0 {
		t.Error("it knows none of four well-known addresses")
	}
}
