package rollout

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/poolswap/poolswap/bench/internal/runner"
	"github.com/poolswap/poolswap/reload"
)

// HTTP measures a publication of size bytes to n replicas by a file server. With
// every 0 replicas are told of it, as if by something else; otherwise they ask that
// often.
func HTTP(n, size int, every time.Duration) (sample runner.Sample, err error) {
	server, err := start("github.com/poolswap/poolswap/bench", "internal/rollout/fileserver", func(dir string) []string {
		return []string{filepath.Join(dir, name)}
	})
	if err != nil {
		return sample, err
	}
	defer server.close()
	revision, err := server.replace([]byte("first"))
	if err != nil {
		return sample, err
	}
	told := every == 0
	if told {
		every = time.Hour
	}
	replicas, err := startReplicas(n, size, every, func(int) (reload.Source, func(reload.Event), error) {
		return reload.HTTP(server.url, reload.HTTPOptions{Client: &http.Client{Transport: new(http.Transport)}}), nil, nil
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
		before, _ := runner.ProcessorTime(server.command.Process.Pid)
		begin := time.Now()
		if revision, err = server.replace(content); err != nil {
			return sample, err
		}
		published := time.Since(begin)
		if told {
			for _, one := range replicas.all {
				go func() { _ = one.reloader.Reload(context.Background()) }()
			}
		}
		last, err := replicas.await(revision, begin)
		if err != nil {
			return sample, err
		}
		sample = server.sample(n, published, last, before)
	}
	return sample, replicas.check(revision, content)
}

// replace publishes content by a file server: it writes the file, waits until it is
// on the disk, as a fleetd does, and renames it into place. It returns the revision
// that reload.HTTP makes of its ETag.
func (p *process) replace(content []byte) (revision string, err error) {
	fresh, err := os.Create(filepath.Join(p.dir, name+".new"))
	if err != nil {
		return "", err
	}
	defer func() { _ = fresh.Close() }()
	if _, err := fresh.Write(content); err != nil {
		return "", err
	}
	if err := fresh.Sync(); err != nil {
		return "", err
	}
	info, err := fresh.Stat()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf(`etag "%x"`, info.ModTime().UnixNano()), os.Rename(fresh.Name(), filepath.Join(p.dir, name))
}
