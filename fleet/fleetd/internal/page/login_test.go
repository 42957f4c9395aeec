package page_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/page"
)

func TestLoginTakesTokens(t *testing.T) {
	s := newSite(t, nil)
	texts := map[string]string{"nothing": "", "no token": "correct horse", "a token of another server": "psw_AAAAAAAAAAAAAAAA_BBBBBBBBBBBBBBBBBBBBBBBBBB"}
	let := map[string]bool{}
	for _, role := range fleet.Roles() {
		_, texts[string(role)] = s.token(fleet.Token{Name: "ann", Role: role, IDs: map[bool]string{true: "*"}[role == fleet.ReplicaRole]})
		let[string(role)] = role != fleet.ReplicaRole
	}
	texts["a token with a blank around it"], let["a token with a blank around it"] = " "+texts["reader"]+"\n", true
	texts["a wrong secret"] = texts["admin"][:len(texts["admin"])-1]
	id, revoked := s.token(fleet.Token{Name: "ann", Role: fleet.AdminRole})
	texts["a revoked token"] = revoked
	if err := s.store.DeleteToken(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	_, texts["an expired token"] = s.token(fleet.Token{Name: "ann", Role: fleet.AdminRole, Expires: time.Now().Add(-time.Second)})
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			v := s.visitor()
			a, want := v.logIn(text), http.StatusForbidden
			if let[name] {
				want = http.StatusSeeOther
			}
			if a.StatusCode != want {
				t.Errorf("the login ends with %d, want %d: %s", a.StatusCode, want, a.text)
			}
			if (v.cookie() != nil) != let[name] {
				t.Errorf("the cookie is %v", v.cookie())
			}
			if got := v.get("/").StatusCode == http.StatusOK; got != let[name] {
				t.Errorf("the visitor is let in: %t", got)
			}
			if text != "" && strings.Contains(a.text, text) || strings.Contains(s.log.String(), texts["admin"]) {
				t.Error("the answer or the log has the token")
			}
		})
	}
}

// Nothing that strangers do keeps others from logging in, and they do not fill the log.
func TestLoginIsNeverLocked(t *testing.T) {
	s := newSite(t, nil)
	var all sync.WaitGroup
	for range 8 {
		v := s.visitor()
		all.Go(func() {
			for range 25 {
				if a := v.logIn("wrong"); a.StatusCode != http.StatusForbidden {
					t.Errorf("a wrong token ends with %d", a.StatusCode)
				}
			}
		})
	}
	v := s.operator("ann")
	all.Wait()
	if a := v.get("/"); a.StatusCode != http.StatusOK {
		t.Errorf("the page is answered with %d", a.StatusCode)
	}
	if n := strings.Count(s.log.String(), "refused"); n == 0 || n > 20 {
		t.Errorf("200 refused logins have %d lines in the log", n)
	}
}

func TestLoginCookieIsOutOfReach(t *testing.T) {
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprintf("secure %t", secure), func(t *testing.T) {
			s := newSite(t, func(o *page.Options, _ *http.Server) { o.Secure = secure })
			_, token := s.token(fleet.Token{Name: "ann", Role: fleet.ReaderRole})
			v := s.visitor()
			a := v.post("/login", url.Values{"token": {token}, "next": {"/fleet?name=asn"}})
			cookies := a.Cookies()
			if len(cookies) != 1 {
				t.Fatalf("cookies %v", cookies)
			}
			c := cookies[0]
			if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Secure != secure || c.Path != "/" || c.Domain != "" || len(c.Value) < 26 || c.MaxAge != int(page.SessionTime.Seconds()) {
				t.Errorf("the cookie is %v", c)
			}
			if strings.HasPrefix(c.Name, "__Host-") != secure || strings.Contains(token, c.Value) {
				t.Errorf("the cookie is %v", c)
			}
			if at := a.Header.Get("Location"); at != "/fleet?name=asn" {
				t.Errorf("the login leads to %s", at)
			}
			other := s.visitor()
			other.logIn(token)
			if other.cookie().Value == c.Value {
				t.Error("two sessions have one cookie")
			}
			wantTexts(t, v.get("/").text, "ann (reader)", "!"+c.Value, "!"+token)
		})
	}
}

