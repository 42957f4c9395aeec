package browser_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/poolswap/poolswap/reload/browser"
)

// guest is a person in front of the page.
type guest struct {
	*browser.Tab
	t *testing.T
	d *daemon
}

func newGuest(t *testing.T, d *daemon) *guest {
	t.Helper()
	return &guest{browser.New(t), t, d}
}

// shows waits until the page shows a text, without loading it again.
func (g *guest) shows(text string) {
	g.t.Helper()
	quoted, err := json.Marshal(text)
	if err != nil {
		g.t.Fatal(err)
	}
	last := ""
	for end := time.Now().Add(hang); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		last = browser.Run[string](g.t, g.Tab, "document.body.innerText")
		if strings.Contains(last, text) {
			return
		}
	}
	g.t.Fatalf("the page does not come to show %s:\n%s\n%q", quoted, last, g.Troubles())
}

// loads takes steps after which the browser has loaded another page.
func (g *guest) loads(steps ...chromedp.Action[chromedp.Void]) {
	g.t.Helper()
	for i, step := range steps {
		if i < len(steps)-1 {
			g.Do(g.t, step)
			continue
		}
		if _, err := chromedp.Run(g.Ctx, chromedp.WaitEvent(page.LoadEventFired, nil, step)); err != nil {
			g.t.Fatal(err, g.Troubles())
		}
	}
}

func (g *guest) logIn(by string) {
	g.t.Helper()
	g.loads(
		chromedp.SendKeys(css("[name=by]"), by),
		chromedp.SendKeys(css("[name=password]"), g.d.secret("admin")),
		chromedp.Click(css(".login button")),
	)
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

// opens opens the form of an action.
func (g *guest) opens(action string) {
	g.t.Helper()
	g.Do(g.t, chromedp.Click(css(fmt.Sprintf("summary:has(+ [data-do=%s])", action))))
}

// steers fills the form of an action that is open and sends it.
func (g *guest) steers(action, why string) {
	g.t.Helper()
	g.loads(chromedp.SendKeys(element(action, "[name=why]"), why), chromedp.Click(element(action, "button")))
}

// choose sets the value of a field.
func (g *guest) choose(action, field, value string) {
	g.t.Helper()
	got := browser.Run[string](g.t, g.Tab, fmt.Sprintf("(() => { const e = %s; e.value = %q; return e.value })()", element(action, "[name="+field+"]"), value))
	if got != value {
		g.t.Fatalf("the field %s of %s does not take %q", field, action, value)
	}
}

// quiet fails the test if the tab asked for anything but this server's pages, or
// anything reached the console but messages that have this text.
func (g *guest) quiet(expected string) {
	g.t.Helper()
	for _, address := range g.Requests() {
		if !strings.HasPrefix(address, g.d.url+"/") {
			g.t.Errorf("the page asks for %s", address)
		}
		if strings.Contains(address, g.d.secret("admin")) {
			g.t.Errorf("the password is in %s", address)
		}
	}
	for _, trouble := range g.Troubles() {
		if expected == "" || !strings.Contains(trouble, expected) {
			g.t.Errorf("in the browser: %s", trouble)
		}
	}
}

func TestAPersonWatchesAndSteersAFleet(t *testing.T) {
	d := newDaemon(t)
	p := d.publisher("asn/eu")
	g := newGuest(t, d)
	g.Look(t, 1400, "light")
	g.Do(t, chromedp.Navigate(d.url))
	g.logIn("alice")
	g.shows("Nothing was published yet.")

	one := d.publish(p, "one", "the first tables")
	g.Do(t, chromedp.Navigate(d.url))
	g.shows("No replica reports.")
	g.loads(chromedp.Click(css(".fleets a")))
	g.shows("This page follows by itself.")
	browser.Run[bool](t, g.Tab, "window.same = true") // until the page is loaded again

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
	if !browser.Run[bool](t, g.Tab, "window.same === true") {
		t.Error("the page was loaded again")
	}

	g.opens("canary")
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

	g.opens("rollback")
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
