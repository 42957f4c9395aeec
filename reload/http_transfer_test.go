package reload_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap/reload"
)

func TestTransferCut(t *testing.T) {
	t.Parallel()
	for name, response := range map[string]string{
		"shorter than Content-Length":   "HTTP/1.1 200 OK\r\nContent-Length: 100\r\nETag: \"x\"\r\n\r\nhalf",
		"a chunk that ends early":       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nETag: \"x\"\r\n\r\n64\r\nhalf",
		"chunks without the last one":   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nETag: \"x\"\r\n\r\n4\r\nhalf\r\n",
		"chunks that are no chunks":     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nETag: \"x\"\r\n\r\n4\r\nhalf\r\nzz\r\n",
		"nothing but the header":        "HTTP/1.1 200 OK\r\nContent-Length: 100\r\nETag: \"x\"\r\n\r\n",
		"no end of the chunked trailer": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nETag: \"x\"\r\n\r\n4\r\nhalf\r\n0\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broken := new(atomic.Bool)
			broken.Store(true)
			s := site(t, func(w http.ResponseWriter, _ *http.Request) {
				if !broken.Load() {
					w.Header().Set("ETag", `"x"`)
					fmt.Fprint(w, "whole")
					return
				}
				conn, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				io.WriteString(conn, response)
				conn.Close()
			})
			r, c := fromHTTP(s.URL, reload.HTTPOptions{}, reload.Options{})
			for range 2 { // it is fetched again
				if failure := failsWith(t, r, reload.Reading); failure.Refused || failure.Revision != `etag "x"` {
					t.Errorf("the error is %+v", failure)
				}
				is(t, c, "")
			}
			broken.Store(false)
			succeeds(t, r, c, "whole")
		})
	}
}

func TestTransferCancelled(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{})
	s := site(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, "half")
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(gone)
	})
	ctx, cancel := context.WithCancel(t.Context())
	c, _ := newTexts()
	r := reload.New(c, reload.HTTP(s.URL, reload.HTTPOptions{}), func(_ context.Context, _, _ *text, content *reload.Content) error {
		if _, err := io.ReadFull(content.Body, make([]byte, 4)); err != nil {
			return err
		}
		cancel()
		_, err := io.ReadAll(content.Body)
		return err
	}, reload.Options{Logger: quiet})
	if err := r.Reload(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Reload returned %v", err)
	}
	is(t, c, "")
	<-gone // the server sees it
	if s := r.Status(); s.Failures != 0 {
		t.Errorf("the status is %+v", s)
	}
}

// pipes is a listener of connections in memory, whose time is a bubble's.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error { close(p.closed); return nil }

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	p.conns <- server
	return client, nil
}

// inTime runs fn in a bubble with a client of a server in memory.
func inTime(t *testing.T, handler http.HandlerFunc, fn func(t *testing.T, client *http.Client)) {
	synctest.Test(t, func(t *testing.T) {
		p := &pipes{make(chan net.Conn), make(chan struct{})}
		server := &http.Server{Handler: handler}
		go server.Serve(p)
		transport := &http.Transport{DialContext: p.dial}
		fn(t, &http.Client{Transport: transport})
		transport.CloseIdleConnections()
		if err := server.Shutdown(context.WithoutCancel(t.Context())); err != nil { // waits for handlers
			t.Error(err)
		}
	})
}

const (
	headerTimeout = 5 * time.Second
	stallTimeout  = 10 * time.Second
)

// failsAfter fails unless Reload fails with want, no sooner and no later than d
// after began.
func failsAfter(t *testing.T, r *reload.Reloader, stage reload.Stage, want string, d time.Duration) {
	t.Helper()
	began := time.Now()
	if failure := failsWith(t, r, stage); failure.Err.Error() != want || failure.Refused {
		t.Errorf("the error is %v, want %s", failure, want)
	}
	if took := time.Since(began); took != d {
		t.Errorf("it took %v, want %v", took, d)
	}
}

func TestTransferWithoutAnswer(t *testing.T) {
	inTime(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, func(t *testing.T, client *http.Client) {
		r, _ := fromHTTP("http://host/", reload.HTTPOptions{Client: client, HeaderTimeout: headerTimeout}, reload.Options{})
		failsAfter(t, r, reload.Fetching, "no response within 5s", headerTimeout)
	})
}

func TestTransferOfRedirects(t *testing.T) {
	inTime(t, func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(3 * time.Second)
		http.Redirect(w, r, "/more", http.StatusFound)
	}, func(t *testing.T, client *http.Client) {
		r, _ := fromHTTP("http://host/", reload.HTTPOptions{Client: client, HeaderTimeout: headerTimeout}, reload.Options{})
		failsAfter(t, r, reload.Fetching, "no response within 5s", headerTimeout)
	})
}

