package rollout

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/poolswap/poolswap/bench/internal/runner"
	"github.com/poolswap/poolswap/reload"
)

// site is a file server that runs.
type site struct {
	*process
	hints []chan struct{}
}

func (s *site) file() string { return filepath.Join(s.dir, name) }

// replace publishes content: it writes the file and renames it into place, and
// tells the replicas that listen. It returns the revision that reload.HTTP makes of
// its ETag.
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
	source := reload.HTTP(s.url, reload.HTTPOptions{Client: &http.Client{Transport: new(http.Transport)}})
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

// HTTP measures a publication of size bytes to n replicas by a file server. With
// every 0 replicas are told of it; otherwise they ask that often.
func HTTP(n, size int, every time.Duration) (sample runner.Sample, err error) {
	server, err := start("github.com/poolswap/poolswap/bench", "internal/rollout/fileserver", func(dir string) []string {
		return []string{filepath.Join(dir, name)}
	})
	if err != nil {
		return sample, err
	}
	defer server.close()
	s := &site{process: server}
	revision, err := s.replace([]byte("first"))
	if err != nil {
		return sample, err
	}
	replicas, err := startReplicas(n, size, every, func(int) (reload.Source, func(reload.Event), error) {
		return s.source(every == 0), nil, nil
	})
	if err != nil {
		return sample, err
	}
	defer replicas.stop()
	if _, err := replicas.await(revision, time.Now()); err != nil {
		return sample, err
	}
	content := randomBytes(size, 0)
	for _, content := range [][]byte{[]byte("the second"), content} {
		time.Sleep(settle)
		before, _ := processorTime(server.command.Process.Pid)
		begin := time.Now()
		if revision, err = s.replace(content); err != nil {
			return sample, err
		}
		published := time.Since(begin)
		swapped, err := replicas.await(revision, begin)
		if err != nil {
			return sample, err
		}
		sample = server.sample(published, swapped, before)
	}
	return sample, replicas.check(revision, content)
}
