package docs_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// newServerOfRequests is the wrong server: its feeds end with their requests.
func (s *Service) newServerOfRequests() *http.Server {
	return &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for range s.tables.Versions(r.Context()) {
			_, _ = io.WriteString(w, "data: new\n\n")
			_ = http.NewResponseController(w).Flush()
		}
	})}
}

// hears reads one event: its data, and the empty line that ends it.
func hears(feed *bufio.Scanner) bool { return feed.Scan() && feed.Text() != "" && feed.Scan() }

func TestShutdownEndsFeedsFirst(t *testing.T) {
	for _, c := range []struct {
		name   string
		server func(*Service) *http.Server
		ends   bool // whether Shutdown ends the feed
	}{
		{"right: Shutdown ends their context", (*Service).newServer, true},
		{"wrong: the context of the request", (*Service).newServerOfRequests, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := NewService()
			load(t, s, "17 a.example")
			web := httptest.NewUnstartedServer(nil)
			web.Config = c.server(s)
			web.Start()
			defer web.Close()
			response, err := web.Client().Get(web.URL + "/changes")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = response.Body.Close() }()
			feed := bufio.NewScanner(response.Body)
			if !hears(feed) {
				t.Fatalf("the subscriber hears nothing: %v", feed.Err())
			}

			readers, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			requests := readers
			if !c.ends {
				ended, end := context.WithCancel(t.Context())
				end()
				requests = ended
				if err := web.Config.Shutdown(requests); !errors.Is(err, context.Canceled) {
					t.Errorf("Shutdown returns %v although a feed runs", err)
				}
				load(t, s, "17 b.example")
				if !hears(feed) {
					t.Errorf("after Shutdown the feed ended: is the wrong way right now? %v", feed.Err())
				}
			}
			if err := s.stop(requests, readers, web.Config); (err == nil) != c.ends {
				t.Errorf("the end returns %v", err)
			}
			if feed.Scan() {
				t.Errorf("after the end the subscriber hears %q", feed.Text())
			}
		})
	}
}
