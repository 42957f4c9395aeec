package browser_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/reload"
)

// longName and longHash have no place where a line would break by itself.
var (
	longName = "https://example.org/" + strings.Repeat("a-very-long-folder/", 8) + strings.Repeat("x", 80) + ".csv"
	longHash = strings.Repeat("0123456789abcdef", 8) + "-"
)

// errLong is as long, and has a second line.
var errLong = errors.New("Get \"" + longName + "\": no route to host\n" + strings.Repeat("second line ", 40))

// statuses are the states that the page can show.
var statuses = []struct {
	name            string
	class, headline string
	says            string // besides
	do              func(s *service)
}{
	{"nothing was tried", "empty", "Nothing is loaded yet.", "when the program calls Reload", func(*service) {}},
	{"the newest content is loaded", "fresh", "The newest content is loaded.", "Readers hold no old version.", func(s *service) {
		s.push("one")
	}},
	{"the source is down", "stale", "The source cannot be read. Version 1 stays.", "no route to host", func(s *service) {
		s.push("one")
		s.fail(errLong)
		s.reload()
	}},
	{"new content was refused", "refused", "The newest content was refused. Version 1 stays.", "Refused revision", func(s *service) {
		s.push("one")
		s.push("bad row " + strings.Repeat("0123456789", 30))
	}},
	{"load panicked", "failing", "The newest content was refused. Nothing is loaded.", "no such column", func(s *service) {
		s.push("panic")
	}},
	{"a reader holds an old version", "fresh", "The newest content is loaded.", "Readers hold one old version, for", func(s *service) {
		s.push("one")
		s.hold()
		s.push("two")
	}},
	{"there is a history", "fresh", "The newest content is loaded.", "Readers hold 2 old versions, the oldest for", func(s *service) {
		s.push("one")
		s.hold()
		s.push(strings.Repeat("two", 1<<20))
		s.hold()
		for i := range 7 {
			s.fail(errLong)
			s.push(fmt.Sprint("bad ", i))
		}
		s.push("three")
	}},
}

func TestStatusIsReadableInEachState(t *testing.T) {
	t.Parallel()
	for _, state := range statuses {
		t.Run(state.name, func(t *testing.T) {
			s := newService(t, &origin{name: longName, prefix: longHash}, plain)
			state.do(s)
			s.looksWell(state.class, state.headline, state.says)
		})
	}
}

// The origin is down when the service starts again.
func TestStatusOfContentFromTheCache(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cached := func(source reload.Source) reload.Source { return reload.Cache(source, dir) }
	newService(t, &origin{name: longName, prefix: longHash}, cached).push("one")
	s := newService(t, &origin{name: longName, prefix: longHash}, cached)
	s.fail(errLong)
	s.looksWell("stale", "The content is from the cache: the source could not be asked.", "no route to host")
}

func (s *service) looksWell(class, headline string, texts ...string) {
	s.t.Helper()
	s.wantInEachLook(s.page+"?renew=no", class, headline, texts...)
	s.wantQuiet(s.only("?renew=no"), "")
}
