package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
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

// All tests of a package share a browser. The first starts it.
var (
	browser, end = chromedp.NewContext(context.Background(), chromedp.WithAllocatorOptions(chromedp.ExecPath(program())))
	start        = sync.OnceValue(func() error { return chromedp.Do(browser) })
)

// Stop ends the browser: TestMain calls it.
func Stop() { end() }

// Tab is a tab of the browser, and what went on in it.
type Tab struct {
	Ctx context.Context // for chromedp

	mu       sync.Mutex
	requests []string
	trouble  []string // what reached the console, exceptions, dialogs
}

// New returns a tab. It skips the test if there is no browser.
func New(t *testing.T) *Tab {
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
	tab := new(Tab)
	ctx, cancel := context.WithTimeout(browser, hang)
	t.Cleanup(cancel)
	tab.Ctx, cancel = chromedp.NewContext(ctx, chromedp.WithListener(tab.listen))
	t.Cleanup(cancel)
	return tab
}

func (tab *Tab) listen(event any) {
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

// Do takes steps in the tab.
func (tab *Tab) Do(t *testing.T, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(tab.Ctx, steps...); err != nil {
		t.Fatal(err, tab.Troubles())
	}
}

// Run returns the value of an expression of JavaScript.
func Run[V any](t *testing.T, tab *Tab, expression string, options ...chromedp.EvaluateOption) V {
	t.Helper()
	value, err := chromedp.Run(tab.Ctx, chromedp.Evaluate[V](expression, options...))
	if err != nil {
		t.Fatal(err, tab.Troubles())
	}
	return value
}

// Look makes the tab a phone or a wide screen, light or dark.
func (tab *Tab) Look(t *testing.T, width int64, scheme string) {
	t.Helper()
	viewport := chromedp.EmulateViewport(width, 900)
	if width < 600 {
		viewport = chromedp.EmulateViewport(width, 900, chromedp.EmulatePortrait, chromedp.EmulateMobile)
	}
	tab.Do(t, viewport)
	_, err := chromedp.Call(tab.Ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Troubles returns what reached the console, exceptions, and dialogs.
func (tab *Tab) Troubles() []string {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	return slices.Clone(tab.trouble)
}

// Requests returns the addresses that the tab asked for.
func (tab *Tab) Requests() []string {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	return slices.Clone(tab.requests)
}

// WantQuiet fails the test if the tab asked for anything but these addresses, or
// anything reached the console.
func (tab *Tab) WantQuiet(t *testing.T, addresses ...string) {
	t.Helper()
	tab.mu.Lock()
	defer tab.mu.Unlock()
	for _, address := range tab.requests {
		if !slices.Contains(addresses, address) {
			t.Errorf("the page asks for %s", address)
		}
	}
	if len(tab.requests) == 0 {
		t.Error("no request was seen")
	}
	for _, trouble := range tab.trouble {
		t.Errorf("in the browser: %s", trouble)
	}
}
