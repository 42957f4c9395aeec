package page_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap/fleet/fleetd/internal/page"
)

func TestOnlyThePasswordLetsIn(t *testing.T) {
	s := newSite(t, nil)
	for _, c := range []struct {
		name, by, password string
		code               int
	}{
		{"no name", "", password, http.StatusBadRequest},
		{"a name of spaces", "  ", password, http.StatusBadRequest},
		{"a name with a line break", "a\nb", password, http.StatusBadRequest},
		{"a name that is no text", "\xff", password, http.StatusBadRequest},
		{"a name that is too long", strings.Repeat("x", 101), password, http.StatusBadRequest},
		{"the password", "alice", password, http.StatusSeeOther},
		{"the wrong password", "alice", password + " ", http.StatusForbidden},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := s.visitor()
			a := v.post("/login", url.Values{"by": {c.by}, "password": {c.password}})
			if a.StatusCode != c.code {
				t.Errorf("the login ends with %d, want %d: %s", a.StatusCode, c.code, a.text)
			}
			in := c.code == http.StatusSeeOther
			if (v.token() != nil) != in {
				t.Errorf("the cookie is %v", v.token())
			}
			if got := v.get("/").StatusCode == http.StatusOK; got != in {
				t.Errorf("the visitor is let in: %t", got)
			}
			if strings.Contains(a.text, password) {
				t.Error("the answer has the password")
			}
		})
	}
}

func TestTheCookieIsOutOfReach(t *testing.T) {
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprintf("secure %t", secure), func(t *testing.T) {
			s := newSite(t, func(o *page.Options, _ *http.Server) { o.Secure = secure })
			v := s.visitor()
			a := v.post("/login", url.Values{"by": {"alice"}, "password": {password}, "next": {"/fleet?name=asn"}})
			cookies := a.Cookies()
			if len(cookies) != 1 {
				t.Fatalf("cookies %v", cookies)
			}
			c := cookies[0]
			if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Secure != secure || c.Path != "/" || c.Domain != "" || len(c.Value) < 26 || c.MaxAge != int(page.SessionTime.Seconds()) {
				t.Errorf("the cookie is %v", c)
			}
			if strings.HasPrefix(c.Name, "__Host-") != secure {
				t.Errorf("its name is %s", c.Name)
			}
			if at := a.Header.Get("Location"); at != "/fleet?name=asn" {
				t.Errorf("the login leads to %s", at)
			}
			if again := s.member("alice").token(); again.Value == c.Value {
				t.Error("two sessions have one token")
			}
			if text := v.get("/").text; strings.Contains(text, c.Value) {
				t.Error("the token is in the page")
			}
		})
	}
}

func TestATokenInAnAddressDoesNotLogIn(t *testing.T) {
	s := newSite(t, nil)
	token := s.member("alice").token()
	for _, query := range []string{token.Name + "=" + token.Value, "token=" + token.Value, "session=" + token.Value} {
		if a := s.visitor().get("/?" + query); a.StatusCode != http.StatusSeeOther {
			t.Errorf("/?%s is answered with %d", query, a.StatusCode)
		}
	}
	// Nor a password there.
	r := s.request(http.MethodPost, "/login?by=alice&password="+url.QueryEscape(password), url.Values{"by": {"alice"}})
	if a := s.visitor().do(r); a.StatusCode != http.StatusForbidden {
		t.Errorf("a password in the address is answered with %d", a.StatusCode)
	}
}

func TestNothingIsServedWithoutALogin(t *testing.T) {
	s := newSite(t, nil)
	s.publish("secret-name", "one")
	plan := s.plan("secret-name")
	stranger, forger, gone := s.visitor(), s.visitor(), s.member("alice")
	old := gone.token()
	gone.post("/logout", url.Values{})
	if gone.token() != nil {
		t.Error("logging out leaves the cookie")
	}
	at, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	gone.Jar.SetCookies(at, []*http.Cookie{old}) // as a thief would
	forger.Jar.SetCookies(at, []*http.Cookie{{Name: old.Name, Value: strings.Repeat("A", 26)}})
	for who, v := range map[string]*visitor{"a stranger": stranger, "a forger": forger, "one who logged out": gone} {
		for _, c := range []struct {
			method, path string
			code         int
		}{
			{http.MethodGet, "/", http.StatusSeeOther},
			{http.MethodGet, "/fleet?name=secret-name", http.StatusSeeOther},
			{http.MethodGet, "/events?name=secret-name", http.StatusUnauthorized},
			{http.MethodPost, "/logout", http.StatusUnauthorized},
		} {
			var form url.Values
			if c.method == http.MethodPost {
				form = url.Values{}
			}
			a := v.do(s.request(c.method, c.path, form))
			if a.StatusCode != c.code || strings.Contains(a.text, plan.Stable) {
				t.Errorf("%s: %s %s is answered with %d: %s", who, c.method, c.path, a.StatusCode, a.text)
			}
		}
		if a := v.steers("secret-name", plan, "pause", nil); a.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s steers, and is answered with %d", who, a.StatusCode)
		}
	}
	if now := s.plan("secret-name"); now.Seq != plan.Seq {
		t.Errorf("the plan was changed: %+v", now.Change)
	}
}

