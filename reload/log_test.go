package reload_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/poolswap/poolswap/internal/test/pooltest"
	"github.com/poolswap/poolswap/reload"
)

// reloads calls Reload, and fails unless readers get rows then.
func reloads(t *testing.T, r *reload.Reloader, c *ledgers, rows string) {
	t.Helper()
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := rowsOf(c); got != rows {
		t.Errorf("readers get %q, want %q", got, rows)
	}
}

func TestDeltaChangesTheLoadedContent(t *testing.T) {
	var events []reload.Event
	h, r, c := following(t, reload.LogOptions[ledger]{Options: reload.Options{Observe: func(e reload.Event) { events = append(events, e) }}})
	reloads(t, r, c, "a 1\nb 1\n")
	h.release(map[string]string{"a": "1", "c": "2"}, "b", "c 2")
	reloads(t, r, c, "a 1\nc 2\n")
	reloads(t, r, c, "a 1\nc 2\n")
	h.release(map[string]string{"c": "2"}, "a")
	h.release(map[string]string{"c": "2", "d": "3"}, "d 3") // both at once
	reloads(t, r, c, "c 2\nd 3\n")
	if want := []string{"", "r0", "r1", "r1"}; !slices.Equal(h.asked, want) {
		t.Errorf("Fetch had the bases %q, want %q", h.asked, want)
	}
	for i, want := range []reload.Event{
		{Outcome: reload.Loaded, Revision: "r0", Size: 8},
		{Outcome: reload.Loaded, Revision: "r1", Base: "r0", Size: 6},
		{Outcome: reload.NotModified},
		{Outcome: reload.Loaded, Revision: "r3", Base: "r1", Size: 6},
	} {
		e := events[i]
		if e.Outcome != want.Outcome || e.Revision != want.Revision || e.Base != want.Base || e.Size != want.Size || e.DeltaErr != nil {
			t.Errorf("event %d is %+v, want %+v", i, e, want)
		}
	}
	if s := r.Status(); s.Deltas != 2 || s.Swaps != 3 || s.Revision != "r3" || s.DeltaErr != nil {
		t.Errorf("the status is %+v", s)
	}
}

func TestSnapshotWithDeltasIsOneVersion(t *testing.T) {
	h, r, c := following(t, reload.LogOptions[ledger]{})
	h.release(map[string]string{"a": "2", "b": "1"}, "a 2")
	h.release(map[string]string{"a": "2"}, "b")
	before := c.Version()
	reloads(t, r, c, "a 2\n")
	if n := c.Version() - before; n != 1 {
		t.Errorf("%d versions were published, want 1", n)
	}
	if s := r.Status(); s.Revision != "r2" || s.Deltas != 0 {
		t.Errorf("the status is %+v", s)
	}
}

