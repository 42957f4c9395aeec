package reload_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/poolswap/poolswap/reload"
)

// refuseAtOnce is load, but reads no further than it has to.
func refuseAtOnce(ctx context.Context, next, current *text, content *reload.Content) error {
	start := make([]byte, 3)
	if _, err := io.ReadFull(content.Body, start); err != nil || string(start) == "bad" {
		return cmp.Or(err, errBad)
	}
	rest := *content
	rest.Body = io.NopCloser(io.MultiReader(bytes.NewReader(start), content.Body))
	return load(ctx, next, current, &rest)
}

// TestBrokenTransferIsNoBadContent flips a bit on the way, so that load refuses the
// content. The ETag stays, so a refusal would last until the content changes.
func TestBrokenTransferIsNoBadContent(t *testing.T) {
	t.Parallel()
	const content = "cad row" // a bit away from "bad row"
	for name, wrap := range map[string]func(t *testing.T, source, sums reload.Source) reload.Source{
		"the Reloader verifies": func(_ *testing.T, source, sums reload.Source) reload.Source { return reload.WithSHA256(source, sums) },
		"the content is in a Cache": func(t *testing.T, source, sums reload.Source) reload.Source {
			return reload.Cache(reload.WithSHA256(source, sums), t.TempDir())
		},
		"the content is in a Join": func(_ *testing.T, source, sums reload.Source) reload.Source {
			return reload.Join(reload.WithSHA256(source, sums))
		},
		"the transfer was cut short": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var honest atomic.Bool
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch w.Header().Set("ETag", `"1"`); {
				case r.URL.Path == "/sum":
					fmt.Fprintf(w, "%x", sumOf(content))
				case honest.Load() && r.Header.Get("If-None-Match") == `"1"`:
					w.WriteHeader(http.StatusNotModified)
				case honest.Load():
					fmt.Fprint(w, content)
				case wrap == nil:
					w.Header().Set("Content-Length", "100")
					fmt.Fprint(w, "bad row")
				default:
					fmt.Fprint(w, "bad row")
				}
			}))
			t.Cleanup(server.Close)
			source := reload.HTTP(server.URL, reload.HTTPOptions{})
			if wrap != nil {
				source = wrap(t, source, reload.HTTP(server.URL+"/sum", reload.HTTPOptions{}))
			}
			c, _ := newTexts()
			r := reload.New(c, source, refuseAtOnce, reload.Options{Logger: quiet})
			if err := r.Reload(t.Context()); err == nil || r.Status().Refused != "" {
				t.Fatalf("%v; refused is %q", err, r.Status().Refused)
			}
			honest.Store(true)
			succeeds(t, r, c, content)
		})
	}
}