func TestTheLoginLeadsNowhereElse(t *testing.T) {
	for next, want := range map[string]string{
		"": "/", "/": "/", "/fleet?name=a%2Fb": "/fleet?name=a%2Fb", "/events?name=a": "/", "/logout": "/", "fleet": "/",
		"https://evil.example/": "/", "//evil.example/fleet": "/", `/\evil.example`: "/", `\\evil.example/fleet`: "/", "javascript:alert(1)": "/",
		"/fleet\r\nSet-Cookie: a=b": "/", "///evil.example/": "/", "/fleet#x": "/fleet", "%": "/",
	} {
		if got := page.SafePath(next); got != want {
			t.Errorf("%q leads to %q, want %q", next, got, want)
		}
	}
}

func TestWrongPasswordsSlowTheNextOnesDown(t *testing.T) {
	s := newSite(t, nil)
	v := s.visitor()
	form := func(text string) url.Values { return url.Values{"by": {"alice"}, "password": {text}} }
	if a := v.post("/login", form("wrong")); a.StatusCode != http.StatusForbidden {
		t.Fatalf("the wrong password: %d", a.StatusCode)
	}
	// The right one would have to be tried a second later.
	a := v.post("/login", form(password))
	if a.StatusCode != http.StatusTooManyRequests || a.Header.Get("Retry-After") != "1" || v.token() != nil {
		t.Errorf("the next one: %d, %q, %v", a.StatusCode, a.Header, v.token())
	}
	eventually(t, "the right password lets in", func() bool {
		return v.post("/login", form(password)).StatusCode == http.StatusSeeOther
	})
	if a := v.post("/login", form(password)); a.StatusCode != http.StatusSeeOther {
		t.Errorf("after a success: %d", a.StatusCode)
	}
}

func TestTheDelayGrowsAndIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		throttle := page.NewThrottle()
		for _, seconds := range []int{1, 2, 4, 8, 16, 32, 60, 60, 60} {
			want := time.Duration(seconds) * time.Second
			if wait := throttle.Begin("a"); wait != 0 {
				t.Fatalf("an attempt waits %v", wait)
			}
			for range 10 { // those that come at once do not try
				if wait := throttle.Begin("a"); wait != want {
					t.Fatalf("the next one waits %v, want %v", wait, want)
				}
			}
			if wait := throttle.Begin("b"); wait != 0 {
				t.Fatalf("another address waits %v", wait)
			}
			throttle.Succeeded("b")
			time.Sleep(want)
		}
		time.Sleep(11 * time.Minute)
		throttle.Begin("a")
		if wait := throttle.Begin("a"); wait != time.Second {
			t.Errorf("after some minutes it waits %v", wait)
		}
	})
}

func TestManyAddressesTakeNoMemoryAndNoTurns(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		throttle := page.NewThrottle()
		tried := 0
		for i := range 10 * page.MaxThrottled {
			if throttle.Begin(fmt.Sprint(i)) == 0 {
				tried++
			}
		}
		if throttle.Len() > page.MaxThrottled+1 || tried > page.MaxThrottled+1 {
			t.Errorf("%d addresses are kept, and %d attempts were made at once", throttle.Len(), tried)
		}
		time.Sleep(time.Hour)
		if wait := throttle.Begin("late"); wait != 0 || throttle.Len() > 1 {
			t.Errorf("an hour later another waits %v, of %d", wait, throttle.Len())
		}
	})
}

func TestAClientHasOneAddress(t *testing.T) {
	for from, want := range map[string]string{
		"192.0.2.1:5": "192.0.2.1", "[::ffff:192.0.2.1]:5": "192.0.2.1", "[2001:db8:1:2:3::4]:5": "2001:db8:1:2::/64", "[fe80::1%eth0]:5": "fe80::/64", "@": "@",
	} {
		r := httptest.NewRequest(http.MethodPost, "/login", nil)
		r.RemoteAddr = from
		r.Header.Set("X-Forwarded-For", "203.0.113.9") // a client can claim anything
		if got := page.AddressOf(r); got != want {
			t.Errorf("%s is %s, want %s", from, got, want)
		}
	}
}

func TestASessionEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sessions := page.NewSessions(t.Context())
		token := sessions.Begin("alice")
		time.Sleep(page.SessionTime - time.Second)
		if !sessions.Known(token) {
			t.Error("it ends too early")
		}
		time.Sleep(2 * time.Second)
		if sessions.Known(token) || sessions.Known("") {
			t.Error("it does not end")
		}
		var tokens []string
		ended := func() bool { return true }
		for i := range page.MaxSessions + 1 {
			if i == page.MaxSessions {
				ended = sessions.Ended(tokens[0])
			}
			tokens = append(tokens, sessions.Begin("alice"))
			time.Sleep(time.Millisecond)
		}
		if sessions.Known(tokens[0]) || !sessions.Known(tokens[1]) || !sessions.Known(tokens[page.MaxSessions]) {
			t.Error("of too many sessions not the oldest ends")
		}
		if !ended() {
			t.Error("its streams go on")
		}
	})
}
