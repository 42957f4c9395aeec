package fleet_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

// once hides that content can be read again.
type once struct{ io.Reader }

func TestPublish(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	public, private, _ := ed25519.GenerateKey(nil)
	for name, wrap := range map[string]func(io.Reader) io.Reader{
		"a seeker": func(r io.Reader) io.Reader { return r },
		"a stream": func(r io.Reader) io.Reader { return once{r} },
	} {
		t.Run(name, func(t *testing.T) {
			s, saw := newServer(), ""
			c := client(t, s)
			p := must(fleet.NewPublisher(c, "asn", fleet.PublisherOptions{New: true, Key: private, Check: func(_ context.Context, content io.Reader) error {
				start := make([]byte, 5)
				_, err := io.ReadFull(content, start)
				saw = string(start)
				if saw == "wrong" {
					return errors.New("it is wrong")
				}
				return err
			}}))
			content := strings.NewReader("skip:right content")
			if _, err := content.Seek(5, io.SeekStart); err != nil {
				t.Fatal(err)
			}
			r, plan, err := p.Publish(t.Context(), wrap(content), "why")
			if err != nil || plan.Stable != r.ID || saw != "right" || string(s.content[r.SHA256]) != "right content" {
				t.Fatalf("Publish returned %+v, %+v and %v", r, plan, err)
			}
			if !ed25519.Verify(public, r.Statement("asn"), s.stored[0].Signature) || len(r.Signature) == 0 {
				t.Error("the stored signature is not that of the revision")
			}
			if _, text, err := fetched(t, source(t, c, fleet.SourceOptions{Keys: []ed25519.PublicKey{public}}), ""); err != nil || text != "right content" {
				t.Errorf("a replica got %q and %v", text, err)
			}
			before := len(s.all())
			if _, _, err := p.Publish(t.Context(), wrap(strings.NewReader("wrong content")), ""); err == nil || !strings.Contains(err.Error(), "the check refuses it: it is wrong") {
				t.Errorf("the error is %v", err)
			}
			if _, err := p.Store(t.Context(), wrap(strings.NewReader(""))); err == nil {
				t.Error("empty content was stored")
			}
			for _, request := range s.all()[before:] {
				if !strings.HasPrefix(request, "GET") {
					t.Errorf("content that was refused led to %s", request)
				}
			}
		})
	}
	if left, _ := filepath.Glob(filepath.Join(temporary, "fleet-*")); len(left) > 0 {
		t.Errorf("temporary files are left: %v", left)
	}
}

func TestPublisherRefuses(t *testing.T) {
	s := newServer()
	c := client(t, s)
	publish := func(options fleet.PublisherOptions, content io.Reader) error {
		_, _, err := must(fleet.NewPublisher(c, "asn", options)).Publish(t.Context(), content, "")
		return err
	}
	if err := publish(fleet.PublisherOptions{}, strings.NewReader("x")); !errors.Is(err, fleet.ErrNoPlan) || !strings.Contains(err.Error(), "misspelled") {
		t.Errorf("a new name: %v", err)
	}
	if err := publish(fleet.PublisherOptions{New: true}, strings.NewReader("x")); err != nil {
		t.Error(err)
	}
	device, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer device.Close()
	for _, empty := range []io.Reader{strings.NewReader(""), once{strings.NewReader("")}, device} {
		if err := publish(fleet.PublisherOptions{}, empty); err == nil || !strings.Contains(err.Error(), "is empty") {
			t.Errorf("empty content: %v", err)
		}
		if err := publish(fleet.PublisherOptions{AllowEmpty: true}, empty); err != nil {
			t.Errorf("empty content that is allowed: %v", err)
		}
	}
	broken := errors.New("the disk is broken")
	for _, content := range []io.Reader{iotest.ErrReader(broken), once{io.MultiReader(strings.NewReader("half"), iotest.ErrReader(broken))}} {
		before := s.plan.Seq
		if err := publish(fleet.PublisherOptions{}, content); err == nil || !strings.Contains(err.Error(), "the disk is broken") || s.plan.Seq != before {
			t.Errorf("content that cannot be read: %v, plan %d", err, s.plan.Seq)
		}
	}
	if _, err := fleet.NewPublisher(c, "asn", fleet.PublisherOptions{Key: ed25519.PrivateKey("short")}); err == nil {
		t.Error("a short key was accepted")
	}
}

// TestPublishConflict changes the plan while content is stored.
func TestPublishConflict(t *testing.T) {
	s := newServer()
	s.publish("one", []byte("one"))
	s.on(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost {
			s.set(fleet.KindPin, func(*fleet.Plan) {})
		}
		return false
	})
	r, _, err := must(fleet.NewPublisher(client(t, s), "asn", fleet.PublisherOptions{})).Publish(t.Context(), strings.NewReader("two"), "")
	if !errors.Is(err, fleet.ErrConflict) || r.ID == "" || s.plan.Stable != "one" {
		t.Errorf("Publish returned %+v and %v, and %q is stable", r, err, s.plan.Stable)
	}
}

