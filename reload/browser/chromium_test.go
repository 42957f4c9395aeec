package browser_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
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

// All tests share a browser. The first starts it, TestMain ends it.
var (
	browser, stop = chromedp.NewContext(context.Background(), chromedp.WithAllocatorOptions(chromedp.ExecPath(program())))
	start         = sync.OnceValue(func() error { return chromedp.Do(browser) })
)

func TestMain(m *testing.M) {
	code := m.Run()
	stop()
	os.Exit(code)
}

// site serves a page at /status, and knows what it was asked for.
type site struct {
	url string

	mu    sync.Mutex
	asked []string
}

func newSite(t *testing.T, status http.Handler) *site {
	t.Helper()
	s := new(site)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.URL.RequestURI())
		s.mu.Unlock()
		if r.URL.Path != "/status" {
			http.NotFound(w, r)
			return
		}
		status.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// all returns what the site was asked for, each address once.
func (s *site) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.Clone(s.asked)
	slices.Sort(all)
	return slices.Compact(all)
}

// tab is a tab of the browser, and what went on in it.
type tab struct {
	ctx context.Context

	mu       sync.Mutex
	requests []string
	trouble  []string // what reached the console, exceptions, dialogs
}

// newTab skips the test if there is no browser.
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
	tab := new(tab)
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

// do takes steps in the tab.
func (tab *tab) do(t *testing.T, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(tab.ctx, steps...); err != nil {
		t.Fatal(err, tab.troubles())
	}
}

// run returns the value of an expression of JavaScript.
func run[V any](t *testing.T, tab *tab, expression string, options ...chromedp.EvaluateOption) V {
	t.Helper()
	value, err := chromedp.Run(tab.ctx, chromedp.Evaluate[V](expression, options...))
	if err != nil {
		t.Fatal(err, tab.troubles())
	}
	return value
}

// look makes the tab a phone or a wide screen, light or dark.
func (tab *tab) look(t *testing.T, width int64, scheme string) {
	t.Helper()
	viewport := chromedp.EmulateViewport(width, 900)
	if width < 600 {
		viewport = chromedp.EmulateViewport(width, 900, chromedp.EmulatePortrait, chromedp.EmulateMobile)
	}
	tab.do(t, viewport)
	_, err := chromedp.Call(tab.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (tab *tab) troubles() []string {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	return slices.Clone(tab.trouble)
}

// wantQuiet fails the test if the tab asked for anything but these addresses, or
// anything reached the console.
func (tab *tab) wantQuiet(t *testing.T, addresses ...string) {
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
