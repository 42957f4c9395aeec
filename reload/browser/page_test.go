package browser_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/poolswap/poolswap/reload/browser"
)

// markup would run, and load, if it were taken for HTML.
const markup = `<script>alert(1)</script><img src="/stolen" onerror="alert(2)">`

func TestTextFromOutsideStaysText(t *testing.T) {
	t.Parallel()
	s := newService(t, &origin{name: "origin " + markup, prefix: "revision " + markup}, plain)
	s.push("one")
	s.push("bad " + markup)
	s.fail(errors.New("error " + markup + "\nmore " + markup))
	site, tab := newSite(t, s.reloader), browser.New(t)
	address := site.url + "/status?renew=no"
	browser.WantInEachLook(t, tab, address, func(t *testing.T, v *browser.View) {
		t.Helper()
		for _, text := range []string{"origin ", "revision ", "bad ", "error ", "more "} {
			if !strings.Contains(v.Text, text+markup) {
				t.Errorf("the page does not show the text that begins with %q", text)
			}
		}
	})
	if n := browser.Run[int](t, tab, `document.querySelectorAll("script, img, body > :not(h1, h2, p, dl, table, footer)").length`); n > 0 {
		t.Errorf("%d elements came from texts", n)
	}
	tab.WantQuiet(t, address)
	if all := site.all(); len(all) != 1 {
		t.Errorf("the site was asked for %q", all)
	}
}

// What a page from elsewhere could load or run is stopped by the policy, and
// wantQuiet would tell.
func TestThePolicyStopsWhatMarkupWouldDo(t *testing.T) {
	t.Parallel()
	s := newService(t, &origin{name: "origin"}, plain)
	site, tab := newSite(t, s.reloader), browser.New(t)
	tab.Do(t, chromedp.Navigate(site.url+"/status?renew=no"))
	browser.Run[bool](t, tab, `document.body.insertAdjacentHTML("beforeend", '<img src="/stolen"><p onclick="alert(1)">'), document.querySelector("p:last-child").click(), true`)
	if fetched := browser.Run[bool](t, tab, `fetch("/status?format=json").then(() => true, () => false)`, chromedp.EvalAwaitPromise); fetched {
		t.Error("the page can fetch")
	}
	if all := site.all(); len(all) != 1 {
		t.Errorf("the site was asked for %q", all)
	}
	trouble := strings.Join(tab.Troubles(), "\n")
	for _, directive := range []string{"img-src", "script-src", "connect-src"} {
		if !strings.Contains(trouble, directive) {
			t.Errorf("the console says nothing of %s:\n%s", directive, trouble)
		}
	}
}

func TestThePageRenewsItself(t *testing.T) {
	t.Parallel()
	s := newService(t, &origin{name: "origin"}, plain)
	s.push("one")
	site, tab := newSite(t, s.reloader), browser.New(t)
	address := site.url + "/status"
	tab.Do(t, chromedp.Navigate(address))
	if text := browser.Run[string](t, tab, `document.body.innerText`); !strings.Contains(text, "1, loaded") {
		t.Fatalf("the page does not show version 1:\n%s", text)
	}
	s.push("two")
	nothing := chromedp.Func(func(context.Context, *chromedp.Target) error { return nil })
	if _, err := chromedp.Run(tab.Ctx, chromedp.WaitEvent(page.LoadEventFired, nil, nothing)); err != nil {
		t.Fatal("the page is not loaded again: ", err)
	}
	if text := browser.Run[string](t, tab, `document.body.innerText`); !strings.Contains(text, "2, loaded") {
		t.Errorf("the renewed page does not show version 2:\n%s", text)
	}
	tab.WantQuiet(t, address)
}

func TestTheLinksLeadToTheOtherViews(t *testing.T) {
	t.Parallel()
	s := newService(t, &origin{name: "origin"}, plain)
	s.push("one")
	site, tab := newSite(t, s.reloader), browser.New(t)
	tab.Do(t, chromedp.Navigate(site.url+"/status"))
	follow := func(link, leads string) {
		t.Helper()
		click := chromedp.Click(chromedp.JSPath(`[...document.links].find(a => a.innerText === "` + link + `")`))
		if _, err := chromedp.Run(tab.Ctx, chromedp.WaitEvent(page.LoadEventFired, nil, click)); err != nil {
			t.Fatal(err)
		}
		if at := browser.Run[string](t, tab, `location.href`); at != site.url+leads {
			t.Errorf("%s leads to %s, want %s", link, at, leads)
		}
	}
	follow("Stop that", "/status?renew=no")
	follow("Renew it", "/status?")
	tab.WantQuiet(t, site.url+"/status", site.url+"/status?renew=no", site.url+"/status?")
	follow("JSON", "/status?format=json") // for which a browser may want an icon
	var status struct {
		State   string
		Version uint64
	}
	if err := json.Unmarshal([]byte(browser.Run[string](t, tab, `document.querySelector("pre").textContent`)), &status); err != nil {
		t.Fatal(err)
	}
	if status.State != "fresh" || status.Version != 1 {
		t.Errorf("the JSON says %+v", status)
	}
}
