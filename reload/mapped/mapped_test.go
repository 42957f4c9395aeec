package mapped_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/mapped"
)

type (
	file  = mapped.File[[]byte]
	files = poolswap.Container[file, *file]
)

var errBad = errors.New("bad row 3")

// load refuses content that begins with "bad".
func load(_ context.Context, next, _ *file, content *reload.Content) (err error) {
	next.Value, err = next.Map(content)
	if bytes.HasPrefix(next.Value, []byte("bad")) {
		return errBad
	}
	return err
}

// versions is a Source of files, a new one for each text.
type versions struct {
	dir  string // for the files
	text string
}

func (v *versions) Fetch(_ context.Context, have string) (*reload.Content, error) {
	if have == v.text {
		return nil, reload.ErrNotModified
	}
	file, err := os.CreateTemp(v.dir, "")
	if err != nil {
		return nil, err
	}
	_, err = file.WriteString(v.text)
	_, seekErr := file.Seek(0, 0)
	return &reload.Content{Revision: v.text, Size: int64(len(v.text)), Body: file, File: file}, errors.Join(err, seekErr)
}

func reloaderOf(source reload.Source) (*reload.Reloader, *files, *poolswap.Pool[file, *file]) {
	pool := mapped.NewPool[[]byte](nil)
	c := poolswap.NewEmptyContainer(pool)
	return reload.New(c, source, load, reload.Options{Logger: slog.New(slog.DiscardHandler)}), c, pool
}

// Each reader sees one version for as long as it holds it.
func TestReadersSeeWholeFiles(t *testing.T) {
	text := func(i int) string { return strings.Repeat(fmt.Sprint(i%10), 3*os.Getpagesize()+i) }
	source := &versions{t.TempDir(), text(1)}
	r, c, pool := reloaderOf(source)
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				c.WithAcquire(func(f *file) {
					if f != nil && bytes.Count(f.Value, f.Value[:1]) != len(f.Value) {
						t.Errorf("a file has bytes of two versions")
					}
				})
			}
		})
	}
	for i := range 100 {
		source.text = text(i)
		if err := r.Reload(t.Context()); err != nil {
			t.Error(err)
		}
	}
	close(done)
	readers.Wait()
	if err := pool.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if live := pool.Stats().Live; live != 0 {
		t.Errorf("%d objects are left", live)
	}
}

func TestMapRefuses(t *testing.T) {
	content, err := (&versions{t.TempDir(), "one"}).Fetch(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	closed, err := (&versions{t.TempDir(), "one"}).Fetch(t.Context(), "")
	if err := errors.Join(err, closed.Body.Close()); err != nil {
		t.Fatal(err)
	}
	once := new(file)
	if data, err := once.Map(content); string(data) != "one" || err != nil {
		t.Fatal(string(data), err)
	}
	for name, c := range map[string]struct {
		file    *file
		content *reload.Content
		want    string
	}{
		"a second Map":           {once, content, "mapped: Map of a File that is mapped already"},
		"content without a file": {new(file), &reload.Content{Body: content.Body}, "mapped: content without a File: put a reload.Cache around its source"},
		"a file that is closed":  {new(file), closed, "file already closed"},
	} {
		if data, err := c.file.Map(c.content); data != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
}

// A system that refuses to map, perhaps for a moment, is no reason to refuse content: none
// maps a file that is open for writing alone.
func TestMapThatFailsRefusesNothing(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, _, pool := reloaderOf(source(func() (*reload.Content, error) {
		file, err := os.OpenFile(name, os.O_WRONLY, 0)
		return &reload.Content{Revision: "1", Size: 3, Body: readCloser{strings.NewReader("one"), file}, File: file}, err
	}))
	for range 2 {
		var failure *reload.Error
		if err := r.Reload(t.Context()); !errors.As(err, &failure) || failure.Refused || failure.Stage != reload.Loading {
			t.Errorf("Reload returned %v", err)
		}
	}
	if err := pool.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// source is a Source that is a function.
type source func() (*reload.Content, error)

func (s source) Fetch(context.Context, string) (*reload.Content, error) { return s() }

// readCloser reads one thing and closes another.
type readCloser struct {
	io.Reader
	io.Closer
}

func TestLoadWithoutParsePanics(t *testing.T) {
	pooltest.WantPanic(t, "mapped: Load with a nil parse", func() { mapped.Load[int](nil) })
}

// A second unmap leaves alone what the address may belong to by then.
func TestSecondUnmapDoesNothing(t *testing.T) {
	content, err := (&versions{t.TempDir(), "one"}).Fetch(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer content.Body.Close()
	f, next := new(file), new(file)
	if _, err := f.Map(content); err != nil {
		t.Fatal(err)
	}
	if err := f.Unmap(); err != nil {
		t.Fatal(err)
	}
	if _, err := next.Map(content); err != nil { // at the same address, perhaps
		t.Fatal(err)
	}
	if err := f.Unmap(); err != nil {
		t.Errorf("the second unmap: %v", err)
	}
	if err := next.Unmap(); err != nil {
		t.Errorf("the next file was unmapped already: %v", err)
	}
}

// ReadFile takes the place of mmap where the system has none.
func TestReadFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte("one two"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for range 2 { // the offset stays
		if data, err := mapped.ReadFile(f, 7); string(data) != "one two" || err != nil {
			t.Errorf("%q, %v", data, err)
		}
	}
	if data, err := mapped.ReadFile(f, 8); data != nil || err == nil {
		t.Errorf("of a file that was cut off: %q, %v", data, err)
	}
}
