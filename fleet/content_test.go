package fleet_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/reload"
)

// randomBytes returns n bytes, the same each time.
func randomBytes(n int) []byte {
	text := make([]byte, n)
	rand.NewChaCha8([32]byte{1}).Read(text)
	return text
}

// cutting serves content whose connection breaks after so many bytes.
func cutting(content []byte, after int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(&cutWriter{w, after}, r, "", time.Time{}, bytes.NewReader(content))
	}
}

type cutWriter struct {
	http.ResponseWriter
	left int
}

func (c *cutWriter) Write(p []byte) (int, error) {
	n := min(len(p), c.left)
	c.ResponseWriter.Write(p[:n])
	if c.left -= n; c.left == 0 {
		panic(http.ErrAbortHandler)
	}
	return n, nil
}

// pause returns false if the client goes before d has passed.
func pause(r *http.Request, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-r.Context().Done():
		return false
	}
}

// contentOnly makes handler answer the requests for content.
func contentOnly(handler http.HandlerFunc) func(w http.ResponseWriter, r *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/content/") {
			return false
		}
		handler(w, r)
		return true
	}
}

// TestContentAgainstHostileServers fetches from servers that break, stall and lie. All
// of them end, within a time, and none gives wrong content that passes.
func TestContentAgainstHostileServers(t *testing.T) {
	content := randomBytes(1 << 20)
	var n atomic.Int32
	write := func(w http.ResponseWriter, p []byte) bool { _, err := w.Write(p); return err == nil }
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		want   string // of the error, "" for none
		most   int32  // requests
		within time.Duration
	}{
		{"breaks after progress", cutting(content, 100<<10), "", 12, time.Minute},
		{"breaks at the last byte", cutting(content, len(content)-1), "", 2, time.Minute},
		{"breaks at once", cutting(content, 1), "after 5 of", 5, time.Minute},
		{"knows no ranges", func(w http.ResponseWriter, r *http.Request) {
			r.Header.Del("Range")
			cutting(content, 1<<20-int(n.Load()%2))(w, r)
		}, "", 3, time.Minute},
		{"stalls", func(w http.ResponseWriter, r *http.Request) { write(w, content[:100]); <-r.Context().Done() }, "no byte of the content within", 5, 5 * time.Minute},
		{"trickles", func(w http.ResponseWriter, r *http.Request) {
			for i := range content {
				if !pause(r, time.Second) || !write(w, content[i:i+1]) {
					return
				}
			}
		}, "bytes of the content came in", 5, 10 * time.Minute},
		{"does not answer", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "no answer within", 5, 5 * time.Minute},
		{"sends more, without end", func(w http.ResponseWriter, _ *http.Request) {
			for write(w, content) {
			}
		}, "", 1, time.Minute},
		{"has less", func(w http.ResponseWriter, _ *http.Request) { write(w, content[:1000]) }, "unexpected EOF", 9, time.Minute},
		{"announces another length", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "5") }, "has 5 bytes", 5, time.Minute},
		{"sends a range that was not asked for", func(w http.ResponseWriter, r *http.Request) {
			r.Header.Set("Range", "bytes=100-200")
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
		}, "status 206", 5, time.Minute},
		{"sends another range", func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Range") != "" {
				r.Header.Set("Range", "bytes=5-1048575")
			}
			cutting(content, 100<<10)(w, r)
		}, "the range", 6, time.Minute},
		{"compresses", func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Content-Encoding", "gzip") }, "encoding", 5, time.Minute},
		{"has lost it", func(w http.ResponseWriter, _ *http.Request) { refuse(w, 404, "not_found", "there is no such content") }, "no such content", 1, time.Second},
		{"is busy", func(w http.ResponseWriter, _ *http.Request) { refuse(w, 429, "too_many", "later") }, "later", 1, time.Second},
		{"refuses without an end", func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			<-r.Context().Done()
		}, "status 500", 5, 5 * time.Minute},
		{"sends wrong bytes", func(w http.ResponseWriter, _ *http.Request) { write(w, make([]byte, len(content))) }, "was published", 1, time.Second},
		{"redirects", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://a/elsewhere", http.StatusFound)
		}, "not followed", 5, time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n.Store(0)
				s := newServer()
				s.publish("one", content)
				s.on(contentOnly(func(w http.ResponseWriter, r *http.Request) { n.Add(1); c.answer(w, r) }))
				began := time.Now()
				_, text, err := fetched(t, source(t, client(t, s), fleet.SourceOptions{}), "")
				switch {
				case c.want == "" && (err != nil || text != string(content)):
					t.Errorf("Fetch returned %d bytes and %v", len(text), err)
				case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
					t.Errorf("the error is %v, want %q", err, c.want)
				}
				if took := time.Since(began); took > c.within || n.Load() > c.most {
					t.Errorf("it took %v and %d requests, want %v and %d at most", took, n.Load(), c.within, c.most)
				}
			})
		})
	}
}

