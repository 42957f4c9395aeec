package reload_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/reload"
)

func TestRedirect(t *testing.T) {
	t.Parallel()
	s := site(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/start":
			http.Redirect(w, r, "/signed?token=of-the-redirect", http.StatusFound)
		case "/signed":
			if r.Header.Get("If-None-Match") == `"one"` {
				w.WriteHeader(http.StatusNotModified)
				return
			}
			w.Header().Set("ETag", `"one"`)
			fmt.Fprint(w, "content")
		}
	})
	var outcome reload.Outcome
	r, c := fromHTTP(s.URL+"/start", reload.HTTPOptions{}, reload.Options{Observe: func(e reload.Event) { outcome = e.Outcome }})
	succeeds(t, r, c, "content")
	succeeds(t, r, c, "content")
	if outcome != reload.NotModified {
		t.Errorf("the condition did not follow the redirect: %s", outcome)
	}
}

func TestRedirectReferer(t *testing.T) {
	t.Parallel()
	var referers []string
	mux := http.NewServeMux()
	mux.HandleFunc("/stored", func(w http.ResponseWriter, r *http.Request) {
		referers = append(referers, r.Referer())
		fmt.Fprint(w, "content")
	})
	mux.HandleFunc("/list", func(w http.ResponseWriter, r *http.Request) {
		referers = append(referers, r.Referer())
		http.Redirect(w, r, "/stored?signature=other", http.StatusFound)
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	c, _ := newTexts()
	r := reload.New(c, reload.HTTP(server.URL+"/list?licence=secret", reload.HTTPOptions{}), load, reload.Options{Logger: quiet})
	succeeds(t, r, c, "content")
	if want := server.URL + "/list"; len(referers) != 2 || referers[0] != want || referers[1] != want {
		t.Errorf("Referer is %q, want twice %q", referers, want)
	}
}

// prepareKeys sets headers as services do that take no Authorization.
func prepareKeys(r *http.Request) error {
	r.Header.Set("X-Api-Key", "k3y-of-the-api")
	r.Header["x-licence"] = []string{"Licence l1cence-one", "l1cence-two"}
	r.Header.Set("Authorization", "Bearer bearer-token")
	r.Header.Set("If-None-Match", `"of-prepare"`)
	r.Header.Set("If-Modified-Since", "Tue, 14 Nov 2023 22:13:20 GMT")
	return nil
}

func TestPrepareHeadersAreHidden(t *testing.T) {
	t.Parallel()
	refused := errors.New("connection refused")
	echo := func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, "wrong key: ", r.Header)
	}
	for name, test := range map[string]struct {
		handler   http.HandlerFunc
		transport http.RoundTripper
		fails     error // of Prepare
		want      string
	}{
		"a status whose body echoes them": {handler: echo, want: `wrong key: map[`},
		"a header that Prepare did not change": {handler: func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, "not from ", r.Referer())
		}, want: "not from http://127.0.0.1"},
		"a redirect to another host that is told": {transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			response := &http.Response{StatusCode: http.StatusFound, Header: make(http.Header), Body: io.NopCloser(strings.NewReader("told " + r.URL.Path))}
			if response.Header.Set("Location", "http://other/"+r.Header.Get("X-Api-Key")); r.URL.Host == "other" {
				response.StatusCode = http.StatusGone
			}
			return response, nil
		}), want: `410 Gone, "told /…"`},
		"a transport's error": {transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			return nil, fmt.Errorf("%w with %v", refused, r.Header)
		}), want: "connection refused with map["},
		"a body whose error says them": {transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, ContentLength: 9, Body: io.NopCloser(failing{fmt.Errorf("%w with %v", refused, r.Header)})}, nil
		}), want: "connection refused with map["},
		"Prepare fails after it set them": {fails: errors.New("k3y-of-the-api and l1cence-one have expired"), want: "HTTPOptions.Prepare: … and … have expired"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := fromHTTP(site(t, test.handler).URL, reload.HTTPOptions{
				Client:  &http.Client{Transport: test.transport},
				Prepare: func(r *http.Request) error { return errors.Join(prepareKeys(r), test.fails) },
			}, reload.Options{})
			err := r.Reload(t.Context())
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("the error is %v, want one with %q", err, test.want)
			}
			for _, key := range []string{"k3y-of-the-api", "l1cence-one", "l1cence-two", "bearer-token"} {
				if strings.Contains(everything(r, err), key) {
					t.Errorf("%q is shown with %v", key, err)
				}
			}
		})
	}
}

