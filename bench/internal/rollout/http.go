package rollout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/poolswap/poolswap/bench/internal/measure"
	"github.com/poolswap/poolswap/reload"
)

// site is a file server that runs.
type site struct {
	*process
	dir      string
	url      string
	wire     wire
	requests atomic.Int64
	hints    []chan struct{}
	clients  []*http.Client
}

func startSite() (*site, error) {
	program, err := fileserver()
	if err != nil {
		return nil, err
	}
	s := new(site)
	if s.dir, err = os.MkdirTemp("", "bench-site-"); err != nil {
		return nil, err
	}
	if s.process, err = start(program, s.file()); err != nil {
		return nil, err
	}
	if s.url, err = s.line("serving at "); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *site) file() string { return filepath.Join(s.dir, name) }

// replace publishes content: it writes the file and renames it into place, and
// tells the replicas that listen. It returns the
// revision that reload.HTTP makes of its ETag.
func (s *site) replace(content []byte) (revision string, err error) {
	fresh := s.file() + ".new"
	if err := writeSynced(fresh, content); err != nil {
		return "", err
	}
	info, err := os.Stat(fresh)
	if err != nil {
		return "", err
	}
	if err := os.Rename(fresh, s.file()); err != nil {
		return "", err
	}
	for _, hint := range s.hints {
		hint <- struct{}{}
	}
	return fmt.Sprintf(`etag "%x"`, info.ModTime().UnixNano()), nil
}

// writeSynced writes a file that is on the disk when it returns, as a fleetd does.
func writeSynced(path string, content []byte) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Sync(), file.Close())
}

// source returns the source of a replica, with a connection of its own. With hints
// it learns of a publication at once, as if something else told it.
func (s *site) source(hints bool) reload.Source {
	transport := &http.Transport{DialContext: s.wire.dialContext}
	client := &http.Client{Transport: transport}
	s.clients = append(s.clients, client)
	source := reload.HTTP(s.url, reload.HTTPOptions{Client: client, Prepare: func(*http.Request) error {
		s.requests.Add(1)
		return nil
	}})
	if !hints {
		return source
	}
	hint := make(chan struct{}, 2)
	s.hints = append(s.hints, hint)
	return hinted{source, hint}
}

// hinted is a source that is told when to ask.
type hinted struct {
	reload.Source
	hint chan struct{}
}

// Wait implements reload.Waiter.
func (h hinted) Wait(ctx context.Context, _ string) error {
	select {
	case <-h.hint:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *site) close() {
	for _, client := range s.clients {
		client.CloseIdleConnections()
	}
	s.stop()
	_ = os.RemoveAll(s.dir)
}

// HTTP measures a publication of size bytes to n replicas by a file server. With
// every 0 replicas are told of it; otherwise they ask that often.
func HTTP(n, size int, every time.Duration) (measure.Sample, error) {
	content := randomBytes(size, 0)
	s, err := startSite()
	if err != nil {
		return measure.Sample{}, err
	}
	defer s.close()
	first, err := s.replace([]byte("first"))
	if err != nil {
		return measure.Sample{}, err
	}
	replicas, err := startReplicas(n, size, every, func(int) (reload.Source, func(reload.Event), error) {
		return s.source(every == 0), nil, nil
	})
	if err != nil {
		return measure.Sample{}, err
	}
	defer replicas.stop()
	if _, err := replicas.await(first, time.Now()); err != nil {
		return measure.Sample{}, err
	}
	second, err := s.replace(bytes.Repeat([]byte("second"), 2))
	if err != nil {
		return measure.Sample{}, err
	}
	if _, err := replicas.await(second, time.Now()); err != nil {
		return measure.Sample{}, err
	}
	time.Sleep(settle)
	requests, failures := s.requests.Load(), replicas.failures()
	use := watch(s.process, &s.wire)
	begin := time.Now()
	third, err := s.replace(content)
	published := time.Since(begin)
	if err != nil {
		return measure.Sample{}, err
	}
	swapped, err := replicas.await(third, begin)
	if err != nil {
		return measure.Sample{}, err
	}
	sample := use.sample(published, swapped)
	sample.Values["msgs"] = 2 * float64(s.requests.Load()-requests) // requests and answers
	sample.Values["failures"] = replicas.failures() - failures
	return sample, replicas.check(third, content)
}
