package browser_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/poolswap/poolswap/reload"
)

// longName and longHash have no place where a line would break by itself.
var (
	longName = "https://example.org/" + strings.Repeat("a-very-long-folder/", 8) + strings.Repeat("x", 80) + ".csv"
	longHash = strings.Repeat("0123456789abcdef", 8) + "-"
)

// errLong is as long, and has a second line.
var errLong = errors.New("Get \"" + longName + "\": no route to host\n" + strings.Repeat("second line ", 40))

// states are what the page can have to tell.
var states = []struct {
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

// view is what a person sees, in figures.
type view struct {
	Headline, Class, Text     string
	Background                string
	ClientWidth, ScrollWidth  int
	Texts                     int // that were looked at
	Contrast                  float64
	LeastOf                   string // the text with the least contrast
	ClippedText, ClippedWhere string // a text that leaves the screen
}

// measure opens what is folded and returns a view. Contrast is that of WCAG 2.2,
// of each text with the first background behind it.
const measure = `(() => {
	for (const d of document.querySelectorAll("details")) d.open = true
	const luminance = color => {
		const [r, g, b] = color.match(/[\d.]+/g).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
		return 0.2126 * r + 0.7152 * g + 0.0722 * b
	}
	const behind = e => {
		for (; e; e = e.parentElement) {
			const color = getComputedStyle(e).backgroundColor
			if (color !== "rgba(0, 0, 0, 0)") return color
		}
		return "rgb(255, 255, 255)"
	}
	const view = {texts: 0, contrast: 21, leastOf: "", clippedText: "", clippedWhere: ""}
	const look = (e, text, color) => {
		view.texts++
		const [dark, light] = [luminance(color), luminance(behind(e))].sort((a, b) => a - b)
		const contrast = (light + 0.05) / (dark + 0.05)
		if (contrast < view.contrast) [view.contrast, view.leastOf] = [contrast, text]
	}
	for (const e of document.body.querySelectorAll("*")) {
		if (!e.checkVisibility()) continue
		const label = getComputedStyle(e, "::before")
		if (label.content !== "none") look(e, label.content, label.color)
		const text = [...e.childNodes].filter(n => n.nodeType === Node.TEXT_NODE).map(n => n.data.trim()).join(" ").trim()
		if (!text) continue
		look(e, text, getComputedStyle(e).color)
		const box = e.getBoundingClientRect()
		if (box.left < 0 || box.right > document.documentElement.clientWidth) [view.clippedText, view.clippedWhere] = [text, box.left + " to " + box.right]
	}
	const headline = document.querySelector(".state")
	return Object.assign(view, {
		headline: headline.innerText, class: headline.classList[1], text: document.body.innerText,
		background: getComputedStyle(document.body).backgroundColor,
		clientWidth: document.documentElement.clientWidth, scrollWidth: document.documentElement.scrollWidth,
	})
})()`

// wantReadable fails the test unless the page is as wide as the screen, and its
// texts stand out.
func (v *view) wantReadable(t *testing.T, width int) {
	t.Helper()
	if v.ClientWidth != width {
		t.Errorf("the page is laid out for %d px, want %d", v.ClientWidth, width)
	}
	if v.ScrollWidth > v.ClientWidth {
		t.Errorf("the page is %d px wide, of which %d are seen", v.ScrollWidth, v.ClientWidth)
	}
	if v.ClippedText != "" {
		t.Errorf("%.60q goes from %s px", v.ClippedText, v.ClippedWhere)
	}
	if v.Texts < 10 {
		t.Errorf("only %d texts", v.Texts)
	}
	if v.Contrast < 4.5 {
		t.Errorf("contrast %.2f, of %.60q, want 4.5", v.Contrast, v.LeastOf)
	}
}

// wantInEachLook opens the page on a phone and on a wide screen, in light and in
// dark, and has check look at each.
func wantInEachLook(t *testing.T, tab *tab, address string, check func(t *testing.T, v *view)) {
	t.Helper()
	for _, width := range []int{390, 1400} {
		backgrounds := map[string]string{}
		for _, scheme := range []string{"light", "dark"} {
			t.Run(fmt.Sprintf("%d px, %s", width, scheme), func(t *testing.T) {
				tab.look(t, int64(width), scheme)
				tab.do(t, chromedp.Navigate(address))
				v := run[view](t, tab, measure)
				v.wantReadable(t, width)
				check(t, &v)
				backgrounds[scheme] = v.Background
			})
		}
		if backgrounds["light"] == backgrounds["dark"] {
			t.Errorf("%d px: the background is %s in light and in dark", width, backgrounds["light"])
		}
	}
}

func TestThePageIsReadableInEachState(t *testing.T) {
	t.Parallel()
	for _, state := range states {
		t.Run(state.name, func(t *testing.T) {
			s := newService(t, &origin{name: longName, prefix: longHash}, plain)
			state.do(s)
			wantState(t, s, state.class, state.headline, state.says)
		})
	}
}

// The origin is down when the service starts again.
func TestThePageSaysThatContentIsFromTheCache(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cached := func(source reload.Source) reload.Source { return reload.Cache(source, dir) }
	newService(t, &origin{name: longName, prefix: longHash}, cached).push("one")
	s := newService(t, &origin{name: longName, prefix: longHash}, cached)
	s.fail(errLong)
	wantState(t, s, "stale", "The content is from the cache: the source could not be asked.", "no route to host")
}

func wantState(t *testing.T, s *service, class, headline, says string) {
	t.Helper()
	site, tab := newSite(t, s.reloader), newTab(t)
	address := site.url + "/status?renew=no"
	wantInEachLook(t, tab, address, func(t *testing.T, v *view) {
		t.Helper()
		if v.Class != class || v.Headline != headline {
			t.Errorf("the page says %s: %q, want %s: %q", v.Class, v.Headline, class, headline)
		}
		if !strings.Contains(v.Text, says) {
			t.Errorf("the page does not say %q:\n%s", says, v.Text)
		}
	})
	tab.wantQuiet(t, address)
	if all := site.all(); len(all) != 1 {
		t.Errorf("the site was asked for %q", all)
	}
}
