package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/poolswap/poolswap"
)

// hangUp asks the watcher to reload.
var hangUp = os.Signal(syscall.SIGHUP)

// watch runs the watcher of a service, with a clock and signals of its own,
// for a signal, if it is not nil, and then a number of ticks, and waits until
// all is done.
func watch(s *service, signal os.Signal, looks int) {
	ctx, stop := context.WithCancel(context.Background())
	ticks, signals := make(chan time.Time), make(chan os.Signal)
	var watcher sync.WaitGroup
	watcher.Go(func() { s.reloader.watch(ctx, ticks, signals) })
	if signal != nil {
		signals <- signal
	}
	for range looks {
		ticks <- time.Time{}
	}
	stop() // seen only after what was sent is done
	watcher.Wait()
}

func TestASignalSwapsTheTable(t *testing.T) {
	path := tempTable(t, generationCSV(1))
	s, _ := loadedService(t, files{path})
	for generation := 2; generation < 12; generation++ {
		replaceFile(t, path, generationCSV(generation))
		watch(s, hangUp, 0)
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
	s, _ := loadedService(t, files{path})
	watch(s, nil, 3)
	if got := s.counts.reloads.Value(); got != 1 {
		t.Fatalf("a file that does not change is loaded %d times", got)
	}
	replaceFile(t, path, generationCSV(2))
	if s.reloader.changed() {
		t.Error("a change is taken up at the first look")
	}
	replaceFile(t, path, generationCSV(3))
	if s.reloader.changed() {
		t.Error("a file that changed again is taken up at the next look")
	}
	watch(s, nil, 2)
	if got := currentGeneration(t, s); got != 3 {
		t.Errorf("the table is of generation %d, not 3", got)
	}
	replaceFile(t, path, "broken\n")
	watch(s, nil, 5)
	if got := s.counts.failed.Value(); got != 1 {
		t.Errorf("a broken file is tried %d times at five looks", got)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	watch(s, nil, 5)
	if got := s.counts.failed.Value(); got != 2 {
		t.Errorf("a broken file and then a missing one are tried %d times", got)
	}
	replaceFile(t, path, generationCSV(4))
	watch(s, nil, 2)
	if got := currentGeneration(t, s); got != 4 {
		t.Errorf("the table is of generation %d, not 4", got)
	}
}

func TestTheSameSizeAndAnotherTimeIsAChange(t *testing.T) {
	path := tempTable(t, generationCSV(1))
	s, _ := loadedService(t, files{path})
	s.reloader.changed()
	replaceFile(t, path, generationCSV(4)) // the same size
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, time.Time{}, info.ModTime().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if s.reloader.changed() || !s.reloader.changed() {
		t.Error("the change is not seen at the second look")
	}
}

func TestABrokenFileKeepsTheOldTableAndLosesNothing(t *testing.T) {
	path := tempTable(t, generationCSV(1))
	s, logged := loadedService(t, files{path})
	for i, broken := range brokenTables {
		replaceFile(t, path, broken.text)
		watch(s, hangUp, 0)
		if got := currentGeneration(t, s); got != 1 {
			t.Fatalf("%s: the table is of generation %d", broken.name, got)
		}
		where := path + ": "
		if broken.line > 0 {
			where = fmt.Sprintf("%s:%d: ", path, broken.line)
		}
		if log := logged.String(); !strings.Contains(log, where) || !strings.Contains(log, broken.says) {
			t.Errorf("%s: the log does not say %q", broken.name, where+broken.says)
		}
		if got := s.counts.failed.Value(); got != int64(i+1) {
			t.Errorf("%s: %d failed reloads are counted, not %d", broken.name, got, i+1)
		}
	}
	if stats := s.pool.Stats(); stats.Created != 2 || stats.Live != 2 || stats.Current != 1 || stats.Spares != 1 {
		t.Errorf("the pool lost something: %+v", stats)
	}
	replaceFile(t, path, generationCSV(2))
	watch(s, hangUp, 0)
	if got := currentGeneration(t, s); got != 2 {
		t.Errorf("the table is of generation %d, not 2", got)
	}
}

func TestWhenReadersHoldEveryTableTheReloadIsTriedAgain(t *testing.T) {
	path := tempTable(t, generationCSV(1))
	s, _ := loadedService(t, files{path})
	var held []*table
	for range maxTables {
		held = append(held, s.tables.Acquire())
		if err := s.reloader.reload("test"); len(held) < maxTables && err != nil {
			t.Fatal(err)
		} else if len(held) == maxTables && !errors.Is(err, poolswap.ErrLimit) {
			t.Fatalf("with %d tables held: %v", len(held), err)
		}
	}
	replaceFile(t, path, generationCSV(2))
	s.reloader.changed()
	if err := s.reloader.reload("test"); !errors.Is(err, poolswap.ErrLimit) {
		t.Fatal(err)
	}
	for _, tab := range held {
		if got := checkGeneration(t, tab); got != 1 {
			t.Errorf("a table that is held is of generation %d", got)
		}
		s.tables.Release(tab)
	}
	if !s.reloader.changed() {
		t.Error("the file that was not tried does not count as changed")
	}
	if err := s.reloader.reload("test"); err != nil || currentGeneration(t, s) != 2 {
		t.Errorf("after the release: %v", err)
	}
}

func TestReadersNeverSeeAMixedTable(t *testing.T) {
	path := tempTable(t, generationCSV(0))
	s, logged := loadedService(t, files{path})
	done := make(chan struct{})
	var readers sync.WaitGroup
	for i := range 4 {
		readers.Go(func() {
			for last := 0; ; {
				select {
				case <-done:
					return
				default:
				}
				if i == 0 { // over HTTP
					response := get(s, http.MethodGet, "/lookup?ip=10.0.77.7")
					var number, name int
					_, err := fmt.Sscanf(response.Body.String(), `{"ip":"10.0.77.7","asn":%d,"name":"generation, %d"`, &number, &name)
					if err != nil || number != name || number < last {
						t.Errorf("after generation %d: %s", last, response.Body)
					}
					last = number
					continue
				}
				s.tables.WithAcquire(func(tab *table) {
					generation := checkGeneration(t, tab)
					if generation < last {
						t.Errorf("generation %d comes after %d", generation, last)
					}
					last = generation
				})
			}
		})
	}
	const generations, broken = 60, 6
	for generation := 1; generation <= generations; generation++ {
		text := generationCSV(generation)
		if generation%(generations/broken) == 0 {
			text += "broken\n"
		}
		replaceFile(t, path, text)
		if generation%2 == 0 {
			watch(s, hangUp, 0)
		} else {
			watch(s, nil, 2)
		}
	}
	close(done)
	readers.Wait()

	postponed := strings.Count(logged.String(), poolswap.ErrLimit.Error()) // readers that lost their processors held every table
	if got := int(s.counts.failed.Value()) - postponed; got > broken || got < broken-postponed {
		t.Errorf("%d reloads failed because of the file, not %d", got, broken)
	}
	if got := int(s.counts.reloads.Value() + s.counts.failed.Value()); got != 1+generations {
		t.Errorf("%d reloads were tried, not %d", got, 1+generations)
	}
	if s.counts.reloads.Value() < generations/2 {
		t.Errorf("only %d swaps: the test does not test much", s.counts.reloads.Value())
	}
	if s.refs() != 0 || s.pool.Stats().Retired != 0 {
		t.Errorf("references are left: %+v", s.pool.Stats())
	}
	replaceFile(t, path, generationCSV(generations+1))
	watch(s, hangUp, 0)
	if got := currentGeneration(t, s); got != generations+1 {
		t.Errorf("the last table is of generation %d", got)
	}
}

func TestWritersTakeTurns(t *testing.T) {
	s, _ := loadedService(t, files{tempTable(t, generationCSV(5))})
	var writers sync.WaitGroup
	const n, each = 4, 10
	for range n {
		writers.Go(func() {
			for range each {
				if err := s.reloader.reload("test"); err != nil {
					t.Error(err)
				}
				currentGeneration(t, s)
			}
		})
	}
	writers.Wait()
	if got := s.counts.reloads.Value(); got != 1+n*each {
		t.Errorf("%d reloads, not %d", got, 1+n*each)
	}
}

// TestAReloadOnceWarmDoesNotAllocateForRows: opening and looking at two files
// takes some small allocations; 20,000 rows must not add any.
func TestAReloadOnceWarmDoesNotAllocateForRows(t *testing.T) {
	const most = 64
	src := &synthetic{ranges4: 10_000, ranges6: 10_000, systems: 3000}
	split := files{tempTable(t, textOf(t, src, 1)), tempTable(t, textOf(t, src, 2))}
	for name, src := range map[string]source{"synthetic": src, "files": split} {
		s, _ := loadedService(t, src)
		reload := func() {
			if err := s.reloader.reload("test"); err != nil {
				t.Fatal(err)
			}
		}
		for range 3 {
			reload()
		}
		if n := testing.AllocsPerRun(5, reload); n > most {
			t.Errorf("%s: a reload allocates %v times, more than %d", name, n, most)
		}
		spent, err := measured(func() error { reload(); return nil })
		if err != nil || spent.bytes > 16<<10 {
			t.Errorf("%s: a reload allocates %d bytes in %d pieces", name, spent.bytes, spent.objects)
		}
		if got := s.pool.Stats().Created; got != 2 {
			t.Errorf("%s: %d tables were made, not 2", name, got)
		}
	}
}

// textOf returns the IPv4 rows of a synthetic source, part 1, or the IPv6 rows,
// part 2.
func textOf(t *testing.T, src *synthetic, part int) string {
	t.Helper()
	all, err := io.ReadAll(&syntheticRows{synthetic: src})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(all), "\n")
	if part == 1 {
		return strings.Join(lines[:src.ranges4], "")
	}
	return strings.Join(lines[src.ranges4:], "")
}