func TestContentByAnotherServer(t *testing.T) {
	s, content := newServer(), randomBytes(300<<10)
	s.publish("one", content)
	bad := newServer()
	bad.publish("one", content)
	bad.on(contentOnly(cutting(content, 1000)))
	_, text, err := fetched(t, source(t, client(t, bad, s), fleet.SourceOptions{}), "")
	if err != nil || text != string(content) {
		t.Errorf("Fetch returned %d bytes and %v", len(text), err)
	}
	// A server whose disk is damaged is not the first that the next attempt asks.
	bad.on(contentOnly(func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, len(content))) }))
	c, failures := client(t, bad, s), 0
	for range 3 {
		if _, _, err := fetched(t, source(t, c, fleet.SourceOptions{}), ""); err != nil {
			failures++
		}
	}
	if failures > 1 {
		t.Errorf("%d of 3 attempts failed, want 1 at most", failures)
	}
}

func TestMirrors(t *testing.T) {
	content := randomBytes(500 << 10)
	whole := cutting(content, 1<<30)
	for _, c := range []struct {
		name    string
		mirror  http.HandlerFunc
		fails   bool // the first attempt
		mirrors int  // requests to the mirror in two attempts
		servers int  // requests for content to the server
	}{
		{"it serves", whole, false, 2, 0},
		{"it is down", nil, false, 0, 2},
		{"it breaks after progress", cutting(content, 300<<10), false, 4, 0},
		{"it breaks at once", cutting(content, 100), false, 2, 2},
		{"it refuses", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }, false, 2, 2},
		{"it has another size", cutting(content[:100], 1<<30), false, 2, 2},
		{"it sends wrong bytes", cutting(make([]byte, len(content)), 1<<30), true, 1, 1},
		{"it sends wrong bytes and breaks", cutting(make([]byte, len(content)), 1000), true, 1, 2},
		{"it redirects", func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Has("moved") {
				whole(w, r)
				return
			}
			http.Redirect(w, r, "?moved=1", http.StatusFound)
		}, false, 4, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newServer()
			s.publish("one", content)
			s.set(fleet.KindPin, func(next *fleet.Plan) { next.Mirrors = []string{"https://me:hush@mirror/asn?key=hush", "no URL", "::"} })
			var asked atomic.Int32
			hosts := network{"a": s}
			if c.mirror != nil {
				hosts["mirror"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					asked.Add(1)
					if text := fmt.Sprint(r.Header, r.URL); strings.Contains(text, "secret") || strings.Contains(r.Header.Get("Authorization"), "Bearer") {
						t.Errorf("the mirror got the token: %s", text)
					}
					c.mirror(w, r)
				})
			}
			f, err := fleet.NewClient("https://a", fleet.ClientOptions{Token: "secret-token", Transport: hosts})
			if err != nil {
				t.Fatal(err)
			}
			r := source(t, f, fleet.SourceOptions{})
			for i := range 2 {
				_, text, err := fetched(t, r, "")
				if c.fails && i == 0 {
					if err == nil || !strings.Contains(err.Error(), "mirror mirror is avoided") || strings.Contains(err.Error(), "hush") {
						t.Errorf("the error is %v", err)
					}
				} else if err != nil || text != string(content) {
					t.Errorf("Fetch returned %d bytes and %v", len(text), err)
				}
			}
			servers := 0
			for _, request := range s.all() {
				if strings.Contains(request, "/content/") {
					servers++
				}
			}
			if int(asked.Load()) != c.mirrors || servers != c.servers {
				t.Errorf("the mirror was asked %d times and the server %d, want %d and %d", asked.Load(), servers, c.mirrors, c.servers)
			}
		})
	}
}

