package page

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/access"
)

// Limits of a token count for that token alone: its holder cannot lock others out.
const (
	sessionTime       = 8 * time.Hour
	maxSessions       = 10 // of a token
	maxStreams        = 128
	maxStreamsOfToken = 16
)

// session is a person who has logged in. Its context ends when it does.
type session struct {
	text  string // of the token, which is checked again and again
	token string // its id
	began time.Time
	ctx   context.Context //nolint:containedctx // it is the session's life
	end   context.CancelFunc
}

// user is the session of a request, and its token as it is now.
type user struct {
	*session
	fleet.Token
}

func (u *user) may(role fleet.Role, name string) bool { return access.May(u.Token, role, name) }

// sessions are the sessions, by the SHA-256 of their cookies: how long it takes to
// find one says nothing of a cookie.
type sessions struct {
	ctx context.Context //nolint:containedctx // that of the page

	mu      sync.Mutex
	all     map[[sha256.Size]byte]*session
	streams map[string]int // by id of a token; "" has their sum
}

// begin returns the cookie of a new session. If its token has too many, the oldest of
// them ends.
func (s *sessions) begin(text, token string) string {
	cookie, one := rand.Text(), &session{text: text, token: token, began: time.Now()}
	one.ctx, one.end = context.WithTimeout(s.ctx, sessionTime)
	s.mu.Lock()
	defer s.mu.Unlock()
	var oldest *session
	count := 0
	for key, other := range s.all {
		switch {
		case other.ctx.Err() != nil:
			delete(s.all, key)
		case other.token == token:
			count++
			if oldest == nil || other.began.Before(oldest.began) {
				oldest = other
			}
		}
	}
	if count >= maxSessions {
		oldest.end()
	}
	s.all[sha256.Sum256([]byte(cookie))] = one
	return cookie
}

// find returns the session of a cookie, or nil.
func (s *sessions) find(cookie string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.all[sha256.Sum256([]byte(cookie))]
	if one == nil || one.ctx.Err() != nil {
		return nil
	}
	return one
}

// enter reports whether a token may have one more stream, and counts that until leave.
func (s *sessions) enter(token string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.streams[token] >= maxStreamsOfToken || s.streams[""] >= maxStreams {
		return false
	}
	s.streams[token]++
	s.streams[""]++
	return true
}

func (s *sessions) leave(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams[""]--
	if s.streams[token]--; s.streams[token] == 0 {
		delete(s.streams, token)
	}
}

// sessionOf returns the session of a request, or nil.
func (p *Page) sessionOf(r *http.Request) *session {
	cookie, err := r.Cookie(p.cookieName(r))
	if err != nil {
		return nil
	}
	return p.sessions.find(cookie.Value)
}

// userOf returns the user of a session. One whose token was revoked or has expired
// ends.
func (p *Page) userOf(s *session) *user {
	if s == nil || s.ctx.Err() != nil {
		return nil
	}
	token, err := p.options.Check(s.text)
	if err != nil {
		s.end()
		return nil
	}
	return &user{s, token}
}

// handler serves a request of a user.
type handler func(w http.ResponseWriter, r *http.Request, u *user)

// member lets only a person who has logged in through to a handler.
func (p *Page) member(next handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u := p.userOf(p.sessionOf(r))
		switch {
		case u != nil:
			next(w, r, u)
		case r.URL.Path == "/events":
			http.Error(w, "You are not logged in.", http.StatusUnauthorized)
		case r.Method == http.MethodPost:
			render(w, http.StatusUnauthorized, "login", &loginView{Error: "You are not logged in any more. Nothing was changed."})
		default:
			http.Redirect(w, r, "/login?next="+url.QueryEscape(r.URL.RequestURI()), http.StatusSeeOther)
		}
	})
}

// reader lets only a user through who may see the name of the request.
func (p *Page) reader(next handler) handler {
	return func(w http.ResponseWriter, r *http.Request, u *user) {
		name := r.URL.Query().Get("name")
		if err := fleet.CheckName("name", name); err != nil {
			http.Error(w, "The address names no fleet: "+err.Error()+".", http.StatusBadRequest)
			return
		}
		if !u.may(fleet.ReaderRole, name) {
			http.Error(w, "Your token is not for this name.", http.StatusForbidden)
			return
		}
		next(w, r, u)
	}
}

// cookieName tells servers at different ports of one host apart: browsers give
// each the cookies of all.
func (p *Page) cookieName(r *http.Request) string {
	name := "fleetd"
	if _, port, ok := strings.Cut(r.Host[strings.LastIndex(r.Host, "]")+1:], ":"); ok {
		name += "-" + port
	}
	if p.options.Secure {
		return "__Host-" + name
	}
	return name
}

// setCookie gives the browser the cookie of a session, or takes it back if it is
// empty.
func (p *Page) setCookie(w http.ResponseWriter, r *http.Request, value string) {
	cookie := &http.Cookie{
		Name: p.cookieName(r), Value: value, Path: "/", MaxAge: int(sessionTime.Seconds()),
		HttpOnly: true, Secure: p.options.Secure, SameSite: http.SameSiteStrictMode,
	}
	if value == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(w, cookie)
}
