package oci_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/opencontainers/go-digest"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/oci"
)

// Table is the object that the example keeps fresh.
type Table struct {
	poolswap.Ref
	text string
}

func loadTable(_ context.Context, next, _ *Table, content *reload.Content) error {
	text, err := io.ReadAll(content.Body)
	next.text = string(text)
	return err
}

// artifact serves an artifact with one layer, as a registry does.
func artifact(content string) http.Handler {
	layer := digest.FromString(content)
	mux := withManifest(fmt.Sprintf(`{"layers":[{"mediaType":"text/plain","digest":%q,"size":%d}]}`, layer, len(content)))
	mux.HandleFunc("GET /v2/tables/asn/blobs/"+layer.String(), func(w http.ResponseWriter, request *http.Request) {
		http.ServeContent(w, request, "", time.Time{}, strings.NewReader(content))
	})
	return mux
}

// withManifest serves a manifest by each name.
func withManifest(manifest string) *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v2/tables/asn/manifests/{reference}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
		w.Header().Set("Docker-Content-Digest", digest.FromString(manifest).String())
		w.Header().Set("Content-Length", strconv.Itoa(len(manifest)))
		io.WriteString(w, manifest)
	})
	return mux
}

func Example() {
	registry := httptest.NewServer(artifact("AS64496 Example"))
	defer registry.Close()
	reference := strings.TrimPrefix(registry.URL, "http://") + "/tables/asn:stable"

	tables := poolswap.NewEmptyContainer(poolswap.NewPool(func() *Table { return new(Table) }, nil))
	source := oci.Source(reference, oci.Options{PlainHTTP: true}) // a registry on this machine
	reloader := reload.New(tables, source, loadTable, reload.Options{})
	fmt.Println(reloader.Reload(context.Background()))
	tables.WithAcquire(func(table *Table) { fmt.Println(table.text) })
	// Output:
	// <nil>
	// AS64496 Example
}

// published returns a Source of the file asn.txt of an artifact, with the credentials of
// Docker and its helpers.
func published(reference string) (reload.Source, error) {
	store, err := credentials.NewStoreFromDocker(credentials.StoreOptions{})
	if err != nil {
		return nil, err
	}
	return oci.Source(reference, oci.Options{Title: "asn.txt", Credential: credentials.Credential(store)}), nil
}

func ExampleSource() {
	source, err := published("registry.example.com/tables/asn:stable")
	fmt.Println(source, err)
	// Output: registry.example.com/tables/asn:stable <nil>
}

// Credentials may change: the function is called again once the registry refuses those
// that it returned before.
func ExampleOptions() {
	options := oci.Options{Credential: func(_ context.Context, host string) (auth.Credential, error) {
		if host != "registry.example.com" {
			return auth.EmptyCredential, nil // a mirror, say
		}
		password, err := os.ReadFile("/run/secrets/registry")
		return auth.Credential{Username: "reader", Password: string(password)}, err
	}}
	fmt.Println(oci.Source("registry.example.com/tables/asn", options))
	// Output: registry.example.com/tables/asn:latest
}
