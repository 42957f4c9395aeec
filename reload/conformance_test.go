package reload_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/poolswap/poolswap/internal/test/pooltest"
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

func TestSources(t *testing.T) {
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
			return reload.VerifySHA256(reload.File(name), reload.File(sum)), summed{renamed(name), renamed(sum)}
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
		"Fallback to a File": func(t *testing.T) (reload.Source, reloadtest.Origin) {
			name := filepath.Join(t.TempDir(), "data")
			return reload.Fallback(new(reloadtest.Fake), reload.File(name)), renamed(name)
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

// numbered returns content that says its number and its SHA-256.
func numbered(number int) []byte {
	rows := bytes.Repeat(fmt.Appendf(nil, "row of content %d\n", number), 1000-number%2*500)
	return fmt.Appendf(rows, "%x %d", sha256.Sum256(rows), number)
}

// numberOf returns the number of whole content, and an error for torn content.
func numberOf(content []byte) (number int, err error) {
	end := bytes.LastIndexByte(content, '\n') + 1
	var sum string
	if _, err := fmt.Sscan(string(content[end:]), &sum, &number); err != nil {
		return 0, err
	}
	if fmt.Sprintf("%x", sha256.Sum256(content[:end])) != sum {
		return 0, errors.New("the checksum is wrong")
	}
	return number, nil
}

// overwritten writes a file in place with one call and without emptying it.
type overwritten struct{ renamed }

func (f overwritten) Put(t testing.TB, content []byte) {
	t.Helper()
	file, err := os.OpenFile(string(f.renamed), os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.Write(append(content, bytes.Repeat([]byte(" "), 30_000-len(content))...)); err != nil {
		t.Fatal(err)
	}
}

// stormOrigins are the ways to change a file, name in dir.
var stormOrigins = map[string]func(dir, name string) reloadtest.Origin{
	"renames":                   func(_, name string) reloadtest.Origin { return renamed(name) },
	"rewrites in place":         func(_, name string) reloadtest.Origin { return rewritten{renamed(name)} },
	"rewrites without emptying": func(_, name string) reloadtest.Origin { return overwritten{renamed(name)} },
	"symlink swaps":             func(dir, _ string) reloadtest.Origin { return linked{dir, new(int)} },
}

func TestFileStorms(t *testing.T) {
	t.Parallel()
	dirs := map[string]func(t *testing.T) string{"temporary directory": func(t *testing.T) string { return t.TempDir() }}
	if _, err := os.Stat("/dev/shm"); err == nil {
		dirs["tmpfs"] = func(t *testing.T) string {
			dir, err := os.MkdirTemp("/dev/shm", "reload") //nolint:usetesting // memory, and no disk to wait for
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			return dir
		}
	}
	for where, dir := range dirs {
		for how, origin := range stormOrigins {
			t.Run(how+" in a "+where, func(t *testing.T) {
				t.Parallel()
				dir := dir(t)
				name := filepath.Join(dir, "name")
				storm(t, name, how, origin(dir, name))
			})
		}
	}
}

// rests is how long a File looks unchanged before it is read, less a tick of
// the clock that stamps changes.
const rests = 40 * time.Millisecond

// storm changes a file again and again while a Reloader runs. Now and then it
// waits until the newest content is loaded. What readers get must be whole. The
// decoder looks for torn content if a file is emptied first. A rewrite with one
// call is whole as well, but while the machine stops the writer for longer than
// the file rests.
func storm(t *testing.T, name, how string, origin reloadtest.Origin) {
	changes, every := 2000, 200
	if testing.Short() {
		changes = 200
	}
	c, pool := newTexts()
	r := reload.New(c, reload.File(name), func(ctx context.Context, next, current *text, content *reload.Content) error {
		if err := load(ctx, next, current, content); err != nil || how != "rewrites in place" {
			return err
		}
		_, err := numberOf(next.value)
		return err
	}, reload.Options{Every: time.Millisecond, Logger: quiet})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	go func() { ended <- r.Run(ctx) }()
	var torn []error
	go func() {
		var version uint64
		for {
			var err error
			if version, err = c.Wait(ctx, version); err != nil {
				ended <- err
				return
			}
			obj := c.Acquire()
			if _, err := numberOf(obj.value); err != nil {
				torn = append(torn, fmt.Errorf("version %d is torn: %w", version, err))
			}
			c.Release(obj)
		}
	}()
	stopped := false // the machine stopped the writer in the middle
	put := func(number int) {
		begun := time.Now()
		origin.Put(t, numbered(number))
		stopped = stopped || how == "rewrites without emptying" && time.Since(begun) > rests
	}
	repaired := uint64(math.MaxUint64) // a torn version after which the file was written again
	for i := range changes {
		put(i)
		if i%every == every-1 {
			pooltest.Eventually(t, fmt.Sprint("content ", i, " is loaded"), func() bool {
				number, err := numberOf([]byte(current(c)))
				if err == nil && number == i {
					return true
				}
				if torn := c.Version(); err != nil && stopped && torn != repaired {
					put(i)
					repaired = torn
				}
				time.Sleep(time.Millisecond) // leaves the processors to others
				return false
			})
		}
	}
	cancel()
	for range 2 {
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	if err := errors.Join(torn...); err != nil && stopped {
		t.Log("a writer was stopped: ", err)
	} else if err != nil {
		t.Error(err)
	}
	if err := pool.Close(context.WithoutCancel(ctx)); err != nil {
		t.Error(err)
	}
	if s := r.Status(); s.Swaps < uint64(changes/every) {
		t.Errorf("%d contents were loaded", s.Swaps)
	}
}
