package reload_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap/reload"
)

// confirmedAt makes it look as if what a directory keeps was last known to be the
// newest then.
func confirmedAt(t *testing.T, dir string, then time.Time) {
	t.Helper()
	if err := os.Chtimes(filepath.Join(dir, "kept.json"), then, then); err != nil {
		t.Fatal(err)
	}
}

func TestTheAgeOfKeptContentGoesBackToTheLastProcess(t *testing.T) {
	t.Parallel()
	dir, fake, old, _ := cacheKept(t, "good")
	confirmedAt(t, dir, time.Now().Add(-30*24*time.Hour))

	fake.Fail(errDown)
	r, _ := cacheRestarts(t, fake, dir, "good")
	if s := r.Status(); s.Age() < 30*24*time.Hour || s.Age() > 31*24*time.Hour || s.Stale == nil || s.Failures != 1 {
		t.Errorf("the age is %v, the status %+v", s.Age(), s)
	}

	push(fake, "good") // a new revision with the same bytes
	if err := old.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	fake.Fail(errDown)
	r, _ = cacheRestarts(t, fake, dir, "good")
	if s := r.Status(); s.Age() > time.Hour || s.Revision != "2" {
		t.Errorf("the age is %v, the status %+v", s.Age(), s)
	}
}

func TestEachAnswerOfTheOriginMakesKeptContentYoung(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]bool{"in the same process": false, "in the next one": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, fake, r, c := cacheKept(t, "good")
			if again {
				r, c = cacheRestarts(t, fake, dir, "good")
			}
			confirmedAt(t, dir, time.Now().Add(-30*24*time.Hour))
			succeeds(t, r, c, "good") // not modified
			fake.Fail(errDown)
			r, _ = cacheRestarts(t, fake, dir, "good")
			if age := r.Status().Age(); age > time.Hour {
				t.Errorf("the age is %v", age)
			}
		})
	}
}

// A confirmation of what was refused says nothing of what is kept.
func TestTheAgeGrowsWhileTheNewestContentIsRefused(t *testing.T) {
	t.Parallel()
	dir, fake, r, _ := cacheKept(t, "good")
	confirmedAt(t, dir, time.Now().Add(-30*24*time.Hour))
	push(fake, "bad")
	for range 2 {
		failsWith(t, r, reload.Loading)
	}
	r, _ = cacheRestarts(t, fake, dir, "good")
	if age := r.Status().Age(); age < 30*24*time.Hour {
		t.Errorf("the age is %v", age)
	}
}

// Two products can differ in the query alone, which names and errors do not show.
func TestACacheIsOfOneQuery(t *testing.T) {
	t.Parallel()
	down := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down {
			http.Error(w, "down", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("ETag", `"1"`) // of each product
		w.Write([]byte(r.URL.Query().Get("edition")))
	}))
	defer server.Close()
	dir := t.TempDir()
	edition := func(name string) reload.Source {
		return reload.HTTP(server.URL+"/download?licence=kept-secret&edition="+name, reload.HTTPOptions{})
	}
	cacheRestarts(t, edition("country"), dir, "country")
	text, err := os.ReadFile(filepath.Join(dir, "kept.json"))
	if err != nil || strings.Contains(string(text), "kept-secret") {
		t.Errorf("kept.json is %s, %v", text, err)
	}
	cacheRestarts(t, edition("country"), dir, "country")
	down = true
	r, c := start(edition("asn"), dir, reload.Options{})
	if failure := failsWith(t, r, reload.Fetching); !strings.Contains(failure.Error(), "it is of a source with another query or other checks") {
		t.Error(failure)
	}
	is(t, c, "")
	down = false
	succeeds(t, r, c, "asn")
}