// TestDeltaThatDoesNotFit: the attempt that finds it loads whole content.
func TestDeltaThatDoesNotFit(t *testing.T) {
	refused := errors.New("refused")
	for _, test := range []struct {
		name, why string
		stage     reload.Stage
		spoil     func(content *reload.Content, text []byte)
		check     func(next, current *ledger, content *reload.Content) error
	}{
		{"digest", "another digest", reload.Verifying, func(content *reload.Content, text []byte) {
			text[0] ^= 1
			content.Body = io.NopCloser(strings.NewReader(string(text)))
		}, nil},
		{"row", "bad row", reload.Loading, nil, nil},
		{"operation", errNoRow.Error(), reload.Loading, nil, nil},
		{"base", "another content", reload.Publishing, func(content *reload.Content, _ []byte) { content.Base = "r7" }, nil},
		{"panic", "oh", reload.Loading, nil, nil},
		{"check", "refused", reload.Loading, nil, func(_, _ *ledger, content *reload.Content) error {
			if content.Base != "" {
				return refused
			}
			return nil
		}},
		{"size", "MaxBytes", reload.Reading, func(content *reload.Content, _ []byte) {
			content.Size, content.Body = -1, io.NopCloser(strings.NewReader(strings.Repeat("x y\n", 1000)))
		}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var events []reload.Event
			var warnings logs
			log := newLedgerLog(t)
			h := new(history)
			h.release(map[string]string{"a": "1", "b": "1"})
			decode := func(ctx context.Context, content *reload.Content) iter.Seq2[entry, error] {
				if content.Base != "" && test.name == "panic" {
					panic("oh")
				}
				return decodeLedger(ctx, content)
			}
			r := reload.NewLog(log, h, decode, reload.LogOptions[ledger]{Check: test.check, Options: reload.Options{
				MaxBytes: 100, Logger: warnings.logger(slog.LevelWarn), Observe: func(e reload.Event) { events = append(events, e) },
			}})
			c := log.Container()
			reloads(t, r, c, "a 1\nb 1\n")
			delta := "c 2"
			switch test.name {
			case "row":
				delta = " 2"
			case "operation":
				delta = "z"
			}
			h.releases = append(h.releases, step{whole: "a 1\nb 1\nc 2\n", delta: lines(delta)})
			h.snapshot = 1
			h.broken = func(content *reload.Content, text []byte) {
				if content.Base != "" && test.spoil != nil {
					test.spoil(content, text)
				}
			}
			reloads(t, r, c, "a 1\nb 1\nc 2\n")
			if want := []string{"", "r0", ""}; !slices.Equal(h.asked, want) {
				t.Errorf("Fetch had the bases %q, want %q", h.asked, want)
			}
			e, s := events[len(events)-1], r.Status()
			var failure *reload.Error
			if len(events) != 2 || e.Outcome != reload.Loaded || e.Base != "" || !errors.As(e.DeltaErr, &failure) {
				t.Fatalf("%d events, the last %+v", len(events), e)
			}
			if failure.Stage != test.stage || failure.Refused || !strings.Contains(failure.Error(), test.why) {
				t.Errorf("the delta failed by %v in stage %s, want %s in %s", failure, failure.Stage, test.why, test.stage)
			}
			if s.DeltaErr != e.DeltaErr || s.Deltas != 0 || s.Swaps != 2 || s.Failures != 0 {
				t.Errorf("the status is %+v", s)
			}
			if lines := warnings.all(); len(lines) != 1 || !strings.Contains(lines[0], "a delta did not fit") {
				t.Errorf("the log has %q", lines)
			}
			h.broken = nil
			h.release(map[string]string{"a": "1", "b": "1", "c": "3"}, "c 3")
			h.snapshot = 2
			reloads(t, r, c, "a 1\nb 1\nc 3\n")
			if s := r.Status(); s.Deltas != 1 && test.check == nil && test.name != "panic" {
				t.Errorf("the next delta was not taken: %+v", s)
			}
		})
	}
}

// TestDeltaThatBreaksOff is no reason to transfer all.
func TestDeltaThatBreaksOff(t *testing.T) {
	h, r, c := following(t, reload.LogOptions[ledger]{})
	reloads(t, r, c, "a 1\nb 1\n")
	h.release(map[string]string{"a": "1", "b": "2"}, "b 2")
	h.broken = func(content *reload.Content, _ []byte) {
		content.Body = io.NopCloser(io.MultiReader(strings.NewReader("b "), iotest.ErrReader(io.ErrUnexpectedEOF)))
	}
	failure := failsWith(t, r, reload.Reading)
	if failure.Refused || len(h.asked) != 2 {
		t.Errorf("%v, after %d fetches", failure, len(h.asked))
	}
	h.broken = nil
	reloads(t, r, c, "a 1\nb 2\n")
	if s := r.Status(); s.Deltas != 1 {
		t.Errorf("the status is %+v", s)
	}
}

// TestWholeContentIsRefused after its delta was: the same revision is not asked for
// again, and the next delta is on the loaded content.
func TestWholeContentIsRefused(t *testing.T) {
	h, r, c := following(t, reload.LogOptions[ledger]{Check: func(next, current *ledger, _ *reload.Content) error {
		if current == nil {
			return errors.New("the log has an object from the beginning")
		}
		return reload.CheckLoss(len(current.rows), len(next.rows), 0.5)
	}})
	reloads(t, r, c, "a 1\nb 1\n")
	h.release(map[string]string{}, "a", "b")
	h.snapshot = 1
	failure := failsWith(t, r, reload.Loading)
	if !failure.Refused || rowsOf(c) != "a 1\nb 1\n" {
		t.Errorf("%v, and readers get %q", failure, rowsOf(c))
	}
	r.Reload(t.Context())
	h.releases[1] = step{whole: "a 9\nb 1\n", delta: "a 9\n"}
	h.release(map[string]string{"a": "9", "b": "2"}, "b 2")
	reloads(t, r, c, "a 9\nb 2\n")
	if want := []string{"", "r0", "", "r0", "r0"}; !slices.Equal(h.asked, want) {
		t.Errorf("Fetch had the bases %q, want %q", h.asked, want)
	}
	if s := r.Status(); s.Deltas != 1 || s.Refused != "" {
		t.Errorf("the status is %+v", s)
	}
}

