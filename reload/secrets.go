package reload

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"html"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/poolswap/poolswap"
)

// maxError bounds the text of an error, which may quote a header of the origin: a
// megabyte of it would fill the log and the status.
const maxError = 1 << 10

// withoutSecrets returns err without the URL that an http.Client puts before it,
// and without secrets wherever else they appear. A long error is cut.
func withoutSecrets(err error, secrets []string) error {
	var asked *url.Error
	if errors.As(err, &asked) && asked.Error() == err.Error() { // nothing was put around it
		err = asked.Err
	}
	all := err.Error()
	if len(all) > maxError && !errors.As(err, new(*poolswap.HookPanicError)) { // with a stack of this process
		return errors.New(start(all, maxError, secrets) + "…") // without err, which holds all of it
	}
	text := redact(all, secrets)
	if text == all {
		return err
	}
	return &redacted{text, err}
}

// start returns the start of a text, of n bytes or fewer, without secrets. Those go
// before the text is cut, which could cut one in two.
func start(text string, n int, secrets []string) string {
	text = redact(text[:min(len(text), n+4<<10)], secrets)
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "")
}

// redacted is an error that does not show all of its text.
type redacted struct {
	text string
	err  error
}

func (e *redacted) Error() string        { return e.text }
func (e *redacted) Is(target error) bool { return errors.Is(e.err, target) }

// A URL in a text loses its user information and its query. The text of a
// malformed redirect has any text that the server sent: no scheme, no host or no
// path may come before the query.
var (
	userOfURL  = regexp.MustCompile(`(/\\?/)[^\s"<>]*@`) // \/\/ is // in JSON
	queryOfURL = regexp.MustCompile(`\?[^\s"<>]*[\pL\pN][^\s"<>]*`)
)

// redact returns text without secrets, and without the secrets of URLs in it. A text
// that has a secret in another form, escaped for HTML, JSON or a URL, is not shown
// at all.
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
	for _, plain := range unescaped(text) {
		for _, secret := range secrets {
			if strings.Contains(plain, strings.ReplaceAll(secret, "+", " ")) {
				return "…"
			}
		}
	}
	return text
}

// Escapes of a byte in a URL or a program, and of a character in JSON.
var (
	byteEscape = regexp.MustCompile(`(%|\\x)[0-9A-Fa-f]{2}`)
	jsonEscape = regexp.MustCompile(`(?s)\\(u[0-9A-Fa-f]{4}|.)`)
)

// unescape are the ways to undo an escape.
var unescape = []func(text string) string{
	html.UnescapeString,
	func(text string) string {
		return byteEscape.ReplaceAllStringFunc(text, func(escape string) string {
			decoded, _ := hex.DecodeString(escape[len(escape)-2:])
			return string(decoded)
		})
	},
	func(text string) string {
		return jsonEscape.ReplaceAllStringFunc(text, func(escape string) string {
			var decoded string
			if json.Unmarshal([]byte(`"`+escape+`"`), &decoded) != nil {
				return escape[1:]
			}
			return decoded
		})
	},
}

// unescaped returns the forms that a text may have had before it was escaped, up to
// three times.
func unescaped(text string) (forms []string) {
	forms = []string{text}
	for range 3 {
		for _, form := range forms {
			for _, undo := range unescape {
				if earlier := undo(form); !slices.Contains(forms, earlier) {
					forms = append(forms, earlier)
				}
			}
		}
	}
	for i, form := range forms {
		forms[i] = strings.ReplaceAll(form, "+", " ")
	}
	return forms
}

// minSecret is the length from which a value is a secret: "1" is in every text.
const minSecret = 4

// secretsOf returns the secrets of the source's URL, of the headers of Prepare, and
// of requests and the requests before them, which Prepare may have changed or
// redirects led to. The longest come first, since one may be a part of another.
func secretsOf(address *url.URL, prepared http.Header, requests ...*http.Request) (all []string) {
	all = secretsOfURL(address)
	for _, request := range requests {
		for request != nil {
			all = append(all, secretsOfURL(request.URL)...)
			all = append(all, credentialsOf(request)...)
			if request.Response == nil {
				break
			}
			request = request.Response.Request // that was redirected
		}
	}
	for _, values := range prepared {
		all = append(all, secretsOfHeader(values)...)
	}
	all = slices.DeleteFunc(all, func(s string) bool { return len(s) < minSecret })
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return slices.Compact(all)
}

// secretsOfURL returns the query and the user information of a URL, and their
// parts.
func secretsOfURL(u *url.URL) (all []string) {
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
	return all
}

// credentialsOf returns the credentials of a request, which a cookie jar may have
// added.
func credentialsOf(request *http.Request) (all []string) {
	for _, name := range []string{"Authorization", "Proxy-Authorization", "Cookie"} {
		all = append(all, secretsOfHeader(request.Header[name])...)
	}
	for _, cookie := range request.Cookies() {
		all = append(all, cookie.Value)
	}
	name, password, _ := request.BasicAuth()
	return append(all, name, password)
}

// secretsOfHeader returns the values of a header, with and without their first
// words, such as Bearer.
func secretsOfHeader(values []string) (all []string) {
	for _, value := range values {
		_, credential, _ := strings.Cut(value, " ")
		all = append(all, value, credential)
	}
	return all
}

// changedHeaders returns the headers that are not in before, or not the same.
func changedHeaders(before, after http.Header) http.Header {
	changed := after.Clone()
	maps.DeleteFunc(changed, func(name string, values []string) bool { return slices.Equal(values, before[name]) })
	return changed
}
