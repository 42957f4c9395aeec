package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap/reload"
)

// use counts the holders of one mapping, and how often it was closed.
type use struct{ held, closed atomic.Int64 }

// mappings watches how mappings are closed.
type mappings struct{ uses sync.Map } // *mapping to *use

func (m *mappings) of(r *mapping) *use {
	u, _ := m.uses.LoadOrStore(r, new(use)) // a key is never collected, so no two have one address
	return u.(*use)
}

// watchMappings fails the test if a mapping is closed while it is held.
func watchMappings(t *testing.T) *mappings {
	m := new(mappings)
	original := closeMapping
	closeMapping = func(r *mapping) error {
		u := m.of(r)
		u.closed.Add(1)
		if held := u.held.Load(); held != 0 {
			t.Errorf("a mapping is closed while it is held %d times", held)
		}
		return original(r)
	}
	t.Cleanup(func() { closeMapping = original })
	return m
}

// check fails unless there were n mappings and each was closed once.
func (m *mappings) check(t *testing.T, n int) {
	t.Helper()
	m.uses.Range(func(_, u any) bool {
		n--
		if closed := u.(*use).closed.Load(); closed != 1 {
			t.Errorf("a mapping was closed %d times", closed)
		}
		return true
	})
	if n != 0 {
		t.Errorf("%d more mappings were expected", n)
	}
}

// poll is short, so that tests that run a service need not wait.
const poll = 10 * time.Millisecond

// path returns the name of the file that the service looks at.
func (s *service) path() string { return s.reloader.Status().Source }

