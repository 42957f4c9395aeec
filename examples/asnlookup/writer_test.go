package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap"
)

// poll makes the writer poll a number of times.
func poll(s *service, times int) {
	for range times {
		s.writer.poll(context.Background())
	}
}

// reload makes the writer reload whatever the outcome.
func reload(s *service) { _ = s.writer.reload(context.Background(), "test") }

func TestReloadsSwapTwoTables(t *testing.T) {
	path := tempTable(t, generationCSV(1))
	s, _ := loadedService(t, 100, path)
	for generation := 2; generation < 12; generation++ {
		replaceFile(t, path, generationCSV(generation))
		reload(s)
		if got := currentGeneration(t, s); got != generation {
			t.Fatalf("the table is of generation %d, not %d", got, generation)
		}
	}
	if stats := s.pool.Stats(); stats.Created != 2 {
		t.Errorf("11 loads made %d tables, not 2", stats.Created)
	}
}

func TestAChangedFileIsLoadedOnceItStaysTheSame(t *testing.T) {
	path := tempTable(t, generationCSV(1))
	s, _ := loadedService(t, 100, path)
	poll(s, 3)
	if got := s.metrics.reloads.Value(); got != 1 {
		t.Fatalf("a file that does not change is loaded %d times", got)
	}
	replaceFile(t, path, generationCSV(2))
	poll(s, 1)
	if got := currentGeneration(t, s); got != 1 {
		t.Error("a change is taken up at the first poll")
	}
	replaceFile(t, path, generationCSV(3))
	poll(s, 1)
	if got := currentGeneration(t, s); got != 1 {
		t.Error("a file that changed again is taken up at the next poll")
	}
	poll(s, 1)
	if got := currentGeneration(t, s); got != 3 {
		t.Errorf("the table is of generation %d, not 3", got)
	}
	replaceFile(t, path, "broken\n")
	poll(s, 5)
	if got := s.metrics.reloadsFailed.Value(); got != 1 {
		t.Errorf("a broken file is tried %d times at five polls", got)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	poll(s, 5)
	if got := s.metrics.reloadsFailed.Value(); got != 2 {
		t.Errorf("a broken file and then a missing one are tried %d times", got)
	}
	replaceFile(t, path, generationCSV(4))
	poll(s, 2)
	if got := currentGeneration(t, s); got != 4 {
		t.Errorf("the table is of generation %d, not 4", got)
	}
}

// setTime gives a file the modification time of another one.
func setTime(t *testing.T, path string, like os.FileInfo) os.FileInfo {
	t.Helper()
	if err := os.Chtimes(path, time.Time{}, like.ModTime()); err != nil {
		t.Fatal(err)
	}
	return stat(t, path)
}

func stat(t *testing.T, path string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func TestAnotherFileOfTheSameSizeAndTimeIsAChange(t *testing.T) {
	path := tempTable(t, generationCSV(1))
	s, _ := loadedService(t, 100, path)
	poll(s, 1)
	before := stat(t, path)
	if err := os.Link(path, path+".old"); err != nil { // so that the new file cannot get the inode
		t.Fatal(err)
	}
	replaceFile(t, path, generationCSV(4))
	after := setTime(t, path, before)
	if after.Size() != before.Size() || !after.ModTime().Equal(before.ModTime()) {
		t.Fatal("the files differ in size or time")
	}
	poll(s, 2)
	if got := currentGeneration(t, s); got != 4 {
		t.Errorf("the table is of generation %d, not 4", got)
	}
}

func TestAFileRewrittenInPlaceWithItsSizeAndTimeIsAChange(t *testing.T) {
	path := tempTable(t, generationCSV(1))
	before := stat(t, path)
	if changeTime(before) == 0 {
		t.Skip("the platform does not tell when an inode changed")
	}
	s, _ := loadedService(t, 100, path)
	poll(s, 1)
	after := before
	for changeTime(after) == changeTime(before) { // the clock of the file system may be coarse
		if err := os.WriteFile(path, []byte(generationCSV(4)), 0o666); err != nil {
			t.Fatal(err)
		}
		after = setTime(t, path, before)
	}
	if !os.SameFile(before, after) || after.Size() != before.Size() || !after.ModTime().Equal(before.ModTime()) {
		t.Fatal("the files differ in identity, size or time")
	}
	poll(s, 2)
	if got := currentGeneration(t, s); got != 4 {
		t.Errorf("the table is of generation %d, not 4", got)
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
		poll(s, 2)
		if got := ranges(); got != step.served {
			t.Errorf("after a file of %d rows the table has %d ranges, not %d", step.rows, got, step.served)
		}
	}
	if says := "10 ranges after 1000, more than 10 % fewer"; !strings.Contains(logged.String(), says) {
		t.Errorf("the log does not say %q:\n%s", says, logged)
	}
	s.writer.maxShrink = 100
	replaceFile(t, path, rows(1))
	reload(s)
	if got := ranges(); got != 1 {
		t.Errorf("with -max-shrink 100 the table has %d ranges, not 1", got)
	}
}

func TestABrokenFileKeepsTheOldTableAndLosesNothing(t *testing.T) {
	path := tempTable(t, generationCSV(1))
	s, logged := loadedService(t, 100, path)
	for i, broken := range brokenTables {
		replaceFile(t, path, broken.text)
		reload(s)
		if got := currentGeneration(t, s); got != 1 {
			t.Fatalf("%s: the table is of generation %d", broken.name, got)
		}
		if where := fmt.Sprintf("%s:%d: ", path, broken.line); !strings.Contains(logged.String(), where) {
			t.Errorf("%s: the log does not say %q", broken.name, where)
		}
		if got := s.metrics.reloadsFailed.Value(); got != int64(i+1) {
			t.Errorf("%s: %d failed reloads are counted, not %d", broken.name, got, i+1)
		}
	}
	if stats := s.pool.Stats(); stats.Created != 2 || stats.Live != 2 || stats.Current != 1 || stats.Spares != 1 {
		t.Errorf("the pool lost something: %+v", stats)
	}
}

func TestTheLastErrorIsClearedBySuccess(t *testing.T) {
	path := tempTable(t, generationCSV(1))
	s, _ := loadedService(t, 100, path)
	vars := func() (v struct{ LastReloadError, LastReloadSuccess string }) {
		if err := json.Unmarshal([]byte(s.metrics.vars(s.pool, s.tables).String()), &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	first := vars()
	if _, err := time.Parse(time.RFC3339, first.LastReloadSuccess); err != nil || first.LastReloadError != "" {
		t.Errorf("after the first load: %+v, %v", first, err)
	}
	replaceFile(t, path, "broken\n")
	reload(s)
	if failed := vars(); !strings.HasPrefix(failed.LastReloadError, path+":1: ") || failed.LastReloadSuccess != first.LastReloadSuccess {
		t.Errorf("after a failure: %+v", failed)
	}
	replaceFile(t, path, "192.0.2.0,192.0.2.255,1,x\n")
	s.writer.maxShrink = 10
	reload(s)
	if refused := vars(); !strings.HasPrefix(refused.LastReloadError, "1 range after 700, more than 10 % fewer") || refused.LastReloadSuccess != first.LastReloadSuccess || currentGeneration(t, s) != 1 {
		t.Errorf("after a table that shrank: %+v, version %d", refused, s.tables.Version())
	}
	s.writer.maxShrink = 100
	s.metrics.lastSuccess.Set("")
	replaceFile(t, path, generationCSV(2))
	reload(s)
	if good := vars(); good.LastReloadError != "" || good.LastReloadSuccess == "" {
		t.Errorf("after a success: %+v", good)
	}
}

func TestTheLogCountsInEnglish(t *testing.T) {
	path := tempTable(t, "10.0.0.0,10.0.2.255,1,x\n10.0.1.0,10.0.3.255,1,x\n")
	s, logged := newTestService(100, path)
	s.writer.parser.overlapOneIn = 1
	reload(s)
	replaceFile(t, path, "10.0.0.0,10.0.2.255,1,x\n10.0.1.0,10.0.3.255,1,x\n10.0.3.0,10.0.4.0,2,x\n")
	reload(s)
	for _, line := range []string{
		"version 1 with 2 ranges of 1 system, ", "\n1 overlapping range cut short; the first: " + path + ":2: ",
		"version 2 with 3 ranges of 2 systems, ", "\n2 overlapping ranges cut short; the first: " + path + ":2: ",
	} {
		if !strings.Contains(logged.String(), line) {
			t.Errorf("the log does not say %q:\n%s", line, logged)
		}
	}
}

func TestIfReadersHoldEveryTableTheNextPollTriesAgain(t *testing.T) {
	path := tempTable(t, generationCSV(1))
	synctest.Test(t, func(t *testing.T) { // no reader releases, so the clock goes on to limitTime
		s, logged := loadedService(t, 100, path)
		var held []*table
		for range maxTables {
			held = append(held, s.tables.Acquire())
			if err := s.writer.reload(t.Context(), "test"); len(held) < maxTables && err != nil {
				t.Fatal(err)
			} else if len(held) == maxTables && !errors.Is(err, poolswap.ErrLimit) {
				t.Fatalf("with %d tables held: %v", len(held), err)
			}
		}
		if says := "still held: 3 (references: 3, versions: [1 2 3], "; !strings.Contains(logged.String(), says) {
			t.Errorf("the log does not say %q:\n%s", says, logged)
		}
		replaceFile(t, path, generationCSV(2))
		poll(s, 1)
		if err := s.writer.reload(t.Context(), "test"); !errors.Is(err, poolswap.ErrLimit) {
			t.Fatal(err)
		}
		for _, tab := range held {
			if got := checkGeneration(t, tab); got != 1 {
				t.Errorf("a table that is held is of generation %d", got)
			}
			s.tables.Release(tab)
		}
		poll(s, 1)
		if got := currentGeneration(t, s); got != 2 {
			t.Errorf("after the releases the table is of generation %d", got)
		}
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
			reload(s)
			held = append(held, s.tables.Acquire())
		}
		replaceFile(t, path, generationCSV(2))
		go func() {
			time.Sleep(limitTime / 2)
			s.tables.Release(held[0])
		}()
		if err := s.writer.reload(t.Context(), "test"); err != nil || currentGeneration(t, s) != 2 {
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

// TestAPublishThatPanicsDoesNotReleaseTheNewTable: Publish resets the old table
// after the publication, and a reset that panics there passes through it.
func TestAPublishThatPanicsDoesNotReleaseTheNewTable(t *testing.T) {
	path := tempTable(t, generationCSV(1))
	s, _ := newTestService(100, path)
	resetPanics := false
	s.pool = poolswap.NewPool(newTable, func(tab *table) bool {
		if resetPanics {
			panic("reset")
		}
		return tab.reset()
	})
	s.tables = poolswap.NewEmptyContainer(s.pool)
	s.writer.tables = s.tables
	reload(s)
	replaceFile(t, path, generationCSV(2))
	func() {
		defer func() {
			if recover() == nil {
				t.Error("Publish does not panic: the test tests nothing")
			}
		}()
		resetPanics = true
		reload(s)
	}()
	resetPanics = false
	held := s.tables.Acquire()
	defer s.tables.Release(held)
	if got := s.pool.Refs(held); got != 1 {
		t.Errorf("%d references to the new table are counted, not 1", got)
	}
	replaceFile(t, path, generationCSV(3))
	reload(s)
	reload(s)
	if got := checkGeneration(t, held); got != 2 {
		t.Errorf("the table that is held is of generation %d, not 2", got)
	}
}

func TestReadersNeverSeeAMixedTable(t *testing.T) {
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
		if generation%2 == 0 {
			reload(s)
		} else {
			poll(s, 2)
		}
	}
	close(done)
	readers.Wait()
	loop.Close()

	atLimit := strings.Count(logged.String(), poolswap.ErrLimit.Error()) // readers that lost their processors held every table
	if got := int(s.metrics.reloadsFailed.Value()) - atLimit; got > broken || got < broken-atLimit {
		t.Errorf("%d reloads failed because of the file, not %d", got, broken)
	}
	if s.metrics.reloads.Value() < generations/2 {
		t.Errorf("only %d swaps: the test does not test much", s.metrics.reloads.Value())
	}
	if stats := s.pool.Stats(); s.refs() != 0 || stats.Retired != 0 {
		t.Errorf("references are left: %+v", stats)
	}
	replaceFile(t, path, generationCSV(generations+1))
	reload(s)
	if got := currentGeneration(t, s); got != generations+1 {
		t.Errorf("the last table is of generation %d", got)
	}
}

// TestAWarmReloadDoesNotAllocateForRows: opening the file takes some small
// allocations; 20,000 rows must not add any.
func TestAWarmReloadDoesNotAllocateForRows(t *testing.T) {
	const limit = 64
	s, _ := loadedService(t, 100, tempTable(t, rows(20_000)))
	for range 3 {
		reload(s)
	}
	if n := testing.AllocsPerRun(5, func() { reload(s) }); n > limit {
		t.Errorf("a reload allocates %v times, more than %d", n, limit)
	}
	if got := s.pool.Stats().Created; got != 2 {
		t.Errorf("%d tables were made, not 2", got)
	}
}
