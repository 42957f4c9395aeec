package reload_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// Sources that wrap a Waiter hand it its own revision: another one would be a
// hint at once, and then again and again.
func TestWrappedWaitersAreAskedWithTheirOwnRevision(t *testing.T) {
	dir := t.TempDir()
	for name, wrap := range map[string]func(fake, sums reload.Source) reload.Source{
		"a check": reload.WithSHA256,
		"a cache": func(fake, _ reload.Source) reload.Source { return reload.Cache(fake, dir+"/1") },
		"a cache around checks": func(fake, sums reload.Source) reload.Source {
			return reload.Cache(reload.WithSHA256(fake, sums), dir+"/2")
		},
		"a join": func(fake, sums reload.Source) reload.Source {
			empty := reload.FS(fstest.MapFS{"empty": new(fstest.MapFile)}, "empty")
			return reload.Join(empty, reload.WithSHA256(fake, sums))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fake, sums := new(reloadtest.Fake), new(reloadtest.Fake)
				push(fake, "content")
				push(sums, "%x", sumOf("content"))
				c, _ := newTexts()
				r := reload.New(c, wrap(fake, sums), load, reload.Options{Every: 24 * time.Hour, Logger: quiet})
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				if err := r.Run(ctx); err == nil {
					t.Error("Run returned nil")
				}
				is(t, c, "content")
				if attempts := r.Status().Attempts; attempts > 2 { // the first, and a hint from before it
					t.Errorf("%d attempts in an hour without a change", attempts)
				}
			})
		})
	}
}

func TestASideThatIsLongerThanAnnouncedIsAnError(t *testing.T) {
	t.Parallel()
	r, _, content, _ := checkedReloader(func(source, _ reload.Source) reload.Source {
		return reload.WithSHA256(source, sourceFunc(func(context.Context, string) (*reload.Content, error) {
			return &reload.Content{Revision: "1", Size: 10, Body: io.NopCloser(strings.NewReader(strings.Repeat("0", 64)))}, nil
		}))
	})
	push(content, "content")
	if failure := failsWith(t, r, reload.Fetching); !strings.HasSuffix(failure.Err.Error(), "the body is longer than the 10 bytes that the source announced") {
		t.Error(failure)
	}
}

func TestPrepareCannotMakeARequestConditional(t *testing.T) {
	t.Parallel()
	requests := make(chan http.Header, 1)
	s := site(t, func(w http.ResponseWriter, r *http.Request) {
		requests <- r.Header
		io.WriteString(w, "content")
	})
	r, c := fromHTTP(s.URL, reload.HTTPOptions{Prepare: func(request *http.Request) error {
		request.Header.Set("If-None-Match", `"mine"`)
		request.Header.Set("If-Modified-Since", "Tue, 14 Nov 2023 22:13:20 GMT")
		return nil
	}}, reload.Options{})
	succeeds(t, r, c, "content")
	if header := <-requests; header.Get("If-None-Match") != "" || header.Get("If-Modified-Since") != "" {
		t.Errorf("the request has %v", header)
	}
}
