package reload_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap/oplog"
	"github.com/poolswap/poolswap/reload"
)

// TestSlowDelta takes longer than an attempt waits for an object: that is another wait.
func TestSlowDelta(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := new(history)
		h.release(map[string]string{"a": "1"})
		log := newLedgerLog(t)
		slow := func(ctx context.Context, content *reload.Content) iter.Seq2[entry, error] {
			return func(yield func(entry, error) bool) {
				time.Sleep(time.Minute)
				decodeLedger(ctx, content)(yield)
			}
		}
		r := reload.NewLog(log, h, slow, reload.LogOptions[ledger]{Options: reload.Options{Logger: quiet, ObjectWait: time.Second}})
		reloads(t, r, log.Container(), "a 1\n")
		h.release(map[string]string{"a": "2"}, "a 2")
		reloads(t, r, log.Container(), "a 2\n")
		if s := r.Status(); s.Deltas != 1 {
			t.Errorf("the status is %+v", s)
		}
	})
}

// TestApplyPanics for a delta, and then for the whole: the process goes on.
func TestApplyPanics(t *testing.T) {
	log, err := oplog.New(oplog.Options[ledger, entry]{
		New:   func() *ledger { return &ledger{rows: map[string]string{}} },
		Reset: func(l *ledger) { clear(l.rows) },
		Copy:  func(dst, src *ledger) error { clear(dst.rows); dst.rows["copied"] = "1"; return nil },
		Apply: func(l *ledger, e entry) error {
			if e.value == "bad" {
				panic("no such column")
			}
			l.rows[e.key] = e.value
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	h := new(history)
	h.release(map[string]string{"a": "1"})
	r := reload.NewLog(log, h, decodeLedger, reload.LogOptions[ledger]{Options: reload.Options{Logger: quiet}})
	reloads(t, r, log.Container(), "a 1\n")
	h.release(map[string]string{"a": "bad"}, "a bad")
	h.snapshot = 1
	if failure := failsWith(t, r, reload.Loading); !failure.Refused || !strings.Contains(failure.Error(), "no such column") {
		t.Error(failure)
	}
	if got := rowsOf(log.Container()); got != "a 1\n" {
		t.Errorf("readers get %q", got)
	}
}

// TestWholeContentWithTheBytesOfADelta is no content that is loaded already.
func TestWholeContentWithTheBytesOfADelta(t *testing.T) {
	h, r, c := following(t, reload.LogOptions[ledger]{})
	reloads(t, r, c, "a 1\nb 1\n")
	h.release(map[string]string{"a": "2", "b": "1"}, "a 2")
	reloads(t, r, c, "a 2\nb 1\n")
	h.releases = append(h.releases, step{whole: "a 2\n"})
	h.forget, h.snapshot = 2, 2
	reloads(t, r, c, "a 2\n")
}

// TestNestedParts in a chain would hide the Verify of a part from a Cache.
func TestNestedParts(t *testing.T) {
	refuses := errors.New("not verified")
	source := named{sourceFunc(func(context.Context, string) (*reload.Content, error) {
		unverified := textContent("1", "", "a 1\n")
		unverified.Verify = func([32]byte) error { return refuses }
		inner := &reload.Content{Revision: "1", Size: -1, Body: unverified.Body, Parts: []*reload.Content{unverified}}
		delta := textContent("2", "1", "b 1\n")
		return &reload.Content{Revision: "2", Size: -1, Parts: []*reload.Content{inner, delta}, Body: io.NopCloser(io.MultiReader(inner.Body, delta.Body))}, nil
	}), "nested"}
	for name, source := range map[string]reload.Source{"plain": source, "Cache": reload.Cache(source, t.TempDir())} {
		log := newLedgerLog(t)
		r := reload.NewLog(log, source, decodeLedger, reload.LogOptions[ledger]{Options: reload.Options{Logger: quiet}})
		if err := r.Reload(t.Context()); err == nil || rowsOf(log.Container()) != "" {
			t.Errorf("%s: %v, and readers get %q", name, err, rowsOf(log.Container()))
		}
	}
}

// TestJoinRefusesDeltas: New would load the lines of a delta as rows.
func TestJoinRefusesDeltas(t *testing.T) {
	chain := sourceFunc(func(context.Context, string) (*reload.Content, error) {
		delta := textContent("2", "1", "b 1\n")
		return reload.Chain(textContent("1", "", "a 1\n"), delta), nil
	})
	c, _ := newTexts()
	r := reload.New(c, reload.Join(given("1", -1, "x"), chain), load, reload.Options{Logger: quiet})
	if failure := failsWith(t, r, reload.Fetching); !strings.Contains(failure.Error(), "a delta, which a Join has no use for") {
		t.Error(failure)
	}
}

// TestKeptChainIsTooLarge for the Reloader: the origin is asked, and refuses nothing.
func TestKeptChainIsTooLarge(t *testing.T) {
	c := newChained(t)
	r, readers := c.start()
	reloads(t, r, readers, ledgerText(c.rows))
	for _, value := range []string{"2", "3"} {
		c.set(value)
		reloads(t, r, readers, ledgerText(c.rows))
	}
	log := newLedgerLog(t)
	limits := reload.Options{Logger: quiet, MaxBytes: int64(len(c.releases[0].whole) + 2)}
	strict := reload.NewLog(log, reload.Cache(&c.history, c.dir), decodeLedger, reload.LogOptions[ledger]{Options: limits})
	c.snapshot = 2
	reloads(t, strict, log.Container(), ledgerText(c.rows))
	if s := strict.Status(); s.Revision != "r2" || s.Refused != "" {
		t.Errorf("the status is %+v", s)
	}
	c.asked = nil
	c.set("4")
	c.snapshot = 3
	reloads(t, strict, log.Container(), ledgerText(c.rows))
	c.set("5")
	c.snapshot = 4
	reloads(t, strict, log.Container(), ledgerText(c.rows))
	if last := c.asked[len(c.asked)-1]; last != "" {
		t.Errorf("with a chain as large as MaxBytes, Fetch had the base %q", last)
	}
}

// TestChainOnDiskIsBounded: parts of unknown length have MaxBytes together.
func TestChainOnDiskIsBounded(t *testing.T) {
	row, written := strings.Repeat("x", 60)+"\n", 0
	source := named{sourceFunc(func(context.Context, string) (*reload.Content, error) {
		delta := textContent("2", "1", "b "+row)
		inner := delta.Body
		delta.Body = io.NopCloser(reading(func(p []byte) (n int, err error) {
			n, err = inner.Read(p)
			written += n
			return n, err
		}))
		return reload.Chain(textContent("1", "", "a "+row), delta), nil
	}), "chain"}
	log := newLedgerLog(t)
	options := reload.LogOptions[ledger]{Options: reload.Options{Logger: quiet, MaxBytes: 100}}
	r := reload.NewLog(log, reload.Cache(source, t.TempDir()), decodeLedger, options)
	if err := r.Reload(t.Context()); err == nil || !strings.Contains(err.Error(), "MaxBytes") || rowsOf(log.Container()) != "" {
		t.Errorf("%v, and readers get %q", err, rowsOf(log.Container()))
	}
	if most := 100 - len("a "+row) + 1; written > most { // one byte too much tells
		t.Errorf("%d bytes of the second were written, want at most %d", written, most)
	}
}

// TestDeltasAreBoundedInNumber, those that are kept and those that could not be.
func TestDeltasAreBoundedInNumber(t *testing.T) {
	for _, fails := range []bool{false, true} {
		c := newChained(t)
		c.dir = inMemory(t)
		for i := range 1000 { // so large that the number comes first
			c.rows[fmt.Sprint("more", i)] = "value"
		}
		c.releases = nil
		c.release(c.rows)
		r, readers := c.start()
		reloads(t, r, readers, ledgerText(c.rows))
		if fails {
			c.loseOne(r)
		}
		whole := 0
		for i := range 300 {
			c.set(fmt.Sprint(i % 7))
			c.snapshot = len(c.releases) - 1
			if err := r.Reload(t.Context()); err != nil {
				t.Fatal(err)
			}
			if c.asked[len(c.asked)-1] == "" {
				whole++
			}
		}
		if whole != 1 {
			t.Errorf("keeping fails: %v: %d of 300 contents were whole, want 1", fails, whole)
		}
		c.down = true
		restarted, readers := c.start()
		reloads(t, restarted, readers, ledgerText(c.rows))
	}
}

// TestManyDeltasAtOnce come to kept deltas: together they are more than a Cache keeps, so
// the kept content stays as it is, and whole content is next.
func TestManyDeltasAtOnce(t *testing.T) {
	revision, down, bases := 0, false, []string(nil)
	source := named{sourceFunc(func(ctx context.Context, _ string) (*reload.Content, error) {
		base := reload.DeltaBase(ctx)
		bases = append(bases, base)
		switch {
		case down:
			return nil, errDown
		case base == "":
			revision++
			return textContent(fmt.Sprint(revision), "", "a 0\n"+strings.Repeat("b 0\n", 4000)), nil
		}
		var deltas []*reload.Content
		for range 200 {
			revision++
			deltas = append(deltas, textContent(fmt.Sprint(revision), fmt.Sprint(revision-1), fmt.Sprintf("a %d\n", revision)))
		}
		return reload.Chain(deltas...), nil
	}), "source"}
	dir := t.TempDir()
	start := func() (*reload.Reloader, *ledgers) {
		log := newLedgerLog(t)
		return reload.NewLog(log, reload.Cache(source, dir), decodeLedger, reload.LogOptions[ledger]{Options: reload.Options{Logger: quiet}}), log.Container()
	}
	r, readers := start()
	for _, want := range []string{"0", "201", "401"} {
		reloads(t, r, readers, "a "+want+"\nb 0\n")
	}
	down = true
	restarted, kept := start()
	reloads(t, restarted, kept, "a 201\nb 0\n")
	down = false
	reloads(t, r, readers, "a 0\nb 0\n")
	if !slices.Equal(bases[:3], []string{"", "1", "201"}) || bases[len(bases)-1] != "" {
		t.Errorf("the bases are %q", bases)
	}
}

// TestAcceptedDeltaOfARudeSource is accepted as the whole, too.
func TestAcceptedDeltaOfARudeSource(t *testing.T) {
	deltas := true
	source := sourceFunc(func(ctx context.Context, _ string) (*reload.Content, error) {
		content := textContent("2", "", "a 2\n")
		if deltas {
			content.Base = "1"
		}
		deltas = false
		return content, nil
	})
	log := newLedgerLog(t)
	r := reload.NewLog(log, source, decodeLedger, reload.LogOptions[ledger]{Options: reload.Options{Logger: quiet}, Check: func(_, _ *ledger, content *reload.Content) error {
		if !content.Accepted {
			return errBad
		}
		return nil
	}})
	if err := r.Accept(t.Context(), "2"); err != nil {
		t.Error(err)
	}
}

func TestChainOfOneDelta(t *testing.T) {
	for _, cached := range []bool{false, true} {
		text, base := "a 1\nb "+strings.Repeat("x", 40)+"\n", ""
		var source reload.Source = named{sourceFunc(func(context.Context, string) (*reload.Content, error) {
			one := textContent(base+"1", base, text)
			return &reload.Content{Revision: one.Revision, Base: base, Size: -1, Body: one.Body, Parts: []*reload.Content{one}}, nil
		}), "one"}
		log := newLedgerLog(t)
		if cached {
			source = reload.Cache(source, t.TempDir())
		}
		r := reload.NewLog(log, source, decodeLedger, reload.LogOptions[ledger]{Options: reload.Options{Logger: quiet}})
		if !cached { // as a Join of one source, which a Cache refuses
			reloads(t, r, log.Container(), text)
			text, base = "a 2\n", "1"
			reloads(t, r, log.Container(), strings.Replace("a 2\nb X\n", "X", strings.Repeat("x", 40), 1))
		} else if err := r.Reload(t.Context()); err == nil || !strings.Contains(err.Error(), "Parts") {
			t.Error(err)
		}
	}
}

// TestCacheOfAChainThatFails leaves no file.
func TestCacheOfAChainThatFails(t *testing.T) {
	dir := t.TempDir()
	source := named{sourceFunc(func(context.Context, string) (*reload.Content, error) {
		delta := textContent("2", "1", "b 1\n")
		delta.Size = 100 // longer than it is
		return reload.Chain(textContent("1", "", "a 1\n"), delta), nil
	}), "chain"}
	r := reload.NewLog(newLedgerLog(t), reload.Cache(source, dir), decodeLedger, reload.LogOptions[ledger]{Options: reload.Options{Logger: quiet}})
	failsWith(t, r, reload.Fetching)
	cacheHas(t, dir, nil)
}

// textContent returns content without a size.
func textContent(revision, base, text string) *reload.Content {
	return &reload.Content{Revision: revision, Base: base, Size: -1, Body: io.NopCloser(strings.NewReader(text))}
}
