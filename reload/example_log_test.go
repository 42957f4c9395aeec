package reload_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/url"

	"github.com/poolswap/poolswap/oplog"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

type (
	routeChange = oplog.Change[string, string]
	routeView   = oplog.View[string, string]
)

// feed is a Source of a server that knows the changes since a revision, and answers with
// all rows if it is not asked for changes, or has forgotten them.
type feed struct{ url string }

func (f feed) Fetch(ctx context.Context, have string) (*reload.Content, error) {
	query := url.Values{"have": {have}, "base": {reload.DeltaBase(ctx)}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url+"?"+query.Encode(), nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		answer.Body.Close()
		if answer.StatusCode == http.StatusNotModified {
			return nil, reload.ErrNotModified
		}
		return nil, fmt.Errorf("status %s", answer.Status)
	}
	header := answer.Header
	return &reload.Content{Revision: header.Get("Revision"), Base: header.Get("Base"), Size: answer.ContentLength, Body: answer.Body}, nil
}

// decodeRoutes yields a change for each object of JSON.
func decodeRoutes(_ context.Context, content *reload.Content) iter.Seq2[routeChange, error] {
	return func(yield func(routeChange, error) bool) {
		for rows := json.NewDecoder(content.Body); ; {
			var row routeChange
			err := rows.Decode(&row)
			if err == io.EOF || !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// A server changes one of its rows, and the service follows by that row.
func ExampleNewLog() {
	ctx := context.Background()
	server := httptest.NewServer(http.HandlerFunc(serveRoutes))
	defer server.Close()
	routes, err := oplog.NewMap(oplog.MapOptions[string, string]{})
	if err != nil {
		fmt.Println(err)
		return
	}
	reloader := reload.NewLog(routes.Log(), feed{server.URL}, decodeRoutes, reload.LogOptions[routeView]{Options: reload.Options{Logger: quiet}})
	for range 2 {
		fmt.Println(reloader.Reload(ctx))
		addr, ok := routes.Get("db-1")
		s := reloader.Status()
		fmt.Println(s.Revision, addr, ok, s.Size < 100, s.Deltas)
	}
	// Output:
	// <nil>
	// monday 10.0.0.1 true false 0
	// <nil>
	// tuesday 10.0.0.9 true true 1
}

// serveRoutes has a thousand rows on Monday, and another address on Tuesday.
func serveRoutes(w http.ResponseWriter, r *http.Request) {
	if r.FormValue("base") == "monday" {
		w.Header().Set("Revision", "tuesday")
		w.Header().Set("Base", "monday")
		fmt.Fprintln(w, `{"Key": "db-1", "Value": "10.0.0.9"}`)
		return
	}
	w.Header().Set("Revision", "monday")
	for i := range 1000 {
		fmt.Fprintf(w, "{\"Key\": \"db-%d\", \"Value\": \"10.0.0.%d\"}\n", i, i)
	}
}

// A Source tells whether it is asked for all or for changes.
func ExampleDeltaBase() {
	source := sourceFunc(func(ctx context.Context, _ string) (*reload.Content, error) {
		base := reload.DeltaBase(ctx)
		fmt.Printf("asked for changes of %q\n", base)
		return &reload.Content{Revision: base + "+", Base: base, Size: -1, Body: io.NopCloser(bytes.NewBufferString(`{"Key": "a"}`))}, nil
	})
	routes, err := oplog.NewMap(oplog.MapOptions[string, string]{})
	if err != nil {
		fmt.Println(err)
		return
	}
	reloader := reload.NewLog(routes.Log(), source, decodeRoutes, reload.LogOptions[routeView]{Options: reload.Options{Logger: quiet}})
	for range 2 {
		if err := reloader.Reload(context.Background()); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// asked for changes of ""
	// asked for changes of "+"
}

// A result that has lost too many rows is refused, whether by a delta or not.
func ExampleLogOptions() {
	source := new(reloadtest.Fake)
	routes, err := oplog.NewMap(oplog.MapOptions[string, string]{})
	if err != nil {
		fmt.Println(err)
		return
	}
	reloader := reload.NewLog(routes.Log(), source, decodeRoutes, reload.LogOptions[routeView]{
		Check: func(next, current *routeView, _ *reload.Content) error {
			return reload.CheckLoss(current.Len(), next.Len(), 0.5)
		},
	})
	for _, text := range []string{`{"Key": "a"} {"Key": "b"} {"Key": "c"}`, `{"Key": "a"}`} {
		source.Push([]byte(text))
		fmt.Println(errors.Unwrap(reloader.Reload(context.Background())))
	}
	// Output:
	// <nil>
	// 1 of 3 rows are left, more than 50 % lost: was the table cut short?
}

// A Source that has deltas gives a snapshot and the deltas since as one content.
func ExampleChain() {
	content := func(revision, base, text string) *reload.Content {
		return &reload.Content{Revision: revision, Base: base, Size: int64(len(text)), Body: io.NopCloser(bytes.NewBufferString(text))}
	}
	source := sourceFunc(func(context.Context, string) (*reload.Content, error) {
		return reload.Chain(
			content("monday", "", `{"Key": "a", "Value": "1"} {"Key": "b", "Value": "1"}`),
			content("tuesday", "monday", `{"Key": "a", "Delete": true}`),
			content("wednesday", "tuesday", `{"Key": "b", "Value": "3"}`),
		), nil
	})
	routes, err := oplog.NewMap(oplog.MapOptions[string, string]{})
	if err != nil {
		fmt.Println(err)
		return
	}
	reloader := reload.NewLog(routes.Log(), source, decodeRoutes, reload.LogOptions[routeView]{})
	fmt.Println(reloader.Reload(context.Background()), reloader.Status().Revision)
	fmt.Println(routes.Get("a"))
	fmt.Println(routes.Get("b"))
	// Output:
	// <nil> wednesday
	//  false
	// 3 true
}
