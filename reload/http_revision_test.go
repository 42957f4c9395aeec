package reload_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap/reload"
)

// TestRevisionOfManyContents has an origin give a revision that stands for content
// that it never sent. Once it is honest, its first answer is believed.
func TestRevisionOfManyContents(t *testing.T) {
	t.Parallel()
	year := func(year int) string { return time.Date(year, 1, 2, 3, 4, 5, 0, time.UTC).Format(http.TimeFormat) }
	for name, test := range map[string]struct{ header, value, revision string }{
		"a tag for everything":      {"ETag", "*", ""},
		"a list of tags":            {"ETag", `"1", "2", "3"`, ""},
		"a list without quotes":     {"ETag", "1,2,3", ""},
		"a tag":                     {"ETag", `"1"`, `etag "1"`},
		"a weak tag":                {"ETag", `W/"1, *"`, `etag W/"1, *"`},
		"a tag without quotes":      {"ETag", "1", "etag 1"},
		"a long date":               {"Last-Modified", strings.Replace(year(2020), "05 ", "05."+strings.Repeat("0", 5000)+" ", 1), ""},
		"a date of the future":      {"Last-Modified", year(9999), "date " + year(9999)},
		"the date of newer content": {"Last-Modified", year(2024), "date " + year(2024)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			honest := false
			s := site(t, func(w http.ResponseWriter, r *http.Request) {
				if !honest {
					w.Header().Set(test.header, test.value)
					fmt.Fprint(w, "a lie")
					return
				}
				if test.header == "ETag" {
					w.Header().Set("ETag", `"2"`)
				}
				http.ServeContent(w, r, "", time.Date(2022, 1, 1, 0, 0, 0, 0, time.UTC), strings.NewReader("the truth"))
			})
			r, c := fromHTTP(s.URL, reload.HTTPOptions{}, reload.Options{})
			succeeds(t, r, c, "a lie")
			if got := r.Status().Revision; got != test.revision {
				t.Errorf("the revision is %.60q, want %q", got, test.revision)
			}
			honest = true
			succeeds(t, r, c, "the truth")
		})
	}
}

// TestRestoredContentOfHTTP has the origin go back to older content. Its dates are
// compared by order, so it says that nothing was modified.
func TestRestoredContentOfHTTP(t *testing.T) {
	t.Parallel()
	year, prepared, status := 2024, 0, []int(nil)
	s := site(t, func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC), strings.NewReader(fmt.Sprint("of ", year)))
		status = append(status, len(r.Header["If-Modified-Since"]))
	})
	r, c := fromHTTP(s.URL, reload.HTTPOptions{Prepare: func(*http.Request) error { prepared++; return nil }}, reload.Options{})
	succeeds(t, r, c, "of 2024")
	succeeds(t, r, c, "of 2024")
	year = 2023
	succeeds(t, r, c, "of 2023")
	succeeds(t, r, c, "of 2023")
	if fmt.Sprint(status) != "[0 1 1 0 1]" || prepared != 4 {
		t.Errorf("the requests have %v conditions, and Prepare was called %d times", status, prepared)
	}
}
