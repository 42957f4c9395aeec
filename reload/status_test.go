package reload_test

import (
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// goldenJSON is the JSON after a good load, a refused one and a reader that holds
// the first version.
const goldenJSON = `{
  "source": "fake",
  "state": "refused",
  "revision": "2",
  "version": 2,
  "sha256": "16367aacb67a4a017c8da8ab95682ccb390863780f7114dda0a0e0c55644c7c4",
  "loaded": "2000-01-01T00:00:01Z",
  "checked": "2000-01-01T00:00:01Z",
  "age_seconds": 60,
  "size_bytes": 6,
  "fetch_seconds": 1,
  "load_seconds": 0,
  "failures": 1,
  "refused": "3",
  "last_error": "reload: fake: revision \"3\": load: bad row 3 (version 2 stays; not tried again until the revision changes)",
  "last_failed": "2000-01-01T00:00:01Z",
  "attempts": 3,
  "swaps": 2,
  "total_failures": 1,
  "recent": [
    {
      "outcome": "failed",
      "at": "2000-01-01T00:00:01Z",
      "revision": "3",
      "version": 2,
      "sha256": "2f05d4b689d270cafb02285f35f44866f7dc8a2d368a3f9d1124373eeab31fb1",
      "size_bytes": 3,
      "fetch_seconds": 0,
      "load_seconds": 0,
      "error": "reload: fake: revision \"3\": load: bad row 3 (version 2 stays; not tried again until the revision changes)"
    },
    {
      "outcome": "loaded",
      "at": "2000-01-01T00:00:01Z",
      "revision": "2",
      "version": 2,
      "sha256": "16367aacb67a4a017c8da8ab95682ccb390863780f7114dda0a0e0c55644c7c4",
      "size_bytes": 6,
      "fetch_seconds": 1,
      "load_seconds": 0
    },
    {
      "outcome": "loaded",
      "at": "2000-01-01T00:00:00Z",
      "revision": "1",
      "version": 1,
      "sha256": "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed",
      "size_bytes": 3,
      "fetch_seconds": 0,
      "load_seconds": 0
    }
  ],
  "pool": {
    "current": 1,
    "held": 1,
    "leaked": 0,
    "live": 3,
    "lost": 0,
    "oldest_retired_seconds": 60,
    "retired": 1,
    "spares": 1
  }
}
`

func TestJSON(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, c, fake := faked(reload.Options{})
		push(fake, "one")
		r.Reload(t.Context())
		held := c.Acquire()
		defer c.Release(held)
		push(fake, "second")
		fake.Delay(time.Second)
		r.Reload(t.Context())
		fake.Delay(0)
		push(fake, "bad")
		r.Reload(t.Context())
		synctest.Wait()
		time.Sleep(time.Minute)
		for _, c := range []struct{ target, accept string }{
			{"/status?format=json", browserAccept},
			{"/status", "application/json"},
		} {
			answer := ask(r, http.MethodGet, c.target, c.accept)
			if kind := answer.Header().Get("Content-Type"); kind != "application/json" {
				t.Errorf("%v: it is %s", c, kind)
			}
			if got := answer.Body.String(); got != goldenJSON {
				t.Errorf("%v: the JSON is\n%s\nwant\n%s", c, got, goldenJSON)
			}
		}
		if kind := ask(r, http.MethodGet, "/status", "text/html, application/json").Header().Get("Content-Type"); kind != "text/html; charset=utf-8" {
			t.Errorf("a browser that takes JSON, too, gets %s", kind)
		}
	})
}

func TestJSONOfPool(t *testing.T) {
	t.Parallel()
	stats := poolswap.Stats{Live: 1, Current: 2, Retired: 3, Spares: 4, Held: 5, OldestRetired: 6 * time.Second, Lost: 7, Leaked: 8}
	c, _ := newTexts()
	r := reload.New(c, new(reloadtest.Fake), load, reload.Options{Logger: quiet, Stats: func() poolswap.Stats { return stats }})
	answer := httptest.NewRecorder()
	r.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/?format=json", nil))
	var got struct{ Pool map[string]float64 }
	if err := json.Unmarshal(answer.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{"live": 1, "current": 2, "retired": 3, "spares": 4, "held": 5, "oldest_retired_seconds": 6, "lost": 7, "leaked": 8}
	if !maps.Equal(got.Pool, want) {
		t.Errorf("the pool is %v, want %v", got.Pool, want)
	}
}

// A field that is added to Status must come into its JSON.
func TestJSONHasEachField(t *testing.T) {
	t.Parallel()
	for _, full := range []any{&reload.Status{}, &reload.Event{}} {
		v := reflect.ValueOf(full).Elem()
		plain := marshalled(t, v.Interface())
		for i := range v.NumField() {
			field, name := v.Field(i), v.Type().Field(i).Name
			if !v.Type().Field(i).IsExported() {
				continue
			}
			switch field.Interface().(type) {
			case string:
				field.SetString("x")
			case reload.Outcome:
				field.Set(reflect.ValueOf(reload.Loaded))
			case uint64:
				field.SetUint(7)
			case int, int64, time.Duration:
				field.SetInt(7)
			case time.Time:
				field.Set(reflect.ValueOf(time.Unix(7, 0)))
			case error, nil:
				field.Set(reflect.ValueOf(errBad))
			default:
				t.Fatalf("%s has the type %v", name, field.Type())
			}
			if marshalled(t, v.Interface()) == plain {
				t.Errorf("%T.%s is not in the JSON", v.Interface(), name)
			}
			field.SetZero()
		}
	}
}

func marshalled(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestPanicsOfOptions(t *testing.T) {
	t.Parallel()
	var lines logs
	c, _ := newTexts()
	fake := new(reloadtest.Fake)
	push(fake, "good")
	r := reload.New(c, fake, load, reload.Options{
		Logger:  lines.logger(slog.LevelWarn),
		Observe: func(reload.Event) { panic("no such metric") },
		Stats:   func() poolswap.Stats { panic("no pool") },
	})
	succeeds(t, r, c, "good")
	if page := everything(r); !strings.Contains(page, "The newest content is loaded.") {
		t.Error(page)
	}
	for _, want := range []string{"Options.Observe", "no such metric", "Options.Stats", "no pool"} {
		if !strings.Contains(strings.Join(lines.all(), "\n"), want) {
			t.Errorf("the log does not say %q: %q", want, lines.all())
		}
	}
}

// TestRepeatedFailures keeps swaps in sight while the origin is down.
func TestRepeatedFailures(t *testing.T) {
	t.Parallel()
	r, c, fake := faked(reload.Options{})
	push(fake, "good")
	succeeds(t, r, c, "good")
	fake.Fail(errDown)
	for range 30 {
		failsWith(t, r, reload.Fetching)
	}
	fake.Fail(errBad)
	failsWith(t, r, reload.Fetching)
	var page struct {
		Recent []struct {
			Outcome reload.Outcome
			Repeats int
		}
	}
	w := httptest.NewRecorder()
	r.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/?format=json", http.NoBody))
	if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil {
		t.Fatal(err)
	}
	if n := len(page.Recent); n != 3 || page.Recent[0].Repeats != 0 || page.Recent[1].Repeats != 29 || page.Recent[2].Outcome != reload.Loaded {
		t.Errorf("the page has %+v", page.Recent)
	}
	if text := everything(r); !strings.Contains(text, "(29 times before)") || r.Status().TotalFailures != 31 {
		t.Error(text)
	}
}
