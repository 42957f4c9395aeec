package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap"
)

// running is a service that serves.
type running struct {
	*service
	url  string
	stop context.CancelFunc
	err  chan error // what serve returned
}

func serveOn(t *testing.T, s *service, signals <-chan os.Signal) *running {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	r := &running{s, "http://" + listener.Addr().String(), stop, make(chan error, 1)}
	go func() { r.err <- s.serve(ctx, listener, signals) }()
	return r
}

// waitRefused waits until the server takes no connections any more.
func (r *running) waitRefused(t *testing.T) {
	t.Helper()
	for {
		conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
		if err != nil {
			return
		}
		conn.Close()
	}
}

// heldHandler is a handler that waits, with a request in hand, until the test
// lets it go on.
func heldHandler(next http.Handler) (handler http.Handler, arrived, goOn chan struct{}) {
	arrived, goOn = make(chan struct{}), make(chan struct{})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-goOn
		next.ServeHTTP(w, r)
	}), arrived, goOn
}

func fetch(url string) (status int, body string, err error) {
	response, err := http.Get(url)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

func TestARequestThatIsUnderWayAtTheEndStillFindsTheTable(t *testing.T) {
	s, logged := loadedService(t, 100, tempTable(t, generationCSV(7)))
	handler, arrived, goOn := heldHandler(s.handler)
	s.handler = handler
	r := serveOn(t, s, nil)
	type result struct {
		status int
		body   string
		err    error
	}
	results := make(chan result, 1)
	go func() {
		status, body, err := fetch(r.url + "/lookup?ip=10.0.0.1")
		results <- result{status, body, err}
	}()
	<-arrived
	r.stop()
	r.waitRefused(t)
	if got := currentGeneration(t, s); got != 7 {
		t.Errorf("the table is gone while a request is under way")
	}
	close(goOn)
	if got := <-results; got.status != http.StatusOK || !strings.Contains(got.body, `"asn":7,`) {
		t.Errorf("the request is answered with %+v", got)
	}
	if err := <-r.err; err != nil {
		t.Errorf("serve returned %v", err)
	}
	checkEnd(t, s, logged)
	if stats := s.pool.Stats(); stats.Live != 0 || stats.Discarded != stats.Created {
		t.Errorf("something is left in the pool: %+v", stats)
	}
}

// checkEnd fails unless the log tells of an end in order and the container is
// empty.
func checkEnd(t *testing.T, s *service, logged *logBuffer) {
	t.Helper()
	checkInOrder(t, logged.String(), "shutting down", "server stopped", "reloads stopped", "pool at exit")
	if tab := s.tables.Acquire(); tab != nil {
		t.Error("the container is not empty")
		s.tables.Release(tab)
	}
}

// checkInOrder fails unless the log has all of the lines, in their order.
func checkInOrder(t *testing.T, log string, lines ...string) {
	t.Helper()
	rest := log
	for _, line := range lines {
		_, after, found := strings.Cut(rest, line)
		if !found {
			t.Fatalf("%q is missing, or not in its place, in the log:\n%s", line, log)
		}
		rest = after
	}
}

func TestARequestThatDoesNotEndIsLeftBehindAndKeepsItsTable(t *testing.T) {
	s, logged := loadedService(t, 100, tempTable(t, generationCSV(7)))
	s.grace = 1 // the request ends only when the test lets it
	held := make(chan *table, 1)
	handler, arrived, goOn := heldHandler(s.handler)
	s.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		held <- s.tables.Acquire()
		handler.ServeHTTP(w, r)
	})
	r := serveOn(t, s, nil)
	go func() { _, _, _ = fetch(r.url + "/lookup?ip=10.0.0.1") }()
	<-arrived
	r.stop()
	err := <-r.err
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("serve returned %v", err)
	}
	var of *poolswap.HeldError
	if !errors.As(err, &of) || of.References != 1 || !slices.Equal(of.Versions, []uint64{1}) {
		t.Errorf("serve says that what is held is %+v", of)
	}
	checkEnd(t, s, logged)
	tab := <-held
	if got := checkGeneration(t, tab); got != 7 || s.pool.Stats().Retired != 1 {
		t.Errorf("the table that is held is of generation %d", got)
	}
	s.tables.Release(tab)
	close(goOn)
	if err := s.pool.Close(t.Context()); err != nil || s.pool.Stats().Live != 0 {
		t.Errorf("after the release: %v, %d tables are left", err, s.pool.Stats().Live)
	}
}

