package reload_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/reload"
)

// digested are the options of a Reloader that compares the digest of the rows.
func digested() reload.LogOptions[ledger] {
	return reload.LogOptions[ledger]{Options: reload.Options{Logger: quiet}, Digest: (*ledger).digest}
}

// retext gives content another text, as its publisher would sign it.
func retext(content *reload.Content, text string) {
	content.Verify, content.Size, content.Body = nil, int64(len(text)), io.NopCloser(strings.NewReader(text))
}

// wrongDeltas makes each delta to another text. Whole content stays.
func (h *history) wrongDeltas(text string) {
	h.broken = func(content *reload.Content, _ []byte) {
		if content.Base != "" {
			retext(content, text)
		}
	}
}

// TestWrongDeltaIsFollowedByWholeContent: each of its bytes is as signed, each of its
// operations fits, and the rows would be other ones than those of the publisher.
func TestWrongDeltaIsFollowedByWholeContent(t *testing.T) {
	for name, delta := range map[string]string{
		"another value":    "a 3\n",
		"a row too many":   "a 2\nc 1\n",
		"no row at all":    "",
		"another key":      "b 2\n",
		"a row is deleted": "a 2\nb\n",
	} {
		t.Run(name, func(t *testing.T) {
			h, r, c := following(t, digested())
			reloads(t, r, c, "a 1\nb 1\n")
			h.release(map[string]string{"a": "2", "b": "1"}, "a 2")
			h.snapshot = 1
			h.wrongDeltas(delta)
			reloads(t, r, c, "a 2\nb 1\n")
			s := r.Status()
			if s.DeltaErr == nil || !strings.Contains(s.DeltaErr.Error(), "it leads to other rows than those of its publisher: their digest is ") {
				t.Errorf("the delta did not fit because of %v", s.DeltaErr)
			}
			var failure *reload.Error
			if !errors.As(s.DeltaErr, &failure) || failure.Stage != reload.Verifying {
				t.Errorf("the stage is %v", s.DeltaErr)
			}
			h.broken = nil
			h.release(map[string]string{"a": "2"}, "b")
			reloads(t, r, c, "a 2\n")
			if s := r.Status(); s.Deltas != 1 {
				t.Errorf("%d deltas, want the one after", s.Deltas)
			}
		})
	}
}

// TestWrongWholeContentIsRefused, and not fetched again: each byte is that of the source.
// So is a chain with a wrong delta.
func TestWrongWholeContentIsRefused(t *testing.T) {
	for _, chain := range []bool{false, true} {
		h, r, c := following(t, digested())
		reloads(t, r, c, "a 1\nb 1\n")
		h.release(map[string]string{"a": "2", "b": "1"}, "a 2")
		if !chain {
			h.snapshot = 1
		}
		h.broken = func(content *reload.Content, text []byte) { retext(content, string(text)+"a 3\n") }
		if failure := failsWith(t, r, reload.Verifying); !failure.Refused || failure.Revision != "r1" {
			t.Error(failure)
		}
		if got := rowsOf(c); got != "a 1\nb 1\n" {
			t.Errorf("readers get %q", got)
		}
		asked := len(h.asked)
		if err := r.Reload(t.Context()); err == nil || r.Status().Refused != "r1" || len(h.asked) != asked+1 {
			t.Errorf("%v, %+v", err, r.Status())
		}
		h.broken = nil
		h.release(map[string]string{"a": "4"}, "a 4", "b")
		reloads(t, r, c, "a 4\n")
	}
}

// TestContentWithoutState is compared with nothing.
func TestContentWithoutState(t *testing.T) {
	h, r, c := following(t, digested())
	h.broken = func(content *reload.Content, _ []byte) { content.State = "" }
	reloads(t, r, c, "a 1\nb 1\n")
	h.release(map[string]string{"a": "2", "b": "1"}, "a 2")
	reloads(t, r, c, "a 2\nb 1\n")
	h.release(map[string]string{"a": "2", "b": "1"})
	reloads(t, r, c, "a 2\nb 1\n")
	if s := r.Status(); s.Deltas != 1 || s.Revision != "r2" {
		t.Errorf("%+v", s)
	}
}

// TestKeptRowsAreComparedAgain: a start with another program, whose decode leaves out a
// row, does not serve the rows that a Cache has kept. Nor are they refused: the origin is
// asked.
func TestKeptRowsAreComparedAgain(t *testing.T) {
	c := newChained(t)
	c.states = true
	r, readers := c.start()
	reloads(t, r, readers, ledgerText(c.rows))
	for _, value := range []string{"2", "3"} {
		c.set(value)
		reloads(t, r, readers, ledgerText(c.rows))
	}
	c.down = true
	r, readers = c.start()
	reloads(t, r, readers, ledgerText(c.rows))

	careless := func(ctx context.Context, content *reload.Content) iter.Seq2[entry, error] {
		return func(yield func(entry, error) bool) {
			for op, err := range decodeLedger(ctx, content) {
				if op.key != "row7" && !yield(op, err) {
					return
				}
			}
		}
	}
	log := newLedgerLog(t)
	source := named{sourceFunc(unavailable), "history"}
	r = reload.NewLog(log, reload.Cache(source, c.dir), careless, digested())
	err := r.Reload(t.Context())
	if err == nil || rowsOf(log.Container()) != "" || r.Status().Refused != "" {
		t.Errorf("%v, %+v, and readers get %.200q", err, r.Status(), rowsOf(log.Container()))
	}
	if events := r.Status(); events.TotalFailures != 2 { // of the kept content, and of the origin
		t.Errorf("%+v", events)
	}
}
