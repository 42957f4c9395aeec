package fleet_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/reload"
)

// TestWaitAfterOutage tells of a server that is back if a Fetch has failed meanwhile.
func TestWaitAfterOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.publish("one", []byte("one"))
		log := new(logText)
		r := source(t, client(t, s), fleet.SourceOptions{Logger: slog.New(slog.NewTextHandler(log, nil))})
		if _, _, err := fetched(t, r, ""); err != nil {
			t.Fatal(err)
		}
		down := func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) }
		waiting := hint(t.Context(), r, "one")
		for _, fails := range []bool{false, true} {
			synctest.Wait()
			s.on(down)
			time.Sleep(10 * time.Minute)
			if fails {
				if _, _, err := fetched(t, r, "one"); err == nil || errors.Is(err, reload.ErrNotModified) {
					t.Fatalf("Fetch returned %v", err)
				}
			}
			s.on(nil)
			time.Sleep(time.Minute)
			select {
			case err := <-waiting:
				if err != nil || !fails {
					t.Errorf("Wait returned %v after an outage without a failure", err)
				}
			default:
				if fails {
					t.Error("Wait did not tell that the server is back")
				}
			}
		}
		if n := strings.Count(log.String(), "no hints"); n != 2 {
			t.Errorf("%d warnings were logged, want one for each outage:\n%s", n, log)
		}
	})
}

// TestOutageIsPolled has a replica with a timer, reports and polls lose its server: only
// polls dial, and the attempts say why they fail.
func TestOutageIsPolled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.publish("one", []byte("one"))
		r := runReplica(t, source(t, client(t, s), fleet.SourceOptions{}))
		defer r.end()
		close(r.gate)
		time.Sleep(10 * time.Minute)
		var polls, others atomic.Int32
		s.on(func(_ http.ResponseWriter, r *http.Request) bool {
			if isPoll(r) {
				polls.Add(1)
			} else {
				others.Add(1)
			}
			panic(http.ErrAbortHandler)
		})
		time.Sleep(time.Minute) // the open poll and a report before it end
		polls.Store(0)
		others.Store(0)
		time.Sleep(time.Hour)
		if n, beside := polls.Load(), others.Load(); n < 60 || n > 300 || beside > 0 {
			t.Errorf("in an hour without a server there were %d polls and %d other requests", n, beside)
		}
		if status := r.Status(); status.Failures == 0 || !strings.Contains(fmt.Sprint(status.Err), "get the plan of asn") {
			t.Errorf("after an hour without a server, the attempts say %d failures, %v", status.Failures, status.Err)
		}
		s.publish("two", []byte("two"))
		s.on(nil)
		time.Sleep(40 * time.Second)
		if got, report := r.Status().Revision, s.reportOf("r1"); got != "two" || report.Revision != "two" || report.Error != "" {
			t.Errorf("40 s after the outage the replica has %q, and reports %+v", got, report)
		}
	})
}

// TestOutageIsSpread has replicas that are many lose their server in the same moment.
func TestOutageIsSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.publish("one", []byte("one"))
		s.set(fleet.KindPin, func(next *fleet.Plan) { next.Spread = 20 * time.Second })
		var cut time.Time
		gone := make(chan struct{})
		back := make([]time.Duration, 30)
		for i := range back {
			r := source(t, client(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				wait, _ := time.ParseDuration(r.FormValue("wait"))
				switch since := time.Since(cut); {
				case !isPoll(r):
					s.ServeHTTP(w, r)
					return
				case cut.IsZero():
					select {
					case <-gone:
						panic(http.ErrAbortHandler)
					case <-time.After(wait):
					}
				case since < time.Second:
					panic(http.ErrAbortHandler)
				case back[i] == 0:
					back[i] = since
				}
				w.WriteHeader(http.StatusNoContent)
			})), fleet.SourceOptions{})
			fetched(t, r, "")
			hint(t.Context(), r, "one")
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		cut = time.Now()
		close(gone)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if first, last := slices.Min(back), slices.Max(back); first == 0 || last-first < 10*time.Second {
			t.Errorf("30 replicas came back from %v to %v after they had lost their server", first, last)
		}
	})
}
