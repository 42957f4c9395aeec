package browser_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/poolswap/poolswap/fleet"
)

// guest is a person in front of the page.
type guest struct {
	*tab
	d     *daemon
	token string // "" before the login
}

// newGuest returns a guest who opens a page.
func newGuest(t *testing.T, d *daemon, page string) *guest {
	t.Helper()
	g := &guest{tab: newTab(t), d: d}
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
	g.logIn(fleet.OperatorRole) // leads back to the page
	g.shows("This page follows by itself.")
	return d, revision, g
}

// logIn logs in as alice.
func (g *guest) logIn(role fleet.Role) {
	g.t.Helper()
	g.token = g.d.token("alice", role)
	g.do(chromedp.SendKeys(css("[name=token]"), g.token))
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

// clicks clicks at an element of a part that follows: the mouse could miss it, since
// the page may replace it on the way.
func (g *guest) clicks(element string) {
	g.t.Helper()
	run[bool](g.tab, element+".click(), true")
}

// follows follows the link that has a text.
func (g *guest) follows(text string) {
	g.t.Helper()
	g.loadsBy(fmt.Sprintf("[...document.links].find(a => a.innerText === %q)", text))
}

// loadsBy clicks at an element that leads to another page.
func (g *guest) loadsBy(element string) {
	g.t.Helper()
	g.loads(chromedp.Func(func(context.Context, *chromedp.Target) error {
		g.clicks(element)
		return nil
	}))
}

// turns opens the form of an action, or closes it.
func (g *guest) turns(action string) {
	g.t.Helper()
	g.clicks(fmt.Sprintf("document.querySelector('summary:has(+ [data-do=%s])')", action))
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
		return strings.HasPrefix(address, g.d.url+"/") && (g.token == "" || !strings.Contains(address, g.token))
	}, expected)
}

func TestFleetIsWatchedAndSteered(t *testing.T) {
	d := newDaemon(t)
	p := d.publisher("asn/eu")
	g := newGuest(t, d, "")
	g.look(1400, "light")
	g.logIn(fleet.OperatorRole)
	g.shows("There is no fleet that your token may see.")

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
	g.shows("All 3 replicas run their planned revision.")
	two := d.publish(p, "two", "tables of today")
	g.shows("Replicas are to run " + two)
	g.shows("All 3 replicas run their planned revision.")
	for id, text := range texts {
		if text() != "two" {
			t.Errorf("%s runs %q", id, text())
		}
	}
	three := d.storeContent(p, "three")
	g.eventually(func() string { return run[string](g.tab, "document.body.innerHTML") }, three) // the forms offer it
	if !run[bool](g.tab, "window.same === true") {
		t.Error("the page was loaded again")
	}

	g.turns("canary")
	g.choose("canary", "revision", three)
	g.choose("canary", "percent", "")
	g.choose("canary", "ids", "web-2.example.org")
	g.steers("canary", "a new format")
	g.shows("A canary is being tried. 3 of 3 replicas run their planned revision.")
	g.shows("1 of 1 run it")
	g.shows("2 of 2 run it")
	if texts["web-1.example.org"]() != "two" || texts["web-2.example.org"]() != "three" || texts["web-3.example.org"]() != "two" {
		t.Error("the canary runs elsewhere")
	}
	g.turns("end")
	g.steers("end", "too many misses")
	g.shows("All 3 replicas run their planned revision.")

	g.turns("rollout")
	g.choose("rollout", "revision", three)
	g.choose("rollout", "steps", "30, 60")
	g.choose("rollout", "bake", "0.01")
	g.steers("rollout", "again, with care")
	g.shows("fleetd promoted the canary") // each step has baked
	g.shows("All 3 replicas run their planned revision.")
	for id, text := range texts {
		if text() != "three" {
			t.Errorf("after the rollout %s runs %q", id, text())
		}
	}
	g.follows("History")
	for _, text := range []string{"nightly build published", "the first tables", "alice began a canary", "a new format", "alice rolled back", "too many misses", "alice began a rollout", "fleetd took the next step", one} {
		g.shows(text)
	}
	g.quiet("")
	g.loads(chromedp.Click(css("header button")))
	g.shows("Your token")
}

// A reader finds replicas by state and label, and has no forms.
func TestFleetIsSearched(t *testing.T) {
	d := newDaemon(t)
	d.publish(d.publisher("asn"), "one", "the first")
	for _, id := range []string{"web-1", "web-2", "db-1"} {
		d.replica("asn", id)
	}
	g := newGuest(t, d, "/fleet?name=asn")
	g.logIn(fleet.ReaderRole)
	g.shows("All 3 replicas run their planned revision.")
	g.shows("% errors in ")
	g.do(chromedp.SendKeys(css("[name=find]"), "region=eu, web"))
	g.loadsBy("document.querySelector('.find button')") // the mouse would close the suggestions first
	g.shows("1 to 2 of 2")
	g.follows("running 2")
	g.shows("This page follows by itself.")
	if text := g.text(); !strings.Contains(text, "web-1") || strings.Contains(text, "db-1") || strings.Contains(text, "Steer") {
		t.Errorf("the page shows\n%s", text)
	}
	g.quiet("")
}