func TestStrangersGetNothing(t *testing.T) {
	s := newSite(t, nil)
	s.publish("secret-name", "one")
	plan := s.plan("secret-name")
	gone, revoked := s.operator("ann"), s.visitor()
	old := gone.cookie()
	gone.post("/logout", url.Values{})
	if gone.cookie() != nil {
		t.Error("logging out leaves the cookie")
	}
	id, token := s.token(fleet.Token{Name: "eve", Role: fleet.AdminRole})
	if a := revoked.logIn(token); a.StatusCode != http.StatusSeeOther || revoked.get("/fleet?name=secret-name").StatusCode != http.StatusOK {
		t.Fatal("eve is not let in")
	}
	if err := s.store.DeleteToken(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	visitors := map[string]*visitor{"a stranger": s.visitor(), "the holder of a revoked token": revoked}
	for who, value := range map[string]string{"a forger": strings.Repeat("A", 26), "a thief of an old cookie": old.Value, "a holder of a token alone": token} {
		visitors[who] = s.visitor()
		visitors[who].Jar.SetCookies(s.at(), []*http.Cookie{{Name: old.Name, Value: value}})
	}
	_, admin := s.token(fleet.Token{Name: "eve", Role: fleet.AdminRole})
	for who, v := range visitors {
		for path, code := range map[string]int{
			"/": http.StatusSeeOther, "/fleet": http.StatusSeeOther, "/history": http.StatusSeeOther, "/revisions": http.StatusSeeOther, "/events": http.StatusUnauthorized,
		} {
			if a := v.get(path + "?name=secret-name&token=" + admin); a.StatusCode != code || strings.Contains(a.text, plan.Stable) {
				t.Errorf("%s: %s is answered with %d: %s", who, path, a.StatusCode, a.text)
			}
		}
		if a := v.post("/login?token="+admin, url.Values{"next": {"/"}}); a.StatusCode != http.StatusForbidden {
			t.Errorf("%s logs in by an address, and is answered with %d", who, a.StatusCode)
		}
		if a := v.steers("secret-name", plan, "pause", nil); a.StatusCode != http.StatusUnauthorized || s.plan("secret-name").Paused {
			t.Errorf("%s steers, and is answered with %d", who, a.StatusCode)
		}
	}
}

func TestRightsOfTokens(t *testing.T) {
	s := newSite(t, nil)
	for _, name := range []string{"asn", "geo/eu", "geo/us"} {
		s.publish(name, "one")
		s.report(name, fleet.Report{ID: "a", Revision: "rev-one"})
	}
	for _, c := range []struct {
		token  fleet.Token
		listed string
		steers bool
	}{
		{fleet.Token{Role: fleet.ReaderRole, Names: "*"}, "asn geo/eu geo/us", false},
		{fleet.Token{Role: fleet.PublisherRole, Names: "geo/*"}, "geo/eu geo/us", false},
		{fleet.Token{Role: fleet.OperatorRole, Names: "geo/eu"}, "geo/eu", true},
		{fleet.Token{Role: fleet.AdminRole, Names: "other"}, "", true},
	} {
		t.Run(string(c.token.Role), func(t *testing.T) {
			c.token.Name = "ann"
			v, _ := s.member(c.token)
			list := v.get("/").text
			for _, name := range s.store.Names() {
				may, want := strings.Contains(c.listed, name), http.StatusForbidden
				if may {
					want = http.StatusOK
				}
				if strings.Contains(list, ">"+name+"</a>") != may {
					t.Errorf("the list has %s: %t", name, !may)
				}
				for _, path := range []string{"/fleet", "/history", "/revisions", "/events"} {
					if path == "/events" && may {
						continue
					}
					a := v.get(path + "?name=" + url.QueryEscape(name))
					if a.StatusCode != want || strings.Contains(a.text, "rev-one") != may || strings.Contains(a.text, "<details") != (may && c.steers && path == "/fleet") {
						t.Errorf("%s of %s is answered with %d: %s", path, name, a.StatusCode, a.text)
					}
				}
				if may && c.steers {
					continue
				}
				if a := v.steers(name, s.plan(name), "pause", nil); a.StatusCode != http.StatusForbidden || s.plan(name).Paused {
					t.Errorf("pausing %s is answered with %d", name, a.StatusCode)
				}
			}
		})
	}
}

func TestLoginLeadsNowhereElse(t *testing.T) {
	for next, want := range map[string]string{
		"": "/", "/": "/", "/fleet?name=a%2Fb": "/fleet?name=a%2Fb", "/history?name=a": "/history?name=a", "/events?name=a": "/", "/logout": "/", "fleet": "/",
		"https://evil.example/": "/", "//evil.example/fleet": "/fleet", `/\evil.example`: "/", `\\evil.example/fleet`: "/", "javascript:alert(1)": "/",
		"/fleet\r\nSet-Cookie: a=b": "/", "///evil.example/": "/", "/fleet#x": "/fleet", "%": "/",
	} {
		if got := page.SafePath(next); got != want {
			t.Errorf("%q leads to %q, want %q", next, got, want)
		}
	}
}

func TestSessionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sessions := page.NewSessions(t.Context())
		cookie := sessions.Begin("a")
		time.Sleep(page.SessionTime - time.Second)
		if !sessions.Known(cookie) {
			t.Error("it ends too early")
		}
		time.Sleep(2 * time.Second)
		if sessions.Known(cookie) || sessions.Known("") {
			t.Error("it does not end")
		}
		other := sessions.Begin("b")
		var cookies []string
		for range page.MaxSessions + 1 {
			cookies = append(cookies, sessions.Begin("a"))
			time.Sleep(time.Millisecond)
		}
		if sessions.Known(cookies[0]) || !sessions.Known(cookies[1]) || !sessions.Known(cookies[page.MaxSessions]) {
			t.Error("of too many sessions not the oldest ends")
		}
		if !sessions.Known(other) {
			t.Error("the sessions of one token end that of another")
		}
		sessions.Begin("a")
		if n := sessions.Len(); n > page.MaxSessions+3 {
			t.Errorf("%d sessions are remembered", n)
		}
	})
}
