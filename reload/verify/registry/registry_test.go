package registry_test

import (
	"context"
	"crypto/sha256"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/distribution/distribution/v3/configuration"
	"github.com/distribution/distribution/v3/registry/handlers"
	_ "github.com/distribution/distribution/v3/registry/storage/driver/inmemory"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"github.com/sirupsen/logrus"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/oci"
)

func init() { logrus.SetOutput(io.Discard) }

// registry is a registry with TLS and a repository in it.
type registry struct {
	*httptest.Server

	credential auth.CredentialFunc // of the pushes, and of options
	tokens     auth.Cache          // of the pushes
	requests   atomic.Int64
	fault      atomic.Pointer[http.HandlerFunc] // answers in the place of the registry, if it is set
	app        http.Handler
}

// access is the configuration of a registry's auth.
type access = configuration.Auth

func newRegistry(t *testing.T, access access, credential auth.CredentialFunc) *registry {
	t.Helper()
	config := &configuration.Configuration{
		Storage: configuration.Storage{"inmemory": nil, "delete": {"enabled": true}, "maintenance": {"uploadpurging": map[any]any{"enabled": false}}},
		Auth:    access,
	}
	config.HTTP.Secret = "secret of uploads"
	config.Catalog.MaxEntries = 10
	app := handlers.NewApp(context.Background(), config)
	r := &registry{credential: credential, tokens: auth.NewCache(), app: app}
	r.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		r.requests.Add(1)
		if fault := r.fault.Load(); fault != nil {
			(*fault)(w, request)
			return
		}
		app.ServeHTTP(w, request)
	}))
	t.Cleanup(func() {
		r.Close()
		if err := app.Shutdown(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// breakWith has requests answered by fault until repair.
func (r *registry) breakWith(fault http.HandlerFunc) { r.fault.Store(&fault) }

func (r *registry) repair() { r.fault.Store(nil) }

// changing returns a fault that changes the registry's answers to paths with a part.
func (r *registry) changing(part string, change func(*httptest.ResponseRecorder)) http.HandlerFunc {
	return func(w http.ResponseWriter, request *http.Request) {
		recorder := httptest.NewRecorder()
		r.app.ServeHTTP(recorder, request)
		if strings.Contains(request.URL.Path, part) {
			change(recorder)
		}
		for name, values := range recorder.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(recorder.Code)
		w.Write(recorder.Body.Bytes())
	}
}

// name returns the reference of a tag or, with an @ before it, a digest.
func (r *registry) name(tag string) string {
	if !strings.HasPrefix(tag, "@") {
		tag = ":" + tag
	}
	return strings.TrimPrefix(r.URL, "https://") + "/tables/asn" + tag
}

func (r *registry) options() oci.Options {
	return oci.Options{Client: r.Client(), Credential: r.credential}
}

func (r *registry) source(tag string) reload.Source { return oci.Source(r.name(tag), r.options()) }

// repository returns the client of oras.
func (r *registry) repository(t testing.TB) *remote.Repository {
	t.Helper()
	repository, err := remote.NewRepository(r.name("latest"))
	if err != nil {
		t.Fatal(err)
	}
	repository.Client = &auth.Client{Client: r.Client(), Credential: r.credential, Cache: r.tokens}
	return repository
}

// created is when artifacts were made.
var created = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

// layer is a layer to push.
type layer struct{ title, mediaType, content string }

// push pushes an artifact.
func (r *registry) push(t testing.TB, tag string, layers ...layer) ocispec.Descriptor {
	t.Helper()
	repository := r.repository(t)
	pack := oras.PackManifestOptions{ManifestAnnotations: map[string]string{ocispec.AnnotationCreated: created.Format(time.RFC3339)}}
	for _, layer := range layers {
		descriptor, err := oras.PushBytes(t.Context(), repository, layer.mediaType, []byte(layer.content))
		if err != nil {
			t.Fatal(err)
		}
		descriptor.Annotations = map[string]string{ocispec.AnnotationTitle: layer.title}
		pack.Layers = append(pack.Layers, descriptor)
	}
	manifest, err := oras.PackManifest(t.Context(), repository, oras.PackManifestVersion1_1, "application/vnd.example.table", pack)
	if err != nil {
		t.Fatal(err)
	}
	if err := repository.Tag(t.Context(), manifest, tag); err != nil {
		t.Fatal(err)
	}
	return manifest
}

func table(content string) layer { return layer{"table.txt", "text/plain", content} }

// origin is the origin of a Source of the tag stable.
type origin struct{ *registry }

func (o origin) Put(t testing.TB, content []byte) {
	t.Helper()
	o.push(t, "stable", table(string(content)))
}

func (o origin) Remove(t testing.TB) {
	t.Helper()
	repository := o.repository(t)
	manifest, err := repository.Resolve(t.Context(), "stable")
	if err == nil {
		err = repository.Delete(t.Context(), manifest)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// read fetches and verifies content.
func read(t *testing.T, source reload.Source, have string) (*reload.Content, string) {
	t.Helper()
	content, err := source.Fetch(t.Context(), have)
	if err != nil {
		t.Fatal(err)
	}
	defer content.Body.Close()
	text, err := io.ReadAll(content.Body)
	if err == nil {
		err = content.Verify(sha256.Sum256(text))
	}
	if err != nil {
		t.Fatal(err)
	}
	return content, string(text)
}

// fails returns the error of a Fetch.
func fails(t *testing.T, source reload.Source) error {
	t.Helper()
	content, err := source.Fetch(t.Context(), "")
	if err == nil {
		content.Body.Close()
		t.Fatal("Fetch returned content")
	}
	return err
}
