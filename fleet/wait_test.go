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
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/reload"
)

// waitFor waits until condition holds.
func waitFor(t testing.TB, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it did not come about within a minute")
		}
	}
}

func isPoll(r *http.Request) bool {
	return r.Method == http.MethodGet && r.URL.Query().Has("after")
}

// hint starts a Wait, and returns its result once it has one.
func hint(ctx context.Context, s *fleet.Source, have string) <-chan error {
	ended := make(chan error, 1)
	go func() { ended <- s.Wait(ctx, have) }()
	return ended
}

func TestWaitTellsOfPlans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		r := source(t, client(t, s), fleet.SourceOptions{})
		ctx, cancel := context.WithCancel(t.Context())
		waiting := hint(ctx, r, "")
		time.Sleep(time.Hour) // without a plan
		s.publish("one", []byte("one"))
		if err := <-waiting; err != nil {
			t.Fatal(err)
		}
		fetched(t, r, "") // for the plan
		waiting = hint(ctx, r, "one")
		for range 3 {
			s.set(fleet.KindPin, func(next *fleet.Plan) { next.Pins = map[string]string{"other": "one"} })
			s.set(fleet.KindPause, func(next *fleet.Plan) { next.Paused = !next.Paused })
		}
		time.Sleep(time.Hour)
		select {
		case err := <-waiting:
			t.Fatalf("plans that do not concern the replica were told: %v", err)
		default:
		}
		s.publish("two", []byte("two")) // in the pause
		time.Sleep(time.Hour)
		select {
		case err := <-waiting:
			t.Fatalf("a publication in a pause was told: %v", err)
		default:
		}
		began := time.Now()
		s.set(fleet.KindResume, func(next *fleet.Plan) { next.Paused = false })
		if err := <-waiting; err != nil || time.Since(began) > time.Second {
			t.Errorf("Wait returned %v after %v", err, time.Since(began))
		}
		if err := r.Wait(ctx, "one"); err != nil { // the hint led to no Fetch yet
			t.Errorf("the next Wait returned %v", err)
		}
		began = time.Now()
		for range 10 { // an operator in a hurry
			plan := s.set(fleet.KindRollback, func(next *fleet.Plan) { next.Stable, next.Previous = next.Previous, next.Stable })
			if err := r.Wait(ctx, plan.Previous); err != nil {
				t.Error(err)
			}
			fetched(t, r, plan.Previous)
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("ten changes took %v", took)
		}
		cancel()
		if err := r.Wait(ctx, "one"); !errors.Is(err, context.Canceled) {
			t.Errorf("Wait returned %v, want ctx's error", err)
		}
		if n := len(s.all()); n > 400 {
			t.Errorf("%d requests were sent in three hours", n)
		}
	})
}

// TestWaitForPlansEachSecond follows a table that changes again and again, quickly or more
// slowly than it changes.
func TestWaitForPlansEachSecond(t *testing.T) {
	for _, swap := range []time.Duration{10 * time.Millisecond, 1500 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer()
			r := source(t, client(t, s), fleet.SourceOptions{})
			s.publish("0", []byte("0"))
			fetched(t, r, "")
			r.Observe(reload.Event{Outcome: reload.Loaded, Revision: "0"})
			have, at := "0", time.Now()
			publishing := make(chan struct{})
			go func() {
				defer close(publishing)
				for i := range 100 {
					time.Sleep(time.Second)
					s.publish(fmt.Sprint(i+1), []byte("content"))
				}
			}()
			var longest time.Duration
			for have != "100" {
				if err := r.Wait(t.Context(), have); err != nil {
					t.Fatal(err)
				}
				longest = max(longest, time.Since(at))
				revision, _, err := fetched(t, r, have)
				if err != nil {
					t.Fatal(err)
				}
				have = revision
				time.Sleep(swap)
				r.Observe(reload.Event{Outcome: reload.Loaded, Revision: have})
				at = time.Now()
			}
			<-publishing
			if longest > 1200*time.Millisecond {
				t.Errorf("with swaps of %v, a wait took %v", swap, longest)
			}
		})
	}
}

