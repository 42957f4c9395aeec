package reload

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// withoutSecrets returns err without the URL that an http.Client puts before it,
// and without the secrets of a URL and a request wherever else they appear.
func withoutSecrets(err error, address *url.URL, request *http.Request) error {
	var asked *url.Error
	if errors.As(err, &asked) && asked.Error() == err.Error() { // nothing was put around it
		err = asked.Err
	}
	text := redact(err.Error(), secretsOf(address, request))
	if text == err.Error() {
		return err
	}
	return &redacted{text, err}
}

// redacted is an error that does not show all of its text.
type redacted struct {
	text string
	err  error
}

func (e *redacted) Error() string        { return e.text }
func (e *redacted) Is(target error) bool { return errors.Is(e.err, target) }

// A URL in a text loses its user information and its query. The text of a
// malformed redirect has whatever the server sent: no scheme, no host or no path
// may come before the query.
var (
	userOfURL  = regexp.MustCompile(`(/\\?/)[^/?#\s"<>]*@`) // \/\/ is // in JSON
	queryOfURL = regexp.MustCompile(`\?[^\s"<>]*[\pL\pN][^\s"<>]*`)
)

// redact returns text without secrets, and without those of URLs in it.
func redact(text string, secrets []string) string {
	for _, secret := range secrets {
		text = strings.ReplaceAll(text, secret, "…")
	}
	text = userOfURL.ReplaceAllString(text, "$1…@")
	text = queryOfURL.ReplaceAllStringFunc(text, func(query string) string {
		if query == "?xml" { // as a body begins, not a URL
			return query
		}
		return "?…"
	})
	return text
}

// secretsOf returns what must not be shown of the source's URL and of a request,
// which Prepare may have changed or which a redirect led to: queries, user
// information and credentials in the header. The longest come first, since one
// may be a part of another.
func secretsOf(address *url.URL, request *http.Request) (all []string) {
	for _, u := range []*url.URL{address, request.URL} {
		all = append(all, u.RawQuery)
		for _, part := range strings.Split(u.RawQuery, "&") {
			_, value, _ := strings.Cut(part, "=")
			all = append(all, part, value)
		}
		for _, values := range u.Query() {
			all = append(all, values...)
		}
		if u.User != nil {
			password, _ := u.User.Password()
			all = append(all, u.User.String(), u.User.Username(), password)
		}
	}
	for _, name := range []string{"Authorization", "Proxy-Authorization", "Cookie"} {
		for _, value := range request.Header[name] {
			_, credential, _ := strings.Cut(value, " ")
			all = append(all, value, credential)
		}
	}
	all = slices.DeleteFunc(all, func(s string) bool { return len(s) < 4 }) // "1" is in every text
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return slices.Compact(all)
}
