package main

import (
	"context"
	"encoding/json"
	"errors"
	"expvar"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
)

// tryReload reloads whatever the outcome.
func tryReload(s *service) { _ = s.reloader.Reload(context.Background()) }

// outcomes returns how many reloads had an outcome.
func (s *service) outcomes(o reload.Outcome) int {
	if n, ok := s.metrics.reloads.Get(string(o)).(*expvar.Int); ok {
		return int(n.Value())
	}
	return 0
}

func TestReloadsSwapTwoTables(t *testing.T) {
	path := tempTable(t, generationCSV(1))
	s, _ := loadedService(t, 100, path)
	for generation := 2; generation < 12; generation++ {
		replaceFile(t, path, generationCSV(generation))
		tryReload(s)
		if got := currentGeneration(t, s); got != generation {
			t.Fatalf("the table is of generation %d, not %d", got, generation)
		}
	}
	if stats := s.pool.Stats(); stats.Created != 2 {
		t.Errorf("11 loads made %d tables, not 2", stats.Created)
	}
}

func TestAFileIsLoadedOnceForEachChange(t *testing.T) {
	path := tempTable(t, generationCSV(1))
	s, _ := loadedService(t, 100, path)
	poll := func(times int) {
		for range times {
			tryReload(s)
		}
	}
	check := func(loads, failures, generation int) {
		t.Helper()
		if got := s.outcomes(reload.Loaded); got != loads {
			t.Errorf("%d loads, want %d", got, loads)
		}
		if got := s.outcomes(reload.Failed); got != failures {
			t.Errorf("%d failures, want %d", got, failures)
		}
		if got := currentGeneration(t, s); got != generation {
			t.Errorf("the table is of generation %d, not %d", got, generation)
		}
	}
	poll(3)
	check(1, 0, 1)
	replaceFile(t, path, generationCSV(2))
	poll(3)
	check(2, 0, 2)
	replaceFile(t, path, "broken\n")
	poll(5)
	check(2, 1, 2)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	poll(1)
	check(2, 2, 2)
	replaceFile(t, path, generationCSV(4))
	poll(2)
	check(3, 2, 4)
}

// TestAnotherFileOfTheSameSizeAndTimeIsAChange: package archives give all
// releases one date.
func TestAnotherFileOfTheSameSizeAndTimeIsAChange(t *testing.T) {
	for name, replace := range map[string]func(path, text string) error{
		"moved over it": func(path, text string) error {
			if err := os.Link(path, path+".old"); err != nil { // so that the new file cannot get the inode
				return err
			}
			return errors.Join(os.WriteFile(path+".new", []byte(text), 0o666), os.Rename(path+".new", path))
		},
		"written over it": func(path, text string) error { return os.WriteFile(path, []byte(text), 0o666) },
	} {
		t.Run(name, func(t *testing.T) {
			if name == "written over it" && runtime.GOOS == "windows" {
				t.Skip("the platform does not tell when a file changed")
			}
			path := tempTable(t, generationCSV(1))
			s, _ := loadedService(t, 100, path)
			before, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(replace(path, generationCSV(4)), os.Chtimes(path, time.Time{}, before.ModTime())); err != nil {
				t.Fatal(err)
			}
			after, err := os.Stat(path)
			if err != nil || after.Size() != before.Size() || !after.ModTime().Equal(before.ModTime()) {
				t.Fatalf("the files differ in size or time, %v", err)
			}
			mustReload(t, s)
			if got := currentGeneration(t, s); got != 4 {
				t.Errorf("the table is of generation %d, not 4", got)
			}
		})
	}
}

func TestATableThatShrankTooMuchIsRefused(t *testing.T) {
	path := tempTable(t, rows(1000))
	s, logged := loadedService(t, 10, path)
	ranges := func() (n int) {
		s.tables.WithAcquire(func(tab *table) { n = len(tab.spans) })
		return n
	}
	for _, step := range []struct{ rows, served int }{
		{10, 1000},   // what is left of a file that was cut short
		{899, 1000},  // one too few
		{900, 900},   // 10 % less
		{809, 900},   // one too few after that
		{5000, 5000}, // growth is welcome
		{4499, 5000},
	} {
		replaceFile(t, path, rows(step.rows))
		tryReload(s)
		if got := ranges(); got != step.served {
			t.Errorf("after a file of %d rows the table has %d ranges, not %d", step.rows, got, step.served)
		}
	}
	if says := "10 of 1000 rows are left, more than 10 % lost"; !strings.Contains(logged.String(), says) {
		t.Errorf("the log does not say %q:\n%s", says, logged)
	}
	s.loader.maxShrink = 100
	replaceFile(t, path, rows(1))
	tryReload(s)
	if got := ranges(); got != 1 {
		t.Errorf("with -max-shrink 100 the table has %d ranges, not 1", got)
	}
}

