package reload_test

import (
	"context"
	"encoding/json"
	"errors"
	"expvar"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// A readiness probe, and an alert for a table that is an hour old: that is still better
// than no service.
func ExampleReady() {
	source := new(reloadtest.Fake)
	reloader := reload.New(newTables(), source, loadTable, reload.Options{})
	probe := func() {
		answer := httptest.NewRecorder()
		reload.Ready(reloader).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/ready", nil))
		fmt.Print(answer.Code, " ", answer.Body)
		fmt.Println("alert:", reloader.Status().Age() > time.Hour)
	}
	probe()
	source.Push([]byte("a.example"))
	_ = reloader.Reload(context.Background())
	probe()
	// Output:
	// 503 nothing is loaded from ["fake"]
	// alert: false
	// 200 ready
	// alert: false
}

// Observe counts for metrics and alerts.
func ExampleOptions() {
	outcomes := map[reload.Outcome]int{}
	source := new(reloadtest.Fake)
	reloader := reload.New(newTables(), source, loadTable, reload.Options{
		Every:      10 * time.Second,
		MaxBackoff: time.Minute,
		MaxBytes:   1 << 20,
		Observe:    func(e reload.Event) { outcomes[e.Outcome]++ },
	})
	for range 3 {
		_ = reloader.Reload(context.Background())
	}
	source.Push([]byte("a.example"))
	_ = reloader.Reload(context.Background())
	fmt.Println(outcomes)
	// Output: map[failed:3 loaded:1]
}

// subscribed hears of changes, so it does not ask by the clock.
type subscribed struct{ origin *reloadtest.Fake }

func (s subscribed) Fetch(ctx context.Context, have string) (*reload.Content, error) {
	if have != "" && reload.Scheduled(ctx) {
		return nil, reload.ErrNotModified
	}
	fmt.Println("asked")
	return s.origin.Fetch(ctx, have)
}

// Wait would return when there is a change.
func (s subscribed) Wait(ctx context.Context, _ string) error {
	<-ctx.Done()
	return ctx.Err()
}

func ExampleScheduled() {
	ctx, cancel := context.WithCancel(context.Background())
	source := subscribed{new(reloadtest.Fake)}
	source.origin.Push([]byte("a.example"))
	options := reload.Options{Every: time.Millisecond, Observe: func(e reload.Event) {
		fmt.Println(e.Outcome)
		if e.Outcome == reload.NotModified {
			cancel()
		}
	}}
	_ = reload.New(newTables(), source, loadTable, options).Run(ctx)
	// Output:
	// asked
	// loaded
	// not modified
}

// An alert names the refused revision.
func ExampleEvent() {
	alert := func(e reload.Event) {
		var failure *reload.Error
		if errors.As(e.Err, &failure) && failure.Refused {
			fmt.Printf("revision %s is bad, version %d stays: %v\n", e.Revision, e.Version, failure.Err)
		}
	}
	source := new(reloadtest.Fake)
	source.Push([]byte("bad"))
	_ = reload.New(newTables(), source, func(context.Context, *Table, *Table, *reload.Content) error {
		return errBad
	}, reload.Options{Observe: alert}).Reload(context.Background())
	// Output: revision 1 is bad, version 0 stays: bad row 3
}

// The outcomes of attempts, in the order of their frequency in a healthy service.
func ExampleOutcome() {
	source := new(reloadtest.Fake)
	reloader := reload.New(newTables(), source, loadTable, reload.Options{Observe: func(e reload.Event) { fmt.Printf("%s %q\n", e.Outcome, e.Revision) }})
	attempt := func() { _ = reloader.Reload(context.Background()) }
	source.Push([]byte("a.example"))
	attempt()
	attempt()
	source.Push([]byte("a.example")) // the same again
	attempt()
	source.Fail(errors.New("no route to host"))
	attempt()
	// Output:
	// loaded "1"
	// not modified ""
	// unchanged "2"
	// failed ""
}

// The status as an expvar.
func ExampleStatus() {
	source := new(reloadtest.Fake)
	reloader := reload.New(newTables(), source, loadTable, reload.Options{})
	if expvar.Get("table") == nil { // else the example ran before
		expvar.Publish("table", expvar.Func(func() any { return reloader.Status() }))
	}
	fmt.Println(expvar.Get("table"))
	// Output: {"source":"fake","state":"empty","revision":"","version":0,"age_seconds":0,"size_bytes":0,"fetch_seconds":0,"load_seconds":0,"failures":0,"attempts":0,"swaps":0,"total_failures":0}
}

func ExampleStatus_State() {
	source := new(reloadtest.Fake)
	reloader := reload.New(newTables(), source, loadAtLeastHalf, reload.Options{})
	attempt := func() {
		_ = reloader.Reload(context.Background())
		fmt.Println(reloader.Status().State())
	}
	fmt.Println(reloader.Status().State())
	attempt()
	source.Push([]byte("a\nb\nc\n"))
	attempt()
	source.Push([]byte("a\n"))
	attempt()
	source.Push([]byte("a\nb\n"))
	source.Truncate(1, nil)
	attempt()
	// Output:
	// empty
	// failing
	// fresh
	// refused
	// stale
}

func ExampleStatus_MarshalJSON() {
	text, err := json.Marshal(reload.Status{Source: "table.csv", Failures: 1, Err: errors.New("no route to host"), Attempts: 1, TotalFailures: 1})
	fmt.Println(string(text), err)
	// Output: {"source":"table.csv","state":"failing","revision":"","version":0,"age_seconds":0,"size_bytes":0,"fetch_seconds":0,"load_seconds":0,"failures":1,"last_error":"no route to host","attempts":1,"swaps":0,"total_failures":1} <nil>
}

func ExampleEvent_MarshalJSON() {
	text, err := json.Marshal(reload.Event{Outcome: reload.Loaded, At: time.Unix(0, 0).UTC(), Revision: "7", Version: 3, Load: time.Second})
	fmt.Println(string(text), err)
	// Output: {"outcome":"loaded","at":"1970-01-01T00:00:00Z","revision":"7","version":3,"size_bytes":0,"fetch_seconds":0,"load_seconds":1} <nil>
}

func ExampleReloader_Status() {
	source := new(reloadtest.Fake)
	source.Push([]byte("a.example"))
	reloader := reload.New(newTables(), source, loadTable, reload.Options{})
	_ = reloader.Reload(context.Background())
	s := reloader.Status()
	fmt.Println(s.Source, s.Revision, s.Version, s.Size, s.Failures)
	// Output: fake 1 1 9 0
}

// Under MaxLive an attempt waits for a reader, and says what that one holds.
func ExampleStatus_Held() {
	ctx := context.Background()
	pool := poolswap.NewPoolWithOptions(newTable, resetTable, poolswap.Options[Table]{MaxLive: 2})
	tables := poolswap.NewEmptyContainer(pool)
	source := new(reloadtest.Fake)
	reloader := reload.New(tables, source, loadTable, reload.Options{ObjectWait: 200 * time.Millisecond})
	reload := func(row string) error {
		source.Push([]byte(row))
		return reloader.Reload(ctx)
	}
	_ = reload("a.example")
	slow := tables.Acquire()
	_ = reload("b.example")
	fmt.Println(reload("c.example") != nil)
	s := reloader.Status()
	fmt.Println("held:", s.Held().Versions)
	tables.Release(slow)
	fmt.Println(reload("c.example"))
	// Output:
	// true
	// held: [1]
	// <nil>
}
