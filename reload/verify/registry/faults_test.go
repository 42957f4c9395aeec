package registry_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/oci"
)

// text is an object that holds the loaded content.
type text struct {
	poolswap.Ref
	value string
}

// newReloader returns a Reloader of a source, and a function that returns its content.
func newReloader(source reload.Source, options reload.Options) (r *reload.Reloader, current func() string) {
	options.Logger = slog.New(slog.DiscardHandler)
	texts := poolswap.NewEmptyContainer(poolswap.NewPool(func() *text { return new(text) }, nil))
	r = reload.New(texts, source, func(_ context.Context, next, _ *text, content *reload.Content) error {
		all, err := io.ReadAll(content.Body)
		next.value = string(all)
		return err
	}, options)
	return r, func() (value string) {
		texts.WithAcquire(func(t *text) {
			if t != nil {
				value = t.value
			}
		})
		return value
	}
}

// spoil changes the body of an answer.
func spoil(answer *httptest.ResponseRecorder) {
	body := []byte(strings.Replace(answer.Body.String(), "t", "T", 1))
	answer.Body.Reset()
	answer.Body.Write(body)
}

// cutOff answers with half of the body, and of a length that says so.
func cutOff(answer *httptest.ResponseRecorder) {
	answer.Body.Truncate(answer.Body.Len() / 2)
	answer.Header().Del("Content-Length")
}

// A fault keeps the current content, and is over with the next attempt after it.
func TestFaultsPublishNothing(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault func(*registry) http.HandlerFunc
		stage reload.Stage
		want  string
	}{
		{"a wrong blob", func(r *registry) http.HandlerFunc { return r.changing("/blobs/", spoil) }, reload.Verifying, "the manifest says"},
		{"a blob that is cut off", func(r *registry) http.HandlerFunc { return r.changing("/blobs/", cutOff) }, reload.Reading, "the body ends after"},
		{"a wrong manifest", func(r *registry) http.HandlerFunc { return r.changing("/manifests/sha256:", spoil) }, reload.Fetching, "mismatched digest"},
		{"a manifest that is cut off", func(r *registry) http.HandlerFunc { return r.changing("/manifests/sha256:", cutOff) }, reload.Fetching, "manifest sha256:"},
		{"a missing layer", func(r *registry) http.HandlerFunc {
			return r.changing("/blobs/", func(answer *httptest.ResponseRecorder) { answer.Code = http.StatusNotFound })
		}, reload.Fetching, "layer sha256:"},
		{"a large manifest", func(r *registry) http.HandlerFunc {
			return r.changing("/manifests/stable", func(answer *httptest.ResponseRecorder) { answer.Header().Set("Content-Length", "4194305") })
		}, reload.Fetching, "4194305 bytes, more than 4194304"},
		{"a page in the place of the manifest", func(r *registry) http.HandlerFunc {
			return r.changing("/manifests/stable", func(answer *httptest.ResponseRecorder) { answer.Header().Set("Content-Type", "text/html") })
		}, reload.Fetching, `the media type "text/html"`},
		{"an answer without digest", func(r *registry) http.HandlerFunc {
			return r.changing("/manifests/stable", func(answer *httptest.ResponseRecorder) { answer.Header().Del("Docker-Content-Digest") })
		}, reload.Fetching, "Docker-Content-Digest"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRegistry(t, nil, nil)
			reloader, current := newReloader(r.source("stable"), reload.Options{})
			r.push(t, "stable", table("first"))
			if err := reloader.Reload(t.Context()); err != nil || current() != "first" {
				t.Fatalf("loaded %q: %v", current(), err)
			}
			r.push(t, "stable", table("second try"))
			r.breakWith(c.fault(r))
			for range 2 {
				var failure *reload.Error
				err := reloader.Reload(t.Context())
				if !errors.As(err, &failure) || failure.Stage != c.stage || failure.Refused || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), r.name("stable")) {
					t.Errorf("the error is %v", err)
				}
				if current() != "first" {
					t.Errorf("published %q", current())
				}
			}
			r.repair()
			if err := reloader.Reload(t.Context()); err != nil || current() != "second try" {
				t.Errorf("then loaded %q: %v", current(), err)
			}
		})
	}
}

func TestARegistryThatIsDown(t *testing.T) {
	r := newRegistry(t, nil, nil)
	r.push(t, "stable", table("first"))
	reloader, current := newReloader(reload.Cache(r.source("stable"), t.TempDir()), reload.Options{})
	if err := reloader.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.Close()
	if err := reloader.Reload(t.Context()); err == nil || !strings.Contains(err.Error(), "connection refused") || current() != "first" {
		t.Errorf("the content is %q, the error %v", current(), err)
	}
}

