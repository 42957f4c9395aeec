package rollout

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/poolswap/poolswap/bench/internal/runner"
)

// Files measures n clients, each with connections of its own, that get a file of size
// bytes from a file server at once, until the last one has it. They hash it and drop
// it: that is what a fleet must not cost much more than.
func Files(n, size int, secure bool) (sample runner.Sample, err error) {
	dir, err := os.MkdirTemp("", "bench-files-")
	if err != nil {
		return sample, err
	}
	content := random(size)
	file := filepath.Join(dir, "content")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		return sample, err
	}
	arguments := []string{file}
	var config *tls.Config
	if secure {
		cert, key, err := certify(dir)
		if err != nil {
			return sample, err
		}
		arguments = append(arguments, cert, key)
		text, err := os.ReadFile(cert)
		if err != nil {
			return sample, err
		}
		config = &tls.Config{RootCAs: x509.NewCertPool()}
		config.RootCAs.AppendCertsFromPEM(text)
	}
	server, err := start("bench/internal/rollout/fileserver", dir, arguments...)
	if err != nil {
		return sample, err
	}
	defer server.close()
	url, err := server.line("serving at ")
	if err != nil {
		return sample, err
	}
	clients := make([]*http.Client, n)
	for i := range clients {
		// As a replica of a fleet, it has a connection before the content is there.
		clients[i] = &http.Client{Transport: &http.Transport{TLSClientConfig: config, DisableCompression: true}}
		defer clients[i].CloseIdleConnections()
		if _, err := get(clients[i], http.MethodHead, url); err != nil {
			return sample, err
		}
	}
	time.Sleep(settle)
	before, begin := server.processorTime(), time.Now()
	failed := make(chan error, n)
	want := sha256.Sum256(content)
	for _, client := range clients {
		go func() {
			sum, err := get(client, http.MethodGet, url)
			if err == nil && sum != want {
				err = errors.New("the content is another one")
			}
			failed <- err
		}()
	}
	for range clients {
		err = errors.Join(err, <-failed)
	}
	return server.sample(n, before, map[string]float64{"last-ns": float64(time.Since(begin))}), err
}

// get returns the SHA-256 of an answer.
func get(client *http.Client, method, url string) (sum [sha256.Size]byte, err error) {
	request, err := http.NewRequestWithContext(context.Background(), method, url, nil)
	if err != nil {
		return sum, err
	}
	response, err := client.Do(request)
	if err != nil {
		return sum, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return sum, fmt.Errorf("%s %s: %s", method, url, response.Status)
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, response.Body); err != nil {
		return sum, err
	}
	return [sha256.Size]byte(hash.Sum(nil)), nil
}
