package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/poolswap/poolswap/reload"
)

// TestEachAnswerIsFromOneEdition swaps two editions of a table forth and back
// while the service answers, and compares each answer with what the edition of
// its version says.
func TestEachAnswerIsFromOneEdition(t *testing.T) {
	for kind, editions := range map[string]func(*testing.T) [2]*edition{"published": publishedEditions, "made up": madeUpEditions} {
		t.Run(kind, func(t *testing.T) {
			editions := editions(t)
			probes := probes(t, editions)
			swaps := 30
			if kind == "published" || testing.Short() {
				swaps = 20
			}
			t.Run("in one file that is polled", func(t *testing.T) {
				var files [2][]string
				for i, e := range editions {
					files[i] = []string{joined(t, e.files...)}
				}
				swapEditions(t, files, time.Millisecond, probes, swaps)
			})
			// A poll between two renames would find one file of each edition.
			t.Run("in two files at a signal", func(t *testing.T) {
				var files [2][]string
				for i, e := range editions {
					files[i] = []string{joined(t, e.files[0]), joined(t, e.files[1])}
				}
				swapEditions(t, files, 0, probes, swaps)
			})
		})
	}
}

// joined returns a file with the content of all, where the test may rename it.
func joined(t *testing.T, files ...string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "table.csv")
	var all []byte
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text...)
	}
	if err := os.WriteFile(path, all, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// swapEditions runs the service on the files of one edition, and moves those of
// the other and of the one in their place. Each version is served until every reader has
// an answer from it, so odd versions are of the first edition.
func swapEditions(t *testing.T, files [2][]string, every time.Duration, probes []probe, swaps int) {
	dir := t.TempDir()
	var served []string
	for i := range files[0] {
		served = append(served, filepath.Join(dir, fmt.Sprintf("table-%d.csv", i)))
	}
	put := func(edition int) {
		for i, path := range served {
			if err := errors.Join(os.Link(files[edition][i], path+".new"), os.Rename(path+".new", path)); err != nil {
				t.Fatal(err)
			}
		}
	}
	put(0)
	logged := new(logBuffer)
	s := newService(served, every, 10, slog.New(slog.NewTextHandler(logged, nil)))
	mustReload(t, s)
	hangups := make(chan os.Signal)
	r := serveOn(t, s, hangups)

	done := make(chan struct{})
	var running sync.WaitGroup
	readers := []*editionReader{
		{name: "GET", asks: 1, ask: r.getOne},
		{name: "POST", asks: 200, ask: r.postAll},
		{name: "direct", asks: 1, ask: r.askDirectly},
	}
	for i, reader := range readers {
		running.Go(func() { reader.run(t, probes, rand.New(rand.NewPCG(5, uint64(i))), done) })
	}
	version := uint64(1)
	for !t.Failed() {
		for _, reader := range readers {
			for reader.version.Load() < version && !t.Failed() {
				time.Sleep(time.Millisecond) // leaves the processors to others
			}
		}
		if version > uint64(swaps) {
			break
		}
		put(int(version % 2))
		if every == 0 {
			hangups <- syscall.SIGHUP
		}
		for s.tables.Version() == version && s.outcomes(reload.Failed) == 0 {
			time.Sleep(time.Millisecond)
		}
		if next := s.tables.Version(); next != version+1 {
			t.Errorf("version %d follows %d:\n%s", next, version, logged)
		}
		version++
	}
	close(done)
	running.Wait()

	for _, reader := range readers {
		if reader.answers[0] == 0 || reader.answers[1] == 0 {
			t.Errorf("%s: %d answers are of the one edition, %d of the other", reader.name, reader.answers[0], reader.answers[1])
		}
		t.Logf("%d swaps, %s: %d + %d answers", version-1, reader.name, reader.answers[0], reader.answers[1])
	}
	if failed, loaded := s.outcomes(reload.Failed), s.outcomes(reload.Loaded); failed != 0 || loaded != swaps+1 {
		t.Errorf("%d reloads failed, %d loaded:\n%s", failed, loaded, logged)
	}
	if stats := s.pool.Stats(); s.refs() != 0 || stats.Retired != 0 || stats.Live > maxTables {
		t.Errorf("old tables stay: %+v", stats)
	}
	r.stop()
	if err := <-r.err; err != nil || s.pool.Stats().Live != 0 {
		t.Errorf("serve returned %v, %d tables are left", err, s.pool.Stats().Live)
	}
}

// editionReader asks for addresses and checks the answers.
type editionReader struct {
	name    string
	asks    int // addresses at a time
	ask     func(ips []string) (lines [][]byte, err error)
	version atomic.Uint64 // of the last answer
	answers [2]int        // of each edition
}

func (e *editionReader) run(t *testing.T, probes []probe, random *rand.Rand, done <-chan struct{}) {
	asked, ips := make([]probe, e.asks), make([]string, e.asks)
	for !t.Failed() {
		select {
		case <-done:
			return
		default:
		}
		for i := range asked {
			asked[i] = probes[random.IntN(len(probes))]
			ips[i] = asked[i].ip
		}
		lines, err := e.ask(ips)
		if err != nil || len(lines) != len(asked) {
			t.Errorf("%s: %d answers to %d addresses, %v", e.name, len(lines), len(asked), err)
			return
		}
		for i, line := range lines {
			e.check(t, asked[i], string(line))
		}
	}
}

// check checks one answer.
func (e *editionReader) check(t *testing.T, p probe, line string) {
	const key = `"version":`
	number := strings.LastIndex(line, key) + len(key)
	version, err := strconv.ParseUint(strings.TrimSuffix(line[min(number, len(line)):], "}\n"), 10, 64)
	if err != nil || version == 0 {
		t.Errorf("%s: %s: no version in %q", e.name, p.ip, line)
		return
	}
	if last := e.version.Load(); version < last {
		t.Errorf("%s: version %d comes after %d", e.name, version, last)
	}
	edition := (version - 1) % 2
	if want := p.answers[edition]; line[:number] != want {
		t.Errorf("%s: version %d says\n%swant\n%s", e.name, version, line, want)
	}
	e.answers[edition]++
	e.version.Store(version)
}

func (r *running) getOne(ips []string) ([][]byte, error) {
	_, body, err := fetch(r.url + "/lookup?ip=" + ips[0])
	return [][]byte{[]byte(body)}, err
}

func (r *running) postAll(ips []string) (lines [][]byte, err error) {
	response, err := http.Post(r.url+"/lookup", "text/plain", strings.NewReader(strings.Join(ips, "\n")))
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return slices.Collect(bytes.Lines(body)), err
}

// askDirectly asks without a connection, as fast as it goes.
func (r *running) askDirectly(ips []string) ([][]byte, error) {
	return [][]byte{do(r.service, http.MethodGet, "/lookup?ip="+ips[0], "").Body.Bytes()}, nil
}
