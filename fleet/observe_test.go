package fleet_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/reload"
)

func loaded(revision string) reload.Event {
	return reload.Event{Outcome: reload.Loaded, At: time.Now(), Revision: revision, Version: 3, Load: time.Second}
}

func failed(revision string, refused bool, err error) reload.Event {
	return reload.Event{Outcome: reload.Failed, At: time.Now(), Version: 3, Err: &reload.Error{Stage: reload.Loading, Revision: revision, Refused: refused, Err: err}}
}

func TestReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		r := source(t, client(t, s), fleet.SourceOptions{Labels: map[string]string{"region": "eu"}})
		step := func(e reload.Event) fleet.Report {
			r.Observe(e)
			synctest.Wait()
			report := s.reportOf("r1")
			if report.Every != 30*time.Second || report.Labels["region"] != "eu" || report.Version != e.Version || !report.At.Equal(e.At) {
				t.Errorf("the report of %+v is %+v", e, report)
			}
			return report
		}
		if report := step(failed("", false, errors.New("nothing answers"))); report.Revision != "" || report.Failed != "" || report.Error != "load: nothing answers" {
			t.Errorf("the report of a failure is %+v", report)
		}
		began := time.Now()
		if report := step(loaded("one")); report.Revision != "one" || report.Error != "" || !report.Since.Equal(began) || report.Load != time.Second {
			t.Errorf("the report of a load is %+v", report)
		}
		time.Sleep(time.Hour)
		if report := step(failed("two", true, errors.New("line 3\nstack"))); report.Revision != "one" || report.Failed != "two" || report.Error != "load: line 3" || !report.Since.Equal(began) {
			t.Errorf("the report of a refusal is %+v", report)
		}
		held := fmt.Errorf("waiting: %w", &poolswap.HeldError{Op: "Publish", Err: context.DeadlineExceeded})
		if report := step(failed("three", false, held)); report.Failed != "" || report.Held == "" {
			t.Errorf("the report of a held object is %+v", report)
		}
		if report := step(reload.Event{Outcome: reload.NotModified, At: time.Now()}); report.Revision != "one" || report.Error != "" || report.Held != "" || !report.Since.Equal(began) {
			t.Errorf("the report of an idle attempt is %+v", report)
		}
		if report := step(reload.Event{Outcome: reload.Unchanged, At: time.Now(), Revision: "four"}); report.Revision != "four" || report.Since.Equal(began) {
			t.Errorf("the report of the same bytes is %+v", report)
		}
		before := s.count()
		r.Observe(failed("", false, fmt.Errorf("the program ends: %w", t.Context().Err())))
		r.Observe(reload.Event{Outcome: reload.Failed, Err: &reload.Error{Err: fmt.Errorf("it ends: %w", context.Canceled)}})
		synctest.Wait()
		if n := s.count() - before; n != 1 {
			t.Errorf("%d reports came, want none of an attempt that was given up", n)
		}
	})
}

// TestReportIsShort reports the longest texts.
func TestReportIsShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, most := newServer(), 0
		s.on(func(_ http.ResponseWriter, r *http.Request) bool {
			text, _ := io.ReadAll(r.Body)
			most = max(most, len(text))
			r.Body = io.NopCloser(strings.NewReader(string(text)))
			return false
		})
		labels := map[string]string{}
		for i := range 15 {
			labels[fmt.Sprint(i)] = strings.Repeat(`"`, 120)
		}
		r := source(t, client(t, s), fleet.SourceOptions{Labels: labels})
		for _, text := range []string{strings.Repeat("\x01", 1e6), strings.Repeat("\xff", 1e6), strings.Repeat(`\"`, 1e6), "short"} {
			most = 0
			r.Observe(failed(strings.Repeat("r", 128), true, errors.New(text)))
			synctest.Wait()
			if report := s.reportOf("r1"); report.Error == "" || most > fleet.MaxReport {
				t.Errorf("a report of %.10q has %d bytes", text, most)
			}
		}
	})
}

