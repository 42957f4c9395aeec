package reload_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/reload"
)

func TestQueriesInATextAreNotShown(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"no /%zz/blob?X-Sig=S1GNATURE here":                "no /%zz/blob?… here",
		`"../blob?X-Sig=S1GNATURE"`:                        `"../blob?…"`,
		"blob?S1GNATURE":                                   "blob?…",
		"?S1GNATURE":                                       "?…",
		"<?sig=S1GNATURE>; rel=next":                       "<?…>; rel=next",
		"//host/path?x=S1GNATURE&y=1#z":                    "//host/path?…",
		"//alice:S1GNATURE@host/path":                      "//…@host/path",
		`"https:\/\/alice:S1GNATURE@host\/path"`:           `"https:\/\/…@host\/path"`,
		"host/path?x=S1GNATURE":                            "host/path?…",
		"https://host/path?x=O'S1GNATURE":                  "https://host/path?…",
		`{"url":"https:\/\/host\/path?x=S1GNATURE","n":1}`: `{"url":"https:\/\/host\/path?…","n":1}`,
		"<a href='/path?x=S1GNATURE'>there</a>":            "<a href='/path?…>there</a>",
		"/path?подпись":                                    "/path?…",

		"what is this?":                                        "what is this?",
		"what is this?\nThat.":                                 "what is this?\nThat.",
		`"why?", he asked (really?!). "who?"`:                  `"why?", he asked (really?!). "who?"`,
		"<p>Lost?</p>":                                         "<p>Lost?</p>",
		"bob@example.com // carol@host":                        "bob@example.com // carol@host",
		`<?xml version="1.0" encoding="UTF-8"?>` + "\n<Error>": `<?xml version="1.0" encoding="UTF-8"?>` + "\n<Error>",
	} {
		s := site(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, text)
		})
		_, err := reload.HTTP(s.URL, reload.HTTPOptions{}).Fetch(t.Context(), "")
		var status *reload.HTTPError
		if !errors.As(err, &status) || status.Body != want {
			t.Errorf("of %q is shown %v, want %q", text, err, want)
		}
	}
}

func TestAMalformedRedirectShowsNoQuery(t *testing.T) {
	t.Parallel()
	for _, location := range []string{"/%zz/blob", "%zz", "//ho%zzst/blob", "http://%zz/", "//alice:S1GNATURE@ho%zzst/", ":"} {
		s := site(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", location+"?X-Sig=S1GNATURE")
			w.WriteHeader(http.StatusFound)
		})
		_, err := reload.HTTP(s.URL, reload.HTTPOptions{}).Fetch(t.Context(), "")
		if err == nil || !strings.Contains(err.Error(), "Location") || strings.Contains(err.Error(), "S1GNATURE") {
			t.Errorf("a redirect to %q fails with %v", location, err)
		}
	}
}

func TestAQueryThatIsNotEscapedIsNotShown(t *testing.T) {
	t.Parallel()
	client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		return nil, fmt.Errorf("no route to %s", r.URL)
	})}
	_, err := reload.HTTP(`http://host/path?key=licence S1G"NATURE`, reload.HTTPOptions{Client: client}).Fetch(t.Context(), "")
	if err == nil || err.Error() != "no route to http://host/path?…" {
		t.Errorf("the error is %v", err)
	}
}
