package browser_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// hang only turns a hang into a failure.
const hang = 2 * time.Minute

// program returns the browser to use, or "".
func program() string {
	if name := os.Getenv("POOLSWAP_CHROMIUM"); name != "" {
		return name
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// All tests share a browser. The first starts it.
var (
	browser, end = chromedp.NewContext(context.Background(), chromedp.WithAllocatorOptions(chromedp.ExecPath(program())))
	start        = sync.OnceValue(func() error { return chromedp.Do(browser) })
)

// tab is a tab of the browser, with its requests and troubles.
type tab struct {
	t   *testing.T      // the test or subtest that uses the tab
	ctx context.Context // for chromedp

	mu       sync.Mutex
	requests []string
	trouble  []string // lines of the console, exceptions, dialogs
}

// newTab returns a tab. It skips the test if there is no browser.
func newTab(t *testing.T) *tab {
	t.Helper()
	if program() == "" {
		const none = "POOLSWAP_CHROMIUM names no browser, and PATH has no chromium, chromium-browser or google-chrome"
		if os.Getenv("POOLSWAP_NO_SKIP") != "" {
			t.Fatal("POOLSWAP_NO_SKIP is set, but " + none)
		}
		t.Skip(none)
	}
	if err := start(); err != nil {
		t.Fatalf("%s: %v", program(), err)
	}
	tab := &tab{t: t}
	ctx, cancel := context.WithTimeout(browser, hang)
	t.Cleanup(cancel)
	tab.ctx, cancel = chromedp.NewContext(ctx, chromedp.WithListener(tab.listen))
	t.Cleanup(cancel)
	return tab
}

func (tab *tab) listen(event any) {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		tab.requests = append(tab.requests, e.Request.URL)
	case *log.EventEntryAdded:
		tab.trouble = append(tab.trouble, fmt.Sprintf("%s %s: %s", e.Entry.Source, e.Entry.Level, e.Entry.Text))
	case *runtime.EventConsoleAPICalled:
		tab.trouble = append(tab.trouble, fmt.Sprintf("console.%s", e.Type))
	case *runtime.EventExceptionThrown:
		tab.trouble = append(tab.trouble, "exception: "+e.ExceptionDetails.Text)
	case *page.EventJavascriptDialogOpening:
		tab.trouble = append(tab.trouble, fmt.Sprintf("%s: %s", e.Type, e.Message))
	}
}

// subtest runs f as a subtest that uses the tab.
func (tab *tab) subtest(name string, f func()) bool {
	outer := tab.t
	defer func() { tab.t = outer }()
	return outer.Run(name, func(t *testing.T) {
		tab.t = t
		f()
	})
}

func (tab *tab) check(err error) {
	tab.t.Helper()
	if err != nil {
		tab.t.Fatal(err, tab.troubles())
	}
}

// do takes steps in the tab.
func (tab *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	tab.t.Helper()
	tab.check(chromedp.Do(tab.ctx, steps...))
}

// opens opens an address.
func (tab *tab) opens(address string) {
	tab.t.Helper()
	tab.do(chromedp.Navigate(address))
}

// loads takes a step after which the browser has loaded another page.
func (tab *tab) loads(step chromedp.Action[chromedp.Void]) {
	tab.t.Helper()
	_, err := chromedp.Run(tab.ctx, chromedp.WaitEvent(page.LoadEventFired, nil, step))
	tab.check(err)
}

// run returns the value of an expression of JavaScript.
func run[V any](tab *tab, expression string, options ...chromedp.EvaluateOption) V {
	tab.t.Helper()
	value, err := chromedp.Run(tab.ctx, chromedp.Evaluate[V](expression, options...))
	tab.check(err)
	return value
}

// text returns the text of the page.
func (tab *tab) text() string {
	tab.t.Helper()
	return run[string](tab, "document.body.innerText")
}

// eventually waits until text returns a text that has want.
func (tab *tab) eventually(text func() string, want string) {
	tab.t.Helper()
	last := ""
	for end := time.Now().Add(hang); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if last = text(); strings.Contains(last, want) {
			return
		}
	}
	tab.t.Fatalf("there is no %q in\n%s\n%q", want, last, tab.troubles())
}

// shows waits until the page shows a text, without loading it again.
func (tab *tab) shows(text string) {
	tab.t.Helper()
	tab.eventually(tab.text, text)
}

// wantBlocked waits until the console has told that the policy's directives have
// stopped something. No script may have run.
func (tab *tab) wantBlocked(directives ...string) {
	tab.t.Helper()
	console := func() string { return strings.Join(tab.troubles(), "\n") }
	for _, directive := range directives {
		tab.eventually(console, directive)
	}
	if all := console(); strings.Contains(all, "alert: ") {
		tab.t.Errorf("a script ran:\n%s", all)
	}
}

// look makes the tab a phone or a wide screen, light or dark.
func (tab *tab) look(width int64, scheme string) {
	tab.t.Helper()
	viewport := chromedp.EmulateViewport(width, 900)
	if width < 600 {
		viewport = chromedp.EmulateViewport(width, 900, chromedp.EmulatePortrait, chromedp.EmulateMobile)
	}
	tab.do(viewport)
	_, err := chromedp.Call(tab.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
	tab.check(err)
}

// troubles returns the lines of the console, exceptions, and dialogs.
func (tab *tab) troubles() []string {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	return slices.Clone(tab.trouble)
}

// wantQuiet fails the test if the tab asked for an address that is not allowed, or
// anything but expected reached the console.
func (tab *tab) wantQuiet(allowed func(address string) bool, expected string) {
	tab.t.Helper()
	tab.mu.Lock()
	defer tab.mu.Unlock()
	for _, address := range tab.requests {
		if !allowed(address) {
			tab.t.Errorf("the page asks for %s", address)
		}
	}
	if len(tab.requests) == 0 {
		tab.t.Error("no request was seen")
	}
	for _, trouble := range tab.trouble {
		if expected == "" || !strings.Contains(trouble, expected) {
			tab.t.Errorf("in the browser: %s", trouble)
		}
	}
}
