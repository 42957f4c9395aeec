package page

import (
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

// loginView is the content of the form of the login.
type loginView struct{ Error, Next string }

func (p *Page) showLogin(w http.ResponseWriter, r *http.Request) {
	render(w, http.StatusOK, "login", &loginView{Next: safePath(r.URL.Query().Get("next"))})
}

// logIn begins a session. Nothing slows it down after a wrong token: a token has 128
// random bits, which cannot be guessed, and a check costs less than the request.
func (p *Page) logIn(w http.ResponseWriter, r *http.Request) {
	if !parseForm(w, r) {
		return
	}
	v := &loginView{Next: safePath(r.PostForm.Get("next"))}
	text := strings.TrimSpace(r.PostForm.Get("token"))
	token, err := p.options.Check(text)
	switch {
	case err != nil:
		v.Error = "That is not a valid token: it is mistyped, revoked or expired."
	case token.Role == fleet.ReplicaRole:
		v.Error = "That is the token of a replica. People log in with one of another role."
	}
	if v.Error != "" {
		p.logRefusal(r, token.ID)
		render(w, http.StatusForbidden, "login", v)
		return
	}
	p.options.Logger.Info("fleetd: a person logged in to the page", slog.String("by", token.Name), slog.String("token", token.ID), slog.String("address", addressOf(r)))
	p.setCookie(w, r, p.sessions.begin(text, token.ID))
	http.Redirect(w, r, v.Next, http.StatusSeeOther)
}

func (p *Page) logOut(w http.ResponseWriter, r *http.Request, u *user) {
	u.end()
	p.setCookie(w, r, "")
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}

// safePath returns a path of this server to go to after the login: never one that
// leads elsewhere.
func safePath(next string) string {
	u, err := url.Parse(next)
	if err != nil || !slices.Contains([]string{"/", "/fleet", "/history", "/revisions"}, u.Path) {
		return "/"
	}
	return (&url.URL{Path: u.Path, RawQuery: u.RawQuery}).String()
}

// refusalPause is the time between two lines of the log about refused logins.
const refusalPause = int64(10 * time.Second)

// logRefusal logs a refused login, but not each of a flood. token is the id, if there
// is such a token.
func (p *Page) logRefusal(r *http.Request, token string) {
	now, last := time.Now().UnixNano(), p.refused.Load()
	if now-last >= refusalPause && p.refused.CompareAndSwap(last, now) {
		p.options.Logger.Warn("fleetd: a login to the page was refused", slog.String("address", addressOf(r)), slog.String("token", token))
	}
}

// addressOf returns the address of the client of a request, without its port.
func addressOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
