package reload_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// renamed replaces a file as it should be done.
type renamed string

func (f renamed) Put(t testing.TB, content []byte) {
	t.Helper()
	part := string(f) + ".part"
	if err := os.WriteFile(part, content, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(part, string(f)); err != nil {
		t.Fatal(err)
	}
}

func (f renamed) Remove(t testing.TB) {
	t.Helper()
	if err := os.Remove(string(f)); err != nil {
		t.Fatal(err)
	}
}

// rewritten writes a file in place.
type rewritten struct{ renamed }

func (f rewritten) Put(t testing.TB, content []byte) {
	t.Helper()
	if err := os.WriteFile(string(f.renamed), content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// linked is a file as Kubernetes mounts it: name is a link to ..data/name, and
// ..data is a link to a directory that is swapped.
type linked struct {
	dir   string
	count *int
}

func (l linked) Put(t testing.TB, content []byte) {
	t.Helper()
	*l.count++
	version := fmt.Sprintf("..%d", *l.count)
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(os.Mkdir(filepath.Join(l.dir, version), 0o755))
	check(os.WriteFile(filepath.Join(l.dir, version, "name"), content, 0o644))
	old, _ := os.Readlink(filepath.Join(l.dir, "..data"))
	check(os.Symlink(version, filepath.Join(l.dir, "..data_tmp")))
	check(os.Rename(filepath.Join(l.dir, "..data_tmp"), filepath.Join(l.dir, "..data")))
	if old == "" {
		check(os.Symlink(filepath.Join("..data", "name"), filepath.Join(l.dir, "name")))
	} else {
		check(os.RemoveAll(filepath.Join(l.dir, old)))
	}
}

func (l linked) Remove(t testing.TB) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(l.dir, fmt.Sprintf("..%d", *l.count))); err != nil {
		t.Fatal(err)
	}
}

// server serves content by HTTP, with an ETag or with Last-Modified.
type server struct {
	mu       sync.Mutex
	content  []byte
	present  bool
	modified time.Time
	etag     bool
}

func (s *server) Put(_ testing.TB, content []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.content, s.present = content, true
	s.modified = s.modified.Add(time.Second)
}

func (s *server) Remove(testing.TB) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.present = false
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stamp := s.modified.UTC().Format(http.TimeFormat)
	tag := fmt.Sprintf(`"%x-%d"`, sha256.Sum256(s.content), s.modified.Unix())
	switch {
	case !s.present:
		http.Error(w, "no such thing", http.StatusNotFound)
		return
	case s.etag && r.Header.Get("If-None-Match") == tag, !s.etag && r.Header.Get("If-Modified-Since") == stamp:
		w.WriteHeader(http.StatusNotModified)
		return
	case s.etag:
		w.Header().Set("ETag", tag)
	default:
		w.Header().Set("Last-Modified", stamp)
	}
	w.Write(s.content)
}

func served(t *testing.T, etag bool) (reload.Source, *server) {
	s := &server{modified: time.Unix(1_700_000_000, 0), etag: etag}
	at := httptest.NewServer(s)
	t.Cleanup(at.Close)
	return reload.HTTP(at.URL+"/data?key=secret", reload.HTTPOptions{Client: at.Client()}), s
}

// summed puts content, and its SHA-256 beside it.
type summed struct{ content, sum renamed }

func (s summed) Put(t testing.TB, content []byte) {
	s.content.Put(t, content)
	s.sum.Put(t, fmt.Appendf(nil, "%x  data\n", sha256.Sum256(content)))
}

func (s summed) Remove(t testing.TB) { s.content.Remove(t) }

// halves puts a part of the content into each file, unless it is there already.
type halves []renamed

func (h halves) Put(t testing.TB, content []byte) {
	for i, file := range h {
		half := content[i*len(content)/len(h) : (i+1)*len(content)/len(h)]
		if was, err := os.ReadFile(string(file)); err != nil || !bytes.Equal(was, half) || i == 0 {
			file.Put(t, half)
		}
	}
}

func (h halves) Remove(t testing.TB) { h[len(h)-1].Remove(t) }

func TestEverySourceConforms(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T) (reload.Source, reloadtest.Origin){
		"File, renamed": func(t *testing.T) (reload.Source, reloadtest.Origin) {
			name := filepath.Join(t.TempDir(), "data")
			return reload.File(name), renamed(name)
		},
		"File, rewritten in place": func(t *testing.T) (reload.Source, reloadtest.Origin) {
			name := filepath.Join(t.TempDir(), "data")
			return reload.File(name), rewritten{renamed(name)}
		},
		"File, behind links that are swapped": func(t *testing.T) (reload.Source, reloadtest.Origin) {
			dir := t.TempDir()
			return reload.File(filepath.Join(dir, "name")), linked{dir, new(int)}
		},
		"FS": func(t *testing.T) (reload.Source, reloadtest.Origin) {
			dir := t.TempDir()
			return reload.FS(os.DirFS(dir), "data"), renamed(filepath.Join(dir, "data"))
		},
		"HTTP with ETag": func(t *testing.T) (reload.Source, reloadtest.Origin) { return served(t, true) },
		"HTTP with Last-Modified": func(t *testing.T) (reload.Source, reloadtest.Origin) {
			return served(t, false)
		},
		"Cache of HTTP": func(t *testing.T) (reload.Source, reloadtest.Origin) {
			source, origin := served(t, true)
			return reload.Cache(source, filepath.Join(t.TempDir(), "cache")), origin
		},
		"File with SHA-256": func(t *testing.T) (reload.Source, reloadtest.Origin) {
			name := filepath.Join(t.TempDir(), "data")
			sum := name + ".sha256"
			return reload.WithSHA256(reload.File(name), reload.File(sum)), summed{renamed(name), renamed(sum)}
		},
		"Join of Files": func(t *testing.T) (reload.Source, reloadtest.Origin) {
			dir := t.TempDir()
			a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
			return reload.Join(reload.File(a), reload.File(b)), halves{renamed(a), renamed(b)}
		},
		"Join of HTTP and Join of Files": func(t *testing.T) (reload.Source, reloadtest.Origin) {
			source, origin := served(t, true)
			name := filepath.Join(t.TempDir(), "none")
			write(t, name, "")
			return reload.Join(source, reload.Join(reload.File(name))), origin
		},
		"Join of Caches": func(t *testing.T) (reload.Source, reloadtest.Origin) {
			dir := t.TempDir()
			a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
			return reload.Join(reload.Cache(reload.File(a), a+".cache"), reload.Cache(reload.File(b), b+".cache")), halves{renamed(a), renamed(b)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reloadtest.TestSource(t, open)
		})
	}
}