// TestUploadIsCompared lets the server store something else, and changes a file after the
// check.
func TestUploadIsCompared(t *testing.T) {
	s := newServer()
	s.publish("one", []byte("one"))
	file := filepath.Join(t.TempDir(), "content")
	for name, change := range map[string]func(r *http.Request){
		"other bytes":     func(r *http.Request) { replaceBody(r, "after") },
		"no bytes":        func(r *http.Request) { replaceBody(r, "") },
		"an early answer": func(r *http.Request) { r.Body = io.NopCloser(io.LimitReader(r.Body, 1)) },
		"another id":      func(r *http.Request) { r.URL.RawQuery = strings.Replace(r.URL.RawQuery, "id=", "id=x", 1) },
		"another time":    func(r *http.Request) { r.URL.RawQuery = strings.Replace(r.URL.RawQuery, "created=2", "created=3", 1) },
		"a changed file":  func(*http.Request) {},
	} {
		t.Run(name, func(t *testing.T) {
			write := func(text string) {
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Error(err)
				}
			}
			write("befor")
			f, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			s.on(func(_ http.ResponseWriter, r *http.Request) bool {
				if r.Method == http.MethodPost {
					change(r)
				}
				return false
			})
			check := func(context.Context, io.Reader) error {
				if name == "a changed file" {
					write("after")
				}
				return nil
			}
			_, _, err = must(fleet.NewPublisher(client(t, s), "asn", fleet.PublisherOptions{Check: check})).Publish(t.Context(), f, "")
			if err == nil || !strings.Contains(err.Error(), "stored other content, or the content changed") || s.plan.Stable != "one" {
				t.Errorf("the error is %v; %q is stable", err, s.plan.Stable)
			}
		})
	}
}

// TestUploadOverTheNetwork uploads to servers that refuse early, break and are slow.
func TestUploadOverTheNetwork(t *testing.T) {
	s := newServer()
	s.publish("one", []byte("one"))
	var sent atomic.Int64
	var full atomic.Bool
	full.Store(true)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && full.Load() {
			refuse(w, 507, "full", "the quota of the name is full")
			return
		}
		s.ServeHTTP(w, r)
	}))
	defer web.Close()
	c, err := fleet.NewClient(web.URL, fleet.ClientOptions{Token: "secret-token"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseIdleConnections()
	p := must(fleet.NewPublisher(c, "asn", fleet.PublisherOptions{}))
	content := counting{bytes.NewReader(make([]byte, 64<<20)), &sent}
	var refused *fleet.Error
	if _, err := p.Store(t.Context(), content); !errors.As(err, &refused) || refused.Status != 507 || sent.Load() > 66<<20 {
		t.Errorf("the error is %v after %d bytes, want 507 before they are read again", err, sent.Load())
	}
	full.Store(false)
	content.Reader.Reset(make([]byte, 64<<20))
	if _, err := p.Store(t.Context(), content); err != nil {
		t.Error(err)
	}
}

func TestUploadTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.publish("one", []byte("one"))
		p := must(fleet.NewPublisher(client(t, s), "asn", fleet.PublisherOptions{}))
		slow, writer := io.Pipe()
		go func() {
			for range 10 { // a program that makes the content
				time.Sleep(time.Hour)
				writer.Write([]byte("x"))
			}
			writer.Close()
		}()
		if _, err := p.Store(t.Context(), slow); err != nil {
			t.Errorf("slow content: %v", err)
		}
		s.on(func(_ http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPost {
				<-r.Context().Done()
			}
			return r.Method == http.MethodPost
		})
		began := time.Now()
		if _, err := p.Store(t.Context(), strings.NewReader("two")); err == nil || time.Since(began) > 10*time.Minute {
			t.Errorf("a server that does not take it: %v after %v", err, time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := p.Store(ctx, strings.NewReader("two")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("ctx ended, and the error is %v", err)
		}
	})
}

func TestUploadByAnotherServer(t *testing.T) {
	s := newServer()
	s.publish("one", []byte("one"))
	breaking := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			io.ReadFull(r.Body, make([]byte, 1000))
			panic(http.ErrAbortHandler)
		}
		s.ServeHTTP(w, r)
	})
	for range 4 { // the first server is random
		p := must(fleet.NewPublisher(client(t, breaking, s), "asn", fleet.PublisherOptions{}))
		if r, err := p.Store(t.Context(), once{bytes.NewReader(randomBytes(1 << 20))}); err != nil || s.content[r.SHA256] == nil {
			t.Errorf("Store returned %v", err)
		}
	}
}

func TestRestore(t *testing.T) {
	s := newServer()
	p := must(fleet.NewPublisher(client(t, s), "asn", fleet.PublisherOptions{}))
	r := newServer().put("one", []byte("one"), func(r *fleet.Revision) { r.Signature = []byte("signature") })
	if err := p.Restore(t.Context(), r, strings.NewReader("one")); err != nil || string(s.stored[0].Signature) != "signature" || !s.stored[0].Created.Equal(r.Created) {
		t.Errorf("Restore returned %v, and %+v is stored", err, s.stored)
	}
	if err := p.Restore(t.Context(), r, strings.NewReader("two")); err == nil {
		t.Error("other content was restored")
	}
}

// replaceBody reads the body of a request and puts another one in its place.
func replaceBody(r *http.Request, text string) {
	io.Copy(io.Discard, r.Body)
	r.Body = io.NopCloser(strings.NewReader(text))
}

// counting counts the bytes that were read.
type counting struct {
	*bytes.Reader
	n *atomic.Int64
}

func (c counting) ReadAt(p []byte, offset int64) (int, error) {
	n, err := c.Reader.ReadAt(p, offset)
	c.n.Add(int64(n))
	return n, err
}