// TestTheEndWaitsForATableThatIsHeld lets a goroutine that is no request hold a
// table while the service ends. The clock of the test stands still while anything
// can go on, so at its deadlines all others wait.
func TestTheEndWaitsForATableThatIsHeld(t *testing.T) {
	for name, after := range map[string]time.Duration{"in time": graceTime / 2, "too long": 2 * graceTime} {
		t.Run(name, func(t *testing.T) {
			path := tempTable(t, generationCSV(7))
			synctest.Test(t, func(t *testing.T) {
				s, logged := loadedService(t, 100, path)
				held := s.tables.Acquire()
				ctx, stop := context.WithCancel(t.Context())
				begun, ended := time.Now(), make(chan error)
				go func() { ended <- s.serve(ctx, idleListener{make(chan struct{})}, nil) }()
				stop()
				released := make(chan struct{})
				go func() {
					defer close(released)
					time.Sleep(after)
					checkGeneration(t, held)
					s.tables.Release(held)
				}()
				err := <-ended
				took := time.Since(begun)
				checkInOrder(t, logged.String(), "reloads stopped", "pool at exit")
				if after < graceTime {
					if err != nil || took != after || s.pool.Stats().Live != 0 {
						t.Errorf("serve returned %v after %v with %d tables left", err, took, s.pool.Stats().Live)
					}
				} else {
					const says = "poolswap: Close: context deadline exceeded; still held: 1 (references: 1, versions: [1], longest: 5s) [*main.table]"
					if err == nil || !strings.Contains(err.Error(), says) || took != graceTime || s.pool.Stats().Held != 1 {
						t.Errorf("serve returned %v after %v, want %q", err, took, says)
					}
				}
				<-released
				if err := s.pool.Close(t.Context()); err != nil || s.pool.Stats().Live != 0 {
					t.Errorf("after the release: %v, %d tables are left", err, s.pool.Stats().Live)
				}
			})
		})
	}
}

// idleListener is a listener that gets no connections, for a test with a clock
// of its own: that clock does not wait for the network.
type idleListener struct{ closed chan struct{} }

func (l idleListener) Accept() (net.Conn, error) {
	<-l.closed
	return nil, net.ErrClosed
}

func (l idleListener) Close() error {
	close(l.closed)
	return nil
}

func (idleListener) Addr() net.Addr { return &net.TCPAddr{} }

func TestAServerThatFailsEndsInOrderToo(t *testing.T) {
	s, logged := loadedService(t, 100, tempTable(t, generationCSV(7)))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	if err := s.serve(t.Context(), listener, nil); !errors.Is(err, net.ErrClosed) {
		t.Errorf("serve returned %v", err)
	}
	checkInOrder(t, logged.String(), "server stopped", "reloads stopped", "pool at exit")
	if live := s.pool.Stats().Live; live != 0 {
		t.Errorf("%d tables are left", live)
	}
}

func TestAServiceThatIsStoppedDuringTheFirstLoadDoesNotServe(t *testing.T) {
	path := tempTable(t, rows(20_000)) // several buffers long
	for calls := range int64(8) {      // before it, and while the file is found and read
		s, logged := newTestService(100, path)
		if err := s.run(endsAfter(calls), "127.0.0.1:0", nil); err != nil {
			t.Errorf("after %d calls: %v", calls, err)
		}
		if text := logged.String(); !strings.Contains(text, "stopped before the first table was served") || strings.Contains(text, "serving") {
			t.Errorf("after %d calls the log is:\n%s", calls, text)
		}
		if s.tables.Version() != 0 {
			t.Errorf("after %d calls the table was loaded all the same", calls)
		}
	}
}
