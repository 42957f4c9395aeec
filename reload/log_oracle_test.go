package reload_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"github.com/poolswap/poolswap/reload"
)

// TestDeltasEndInTheRightTable has a Reloader follow an origin through releases, deltas
// that are gone, damaged, cut off or of another content, restarts with and without a
// damaged cache, and refusals. After each attempt, the table is that of the revision that
// the status tells, and no reader sees another. At the end the origin is honest, and one
// attempt loads the newest.
func TestDeltasEndInTheRightTable(t *testing.T) {
	t.Parallel()
	n, seed := attacks(t, 400)
	r := rand.New(rand.NewPCG(seed, 0))
	dir, seen := inMemory(t), map[string]int{}
	for i := 0; i < n && !t.Failed(); i++ {
		follow(t, rand.New(rand.NewPCG(r.Uint64(), 0)), filepath.Join(dir, strconv.Itoa(i)), seen)
	}
	t.Log(seen)
	for _, how := range []string{"loaded", "delta", "did not fit", "restored", "failed", "still refused", "unchanged", "not modified"} {
		if seen[how] == 0 {
			t.Errorf("%s: 0 times", how)
		}
	}
}

// followed is a service that follows a history.
type followed struct {
	*testing.T
	*rand.Rand
	history

	rows   map[string]string // of the newest release
	dir    string            // of a Cache, or ""
	seen   map[string]int
	unable bool // the origin does not answer

	log      *ledgerLog
	reloader *reload.Reloader
	stop     func()
}

func follow(t *testing.T, r *rand.Rand, dir string, seen map[string]int) {
	f := &followed{T: t, Rand: r, rows: map[string]string{}, seen: seen}
	if f.states = true; r.IntN(2) == 0 {
		f.dir = dir
	}
	for i := range 20 { // so that a delta is small beside them
		f.rows[fmt.Sprint("fixed", i)] = "1"
	}
	f.change()
	f.start()
	for range 12 {
		f.step()
	}
	f.broken, f.unable = nil, false
	f.rows["a"] = "1"
	f.release(maps.Clone(f.rows), "a 1")
	if err := f.reloader.Reload(t.Context()); err != nil {
		t.Errorf("in the end, with an honest origin: %v", err)
	}
	f.compare()
	if s := f.reloader.Status(); s.Revision != f.revision(len(f.releases)-1) {
		t.Errorf("in the end revision %s is loaded, want %s", s.Revision, f.revision(len(f.releases)-1))
	}
	f.stop()
}

// change adds a release, by some changes or none.
func (f *followed) change() {
	var delta []string
	for range f.IntN(4) { // none: an empty delta
		key := string(rune('a' + f.IntN(5)))
		if _, ok := f.rows[key]; ok && f.IntN(2) == 0 {
			delete(f.rows, key)
			delta = append(delta, key)
		} else {
			f.rows[key] = strconv.Itoa(f.IntN(1000))
			delta = append(delta, key+" "+f.rows[key])
		}
	}
	f.release(maps.Clone(f.rows), delta...)
	if f.IntN(4) == 0 {
		f.snapshot = f.IntN(len(f.releases))
	}
	if f.IntN(4) == 0 {
		f.forget = f.IntN(len(f.releases))
	}
}