// TestWaitSpreads has a server ask for a spread, also for one of a day.
func TestWaitSpreads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		r := source(t, client(t, s), fleet.SourceOptions{})
		s.publish("0", []byte("0"))
		fetched(t, r, "")
		last := "0"
		after := func(spread time.Duration) time.Duration {
			waiting := hint(t.Context(), r, last)
			time.Sleep(time.Hour)
			next := fmt.Sprint(last, "'")
			s.put(next, []byte(next))
			began := time.Now()
			s.set(fleet.KindPublish, func(plan *fleet.Plan) { plan.Stable, plan.Spread = next, spread })
			if err := <-waiting; err != nil {
				t.Fatal(err)
			}
			took := time.Since(began)
			fetched(t, r, last)
			last = next
			return took
		}
		for _, c := range []struct{ spread, least, most time.Duration }{
			{0, 0, 0},
			{20 * time.Second, 10 * time.Second, 20 * time.Second},
			{24 * time.Hour, 30 * time.Second, time.Minute},
			{-time.Hour, 0, 0},
		} {
			var longest time.Duration
			for range 20 {
				longest = max(longest, after(c.spread))
			}
			if longest < c.least || longest > c.most+time.Second {
				t.Errorf("with a spread of %v, the longest of 20 waits took %v", c.spread, longest)
			}
		}
	})
}

// TestReportsDuringASpread has a replica wait for its part of a spread: it is not silent.
func TestReportsDuringASpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		r := source(t, client(t, s), fleet.SourceOptions{ReportEvery: 2 * time.Second})
		s.publish("0", []byte("0"))
		fetched(t, r, "")
		r.Observe(reload.Event{Outcome: reload.Loaded, Revision: "0"})
		waiting := hint(t.Context(), r, "0")
		time.Sleep(time.Second)
		for i := range 20 {
			next := fmt.Sprint(i + 1)
			s.put(next, nil)
			s.set(fleet.KindPublish, func(plan *fleet.Plan) { plan.Stable, plan.Spread = next, 24*time.Hour })
			began, last := time.Now(), time.Time{}
			for ended := false; !ended; {
				select {
				case err := <-waiting:
					if ended = true; err != nil {
						t.Fatal(err)
					}
				case <-time.After(3 * time.Second):
					at := s.reportOf("r1").At
					if !at.After(last) {
						t.Fatalf("after %v there is no report since %v", time.Since(began), last)
					}
					last = at
				}
			}
			fetched(t, r, fmt.Sprint(i))
			r.Observe(reload.Event{Outcome: reload.Loaded, Revision: next})
			waiting = hint(t.Context(), r, next)
			time.Sleep(time.Second)
		}
	})
}

// counted counts requests that are no polls, and those that come beside an open poll: they
// need another connection.
type counted struct {
	*server
	polls, others, beside atomic.Int32
}

func (c *counted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case isPoll(r):
		c.polls.Add(1)
		defer c.polls.Add(-1)
	default:
		c.others.Add(1)
		c.beside.Add(min(1, c.polls.Load()))
	}
	time.Sleep(10 * time.Millisecond) // the way to the server
	c.server.ServeHTTP(w, r)
}

// TestReplicaHasOneConnection runs replicas through hundreds of publications, and of
// plans that do not concern them.
func TestReplicaHasOneConnection(t *testing.T) {
	for _, every := range []time.Duration{time.Second, 3 * time.Second, fleet.DefaultReportEvery} {
		t.Run(every.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { oneConnection(t, every) })
		})
	}
}

func oneConnection(t *testing.T, every time.Duration) {
	s := &counted{server: newServer()}
	s.publish("0", []byte("0"))
	r := source(t, client(t, s), fleet.SourceOptions{ReportEvery: every})
	value := reload.NewValue(r, func(_ context.Context, content *reload.Content) (string, error) {
		text, err := io.ReadAll(content.Body)
		return string(text), err
	}, reload.Options{Observe: r.Observe, Logger: slog.New(slog.DiscardHandler)})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- value.Run(ctx) }()
	for i := range 100 {
		time.Sleep(time.Duration(i) * 777 * time.Millisecond)
		text := fmt.Sprint(i)
		s.publish(text, []byte(text))
		time.Sleep(3 * time.Second)
		if got, _ := value.Load(); got != text {
			t.Fatalf("3 s after the publication of %s, the replica has %s", text, got)
		}
		s.set(fleet.KindPin, func(next *fleet.Plan) { next.Pins = map[string]string{"other": text} })
	}
	cancel()
	<-ended
	if n, all := s.beside.Load(), s.others.Load(); all < 300 || n > all/100 {
		t.Errorf("%d of %d requests came beside a poll", n, all)
	}
}