func TestACacheStartsWithoutTheRegistry(t *testing.T) {
	r := newRegistry(t, nil, nil)
	dir := t.TempDir()
	r.push(t, "stable", table("first"))
	reloader, _ := newReloader(reload.Cache(r.source("stable"), dir), reload.Options{})
	if err := reloader.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.Close()
	reloader, current := newReloader(reload.Cache(r.source("stable"), dir), reload.Options{})
	if err := reloader.Reload(t.Context()); err != nil || current() != "first" {
		t.Errorf("loaded %q: %v", current(), err)
	}
	options := r.options()
	options.Title = "roles.txt"
	reloader, current = newReloader(reload.Cache(oci.Source(r.name("stable"), options), dir), reload.Options{})
	if err := reloader.Reload(t.Context()); err == nil || current() != "" {
		t.Errorf("loaded %q of another layer: %v", current(), err)
	}
}

func TestAContentThatIsTooLarge(t *testing.T) {
	r := newRegistry(t, nil, nil)
	r.push(t, "stable", table("0123456789"))
	reloader, current := newReloader(r.source("stable"), reload.Options{MaxBytes: 9})
	if err := reloader.Reload(t.Context()); err == nil || !strings.Contains(err.Error(), "10 bytes are announced") || current() != "" {
		t.Errorf("the content is %q, the error %v", current(), err)
	}
}

func TestRetryAfterIsPassedOn(t *testing.T) {
	for _, part := range []string{"/manifests/stable", "/manifests/sha256:", "/blobs/"} {
		t.Run(part, func(t *testing.T) {
			r := newRegistry(t, nil, nil)
			r.push(t, "stable", table("first"))
			r.breakWith(r.changing(part, func(answer *httptest.ResponseRecorder) {
				answer.Code = http.StatusTooManyRequests
				answer.Header().Set("Retry-After", "17")
			}))
			err := fails(t, r.source("stable"))
			var refusal *reload.HTTPError
			if !errors.As(err, &refusal) || refusal.Status != http.StatusTooManyRequests || refusal.RetryAfter() != 17*time.Second {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// A registry may redirect to an object store, by a link that is a secret.
func TestARedirectGetsNoCredentialsAndIsNotShown(t *testing.T) {
	var authorization []string
	store := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		authorization = append(authorization, request.Header["Authorization"]...)
		if strings.HasSuffix(request.URL.Path, "/missing") {
			http.Error(w, "no such key: "+request.URL.RawQuery, http.StatusForbidden)
			return
		}
		io.WriteString(w, "content")
	}))
	defer store.Close()
	r := newRegistry(t, basic(t, "reader", "first password"), static("reader", "first password"))
	r.push(t, "stable", table("content"))
	target := store.URL + "/blob?signature=0123456789abcdef"
	redirect := func(answer *httptest.ResponseRecorder) {
		if answer.Code == http.StatusOK {
			answer.Code = http.StatusTemporaryRedirect
			answer.Header().Set("Location", target)
		}
	}
	r.breakWith(r.changing("/blobs/", redirect))
	if _, text := read(t, r.source("stable"), ""); text != "content" {
		t.Errorf("the content is %q", text)
	}
	if authorization != nil {
		t.Errorf("the store got %q", authorization)
	}
	target = store.URL + "/missing?signature=0123456789abcdef"
	if err := fails(t, r.source("stable")); strings.Contains(err.Error(), "0123456789abcdef") || !strings.Contains(err.Error(), "status 403") {
		t.Errorf("the error is %v", err)
	}
	store.Close()
	for _, part := range []string{"/blobs/", "/manifests/stable"} {
		r.breakWith(r.changing(part, redirect))
		if err := fails(t, r.source("stable")); strings.Contains(err.Error(), "0123456789abcdef") || !strings.Contains(err.Error(), "connection refused") {
			t.Errorf("the error is %v", err)
		}
	}
	target = "http://" + store.Listener.Addr().String() + "/blob?signature=0123456789abcdef"
	if err := fails(t, r.source("stable")); !strings.Contains(err.Error(), "see Options.PlainHTTP") || strings.Contains(err.Error(), "0123456789abcdef") {
		t.Errorf("the error is %v", err)
	}
}

func TestPlainHTTPIsOnlyUsedIfAsked(t *testing.T) {
	r := newRegistry(t, nil, nil)
	r.push(t, "stable", table("content"))
	plain := httptest.NewServer(r.app)
	defer plain.Close()
	reference := strings.TrimPrefix(plain.URL, "http://") + "/tables/asn:stable"
	if err := fails(t, oci.Source(reference, oci.Options{})); !strings.Contains(err.Error(), "HTTP response to HTTPS client") {
		t.Errorf("the error is %v", err)
	}
	if _, text := read(t, oci.Source(reference, oci.Options{PlainHTTP: true}), ""); text != "content" {
		t.Errorf("the content is %q", text)
	}
}
