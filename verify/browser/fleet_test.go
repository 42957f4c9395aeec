package browser_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// guest is a person in front of the page.
type guest struct {
	*tab
	d *daemon
}

// newGuest returns a guest who opens a page.
func newGuest(t *testing.T, d *daemon, page string) *guest {
	t.Helper()
	g := &guest{newTab(t), d}
	g.opens(d.url + page)
	return g
}

// watching returns a daemon with a publication of asn, its revision, and alice, who
// is logged in and sees the page of asn.
func watching(t *testing.T) (d *daemon, revision string, g *guest) {
	t.Helper()
	d = newDaemon(t)
	revision = d.publish(d.publisher("asn"), "one", "the first")
	g = newGuest(t, d, "/fleet?name=asn")
	g.logIn("alice") // leads back to the page
	g.shows("This page follows by itself.")
	return d, revision, g
}

func (g *guest) logIn(by string) {
	g.t.Helper()
	g.do(chromedp.SendKeys(css("[name=by]"), by), chromedp.SendKeys(css("[name=password]"), g.d.secret("admin")))
	g.loads(chromedp.Click(css(".login button")))
}

// css returns the element of a selector. A search for the selector could find the
// style of the page.
func css(selector string) chromedp.JSPath {
	return chromedp.JSPath(fmt.Sprintf("document.querySelector(%q)", selector))
}

// element returns an element in the form of an action.
func element(action, rest string) chromedp.JSPath {
	return css(fmt.Sprintf("[data-do=%s] %s", action, rest))
}

// turns opens the form of an action, or closes it.
func (g *guest) turns(action string) {
	g.t.Helper()
	g.do(chromedp.Click(css(fmt.Sprintf("summary:has(+ [data-do=%s])", action))))
}

// steers fills the form of an action that is open and sends it.
func (g *guest) steers(action, why string) {
	g.t.Helper()
	g.do(chromedp.SendKeys(element(action, "[name=why]"), why))
	g.loads(chromedp.Click(element(action, "button")))
}

// choose sets the value of a field.
func (g *guest) choose(action, field, value string) {
	g.t.Helper()
	got := run[string](g.tab, fmt.Sprintf("(() => { const e = %s; e.value = %q; return e.value })()", element(action, "[name="+field+"]"), value))
	if got != value {
		g.t.Fatalf("the field %s of %s does not take %q", field, action, value)
	}
}

// quiet fails the test if the tab asked for anything but this server's pages, or
// anything reached the console but messages that have this text.
func (g *guest) quiet(expected string) {
	g.t.Helper()
	g.wantQuiet(func(address string) bool {
		return strings.HasPrefix(address, g.d.url+"/") && !strings.Contains(address, g.d.secret("admin"))
	}, expected)
}

func TestFleetIsWatchedAndSteered(t *testing.T) {
	d := newDaemon(t)
	p := d.publisher("asn/eu")
	g := newGuest(t, d, "")
	g.look(1400, "light")
	g.logIn("alice")
	g.shows("Nothing was published yet.")

	one := d.publish(p, "one", "the first tables")
	g.opens(d.url)
	g.shows("No replica reports.")
	g.loads(chromedp.Click(css(".fleets a")))
	g.shows("This page follows by itself.")
	run[bool](g.tab, "window.same = true") // until the page is loaded again

	texts := map[string]func() string{}
	for _, id := range []string{"web-1.example.org", "web-2.example.org", "web-3.example.org"} {
		texts[id] = d.replica("asn/eu", id)
	}
	g.shows("All 3 replicas run what they should.")
	two := d.publish(p, "two", "tables of today")
	g.shows("Replicas are to run " + two)
	g.shows("All 3 replicas run what they should.")
	for id, text := range texts {
		if text() != "two" {
			t.Errorf("%s runs %q", id, text())
		}
	}
	three := d.storeContent(p, "three")
	g.shows(three)
	if !run[bool](g.tab, "window.same === true") {
		t.Error("the page was loaded again")
	}

	g.turns("canary")
	g.choose("canary", "revision", three)
	g.steers("canary", "a new format")
	g.shows("A canary is being tried. 3 of 3 replicas run what they should.")
	g.shows("1 of 1 run it")
	g.shows("2 of 2 run it")
	running := map[string]int{}
	for _, text := range texts {
		running[text()]++
	}
	if running["two"] != 2 || running["three"] != 1 {
		t.Errorf("the replicas run %v", running)
	}

	g.turns("rollback")
	g.steers("rollback", "too many misses")
	g.shows("All 3 replicas run what they should.")
	for id, text := range texts {
		if text() != "two" {
			t.Errorf("after the rollback %s runs %q", id, text())
		}
	}
	for _, text := range []string{"nightly build published", "the first tables", "alice began a canary", "a new format", "alice rolled back", "too many misses", one} {
		g.shows(text)
	}
	g.quiet("")
	g.loads(chromedp.Click(css("header button")))
	g.shows("Password of the administrator")
}
