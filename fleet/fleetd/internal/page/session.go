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
)

const (
	sessionTime = 8 * time.Hour
	maxSessions = 100
)

// session is a person who has logged in. Its context ends when it does.
type session struct {
	by      string
	began   time.Time
	ctx     context.Context //nolint:containedctx // it is the session's life
	end     context.CancelFunc
	streams bounded
}

// sessions are the sessions, by the SHA-256 of their tokens: how long it takes to
// find one says nothing of a token.
type sessions struct {
	ctx context.Context //nolint:containedctx // that of the page

	mu  sync.Mutex
	all map[[sha256.Size]byte]*session
}

// begin returns the token of a new session. If there are too many, the oldest
// ends.
func (s *sessions) begin(by string) string {
	token, one := rand.Text(), &session{by: by, began: time.Now()}
	one.ctx, one.end = context.WithTimeout(s.ctx, sessionTime)
	s.mu.Lock()
	defer s.mu.Unlock()
	var oldest [sha256.Size]byte
	for key, other := range s.all {
		if other.ctx.Err() != nil {
			delete(s.all, key)
		} else if first := s.all[oldest]; first == nil || other.began.Before(first.began) {
			oldest = key
		}
	}
	if len(s.all) >= maxSessions {
		s.all[oldest].end()
		delete(s.all, oldest)
	}
	s.all[sha256.Sum256([]byte(token))] = one
	return token
}

// find returns the session of a token, or nil.
func (s *sessions) find(token string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.all[sha256.Sum256([]byte(token))]
	if one == nil || one.ctx.Err() != nil {
		return nil
	}
	return one
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

// setCookie gives the browser a token, or takes it back if it is empty.
func (p *Page) setCookie(w http.ResponseWriter, r *http.Request, token string) {
	cookie := &http.Cookie{
		Name: p.cookieName(r), Value: token, Path: "/", MaxAge: int(sessionTime.Seconds()),
		HttpOnly: true, Secure: p.options.Secure, SameSite: http.SameSiteStrictMode,
	}
	if token == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(w, cookie)
}

// member lets only who has logged in through to a handler.
func (p *Page) member(handler func(w http.ResponseWriter, r *http.Request, s *session)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var s *session
		if cookie, err := r.Cookie(p.cookieName(r)); err == nil {
			s = p.sessions.find(cookie.Value)
		}
		switch {
		case s != nil:
			handler(w, r, s)
		case r.URL.Path == "/events":
			http.Error(w, "You are not logged in.", http.StatusUnauthorized)
		case r.Method == http.MethodPost:
			render(w, http.StatusUnauthorized, "login", &loginView{Error: "You are not logged in any more. Nothing was changed."})
		default:
			http.Redirect(w, r, "/login?next="+url.QueryEscape(r.URL.RequestURI()), http.StatusSeeOther)
		}
	})
}