func TestTransferStalls(t *testing.T) {
	const pause, parts = 9 * time.Second, 100 // longer than both timeouts in all
	inTime(t, func(w http.ResponseWriter, r *http.Request) {
		for i := range parts {
			fmt.Fprintf(w, "part %3d\n", i)
			http.NewResponseController(w).Flush()
			time.Sleep(pause)
		}
		if r.URL.Path == "/stalls" {
			<-r.Context().Done()
		}
	}, func(t *testing.T, client *http.Client) {
		options := reload.HTTPOptions{Client: client, HeaderTimeout: headerTimeout, StallTimeout: stallTimeout, MinRate: -1}
		r, c := fromHTTP("http://host/stalls", options, reload.Options{})
		failsAfter(t, r, reload.Reading, "no byte of the body within 10s", (parts-1)*pause+stallTimeout)
		is(t, c, "")
		r, c = fromHTTP("http://host/slow", options, reload.Options{})
		if err := r.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(current(c)) != parts*9 {
			t.Errorf("readers get %d bytes", len(current(c)))
		}
	})
}

func TestTransferSlowLoad(t *testing.T) {
	inTime(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000000")
		w.Write(make([]byte, 1_000_000))
	}, func(t *testing.T, client *http.Client) {
		c, _ := newTexts()
		r := reload.New(c, reload.HTTP("http://host/", reload.HTTPOptions{Client: client, StallTimeout: stallTimeout}), func(_ context.Context, _, _ *text, content *reload.Content) error {
			for range 10 {
				time.Sleep(time.Hour)
				if _, err := io.ReadFull(content.Body, make([]byte, 100_000)); err != nil {
					return err
				}
			}
			return nil
		}, reload.Options{Logger: quiet})
		if err := r.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestTransferOfErrorBody(t *testing.T) {
	inTime(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusBadGateway)
		fmt.Fprint(w, "upstream")
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}, func(t *testing.T, client *http.Client) {
		r, _ := fromHTTP("http://host/", reload.HTTPOptions{Client: client, StallTimeout: stallTimeout}, reload.Options{})
		failsAfter(t, r, reload.Fetching, `status 502 Bad Gateway, "upstream"`, stallTimeout)
	})
}

// Run asks no sooner than the server allows.
func TestRetryAfterOfServer(t *testing.T) {
	var asked []time.Time
	inTime(t, func(w http.ResponseWriter, _ *http.Request) {
		asked = append(asked, time.Now()) // one request at a time
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusServiceUnavailable)
	}, func(t *testing.T, client *http.Client) {
		r, _ := fromHTTP("http://host/", reload.HTTPOptions{Client: client}, reload.Options{Every: time.Second, MaxRetryAfter: time.Hour, MaxBackoff: time.Hour})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Hour+time.Minute)
		defer cancel()
		if err := r.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if len(asked) < 9 {
			t.Errorf("%d requests in ten hours", len(asked))
		}
		for i := 1; i < len(asked); i++ {
			if pause := asked[i].Sub(asked[i-1]); pause < time.Hour {
				t.Errorf("a request came after %v", pause)
			}
		}
	})
}

// TestEmptyGzipIsLeft sends gzip that holds nothing, and never ends.
func TestEmptyGzipIsLeft(t *testing.T) {
	t.Parallel()
	members := bytes.Repeat(gzipped(t, ""), 1000)
	s := site(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		for sent := 0; r.Context().Err() == nil; sent += len(members) {
			if sent > 64<<20 {
				t.Error("the transfer goes on")
				return
			}
			w.Write(members)
		}
	})
	r, _ := fromHTTP(s.URL, reload.HTTPOptions{}, reload.Options{MaxBytes: 1000})
	if failure := failsWith(t, r, reload.Reading); !strings.HasSuffix(failure.Err.Error(), "bytes of gzip hold next to no content") {
		t.Error(failure)
	}
}

// TestShortGzipMembers sends gzip of many members, as a log that was packed line by
// line has.
func TestShortGzipMembers(t *testing.T) {
	t.Parallel()
	const line, lines = "a line\n", 100_000
	packed := bytes.Repeat(gzipped(t, line), lines)
	s := site(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(packed)
	})
	r, c := fromHTTP(s.URL, reload.HTTPOptions{}, reload.Options{})
	succeeds(t, r, c, strings.Repeat(line, lines))
}

// TestErrorOfOriginIsCut has an origin fill the status and the log with its header.
func TestErrorOfOriginIsCut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 900_000)
	for name, response := range map[string]string{
		"a redirect to a long host":  "HTTP/1.1 302 Found\r\nLocation: http://" + long[:5000] + "/\r\n\r\n",
		"a redirect to nowhere":      "HTTP/1.1 302 Found\r\nLocation: http://a b/" + long + "\r\n\r\n",
		"a redirect of many escapes": "HTTP/1.1 302 Found\r\nLocation: http://a b/" + strings.Repeat(`\u0025&amp;`, 90_000) + "\r\n\r\n",
		"a line that is no header":   "HTTP/1.1 200 OK\r\n" + long + "\r\n\r\n",
		"a status that is no number": "HTTP/1.1 " + long + "\r\n\r\n",
		"a response that is none":    long + "\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := site(t, func(w http.ResponseWriter, _ *http.Request) {
				conn, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				io.WriteString(conn, response)
				conn.Close()
			})
			r, _ := fromHTTP(s.URL+"/?key=secret", reload.HTTPOptions{}, reload.Options{})
			if failure := failsWith(t, r, reload.Fetching); len(failure.Error()) > 2000 || !strings.Contains(failure.Error(), "…") {
				t.Errorf("an error of %d bytes: %.200s", len(failure.Error()), failure)
			}
		})
	}
}
