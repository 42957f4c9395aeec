package reload_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap/reload"
)

// chained is a service that follows a history through a Cache.
type chained struct {
	*testing.T
	history
	rows map[string]string
	dir  string
	down bool // the origin does not answer
}

func newChained(t *testing.T) *chained {
	t.Helper()
	c := &chained{T: t, rows: map[string]string{}, dir: t.TempDir()}
	for i := range 100 {
		c.rows[fmt.Sprint("row", i)] = "value"
	}
	c.history.release(c.rows)
	return c
}

// set adds a release with another value of a row.
func (c *chained) set(value string) {
	c.rows["row7"] = value
	c.history.release(maps.Clone(c.rows), "row7 "+value)
}

// start returns a Reloader of a process of its own.
func (c *chained) start() (*reload.Reloader, *ledgers) {
	log := newLedgerLog(c.T)
	var source reload.Source = &c.history
	if c.down {
		source = named{sourceFunc(unavailable), "history"}
	}
	return reload.NewLog(log, reload.Cache(source, c.dir), decodeLedger, digested()), log.Container()
}

func (c *chained) contents() (n int) {
	names, err := filepath.Glob(filepath.Join(c.dir, "*.content"))
	if err != nil {
		c.Fatal(err)
	}
	return len(names)
}

func TestCacheKeepsDeltas(t *testing.T) {
	c := newChained(t)
	r, readers := c.start()
	reloads(t, r, readers, ledgerText(c.rows))
	for _, value := range []string{"2", "3", "4"} {
		c.set(value)
		reloads(t, r, readers, ledgerText(c.rows))
	}
	if s := r.Status(); s.Deltas != 3 || c.contents() != 4 {
		t.Errorf("%d deltas were loaded, and %d files are kept", s.Deltas, c.contents())
	}

	c.down = true
	restarted, readers := c.start()
	reloads(t, restarted, readers, ledgerText(c.rows))
	if s := restarted.Status(); s.Revision != "r3" || s.Stale == nil {
		t.Errorf("the status is %+v", s)
	}

	c.down = false
	c.set("5")
	c.asked = nil
	again, readers := c.start()
	reloads(t, again, readers, ledgerText(c.rows))
	if want := []string{"r3"}; !slices.Equal(c.asked, want) {
		t.Errorf("Fetch had the bases %q, want %q", c.asked, want)
	}
}

// TestCacheOfADamagedDelta restores the content before it, and goes on from there.
func TestCacheOfADamagedDelta(t *testing.T) {
	c := newChained(t)
	r, readers := c.start()
	reloads(t, r, readers, ledgerText(c.rows))
	for _, value := range []string{"2", "3", "4"} {
		c.set(value)
		reloads(t, r, readers, ledgerText(c.rows))
	}
	names, _ := filepath.Glob(filepath.Join(c.dir, "*.content"))
	for _, name := range names {
		if text, _ := os.ReadFile(name); string(text) == "row7 3\n" {
			if err := os.WriteFile(name, []byte("row7 9\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		} else if string(text) == "row7 2\n" { // the last before it was the newest until two hours ago
			then := time.Now().Add(-2 * time.Hour)
			if err := os.Chtimes(name, then, then); err != nil {
				t.Fatal(err)
			}
		}
	}
	c.down = true
	restarted, readers := c.start()
	if err := restarted.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := restarted.Status()
	if age := s.Age(); s.Revision != "r1" || s.Stale == nil || age < time.Hour || !strings.Contains(rowsOf(readers), "row7 2\n") {
		t.Errorf("the status is %+v", s)
	}
	c.down = false
	c.asked = nil
	again, readers := c.start()
	reloads(t, again, readers, ledgerText(c.rows))
	if want := []string{"r1"}; !slices.Equal(c.asked, want) {
		t.Errorf("Fetch had the bases %q, want %q", c.asked, want)
	}
	c.down = true
	last, readers := c.start()
	reloads(t, last, readers, ledgerText(c.rows)) // the delta since was kept on the content before the damage
}

// TestCacheBoundsDeltas: from a quarter of the content on, it asks for the whole. Deltas that
// could not be kept count.
func TestCacheBoundsDeltas(t *testing.T) {
	for name, loses := range map[string]bool{"kept": false, "not kept": true} {
		t.Run(name, func(t *testing.T) {
			c := newChained(t)
			r, readers := c.start()
			reloads(t, r, readers, ledgerText(c.rows))
			bytes := 0
			if loses { // and those on it
				c.loseOne(r)
				bytes = len(c.releases[1].delta)
			}
			for i := 0; bytes <= len(c.releases[0].whole)/4; i++ {
				c.set(strings.Repeat("x", 50) + fmt.Sprint(i))
				bytes += len(c.releases[len(c.releases)-1].delta)
				reloads(t, r, readers, ledgerText(c.rows))
			}
			if s := r.Status(); s.Deltas != s.Swaps-1 {
				t.Errorf("%d of %d swaps were deltas", s.Deltas, s.Swaps)
			}
			c.set("last")
			c.snapshot = len(c.releases) - 1
			c.asked = nil
			reloads(t, r, readers, ledgerText(c.rows))
			if want := []string{""}; !slices.Equal(c.asked, want) || c.contents() != 1 {
				t.Errorf("Fetch had the bases %q, want %q; %d files are kept", c.asked, want, c.contents())
			}
		})
	}
}

// loseOne has the Cache of a Reloader fail to keep a delta.
func (c *chained) loseOne(r *reload.Reloader) {
	c.Helper()
	record := filepath.Join(c.dir, "kept.json")
	if err := errors.Join(os.Rename(record, record+".away"), os.Mkdir(record, 0o700)); err != nil { // it cannot be replaced
		c.Fatal(err)
	}
	c.set("2")
	err := r.Reload(c.Context())
	if err := errors.Join(err, os.Remove(record), os.Rename(record+".away", record)); err != nil {
		c.Fatal(err)
	}
}

// TestDeltaOnContentThatIsNotKept is not kept: the next process begins with the content
// before.
func TestDeltaOnContentThatIsNotKept(t *testing.T) {
	c := newChained(t)
	r, readers := c.start()
	reloads(t, r, readers, ledgerText(c.rows))
	first := ledgerText(c.rows)
	c.loseOne(r)
	c.set("3") // its base was not kept
	reloads(t, r, readers, ledgerText(c.rows))
	c.down = true
	restarted, readers := c.start()
	reloads(t, restarted, readers, first)
}
