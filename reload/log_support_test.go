package reload_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/oplog"
	"github.com/poolswap/poolswap/oplog/lthash"
	"github.com/poolswap/poolswap/reload"
)

// ledger is the object of the tests of NewLog.
type ledger struct {
	poolswap.Ref
	rows map[string]string
	hash lthash.Hash // of rows
}

// set sets a row, or deletes it if value is "".
func (l *ledger) set(key, value string) {
	if old, ok := l.rows[key]; ok {
		l.hash.Remove(lthash.AppendRow(nil, key, old))
		delete(l.rows, key)
	}
	if value != "" {
		l.hash.Add(lthash.AppendRow(nil, key, value))
		l.rows[key] = value
	}
}

func (l *ledger) digest() [sha256.Size]byte { return l.hash.Sum() }

// stateOf returns the digest of rows, as whole content has them.
func stateOf(whole string) string {
	var h lthash.Hash
	for line := range strings.Lines(whole) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		h.Add(lthash.AppendRow(nil, key, value))
	}
	return fmt.Sprintf("%x", h.Sum())
}

type (
	ledgerLog = oplog.Log[ledger, *ledger, entry]
	ledgers   = poolswap.Container[ledger, *ledger]
)

// entry sets a row, or deletes it if value is "".
type entry struct{ key, value string }

var errNoRow = errors.New("no such row")

func newLedgerLog(t testing.TB) *ledgerLog {
	t.Helper()
	log, err := oplog.New(oplog.Options[ledger, entry]{
		New: func() *ledger { return &ledger{rows: map[string]string{}} },
		Apply: func(l *ledger, e entry) error {
			if _, ok := l.rows[e.key]; !ok && e.value == "" {
				return fmt.Errorf("%s: %w", e.key, errNoRow)
			}
			l.set(e.key, e.value)
			return nil
		},
		Copy:  func(dst, src *ledger) error { dst.rows, dst.hash = maps.Clone(src.rows), src.hash; return nil },
		Reset: func(l *ledger) { clear(l.rows); l.hash = lthash.Hash{} },
	})
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// decodeLedger yields a row for each line "key value", and a deletion for "key".
func decodeLedger(_ context.Context, content *reload.Content) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		lines := bufio.NewScanner(content.Body)
		for lines.Scan() {
			key, value, _ := strings.Cut(lines.Text(), " ")
			var err error
			if key == "" || value == "" && content.Base == "" {
				err = fmt.Errorf("bad row %q", lines.Text())
			}
			if !yield(entry{key, value}, err) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(entry{}, err)
		}
	}
}

// rowsOf returns the rows that readers see, as text.
func rowsOf(c *ledgers) string {
	obj := c.Acquire()
	defer c.Release(obj)
	if obj == nil {
		return ""
	}
	return ledgerText(obj.rows)
}

// ledgerText returns rows as whole content has them.
func ledgerText(rows map[string]string) string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		fmt.Fprintf(&b, "%s %s\n", key, rows[key])
	}
	return b.String()
}

// history is a Source with deltas: whole content by revision, and the changes between
// two that follow each other.
type history struct {
	releases []step
	forget   int  // deltas of earlier releases are gone
	states   bool // content has a State
	snapshot int  // the newest release of which there is whole content; later ones are a chain

	broken func(content *reload.Content, text []byte) // if not nil, does something to content
	asked  []string                                   // the bases of all fetches
}

type step struct{ whole, delta, state string }

func (h *history) revision(i int) string { return fmt.Sprintf("r%d", i) }

func (h *history) number(revision string) int {
	var i int
	if n, _ := fmt.Sscanf(revision, "r%d", &i); n == 0 || i >= len(h.releases) {
		return -1
	}
	return i
}

// Fetch implements reload.Source.
func (h *history) Fetch(ctx context.Context, have string) (*reload.Content, error) {
	base, newest := reload.DeltaBase(ctx), len(h.releases)-1
	h.asked = append(h.asked, base)
	if have == h.revision(newest) {
		return nil, reload.ErrNotModified
	}
	if from := h.number(base); from >= h.forget && from < newest {
		return h.chain(h.revision(from), nil, from+1), nil
	}
	return h.chain("", []*reload.Content{h.content("", h.snapshot, h.releases[h.snapshot].whole)}, h.snapshot+1), nil
}

// chain returns contents with the deltas from a release on.
func (h *history) chain(base string, contents []*reload.Content, from int) *reload.Content {
	for i := from; i < len(h.releases); i++ {
		contents = append(contents, h.content(cmp.Or(base, h.revision(i-1)), i, h.releases[i].delta))
		base = ""
	}
	if len(contents) == 1 {
		return contents[0]
	}
	all := &reload.Content{Revision: contents[len(contents)-1].Revision, Base: contents[0].Base, Size: -1, Parts: contents}
	bodies := make([]io.Reader, len(contents))
	for i, content := range contents {
		bodies[i] = content.Body
	}
	all.Body = io.NopCloser(io.MultiReader(bodies...))
	return all
}

func (h *history) content(base string, i int, text string) *reload.Content {
	sum := sha256.Sum256([]byte(text))
	content := &reload.Content{
		Revision: h.revision(i), Base: base, Size: int64(len(text)), Body: io.NopCloser(strings.NewReader(text)),
		Modified: time.Unix(int64(1e9+i), 0),
		Verify: func(got [sha256.Size]byte) error {
			if got != sum {
				return errors.New("another digest")
			}
			return nil
		},
	}
	if h.states {
		release := &h.releases[i]
		if release.state == "" {
			release.state = stateOf(release.whole)
		}
		content.State = release.state
	}
	if h.broken != nil {
		h.broken(content, bytes.Clone([]byte(text)))
	}
	return content
}

// String implements fmt.Stringer.
func (h *history) String() string { return "history" }

// release adds a release: rows, and the lines that make them of those before.
func (h *history) release(rows map[string]string, delta ...string) {
	h.releases = append(h.releases, step{whole: ledgerText(rows), delta: lines(delta...)})
}

func lines(all ...string) string {
	if len(all) == 0 {
		return ""
	}
	return strings.Join(all, "\n") + "\n"
}

// following returns a history of one release of two rows, and a Reloader of it.
func following(t testing.TB, options reload.LogOptions[ledger]) (*history, *reload.Reloader, *ledgers) {
	t.Helper()
	h := &history{states: options.Digest != nil}
	h.release(map[string]string{"a": "1", "b": "1"})
	log := newLedgerLog(t)
	if options.Logger == nil {
		options.Logger = quiet
	}
	return h, reload.NewLog(log, h, decodeLedger, options), log.Container()
}