func TestABrokenFileKeepsTheOldTableAndLosesNothing(t *testing.T) {
	path := tempTable(t, generationCSV(1))
	s, logged := loadedService(t, 100, path)
	for i, broken := range brokenTables {
		replaceFile(t, path, broken.text)
		tryReload(s)
		if got := currentGeneration(t, s); got != 1 {
			t.Fatalf("%s: the table is of generation %d", broken.name, got)
		}
		if where := fmt.Sprintf("%s:%d: ", path, broken.line); !strings.Contains(logged.String(), where) {
			t.Errorf("%s: the log does not say %q", broken.name, where)
		}
		if got := s.outcomes(reload.Failed); got != i+1 {
			t.Errorf("%s: %d failed reloads are counted, not %d", broken.name, got, i+1)
		}
	}
	if stats := s.pool.Stats(); stats.Created != 2 || stats.Live != 2 || stats.Current != 1 || stats.Spares != 1 {
		t.Errorf("the pool lost something: %+v", stats)
	}
}

func TestTheStatusTellsOfTheLastFailureUntilASuccess(t *testing.T) {
	path := tempTable(t, generationCSV(1))
	s, _ := loadedService(t, 100, path)
	type status struct {
		State, Error, Loaded string
		Failures             int
		Version              uint64
	}
	ask := func() (v status) {
		if err := json.Unmarshal(do(s, http.MethodGet, "/status?format=json", "").Body.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	first := ask()
	if _, err := time.Parse(time.RFC3339, first.Loaded); err != nil || first.State != "fresh" || first.Error != "" || first.Failures != 0 {
		t.Errorf("after the first load: %+v, %v", first, err)
	}
	replaceFile(t, path, "broken\n")
	tryReload(s)
	if failed := ask(); failed.State != "refused" || !strings.Contains(failed.Error, path+":1: ") || failed.Failures != 1 || failed.Loaded != first.Loaded {
		t.Errorf("after a failure: %+v", failed)
	}
	if page := do(s, http.MethodGet, "/status", "").Body.String(); !strings.Contains(page, path+":1: ") || !strings.Contains(page, "The newest content was refused. Version 1 stays.") {
		t.Errorf("the page does not tell of the failure:\n%s", page)
	}
	replaceFile(t, path, "192.0.2.0,192.0.2.255,1,x\n")
	s.loader.maxShrink = 10
	tryReload(s)
	if refused := ask(); !strings.Contains(refused.Error, "1 of 700 rows are left, more than 10 % lost") || refused.Failures != 2 || refused.Loaded != first.Loaded || currentGeneration(t, s) != 1 {
		t.Errorf("after a table that shrank: %+v", refused)
	}
	s.loader.maxShrink = 100
	replaceFile(t, path, generationCSV(2))
	tryReload(s)
	if good := ask(); good.State != "fresh" || good.Failures != 0 || good.Version != 2 || good.Loaded == first.Loaded {
		t.Errorf("after a success: %+v", good)
	}
}

func TestTheLogCountsInEnglish(t *testing.T) {
	path := tempTable(t, "10.0.0.0,10.0.2.255,1,x\n10.0.1.0,10.0.3.255,1,x\n")
	s, logged := newTestService(100, path)
	s.loader.parser.overlapOneIn = 1
	mustReload(t, s)
	replaceFile(t, path, "10.0.0.0,10.0.2.255,1,x\n10.0.1.0,10.0.3.255,1,x\n10.0.3.0,10.0.4.0,2,x\n")
	mustReload(t, s)
	for _, line := range []string{`"1 overlapping range cut short" first="` + path + ":2: ", `"2 overlapping ranges cut short" first="` + path + ":2: "} {
		if !strings.Contains(logged.String(), line) {
			t.Errorf("the log does not say %q:\n%s", line, logged)
		}
	}
}

func TestIfReadersHoldEveryTableTheNextPollTriesAgain(t *testing.T) {
	path := tempTable(t, generationCSV(1))
	synctest.Test(t, func(t *testing.T) { // no reader releases, so the clock goes on to limitTime
		s, logged := newTestService(100, path)
		var held []*table
		for range maxTables {
			mustReload(t, s)
			held = append(held, s.tables.Acquire())
			replaceFile(t, path, generationCSV(len(held)+1))
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- s.reloader.Run(ctx) }()
		time.Sleep(2 * limitTime)
		if status := s.reloader.Status(); !errors.Is(status.Err, poolswap.ErrLimit) || status.Held() == nil || status.Refused != "" || status.Version != maxTables {
			t.Errorf("with %d tables held the status is %+v", len(held), status)
		}
		if says := "still held: 3 (references: 3, versions: [1 2 3], "; !strings.Contains(logged.String(), says) {
			t.Errorf("the log does not say %q:\n%s", says, logged)
		}
		for i, tab := range held {
			if got := checkGeneration(t, tab); got != i+1 {
				t.Errorf("the table that is held as version %d is of generation %d", i+1, got)
			}
			s.tables.Release(tab)
		}
		if _, err := s.tables.Wait(t.Context(), maxTables); err != nil {
			t.Fatal(err)
		}
		if got := currentGeneration(t, s); got != maxTables+1 {
			t.Errorf("after the releases the table is of generation %d", got)
		}
		stop()
		<-ended
		if err := s.pool.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestAReloadWaitsForAReaderAtTheLimit: one of the tables comes back in time.
func TestAReloadWaitsForAReaderAtTheLimit(t *testing.T) {
	path := tempTable(t, generationCSV(1))
	synctest.Test(t, func(t *testing.T) {
		s, _ := loadedService(t, 100, path)
		held := []*table{s.tables.Acquire()}
		for range maxTables - 1 {
			replaceFile(t, path, generationCSV(len(held)+1))
			mustReload(t, s)
			held = append(held, s.tables.Acquire())
		}
		replaceFile(t, path, generationCSV(maxTables+1))
		go func() {
			time.Sleep(limitTime / 2)
			s.tables.Release(held[0])
		}()
		if err := s.reloader.Reload(t.Context()); err != nil || currentGeneration(t, s) != maxTables+1 {
			t.Errorf("the reload returns %v; the table is of version %d", err, s.tables.Version())
		}
		for _, tab := range held[1:] {
			s.tables.Release(tab)
		}
		if err := s.pool.Close(t.Context()); err != nil || s.pool.Stats().Live != 0 {
			t.Errorf("%v, %d tables are left", err, s.pool.Stats().Live)
		}
	})
}

func TestReadersNeverSeeAMixedTable(t *testing.T) {
	synctest.Test(t, replaceOften) // whose clock is behind the files: no load waits for a file to rest
}

func replaceOften(t *testing.T) {
	path := tempTable(t, generationCSV(0))
	s, logged := loadedService(t, 100, path)
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
				generation := read()
				if generation < last {
					t.Errorf("generation %d comes after %d", generation, last)
				}
				last = generation
			}
		})
	}
	reader(func() (generation int) { // over HTTP
		body := do(s, http.MethodGet, "/lookup?ip=10.0.77.7", "").Body.String()
		var name int
		if _, err := fmt.Sscanf(body, `{"ip":"10.0.77.7","asn":%d,"name":"generation, %d"`, &generation, &name); err != nil || generation != name {
			t.Errorf("the answer is %s", body)
		}
		return generation
	})
	reader(func() int {
		tab := s.tables.Acquire()
		defer s.tables.Release(tab)
		return checkGeneration(t, tab)
	})
	loop := s.tables.NewReader()
	reader(func() int { return checkGeneration(t, loop.Load()) })

	const generations, broken = 60, 6
	for generation := 1; generation <= generations; generation++ {
		text := generationCSV(generation)
		if generation%(generations/broken) == 0 {
			text += "broken\n"
		}
		replaceFile(t, path, text)
		tryReload(s)
	}
	close(done)
	readers.Wait()
	loop.Close()

	atLimit := strings.Count(logged.String(), poolswap.ErrLimit.Error()) // readers that lost their processors held every table
	if got := s.outcomes(reload.Failed) - atLimit; got > broken || got < broken-atLimit {
		t.Errorf("%d reloads failed because of the file, not %d", got, broken)
	}
	if swaps := s.outcomes(reload.Loaded); swaps < generations/2 {
		t.Errorf("only %d swaps: the test does not test much", swaps)
	}
	if stats := s.pool.Stats(); s.refs() != 0 || stats.Retired != 0 {
		t.Errorf("references are left: %+v", stats)
	}
	replaceFile(t, path, generationCSV(generations+1))
	tryReload(s)
	if got := currentGeneration(t, s); got != generations+1 {
		t.Errorf("the last table is of generation %d", got)
	}
}

// TestAWarmReloadDoesNotAllocateForRows: opening the file and the log take some
// small allocations, more of them with the race detector; rows must not add any.
func TestAWarmReloadDoesNotAllocateForRows(t *testing.T) {
	const few, many, noise = 20, 20_000, 20 // noise: other goroutines allocate, too
	if small, large := reloadAllocs(t, few), reloadAllocs(t, many); large > small+noise {
		t.Errorf("a reload of %d rows allocates %v times, one of %d rows %v times", many, large, few, small)
	}
}

// reloadAllocs returns how often a reload of a warm table of n rows allocates.
func reloadAllocs(t *testing.T, n int) float64 {
	t.Helper()
	path := tempTable(t, rows(n))
	s, _ := loadedService(t, 100, path)
	loads := 0
	again := func() {
		loads++
		if err := os.Chtimes(path, time.Time{}, time.Unix(int64(loads), 0)); err != nil { // so that it is read again
			t.Fatal(err)
		}
		mustReload(t, s)
	}
	again()
	allocs := testing.AllocsPerRun(5, again)
	if got := s.outcomes(reload.Unchanged); got != loads {
		t.Errorf("the table was read %d times, not %d", got, loads)
	}
	if got := s.pool.Stats().Created; got != 2 {
		t.Errorf("%d tables were made, not 2", got)
	}
	return allocs
}
