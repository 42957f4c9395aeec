package oci_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap/reload/oci"
)

// transport answers requests in this process.
type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(request *http.Request) (*http.Response, error) { return t(request) }

// silent waits until its client has lost patience.
func silent(request *http.Request) (*http.Response, error) {
	<-request.Context().Done()
	return nil, request.Context().Err()
}

// served returns the answer of a handler.
func served(handler http.Handler, request *http.Request) *http.Response {
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	response := recorder.Result()
	response.Request = request
	return response
}

// silentBody is a body of which nothing comes.
type silentBody struct{ ctx context.Context }

func (b silentBody) Read([]byte) (int, error) {
	<-b.ctx.Done()
	return 0, b.ctx.Err()
}

func (b silentBody) Close() error { return nil }

func TestARegistryThatDoesNotAnswer(t *testing.T) {
	registry := artifact("content")
	for _, c := range []struct{ part, want string }{
		{"/manifests/stable", "no manifest within 10s"},
		{"/manifests/sha256:", "no manifest within 10s"},
		{"/blobs/", "no response within 10s"},
		{"the body", "no byte of the body within 20s"},
	} {
		t.Run(c.part, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				source := oci.Source("registry.example.com/tables/asn:stable", oci.Options{
					Client: &http.Client{Transport: transport(func(request *http.Request) (*http.Response, error) {
						if strings.Contains(request.URL.Path, c.part) {
							return silent(request)
						}
						response := served(registry, request)
						if strings.Contains(request.URL.Path, "/blobs/") {
							response.Body = silentBody{request.Context()}
						}
						return response, nil
					})},
					HeaderTimeout: 10 * time.Second, StallTimeout: 20 * time.Second,
				})
				content, err := source.Fetch(t.Context(), "")
				if err == nil {
					_, err = io.ReadAll(content.Body)
					content.Body.Close()
				}
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("the error is %v", err)
				}
			})
		})
	}
}

func TestAnEndedContextIsTheError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	source := oci.Source("registry.example.com/tables/asn:stable", oci.Options{
		Client: &http.Client{Transport: transport(func(request *http.Request) (*http.Response, error) {
			cancel()
			return silent(request)
		})},
	})
	if _, err := source.Fetch(ctx, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

func TestManifestsThatAreRefused(t *testing.T) {
	for manifest, want := range map[string]string{
		`{"layers":[{"digest":"sha512:` + strings.Repeat("ab", 64) + `","size":3}]}`: "no SHA-256 digest",
		`{"layers":[{"digest":"sha256:../../../secrets","size":3}]}`:                 "no SHA-256 digest",
		`{"layers":[{"size":3}]}`: "no SHA-256 digest",
		`{"layers":[{"digest":"sha256:` + strings.Repeat("ab", 32) + `","size":-3}]}`: "a size of -3 bytes",
		`{"layers":null}`: "0 of its 0 layers",
		`{"manifests":[{"digest":"sha256:` + strings.Repeat("ab", 32) + `","size":3}]}`: "0 of its 0 layers",
		`[]`: "cannot unmarshal array",
		`{"layers":[{"digest":"sha256:` + strings.Repeat("ab", 32) + `","size":99999999999999}]}`: "status 404",
	} {
		source := oci.Source("registry.example.com/tables/asn:stable", oci.Options{
			Client: &http.Client{Transport: transport(func(request *http.Request) (*http.Response, error) {
				return served(withManifest(manifest), request), nil
			})},
		})
		if _, err := source.Fetch(t.Context(), ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v", manifest, err)
		}
	}
}

func TestMalformedReferencesPanic(t *testing.T) {
	for _, reference := range []string{"", "asn", "registry.example.com", "registry.example.com/ASN", "registry.example.com/asn:", "registry.example.com/asn@sha256:12", "reader:password@registry.example.com/asn", ":5000/asn"} {
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.HasPrefix(text, "oci: Source") || strings.Contains(text, "password") {
					t.Errorf("%q: the panic is %q", reference, text)
				}
			}()
			oci.Source(reference, oci.Options{})
		}()
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic for a negative timeout")
		}
	}()
	oci.Source("registry.example.com/asn", oci.Options{StallTimeout: -1})
}