// TestNewestReportWins reports while the server is slow, and down.
func TestNewestReportWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		log := new(logText)
		r := source(t, client(t, s), fleet.SourceOptions{Logger: slog.New(slog.NewTextHandler(log, nil))})
		s.on(func(_ http.ResponseWriter, r *http.Request) bool { pause(r, time.Second); return false })
		for i := range 100 {
			began := time.Now()
			r.Observe(loaded(fmt.Sprint(i)))
			if time.Since(began) != 0 {
				t.Fatal("Observe waited")
			}
		}
		time.Sleep(3 * time.Second)
		if n, report := s.count(), s.reportOf("r1"); n > 3 || report.Revision != "99" {
			t.Errorf("%d reports came, the last of revision %s", n, report.Revision)
		}
		s.on(func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) })
		for i := range 100 {
			r.Observe(loaded(fmt.Sprint(100 + i)))
			time.Sleep(time.Second)
		}
		s.on(nil)
		if n := strings.Count(log.String(), "report was lost"); n != 1 {
			t.Errorf("%d warnings were logged, want 1", n)
		}
		waiting := hint(t.Context(), r, "199") // sends the lost one, and then goes on
		time.Sleep(time.Minute)
		if report := s.reportOf("r1"); report.Revision != "199" {
			t.Errorf("the lost report did not come: %+v", report)
		}
		before := s.count()
		time.Sleep(10 * time.Minute)
		if n := s.count() - before; n < 19 || n > 24 {
			t.Errorf("%d reports came in 10 minutes, want one every 27 to 30 s", n)
		}
		if age := time.Since(s.reportOf("r1").At); age > 30*time.Second {
			t.Errorf("the last report is %v old", age)
		}
		s.on(func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPut {
				w.Header().Set("Retry-After", "120")
				refuse(w, 429, "too_many", "")
			}
			return r.Method == http.MethodPut
		})
		before = len(s.all())
		time.Sleep(20 * time.Minute)
		if n := len(s.all()) - before; n > 45 {
			t.Errorf("%d requests were sent in 20 minutes to a server that asks for 2 minutes of rest", n)
		}
		if err := r.Leave(); err != nil {
			t.Error(err)
		}
		s.on(nil)
		select {
		case err := <-waiting:
			t.Errorf("Wait returned %v", err)
		default:
		}
	})
}

func TestLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		r := source(t, client(t, s), fleet.SourceOptions{})
		s.on(func(_ http.ResponseWriter, r *http.Request) bool { pause(r, time.Second/2); return false })
		r.Observe(loaded("one"))
		synctest.Wait() // it is on its way
		if err := r.Leave(); err != nil {
			t.Fatal(err)
		}
		r.Observe(loaded("two"))
		time.Sleep(time.Minute)
		if report := s.reportOf("r1"); s.count() != 1 || report.ID != "" {
			t.Errorf("after Leave the server has %+v, and %d reports came", report, s.count())
		}
		s.on(func(_ http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return true })
		stuck := source(t, client(t, s), fleet.SourceOptions{})
		stuck.Observe(loaded("one"))
		began := time.Now()
		if err := stuck.Leave(); err == nil || time.Since(began) > 2*time.Second {
			t.Errorf("Leave returned %v after %v, want an error within 2 s", err, time.Since(began))
		}
		// The bubble ends only if no goroutine is left.
	})
}

func TestHealth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		var mu sync.Mutex
		var now fleet.Health
		fails := false
		r := source(t, client(t, s), fleet.SourceOptions{Health: func() fleet.Health {
			mu.Lock()
			defer mu.Unlock()
			if fails {
				panic("no counters")
			}
			return now
		}})
		step := func(name string, next fleet.Health, e reload.Event, want *fleet.Health) {
			t.Helper()
			mu.Lock()
			now = next
			mu.Unlock()
			r.Observe(e)
			synctest.Wait()
			if got := s.reportOf("r1").Health; fmt.Sprint(string(must(json.Marshal(got)))) != string(must(json.Marshal(want))) {
				t.Errorf("%s: the health is %+v, want %+v", name, got, want)
			}
		}
		idle := reload.Event{Outcome: reload.NotModified}
		step("without a revision", fleet.Health{Requests: 5}, idle, nil)
		step("a new revision", fleet.Health{Requests: 1000, Errors: 50}, loaded("one"), &fleet.Health{})
		step("later", fleet.Health{Requests: 1100, Errors: 51, Latency: 7}, idle, &fleet.Health{Requests: 100, Errors: 1, Latency: 7})
		step("counters that began anew", fleet.Health{Requests: 10, Errors: 2}, idle, &fleet.Health{Requests: 110, Errors: 3})
		step("later", fleet.Health{Requests: 30, Errors: 2, Latency: -1}, idle, &fleet.Health{Requests: 130, Errors: 3})
		step("more errors than requests", fleet.Health{Requests: 30, Errors: 500}, idle, &fleet.Health{Requests: 130, Errors: 130})
		step("the next revision", fleet.Health{Requests: 35, Errors: 500}, loaded("two"), &fleet.Health{})
		fails = true
		step("a panic", fleet.Health{}, idle, nil)
	})
}