func (f *followed) start() {
	var source reload.Source = &f.history
	if f.dir != "" {
		source = reload.Cache(source, f.dir)
	}
	f.log = newLedgerLog(f.T)
	f.reloader = reload.NewLog(f.log, source, decodeLedger, reload.LogOptions[ledger]{
		Options: reload.Options{Logger: quiet, Observe: func(e reload.Event) {
			f.seen[string(e.Outcome)]++
			if e.Outcome == reload.Loaded && e.Base != "" {
				f.seen["delta"]++
			}
			if e.DeltaErr != nil {
				f.seen["did not fit"]++
			}
			if e.Outcome == reload.Loaded && e.Stale != nil {
				f.seen["restored"]++
			}
		}},
		Digest: (*ledger).digest,
		Check: func(next, _ *ledger, _ *reload.Content) error {
			if strings.HasPrefix(next.rows["a"], "13") {
				return errors.New("unlucky")
			}
			return nil
		},
	})
	var ended atomic.Bool
	done := make(chan struct{})
	go func() { // a reader: all that it sees was a release
		defer close(done)
		var last uint64
		for !ended.Load() {
			obj := f.log.Container().Acquire()
			if version := f.log.Container().VersionOf(obj); version != last {
				last = version
				if before := ledgerText(obj.rows); before != ledgerText(obj.rows) {
					f.Errorf("a reader saw %q change", before)
				}
			}
			f.log.Container().Release(obj)
		}
	}()
	f.stop = func() { ended.Store(true); <-done }
}

func (f *followed) step() {
	switch f.IntN(8) {
	case 0:
		f.restart()
	case 1:
		f.unable = !f.unable
	default:
		f.change()
	}
	f.damage()
	f.reloader.Reload(f.Context()) // compare tells
	f.compare()
}

// damage chooses a fault of the next contents.
func (f *followed) damage() {
	if f.unable {
		f.broken = func(content *reload.Content, _ []byte) {
			content.Body = io.NopCloser(iotest.ErrReader(io.ErrUnexpectedEOF))
		}
		return
	}
	f.broken = nil
	if f.IntN(3) > 0 {
		return
	}
	fault, every := f.IntN(7), f.IntN(2) == 0
	f.broken = func(content *reload.Content, text []byte) {
		if content.Base == "" && !every || len(text) == 0 {
			return
		}
		switch fault {
		case 0: // another byte, which the digest tells
			text[f.IntN(len(text))] ^= 1 << f.IntN(8)
		case 1: // cut off
			text = text[:f.IntN(len(text))]
		case 2: // on another content
			if content.Base != "" {
				content.Base = f.revision(f.IntN(len(f.releases)))
			}
			return
		case 3: // rows that cannot be, of an origin that signs them
			content.Verify = nil
			text = append([]byte("nothing-like-it\n"), text...)
			content.Size = int64(len(text))
		case 4: // a row that the publisher never had, in a content whose digest is right
			content.Verify = nil
			text = append(text, "z 1\n"...)
			content.Size = int64(len(text))
		case 5: // a change that is missing
			content.Verify = nil
			_, text, _ = bytes.Cut(text, []byte("\n"))
			content.Size = int64(len(text))
		case 6:
			content.Body = io.NopCloser(io.MultiReader(strings.NewReader(string(text[:len(text)/2])), iotest.ErrReader(io.ErrUnexpectedEOF)))
			return
		}
		content.Body = io.NopCloser(strings.NewReader(string(text)))
	}
}

// restart ends the service and begins it anew, perhaps with another cache.
func (f *followed) restart() {
	f.stop()
	if f.dir != "" && f.IntN(2) == 0 {
		entries, _ := os.ReadDir(f.dir)
		for _, entry := range entries {
			if f.IntN(4) == 0 {
				f.spoil(filepath.Join(f.dir, entry.Name()))
			}
		}
	}
	f.start()
}

func (f *followed) spoil(name string) {
	text, err := os.ReadFile(name)
	if err != nil || len(text) == 0 {
		return
	}
	switch f.IntN(3) {
	case 0:
		err = os.Remove(name)
	case 1:
		err = os.WriteFile(name, text[:len(text)/2], 0o600)
	case 2:
		text[f.IntN(len(text))] ^= 1
		err = os.WriteFile(name, text, 0o600)
	}
	if err != nil {
		f.Error(err)
	}
}

// compare fails unless the table is that of the revision of the status.
func (f *followed) compare() {
	f.Helper()
	s, want := f.reloader.Status(), ""
	if s.Revision != "" {
		want = f.releases[f.number(s.Revision)].whole
	}
	if got := rowsOf(f.log.Container()); got != want {
		f.Errorf("revision %q is %q, want %q", s.Revision, got, want)
	}
}