// TestWaitPaces counts the polls of an hour against servers that do not wait.
func TestWaitPaces(t *testing.T) {
	plan := func(epoch, seq int) string {
		return fmt.Sprintf(`{"format":1,"name":"asn","epoch":%d,"seq":%d,"stable":"","revisions":{}}`, epoch, seq)
	}
	var n atomic.Int32
	text := func(w http.ResponseWriter, text string) { io.WriteString(w, text) }
	for _, c := range []struct {
		name   string
		answer func(w http.ResponseWriter, r *http.Request)
		most   int32
	}{
		{"no content, at once", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }, 400},
		{"nonsense", func(w http.ResponseWriter, _ *http.Request) { text(w, "null") }, 300},
		{"errors", func(w http.ResponseWriter, _ *http.Request) { refuse(w, 500, "internal", "") }, 300},
		{"resets", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 300},
		{"errors and answers in turn", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500 - int(n.Load()%2)*296) }, 1000},
		{"the same plan", func(w http.ResponseWriter, _ *http.Request) { text(w, plan(1, 1)) }, 400},
		{"old plans", func(w http.ResponseWriter, _ *http.Request) { text(w, plan(3, 100-int(n.Load()%90))) }, 400},
		{"a later plan each time", func(w http.ResponseWriter, _ *http.Request) { text(w, plan(1, int(n.Load()))) }, 3700},
		{"a later epoch each time", func(w http.ResponseWriter, _ *http.Request) { text(w, plan(int(n.Load()), 1)) }, 3700},
		{"429 for an hour", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "3600")
			refuse(w, 429, "too_many", "")
		}, 14},
		{"204 after half of the time, as a proxy does", func(w http.ResponseWriter, r *http.Request) {
			if pause(r, 30*time.Second) {
				w.WriteHeader(http.StatusNoContent)
			}
		}, 130},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n.Store(0)
				handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { n.Add(1); c.answer(w, r) })
				r := source(t, client(t, handler), fleet.SourceOptions{})
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				if err := r.Wait(ctx, ""); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("Wait returned %v, want ctx's error", err)
				}
				if got := n.Load(); got > c.most || got < 5 {
					t.Errorf("%d polls were sent in an hour, want 5 to %d", got, c.most)
				}
			})
		})
	}
}

// table is an object of the tests' services.
type table struct {
	poolswap.Ref
	text string
}

// replica is a service in memory. Its loads wait for gate.
type replica struct {
	*fleet.Source
	*reload.Reloader
	gate chan struct{}
	end  func()
}

func runReplica(t *testing.T, s *fleet.Source) *replica {
	r := &replica{Source: s, gate: make(chan struct{})}
	container := poolswap.NewEmptyContainer(poolswap.NewPool(func() *table { return new(table) }, func(*table) bool { return true }))
	load := func(ctx context.Context, next, _ *table, content *reload.Content) error {
		text, err := io.ReadAll(content.Body)
		select {
		case <-r.gate:
		case <-ctx.Done():
		}
		if strings.HasPrefix(string(text), "bad") {
			return errors.New("the table is bad")
		}
		next.text = string(text)
		return err
	}
	r.Reloader = reload.New(container, s, load, reload.Options{Observe: s.Observe, Logger: slog.New(slog.DiscardHandler)})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.Run(ctx)
	}()
	r.end = func() { cancel(); <-ended }
	return r
}

// TestWaitAfterAnAttemptThatWasGivenUp polls at once: that attempt needs no connection.
func TestWaitAfterAnAttemptThatWasGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.publish("one", []byte("one"))
		r := source(t, client(t, s), fleet.SourceOptions{})
		fetched(t, r, "")
		r.Observe(reload.Event{Outcome: reload.Loaded, Revision: "one"})
		fetched(t, r, "one")
		r.Observe(reload.Event{Outcome: reload.Failed, Err: context.Canceled})
		waiting := hint(t.Context(), r, "one")
		time.Sleep(time.Second)
		s.publish("two", []byte("two"))
		began := time.Now()
		if err := <-waiting; err != nil || time.Since(began) > time.Second {
			t.Errorf("Wait returned %v after %v", err, time.Since(began))
		}
	})
}