func TestAcceptedDeltaIsWhole(t *testing.T) {
	h, r, c := following(t, reload.LogOptions[ledger]{Check: func(next, current *ledger, content *reload.Content) error {
		if content.Accepted {
			return nil
		}
		return reload.CheckLoss(len(current.rows), len(next.rows), 0.5)
	}})
	reloads(t, r, c, "a 1\nb 1\n")
	h.release(map[string]string{}, "a", "b")
	failsWith(t, r, reload.Loading)
	if err := r.Accept(t.Context(), r.Status().Refused); err != nil || rowsOf(c) != "" {
		t.Errorf("Accept returned %v, and readers get %q", err, rowsOf(c))
	}
	if last := h.asked[len(h.asked)-1]; last != "" {
		t.Errorf("Accept asked for a delta on %q", last)
	}
}

// TestEmptyDelta is a new revision of the same content.
func TestEmptyDelta(t *testing.T) {
	h, r, c := following(t, reload.LogOptions[ledger]{})
	reloads(t, r, c, "a 1\nb 1\n")
	version := c.Version()
	h.release(map[string]string{"a": "1", "b": "1"})
	reloads(t, r, c, "a 1\nb 1\n")
	if s := r.Status(); c.Version() != version || s.Revision != "r1" || s.Swaps != 1 {
		t.Errorf("version %d, was %d; the status is %+v", c.Version(), version, s)
	}
	h.release(map[string]string{"a": "1", "b": "5"}, "b 5")
	reloads(t, r, c, "a 1\nb 5\n")
	if last := h.asked[len(h.asked)-1]; last != "r1" {
		t.Errorf("Fetch had the base %q, want r1", last)
	}
}

// TestTheSameDeltaTwice has the same bytes, and is not unchanged content.
func TestTheSameDeltaTwice(t *testing.T) {
	h, r, c := following(t, reload.LogOptions[ledger]{})
	h.release(map[string]string{"a": "2", "b": "1"}, "a 2")
	reloads(t, r, c, "a 2\nb 1\n")
	h.release(map[string]string{"a": "3", "b": "1"}, "a 3")
	reloads(t, r, c, "a 3\nb 1\n")
	h.release(map[string]string{"a": "2", "b": "1"}, "a 2")
	reloads(t, r, c, "a 2\nb 1\n")
	h.release(map[string]string{"a": "3", "b": "1"}, "a 3")
	reloads(t, r, c, "a 3\nb 1\n")
}

// TestPublicationPastTheLog makes deltas unfit until whole content is loaded.
func TestPublicationPastTheLog(t *testing.T) {
	h, r, c := following(t, reload.LogOptions[ledger]{})
	reloads(t, r, c, "a 1\nb 1\n")
	c.Update(&ledger{rows: map[string]string{"foreign": "1"}})
	h.release(map[string]string{"a": "1", "b": "2"}, "b 2")
	reloads(t, r, c, "a 1\nb 2\n")
	h.release(map[string]string{"a": "1", "b": "3"}, "b 3")
	reloads(t, r, c, "a 1\nb 3\n")
	if want := []string{"", "", "r1"}; !slices.Equal(h.asked, want) {
		t.Errorf("Fetch had the bases %q, want %q", h.asked, want)
	}
}

