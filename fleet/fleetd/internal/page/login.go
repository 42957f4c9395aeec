package page

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// loginView is what the form of the login shows.
type loginView struct{ Error, By, Next string }

func (p *Page) showLogin(w http.ResponseWriter, r *http.Request) {
	render(w, http.StatusOK, "login", &loginView{Next: safePath(r.URL.Query().Get("next"))})
}

// logIn begins a session.
func (p *Page) logIn(w http.ResponseWriter, r *http.Request) {
	if !parseForm(w, r) {
		return
	}
	v := &loginView{By: strings.TrimSpace(r.PostForm.Get("by")), Next: safePath(r.PostForm.Get("next"))}
	if err := checkBy(v.By); err != nil {
		v.Error, v.By = err.Error(), ""
		render(w, http.StatusBadRequest, "login", v)
		return
	}
	address := addressOf(r)
	if wait := p.logins.begin(address); wait > 0 {
		seconds := int(math.Ceil(wait.Seconds()))
		w.Header().Set("Retry-After", strconv.Itoa(seconds))
		v.Error = fmt.Sprintf("There were wrong passwords from your address. Try again in %d s.", seconds)
		render(w, http.StatusTooManyRequests, "login", v)
		return
	}
	got, want := sha256.Sum256([]byte(r.PostForm.Get("password"))), sha256.Sum256([]byte(p.options.Password))
	if subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
		v.Error = "That is not the password."
		render(w, http.StatusForbidden, "login", v)
		return
	}
	p.logins.succeeded(address)
	p.setCookie(w, r, p.sessions.begin(v.By))
	http.Redirect(w, r, v.Next, http.StatusSeeOther)
}

func (p *Page) logOut(w http.ResponseWriter, r *http.Request, s *session) {
	s.end()
	p.setCookie(w, r, "")
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}

// checkBy returns an error for what cannot stand in the history as a name.
func checkBy(by string) error {
	switch {
	case by == "":
		return errors.New("Say who you are: it is recorded with what you do.") //nolint:revive,staticcheck // people read it
	case len(by) > 100 || !utf8.ValidString(by) || strings.ContainsFunc(by, unicode.IsControl):
		return errors.New("A name has up to 100 bytes of text in one line.") //nolint:revive,staticcheck // people read it
	}
	return nil
}

// safePath returns a path of this server to go to after the login: never one that
// leads elsewhere.
func safePath(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.IsAbs() || u.Host != "" || strings.ContainsFunc(next, unicode.IsControl) || strings.Contains(next, `\`) || u.Path != "/" && u.Path != "/fleet" {
		return "/"
	}
	return (&url.URL{Path: u.Path, RawQuery: u.RawQuery}).String()
}

// parseForm reads a form from the body, and answers if it cannot.
func parseForm(w http.ResponseWriter, r *http.Request) bool {
	err := r.ParseForm()
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		http.Error(w, fmt.Sprintf("The form has more than %d bytes.", large.Limit), http.StatusRequestEntityTooLarge)
	case err != nil:
		http.Error(w, "The form cannot be read.", http.StatusBadRequest)
	}
	return err == nil
}