// TestChangeDuringLoad publishes B, and A again while B loads.
func TestChangeDuringLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.publish("A", []byte("A"))
		s.put("B", []byte("B"))
		r := runReplica(t, source(t, client(t, s), fleet.SourceOptions{}))
		defer r.end()
		r.gate <- struct{}{}
		time.Sleep(time.Second)
		stable := func(id string) uint64 {
			return s.set(fleet.KindRollback, func(next *fleet.Plan) { next.Stable = id }).Seq
		}
		b := stable("B")
		time.Sleep(time.Minute) // B loads
		a := stable("A")
		time.Sleep(time.Minute) // B still loads
		if report := s.reportOf("r1"); report.Seq >= b {
			t.Errorf("the report says that plan %d is followed while B loads", report.Seq)
		}
		r.gate <- struct{}{}
		began := time.Now()
		r.gate <- struct{}{} // the load of A
		if took := time.Since(began); took > time.Second {
			t.Errorf("the change back was told after %v", took)
		}
		time.Sleep(time.Second)
		if report := s.reportOf("r1"); report.Revision != "A" || report.Seq != a || r.Status().Revision != "A" {
			t.Errorf("the report is %+v, want A by plan %d", report, a)
		}
	})
}

// TestReportFollowsPlan changes plans in ways that leave the replica as it is.
func TestReportFollowsPlan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.publish("one", []byte("one"))
		r := runReplica(t, source(t, client(t, s), fleet.SourceOptions{}))
		defer r.end()
		close(r.gate)
		time.Sleep(time.Second)
		for i, change := range []func(next *fleet.Plan){
			func(next *fleet.Plan) {
				next.Canary = &fleet.Canary{Revision: "one", Selection: fleet.Selection{Share: 1}}
			},
			func(next *fleet.Plan) { next.Paused = true },
			func(next *fleet.Plan) { next.Epoch++ },
			func(next *fleet.Plan) { next.Paused = false },
			func(*fleet.Plan) {},
		} {
			plan := s.set(fleet.KindPause, change)
			time.Sleep(3 * time.Second)
			if report := s.reportOf("r1"); report.Seq != plan.Seq || report.Epoch != plan.Epoch || report.Revision != "one" {
				t.Errorf("after change %d the report is %+v, want plan %s", i, report, plan.Version())
			}
		}
		// A bad revision, and another change that leaves it as it is.
		s.publish("bad", []byte("bad"))
		time.Sleep(time.Second)
		plan := s.set(fleet.KindPin, func(next *fleet.Plan) { next.Pins = map[string]string{"other": "one"} })
		time.Sleep(3 * time.Second)
		if report := s.reportOf("r1"); report.Failed != "bad" || report.Seq != plan.Seq || report.Revision != "one" {
			t.Errorf("the report is %+v, want the refusal by plan %d", report, plan.Seq)
		}
	})
}

func FuzzPlan(f *testing.F) {
	s := newServer()
	f.Add(must(json.Marshal(s.publish("one", []byte("one")))))
	f.Add([]byte(`{"format":2,"name":"asn","epoch":1,"seq":1,"stable":"a","canary":{"revision":"a","labels":{"a":"b"},"share":0.5},"pins":{"x":"a"},"revisions":{"a":{"id":"a"}},"new":[1]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		plan := new(fleet.Plan)
		if json.Unmarshal(text, plan) != nil {
			return
		}
		plan.Wanted("r1", map[string]string{"a": "b"})
		again, err := json.Marshal(plan.Clone())
		if err != nil {
			t.Fatalf("a plan that was decoded cannot be encoded: %v", err)
		}
		same := new(fleet.Plan)
		if err := json.Unmarshal(again, same); err != nil {
			t.Fatalf("%s is encoded as %s, which cannot be decoded: %v", text, again, err)
		}
		if third := must(json.Marshal(same)); string(third) != string(again) {
			t.Errorf("%s becomes %s, and then %s", text, again, third)
		}
	})
}
