package oci_test

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/reload/oci"
)

// fetchFails returns the error of a Fetch from a registry.
func fetchFails(t *testing.T, registry transport) error {
	t.Helper()
	source := oci.Source("registry.example.com/tables/asn:stable", oci.Options{PlainHTTP: true, Client: &http.Client{Transport: registry}})
	_, err := source.Fetch(t.Context(), "")
	if err == nil {
		t.Fatal("no error")
	}
	return err
}

func TestAManifestOfManyLayersTakesLittleMemory(t *testing.T) {
	registry := withManifest(`{"layers":[` + strings.Repeat("{},", 1_390_000) + `{}]}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := fetchFails(t, func(request *http.Request) (*http.Response, error) { return served(registry, request), nil })
	runtime.ReadMemStats(&after)
	if !strings.Contains(err.Error(), "more than 10000 layers") {
		t.Errorf("the error is %v", err)
	}
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 128<<20 {
		t.Errorf("%d MiB were allocated", allocated>>20)
	}
}

func TestARegistryDoesNotLeadToLinkLocalAddresses(t *testing.T) {
	registry := artifact("content")
	for _, part := range []string{"/manifests/stable", "/manifests/sha256:", "/blobs/"} {
		for _, host := range []string{"169.254.169.254", "169.254.169.254:8080", "[fe80::1]", "[::ffff:169.254.169.254]", "2852039166", "0xa9.0376.43518", "169.254.169.254."} {
			err := fetchFails(t, func(request *http.Request) (*http.Response, error) {
				switch {
				case request.URL.Host != "registry.example.com":
					t.Errorf("%s was asked", request.URL.Host)
					return served(http.NotFoundHandler(), request), nil
				case strings.Contains(request.URL.Path, part):
					recorder := httptest.NewRecorder()
					http.Redirect(recorder, request, "http://"+host+"/latest/meta-data", http.StatusTemporaryRedirect)
					response := recorder.Result()
					response.Request = request
					return response, nil
				}
				return served(registry, request), nil
			})
			if !strings.Contains(err.Error(), "the registry leads to the link-local address "+host) {
				t.Errorf("%s, %s: the error is %v", part, host, err)
			}
		}
	}
}
