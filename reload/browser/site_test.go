package browser_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/poolswap/poolswap/reload/browser"
)

func TestMain(m *testing.M) {
	code := m.Run()
	browser.Stop()
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
