package browser_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// markup would run, and load, if it were taken for HTML.
const markup = `<script>alert(1)</script><img src="/stolen" onerror="alert(2)">`

func TestStatusShowsMarkupAsText(t *testing.T) {
	t.Parallel()
	s := newService(t, &origin{name: "origin " + markup, prefix: "revision " + markup}, plain)
	s.push("one")
	s.push("bad " + markup)
	s.fail(errors.New("error " + markup + "\nmore " + markup))
	var texts []string
	for _, before := range []string{"origin ", "revision ", "bad ", "error ", "more "} {
		texts = append(texts, before+markup)
	}
	s.looksWell("refused", "The source cannot be read. Version 1 stays.", texts...)
	if n := run[int](s.tab, `document.querySelectorAll("script, img, body > :not(h1, h2, p, dl, table, footer)").length`); n > 0 {
		t.Errorf("%d elements came from texts", n)
	}
}

// The policy stops markup from elsewhere that loads or runs anything.
func TestStatusPolicy(t *testing.T) {
	t.Parallel()
	s := newService(t, &origin{name: "origin"}, plain)
	s.opens(s.page + "?renew=no")
	run[bool](s.tab, `document.body.insertAdjacentHTML("beforeend", '<img src="/stolen"><p onclick="alert(1)">'), document.querySelector("p:last-child").click(), true`)
	if fetched := run[bool](s.tab, `fetch("/status?format=json").then(() => true, () => false)`, chromedp.EvalAwaitPromise); fetched {
		t.Error("the page can fetch")
	}
	s.wantBlocked("img-src", "script-src", "connect-src")
}

func TestStatusRenewsItself(t *testing.T) {
	t.Parallel()
	s := newService(t, &origin{name: "origin"}, plain)
	s.push("one")
	s.opens(s.page)
	if text := s.text(); !strings.Contains(text, "1, loaded") {
		t.Fatalf("the page does not show version 1:\n%s", text)
	}
	s.push("two")
	s.loads(chromedp.Func(func(context.Context, *chromedp.Target) error { return nil }))
	if text := s.text(); !strings.Contains(text, "2, loaded") {
		t.Errorf("the renewed page does not show version 2:\n%s", text)
	}
	s.wantQuiet(s.only(""), "")
}

func TestStatusLinks(t *testing.T) {
	t.Parallel()
	s := newService(t, &origin{name: "origin"}, plain)
	s.push("one")
	s.opens(s.page)
	follow := func(link, leads string) {
		t.Helper()
		s.loads(chromedp.Click(chromedp.JSPath(`[...document.links].find(a => a.innerText === "` + link + `")`)))
		if at := run[string](s.tab, `location.href`); at != s.page+leads {
			t.Errorf("%s leads to %s, want %s", link, at, s.page+leads)
		}
	}
	follow("Stop that", "?renew=no")
	follow("Renew it", "?")
	s.wantQuiet(s.only("", "?renew=no", "?"), "")
	follow("JSON", "?format=json")
	var status struct {
		State   string
		Version uint64
	}
	if err := json.Unmarshal([]byte(run[string](s.tab, `document.querySelector("pre").textContent`)), &status); err != nil {
		t.Fatal(err)
	}
	if status.State != "fresh" || status.Version != 1 {
		t.Errorf("the JSON says %+v", status)
	}
}