func loaded(t *testing.T, content []byte) *service {
	t.Helper()
	log.SetOutput(io.Discard)
	s := newService(tempDB(t, content), poll)
	if err := s.reloader.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// close closes the pool, which no reader holds up.
func (s *service) close(t *testing.T) {
	t.Helper()
	if err := s.pool.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func (s *service) get(query string) (status int, body string) {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/lookup?"+query, nil))
	return w.Code, strings.TrimSpace(w.Body.String())
}

func TestLookupsAreAnswered(t *testing.T) {
	s := loaded(t, generation(7))
	const common = `"record":{"country_code":"G7"},"version":1,"built":"1970-01-01T00:00:07Z"}`
	const none = `"record":null,"version":1,"built":"1970-01-01T00:00:07Z"}`
	for _, c := range []struct {
		query  string
		status int
		body   string
	}{
		{"ip=192.0.2.1", 200, `{"network":"192.0.2.0/24",` + common},
		{"ip=::ffff:192.0.2.255", 200, `{"network":"192.0.2.0/24",` + common},
		{"ip=198.51.100.127", 200, `{"network":"198.51.100.0/25",` + common},
		{"ip=198.51.100.128", 200, `{"network":"198.51.100.128/25",` + none},
		{"ip=2001:db8:ffff::", 200, `{"network":"2001:db8::/32",` + common},
		{"ip=2001:db9::", 200, `{"network":"2001:db9::/32",` + none},
		{"ip=1.2.3", 400, "give an IP address, as in /lookup?ip=192.0.2.1"},
		{"", 400, "give an IP address, as in /lookup?ip=192.0.2.1"},
	} {
		if status, body := s.get(c.query); status != c.status || body != c.body {
			t.Errorf("%s: %d %s, want %d %s", c.query, status, body, c.status, c.body)
		}
	}
}

func TestBrokenFile(t *testing.T) {
	closed := watchMappings(t)
	s := loaded(t, generation(1))
	opened := 1
	for name, content := range brokenDBs() {
		replaceFile(t, s.path(), content)
		if err := s.reloader.Reload(t.Context()); err == nil || !strings.Contains(err.Error(), s.path()+": revision ") {
			t.Errorf("%s: the error is %v", name, err)
		}
		if len(content) > 0 {
			opened++
		}
	}
	if status, body := s.get("ip=192.0.2.1"); status != 200 || !strings.Contains(body, `"version":1,`) {
		t.Errorf("%d %s", status, body)
	}
	if err := os.Remove(s.path()); err != nil {
		t.Fatal(err)
	}
	if err := s.reloader.Reload(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of a missing file: %v", err)
	}
	replaceFile(t, s.path(), generation(2))
	if err := s.reloader.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if status, body := s.get("ip=192.0.2.1"); status != 200 || !strings.Contains(body, `{"country_code":"G2"},"version":2,`) {
		t.Errorf("after a good file: %d %s", status, body)
	}
	opened++
	s.close(t)
	closed.check(t, opened)
	if status, _ := s.get("ip=192.0.2.1"); status != 503 {
		t.Errorf("without a database: %d", status)
	}
}

// TestOpenedFileIsMapped: not the file that has its name when load begins.
func TestOpenedFileIsMapped(t *testing.T) {
	path := tempDB(t, generation(1))
	content, err := reload.File(path).Fetch(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	replaceFile(t, path, generation(2))
	db := new(database)
	defer db.close()
	if err := errors.Join(load(t.Context(), db, nil, content), content.Body.Close()); err != nil {
		t.Fatal(err)
	}
	if built := db.reader.Metadata.BuildTime().Unix(); built != 1 {
		t.Errorf("the database that is mapped is of generation %d, not 1", built)
	}
}

// TestMappingsAreClosedOnce replaces the database many times under readers of each
// kind.
func TestMappingsAreClosedOnce(t *testing.T) {
	synctest.Test(t, replaceOften) // whose clock is behind the files: no load waits for a file to rest
}

func replaceOften(t *testing.T) {
	closed := watchMappings(t)
	s := loaded(t, generation(1))
	done := make(chan struct{})
	var readers sync.WaitGroup
	reader := func(read func() int) {
		readers.Go(func() {
			for last := 0; ; {
				select {
				case <-done:
					return
				default:
				}
				version := read()
				if version < last {
					t.Errorf("version %d after %d", version, last)
				}
				last = version
			}
		})
	}
	read := func(db *database) int {
		u := closed.of(db.file)
		u.held.Add(1)
		defer u.held.Add(-1)
		version := s.dbs.VersionOf(db)
		code := fmt.Sprintf("G%d", version)
		for _, ip := range []string{"192.0.2.1", "198.51.100.1", "2001:db8::1"} {
			var record map[string]string
			if err := db.reader.Lookup(netip.MustParseAddr(ip)).Decode(&record); err != nil || record["country_code"] != code {
				t.Errorf("version %d says %v of %s, %v", version, record, ip, err)
			}
		}
		return int(version)
	}
	for range 2 {
		reader(func() int {
			db := s.dbs.Acquire()
			defer s.dbs.Release(db)
			return read(db)
		})
	}
	loop := s.dbs.NewReader()
	reader(func() int { return read(loop.Load()) })
	reader(func() int {
		status, body := s.get("ip=192.0.2.1")
		var a struct {
			Record  map[string]string
			Version int
			Built   time.Time
		}
		err := json.Unmarshal([]byte(body), &a)
		if status != 200 || err != nil || a.Record["country_code"] != fmt.Sprintf("G%d", a.Version) || a.Built.Unix() != int64(a.Version) {
			t.Errorf("%d %s, %v", status, body, err)
		}
		return a.Version
	})

	const replacements = 300
	for n := 2; n <= replacements; n++ {
		replaceFile(t, s.path(), generation(n))
		if err := s.reloader.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	close(done)
	readers.Wait()
	loop.Close()
	if n := mapped(t, s.path()); n < 1 {
		t.Errorf("the current file is mapped %d times", n)
	}
	s.close(t)
	closed.check(t, replacements)
	if n := mapped(t, s.path()); n > 0 {
		t.Errorf("the file is still mapped %d times", n)
	}
	if stats := s.pool.Stats(); stats.Live != 0 || stats.Lost != 0 {
		t.Errorf("the pool: %+v", stats)
	}
}

// mapped returns how often the kernel maps a file of that name, deleted ones
// included, or is skipped where it does not tell.
func mapped(t *testing.T, path string) int {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Log(err)
		t.SkipNow()
	}
	return bytes.Count(maps, []byte(path))
}

// TestRealDatabase runs with the database that the environment names.
func TestRealDatabase(t *testing.T) {
	path := os.Getenv("POOLSWAP_MMDB")
	if path == "" {
		t.Skip("POOLSWAP_MMDB names no database: README.md shows how to get one")
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	closed := watchMappings(t)
	s := loaded(t, content)
	found := 0
	for _, ip := range []string{"1.1.1.1", "8.8.8.8", "193.0.6.139", "2001:4860:4860::8888"} {
		status, body := s.get("ip=" + ip)
		if status != 200 {
			t.Errorf("%s: %d %s", ip, status, body)
		}
		if !strings.Contains(body, `"record":null`) {
			found++
		}
	}
	if found == 0 {
		t.Error("it knows none of four well-known addresses")
	}
	replaceFile(t, s.path(), content[:len(content)/2])
	if err := s.reloader.Reload(t.Context()); err == nil {
		t.Error("half of it goes live")
	}
	replaceFile(t, s.path(), content)
	if err := s.reloader.Reload(t.Context()); err != nil || s.dbs.Version() != 1 {
		t.Errorf("the same content again: version %d, %v", s.dbs.Version(), err)
	}
	s.close(t)
	closed.check(t, 3)
}