// prepareTrip follows redirects from each address to the next, and returns the
// header that the last one got.
func prepareTrip(t *testing.T, check func(*http.Request, []*http.Request) error, addresses ...string) http.Header {
	t.Helper()
	var last http.Header
	client := &http.Client{CheckRedirect: check, Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		last = r.Header
		response := &http.Response{StatusCode: http.StatusOK, Header: make(http.Header), Body: http.NoBody, Request: r}
		if addresses = addresses[1:]; len(addresses) > 0 {
			response.StatusCode = http.StatusFound
			response.Header.Set("Location", addresses[0])
		}
		return response, nil
	})}
	source := reload.HTTP(addresses[0], reload.HTTPOptions{Client: client, Prepare: prepareKeys})
	content, err := source.Fetch(t.Context(), `etag "of-the-source"`)
	if err != nil {
		t.Fatal(err)
	}
	content.Body.Close()
	if len(addresses) > 0 || (client.CheckRedirect == nil) != (check == nil) {
		t.Errorf("%q are left, and the client is %+v", addresses, client)
	}
	if got := last["If-None-Match"]; len(got) != 1 || got[0] != `"of-the-source"` || last["If-Modified-Since"] != nil {
		t.Errorf("If-None-Match is %q, If-Modified-Since %q", got, last["If-Modified-Since"])
	}
	return last
}

func TestRedirectHeaders(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		addresses []string
		kept      bool
	}{
		"without a redirect":            {[]string{"https://host/list"}, true},
		"the same host":                 {[]string{"https://host/list", "/stored", "https://host/moved"}, true},
		"from http to https":            {[]string{"http://host/list", "https://host/list"}, true},
		"another host":                  {[]string{"https://host/list", "https://other/list"}, false},
		"a host below":                  {[]string{"https://host/list", "https://below.host/list"}, false},
		"another port":                  {[]string{"http://host/list", "http://host:8080/list"}, false},
		"another host's next address":   {[]string{"https://host/list", "https://other/list", "/stored"}, false},
		"back from another host":        {[]string{"https://host/list", "https://other/list", "https://host/stored"}, false},
		"a later address, another host": {[]string{"http://host/list", "/stored", "http://other/list"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			header := prepareTrip(t, nil, test.addresses...)
			for _, name := range []string{"X-Api-Key", "x-licence", "Authorization"} {
				if _, kept := header[name]; kept != test.kept {
					t.Errorf("%s: %q, want kept=%v", name, header[name], test.kept)
				}
			}
		})
	}
}

func TestRedirectCheck(t *testing.T) {
	t.Parallel()
	header := prepareTrip(t, func(r *http.Request, via []*http.Request) error {
		if via[0].Header.Get("X-Api-Key") == "" || r.Header.Get("X-Api-Key") != "" {
			t.Errorf("it sees %v, before %v", r.Header, via[0].Header)
		}
		r.Header.Set("Authorization", "Bearer of-the-other-host")
		return nil
	}, "https://host/list", "https://other/list")
	if got := header.Get("Authorization"); got != "Bearer of-the-other-host" {
		t.Errorf("Authorization is %q", got)
	}

	s := site(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/other", http.StatusFound) })
	for result, want := range map[error]string{
		http.ErrUseLastResponse:      "status 302 Found",
		errors.New("not over there"): "not over there",
		nil:                          "after 13 requests",
	} {
		calls := 0
		_, err := reload.HTTP(s.URL, reload.HTTPOptions{Client: &http.Client{CheckRedirect: func(_ *http.Request, via []*http.Request) error {
			if calls++; len(via) > 12 {
				return fmt.Errorf("after %d requests", len(via))
			}
			return result
		}}}).Fetch(t.Context(), "")
		if err == nil || !strings.Contains(err.Error(), want) || result != nil && calls != 1 {
			t.Errorf("for %v: %v after %d calls, want %s", result, err, calls, want)
		}
	}
}

func TestRedirectLimit(t *testing.T) {
	t.Parallel()
	requests := 0
	_, err := reload.HTTP("http://host/list", reload.HTTPOptions{Client: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		requests++
		return &http.Response{StatusCode: http.StatusFound, Header: http.Header{"Location": {"/list"}}, Body: http.NoBody, Request: r}, nil
	})}}).Fetch(t.Context(), "")
	if requests != 10 || err == nil || err.Error() != "stopped after 10 redirects" {
		t.Errorf("%d requests, then %v", requests, err)
	}
}