// TestContentEndsWithContext ends ctx in the middle of a body, and looks for connections
// that stay open.
func TestContentEndsWithContext(t *testing.T) {
	s := newServer()
	s.publish("one", randomBytes(1<<20))
	var open atomic.Int32
	s.on(contentOnly(func(w http.ResponseWriter, r *http.Request) {
		open.Add(1)
		defer open.Add(-1)
		w.Write(make([]byte, 1000))
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	web := httptest.NewServer(s)
	defer web.Close()
	c, err := fleet.NewClient(web.URL, fleet.ClientOptions{Token: "secret-token"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseIdleConnections()
	for _, byClose := range []bool{true, false} {
		ctx, cancel := context.WithCancel(t.Context())
		content, err := source(t, c, fleet.SourceOptions{}).Fetch(ctx, "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(content.Body, make([]byte, 1000)); err != nil {
			t.Error(err)
		}
		if byClose {
			content.Body.Close()
		}
		cancel()
		if _, err := content.Body.Read(make([]byte, 1)); !byClose && !errors.Is(err, context.Canceled) {
			t.Errorf("Read returned %v, want ctx's error", err)
		}
		waitFor(t, func() bool { return open.Load() == 0 })
		content.Body.Close()
	}
}

func TestClientContent(t *testing.T) {
	s, text := newServer(), randomBytes(100<<10)
	r := s.put("one", text)
	c := client(t, s)
	read := func(r fleet.Revision) (string, error) {
		content, err := c.Content(t.Context(), "asn", r)
		if err != nil {
			return "", err
		}
		defer content.Close()
		all, err := io.ReadAll(content)
		return string(all), err
	}
	if got, err := read(r); err != nil || got != string(text) {
		t.Errorf("Content returned %d bytes and %v", len(got), err)
	}
	s.content[r.SHA256] = make([]byte, len(text))
	if _, err := read(r); err == nil || !strings.Contains(err.Error(), "was published") {
		t.Errorf("damaged content: %v", err)
	}
	r.SHA256 = "../../tokens"
	if _, err := read(r); err == nil || !strings.Contains(err.Error(), "64 hexadecimal") {
		t.Errorf("a wrong digest: %v", err)
	}
}

// TestReplicaSurvivesBrokenContent runs a whole replica while its server sends wrong bytes.
func TestReplicaSurvivesBrokenContent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.publish("one", []byte("one"))
		r := runReplica(t, source(t, client(t, s), fleet.SourceOptions{}))
		defer r.end()
		close(r.gate)
		time.Sleep(time.Second)
		s.on(contentOnly(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "bad") }))
		s.publish("two", []byte("two"))
		time.Sleep(time.Second)
		if report := s.reportOf("r1"); report.Revision != "one" || report.Failed != "" || !strings.Contains(report.Error, "was published") {
			t.Errorf("the report is %+v, want an error without a refusal", report)
		}
		s.on(nil)
		time.Sleep(5 * time.Minute)
		if report := s.reportOf("r1"); report.Revision != "two" || report.Error != "" || r.Status().State() != reload.Fresh {
			t.Errorf("the report is %+v, want the second revision", report)
		}
		if sum := sha256.Sum256([]byte("two")); r.Status().SHA256 != fmt.Sprintf("%x", sum) {
			t.Errorf("the digest is %s", r.Status().SHA256)
		}
	})
}