// TestPublicationDuringADelta makes it unfit, even if it changes nothing.
func TestPublicationDuringADelta(t *testing.T) {
	for name, delta := range map[string][]string{"with a row": {"b 1"}, "without rows": nil} {
		t.Run(name, func(t *testing.T) {
			h, r, c := following(t, reload.LogOptions[ledger]{})
			reloads(t, r, c, "a 1\nb 1\n")
			h.release(map[string]string{"a": "1", "b": "1"}, delta...)
			h.broken = func(content *reload.Content, _ []byte) {
				if content.Base == "" {
					return
				}
				h.broken = nil // the next fetch is of the whole
				content.Verify = func([sha256.Size]byte) error {
					c.Update(&ledger{rows: map[string]string{"foreign": "1"}})
					return nil
				}
			}
			reloads(t, r, c, "a 1\nb 1\n")
		})
	}
}

func TestDeltaForAReloaderWithoutLog(t *testing.T) {
	c, _ := newTexts()
	for name, content := range map[string]*reload.Content{
		"delta": {Revision: "2", Base: "1", Body: io.NopCloser(strings.NewReader("x"))},
		"chain": {Revision: "2", Body: io.NopCloser(strings.NewReader("")), Parts: []*reload.Content{
			{Revision: "1", Body: io.NopCloser(strings.NewReader("x"))},
			{Revision: "2", Base: "1", Body: io.NopCloser(strings.NewReader("y"))},
		}},
	} {
		r := reload.New(c, sourceFunc(func(ctx context.Context, _ string) (*reload.Content, error) {
			if base := reload.DeltaBase(ctx); base != "" {
				t.Errorf("the base is %q", base)
			}
			return content, nil
		}), load, reload.Options{Logger: quiet})
		if failure := failsWith(t, r, reload.Fetching); !strings.Contains(failure.Error(), "NewLog") {
			t.Errorf("%s: %v", name, failure)
		}
	}
}

func TestMalformedDeltas(t *testing.T) {
	body := func() io.ReadCloser { return io.NopCloser(strings.NewReader("")) }
	one := func(base, revision string) *reload.Content {
		return &reload.Content{Base: base, Revision: revision, Body: body()}
	}
	for name, content := range map[string]*reload.Content{
		"no revision":       one("r0", ""),
		"base of a chain":   {Base: "r0", Revision: "2", Body: body(), Parts: []*reload.Content{one("", "1"), one("1", "2")}},
		"broken chain":      {Revision: "3", Body: body(), Parts: []*reload.Content{one("", "1"), one("1", "2"), one("1", "3")}},
		"end of a chain":    {Revision: "3", Body: body(), Parts: []*reload.Content{one("", "1"), one("1", "2"), one("", "3")}},
		"part of a content": {Revision: "3", Body: body(), Parts: []*reload.Content{one("", "1"), one("", "2"), one("2", "3")}},
	} {
		r := reload.NewLog(newLedgerLog(t), sourceFunc(func(context.Context, string) (*reload.Content, error) { return content, nil }), decodeLedger, reload.LogOptions[ledger]{Options: reload.Options{Logger: quiet}})
		if failure := failsWith(t, r, reload.Fetching); !strings.Contains(failure.Error(), "the Source returned") {
			t.Errorf("%s: %v", name, failure)
		}
	}
}

// TestDeltaOfASourceThatWasNotAskedForOne does not loop.
func TestDeltaOfASourceThatWasNotAskedForOne(t *testing.T) {
	fetched := 0
	r := reload.NewLog(newLedgerLog(t), sourceFunc(func(context.Context, string) (*reload.Content, error) {
		fetched++
		return &reload.Content{Revision: "2", Base: "1", Size: -1, Body: io.NopCloser(strings.NewReader("a 1\n"))}, nil
	}), decodeLedger, reload.LogOptions[ledger]{Options: reload.Options{Logger: quiet}})
	if failure := failsWith(t, r, reload.Publishing); failure.Refused || fetched != 2 {
		t.Errorf("%v, after %d fetches", failure, fetched)
	}
}

func TestNewLogWithNil(t *testing.T) {
	log := newLedgerLog(t)
	var options reload.LogOptions[ledger]
	pooltest.WantPanic(t, "reload: NewLog with a nil Log", func() { reload.NewLog((*ledgerLog)(nil), new(history), decodeLedger, options) })
	pooltest.WantPanic(t, "reload: NewLog with a nil Source", func() { reload.NewLog(log, nil, decodeLedger, options) })
	pooltest.WantPanic(t, "reload: NewLog with a nil decode", func() { reload.NewLog(log, new(history), nil, options) })
	reload.NewLog(log, new(history), decodeLedger, options)
	pooltest.WantPanic(t, "reload: NewLog of a Log that another Reloader has", func() { reload.NewLog(log, new(history), decodeLedger, options) })
}

