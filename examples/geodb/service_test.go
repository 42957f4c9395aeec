package main

import (
	"context"
	"io"
	"log"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
)

// running is a service that serves.
type running struct {
	*service
	stop  context.CancelFunc
	ended chan error  // the error of run
	lines chan string // of the log
}

func run(t *testing.T, s *service) *running {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	r := &running{s, stop, make(chan error, 1), make(chan string, 1000)}
	log.SetOutput(r)
	t.Cleanup(func() { log.SetOutput(os.Stderr) })
	go func() { r.ended <- s.run(ctx, "127.0.0.1:0") }()
	return r
}

// Write receives a line of the log.
func (r *running) Write(line []byte) (int, error) {
	r.lines <- string(line)
	return len(line), nil
}

// waitLog waits for a line that contains start, and returns the rest of it.
func (r *running) waitLog(t *testing.T, start string) string {
	t.Helper()
	for {
		select {
		case line := <-r.lines:
			if _, rest, found := strings.Cut(line, start); found {
				return strings.TrimSuffix(rest, "\n")
			}
		case <-t.Context().Done():
			t.Fatalf("the log does not say %q", start)
		}
	}
}

// waitLoaded waits for the first database.
func (r *running) waitLoaded(t *testing.T) {
	t.Helper()
	if _, err := r.dbs.Wait(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
}

func ask(t *testing.T, url string) (status int, body string) {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

func TestServiceSeesNewFile(t *testing.T) {
	closed := watchMappings(t)
	s := newService(tempDB(t, generation(1)), poll)
	r := run(t, s)
	r.waitLoaded(t)
	for seen := s.reloader.Status().Attempts; s.reloader.Status().Attempts < seen+2; { // nothing changed
		runtime.Gosched()
	}
	replaceFile(t, s.path(), generation(2))
	if version, err := s.dbs.Wait(t.Context(), 1); version != 2 || err != nil {
		t.Errorf("version %d, %v", version, err)
	}
	url := r.waitLog(t, "serving on ")
	for path, says := range map[string]string{"/lookup?ip=2001:db8::1": `"country_code":"G2"},"version":2,`, "/status": "The newest content is loaded."} {
		if status, body := ask(t, url+path); status != http.StatusOK || !strings.Contains(body, says) {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	r.stop()
	if err := <-r.ended; err != nil {
		t.Error(err)
	}
	closed.check(t, 2)
	if mapped := r.waitLog(t, "databases still mapped: "); mapped != "0" {
		t.Errorf("%s databases are still mapped", mapped)
	}
}

// TestStatusBeforeFirstDatabase: the status is served before the first database is
// loaded, lookups are not.
func TestStatusBeforeFirstDatabase(t *testing.T) {
	path := tempDB(t, nil)
	r := run(t, newService(path, poll))
	url := r.waitLog(t, "serving on ")
	r.waitLog(t, path+": revision ")
	if status, body := ask(t, url+"/status"); status != http.StatusOK || !strings.Contains(body, "the file is empty") {
		t.Errorf("/status: %d %s", status, body)
	}
	if status, body := ask(t, url+"/lookup?ip=192.0.2.1"); status != http.StatusServiceUnavailable || body != "no database is loaded: /status says why\n" {
		t.Errorf("/lookup: %d %s", status, body)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	r.waitLog(t, path+": no such file")
	replaceFile(t, path, generation(1))
	r.waitLoaded(t)
	if status, body := ask(t, url+"/lookup?ip=192.0.2.1"); status != http.StatusOK || !strings.Contains(body, `"version":1,`) {
		t.Errorf("/lookup: %d %s", status, body)
	}
	r.stop()
	if err := <-r.ended; err != nil {
		t.Error(err)
	}
}

func TestFailedServer(t *testing.T) {
	closed := watchMappings(t)
	if err := loaded(t, generation(1)).run(t.Context(), "nonsense"); err == nil || !strings.Contains(err.Error(), "missing port") {
		t.Errorf("the service ends with %v", err)
	}
	closed.check(t, 1)
}