// TestDeltasOfWrappedSources: each wrapper translates the revisions.
func TestDeltasOfWrappedSources(t *testing.T) {
	for name, wrap := range map[string]func(h *history) reload.Source{
		"Wrapper":  func(h *history) reload.Source { return reload.Wrapper{Source: h} },
		"Fallback": func(h *history) reload.Source { return reload.Fallback(sourceFunc(unavailable), h) },
		"Cache":    func(h *history) reload.Source { return reload.Cache(h, t.TempDir()) },
		"all": func(h *history) reload.Source {
			return reload.Wrapper{Source: reload.Fallback(sourceFunc(unavailable), reload.Cache(h, t.TempDir()))}
		},
	} {
		const many = "111111111111111111111111" // a Cache keeps deltas of a quarter of it
		h := new(history)
		h.release(map[string]string{"a": "1", "b": many})
		log := newLedgerLog(t)
		r := reload.NewLog(log, wrap(h), decodeLedger, reload.LogOptions[ledger]{Options: reload.Options{Logger: quiet}})
		reloads(t, r, log.Container(), "a 1\nb "+many+"\n")
		h.release(map[string]string{"a": "2", "b": many}, "a 2")
		reloads(t, r, log.Container(), "a 2\nb "+many+"\n")
		h.release(map[string]string{"b": many}, "a")
		reloads(t, r, log.Container(), "b "+many+"\n")
		reloads(t, r, log.Container(), "b "+many+"\n")
		if s := r.Status(); s.Deltas != 2 || s.DeltaErr != nil {
			t.Errorf("%s: the status is %+v", name, s)
		}
	}
}

func unavailable(context.Context, string) (*reload.Content, error) {
	return nil, errors.New("unavailable")
}

// TestChecksTakeNoDeltas: the sum beside content is that of the whole.
func TestChecksTakeNoDeltas(t *testing.T) {
	h := new(history)
	sums := sourceFunc(func(context.Context, string) (*reload.Content, error) {
		sum := sumOf(h.releases[len(h.releases)-1].whole)
		return &reload.Content{Revision: "sum", Size: -1, Body: io.NopCloser(strings.NewReader(fmt.Sprintf("%x", sum)))}, nil
	})
	h.release(map[string]string{"a": "1"})
	log := newLedgerLog(t)
	r := reload.NewLog(log, reload.VerifySHA256(h, sums), decodeLedger, reload.LogOptions[ledger]{Options: reload.Options{Logger: quiet}})
	reloads(t, r, log.Container(), "a 1\n")
	h.release(map[string]string{"a": "2"}, "a 2")
	if failure := failsWith(t, r, reload.Fetching); !strings.Contains(failure.Error(), "history gave a delta, which no SHA-256 can check") {
		t.Error(failure)
	}
	h.snapshot = 1
	reloads(t, r, log.Container(), "a 2\n")
	if want := []string{"", "", ""}; !slices.Equal(h.asked, want) {
		t.Errorf("Fetch had the bases %q, want %q", h.asked, want)
	}
}

// TestJoinHasNoDeltas: it fetches all parts.
func TestJoinHasNoDeltas(t *testing.T) {
	h := new(history)
	h.release(map[string]string{"a": "1"})
	log := newLedgerLog(t)
	r := reload.NewLog(log, reload.Join(h, &history{releases: []step{{whole: "z 1\n"}}}), func(_ context.Context, content *reload.Content) iter.Seq2[entry, error] {
		return func(yield func(entry, error) bool) {
			for _, part := range content.Parts {
				decodeLedger(t.Context(), part)(yield)
			}
		}
	}, reload.LogOptions[ledger]{Options: reload.Options{Logger: quiet}})
	reloads(t, r, log.Container(), "a 1\nz 1\n")
	h.release(map[string]string{"a": "2"}, "a 2")
	h.snapshot = 1
	reloads(t, r, log.Container(), "a 2\nz 1\n")
	if s := r.Status(); s.Deltas != 0 || s.Swaps != 2 {
		t.Errorf("the status is %+v", s)
	}
}
