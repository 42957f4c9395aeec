package page_test

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/page"
)

func TestHostsOfOthersAreRefused(t *testing.T) {
	s := newSite(t, func(o *page.Options, _ *http.Server) {
		o.Hosts = []string{"fleet.example.org", "proxy.example.org:444"}
	})
	port := s.Listener.Addr().String()[len("127.0.0.1"):]
	v := s.visitor()
	_, token := s.token(fleet.Token{Name: "ann", Role: fleet.ReaderRole})
	for host, served := range map[string]bool{
		"127.0.0.1" + port: true, "localhost" + port: true, "LOCALHOST" + port: true, "[::ffff:127.0.0.1]" + port: true,
		"fleet.example.org": true, "fleet.example.org:8080": true, "Fleet.Example.ORG" + port: true, "proxy.example.org:444": true,
		"proxy.example.org": false, "proxy.example.org" + port: false,
		"evil.example": false, "evil.example" + port: false, "fleet.example.org.evil.example": false, "127.0.0.1.evil.example" + port: false,
		"127.0.0.1": false, "127.0.0.1:1": false, "localhost": false, "127.0.0.2" + port: false, "[::1]" + port: false, "10.0.0.1" + port: false,
		"localhost.": false, "localhost.evil.example" + port: false, port: false, "0.0.0.0" + port: false,
	} {
		r := s.request(http.MethodGet, "/login", nil)
		r.Host = host
		a := v.do(r)
		if (a.StatusCode == http.StatusOK) != served || !served && a.StatusCode != http.StatusMisdirectedRequest {
			t.Errorf("host %q is answered with %d", host, a.StatusCode)
		}
		form := s.request(http.MethodPost, "/login", url.Values{"token": {token}})
		form.Host = host
		if code := v.do(form).StatusCode; (code == http.StatusSeeOther) != served {
			t.Errorf("a login at host %q is answered with %d", host, code)
		}
	}
}

func TestFormsOfOtherSitesAreRefused(t *testing.T) {
	s := newSite(t, nil)
	s.publish("asn", "one")
	plan := s.plan("asn")
	v := s.operator("ann")
	_, token := s.token(fleet.Token{Name: "eve", Role: fleet.AdminRole})
	for _, header := range []map[string]string{
		{"Sec-Fetch-Site": "cross-site"},
		{"Sec-Fetch-Site": "same-site"},
		{"Origin": "https://evil.example"},
		{"Origin": "null"},
		{"Origin": "http://127.0.0.1:1"},
		{"Sec-Fetch-Site": "cross-site", "Origin": s.URL},
	} {
		for _, path := range []string{"/login", "/steer?name=asn", "/logout"} {
			r := s.request(http.MethodPost, path, url.Values{
				"token": {token}, "do": {"pause"}, "why": {"evil"}, "plan": {plan.Version()},
			})
			for name, value := range header {
				r.Header.Set(name, value)
			}
			if a := v.do(r); a.StatusCode != http.StatusForbidden {
				t.Errorf("%v: %s is answered with %d", header, path, a.StatusCode)
			}
		}
	}
	if now := s.plan("asn"); now.Seq != plan.Seq {
		t.Errorf("the plan was changed: %+v", now.Change)
	}
	if a := v.get("/"); a.StatusCode != http.StatusOK || !strings.Contains(a.text, "ann (operator)") {
		t.Errorf("the session has ended: %d", a.StatusCode)
	}
	r := s.request(http.MethodPost, "/logout", url.Values{})
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if a := v.do(r); a.StatusCode != http.StatusSeeOther {
		t.Errorf("a form of the page itself is answered with %d", a.StatusCode)
	}
}

func TestStrangersHoldNoConnection(t *testing.T) {
	s := newSite(t, nil)
	stranger, wrongHost := s.visitor(), s.request(http.MethodGet, "/login", nil)
	wrongHost.Host = "evil.example"
	for name, a := range map[string]*answer{
		"login": stranger.get("/login"), "refused login": stranger.post("/login", url.Values{}), "redirect": stranger.get("/"), "no such page": stranger.get("/nothing"), "wrong host": stranger.do(wrongHost),
	} {
		if !a.Close {
			t.Errorf("%s: the connection stays open after %d", name, a.StatusCode)
		}
	}
	if a := s.operator("ann").get("/"); a.Close || a.StatusCode != http.StatusOK {
		t.Errorf("that of a member ends after %d", a.StatusCode)
	}
}

func TestReadingChangesNothing(t *testing.T) {
	s := newSite(t, nil)
	s.publish("asn", "one")
	plan := s.plan("asn")
	v := s.operator("ann")
	_, token := s.token(fleet.Token{Name: "bob", Role: fleet.AdminRole})
	query := "name=asn&do=pause&why=x&plan=" + plan.Version() + "&token=" + token
	for path, want := range map[string]int{"/steer": http.StatusMethodNotAllowed, "/logout": http.StatusMethodNotAllowed, "/login": http.StatusOK, "/": http.StatusOK, "/fleet": http.StatusOK, "/history": http.StatusOK, "/revisions": http.StatusOK, "/nothing": http.StatusNotFound} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			if a := v.do(s.request(method, path+"?"+query, nil)); a.StatusCode != want {
				t.Errorf("%s %s is answered with %d, want %d", method, path, a.StatusCode, want)
			}
		}
	}
	if a := v.get("/"); a.StatusCode != http.StatusOK || s.plan("asn").Seq != plan.Seq {
		t.Errorf("a GET has changed something: %d", a.StatusCode)
	}
}

func TestAnswersHaveThePolicy(t *testing.T) {
	s := newSite(t, nil)
	s.publish("asn", "one")
	member, stranger := s.operator("ann"), s.visitor()
	wrongHost := s.request(http.MethodGet, "/login", nil)
	wrongHost.Host = "evil.example"
	for name, a := range map[string]*answer{
		"names": member.get("/"), "fleet": member.get("/fleet?name=asn"), "history": member.get("/history?name=asn"), "revisions": member.get("/revisions?name=asn"), "no such page": member.get("/nothing"), "login": stranger.get("/login"),
		"redirect": stranger.get("/"), "wrong host": stranger.do(wrongHost), "refusal": member.post("/steer?name=asn", url.Values{}),
	} {
		policy := a.Header.Get("Content-Security-Policy")
		for _, directive := range []string{"default-src 'none'", "connect-src 'self'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"} {
			if !strings.Contains(policy+";", directive+";") {
				t.Errorf("%s: the policy is %q", name, policy)
			}
		}
		if strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") || strings.Contains(policy, "http") {
			t.Errorf("%s: the policy is %q", name, policy)
		}
		for header, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Cache-Control": "no-store", "X-Frame-Options": "DENY",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := a.Header.Get(header); got != want {
				t.Errorf("%s: %s is %q", name, header, got)
			}
		}
		for element, directive := range map[string]string{"style": "style-src", "script": "script-src"} {
			for part := range strings.SplitSeq(a.text, "</"+element+">") {
				_, code, found := strings.Cut(part, "<"+element+">")
				if !found {
					continue
				}
				sum := sha256.Sum256([]byte(code))
				if want := directive + " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "';"; !strings.Contains(policy, want) {
					t.Errorf("%s: the policy does not allow its %s", name, element)
				}
			}
		}
		for _, wrong := range []string{"<script ", "style=", " onclick", "javascript:", "//"} {
			if strings.Contains(strings.ReplaceAll(a.text, "https://", ""), wrong) {
				t.Errorf("%s: it has %q", name, wrong)
			}
		}
	}
}

func TestLargeFormsAreRefused(t *testing.T) {
	s := newSite(t, nil)
	member, stranger := s.operator("ann"), s.visitor()
	for _, one := range []struct {
		v    *visitor
		path string
		size int
	}{{stranger, "/login", page.MaxLogin}, {member, "/steer?name=asn", page.MaxBody}} {
		if a := one.v.post(one.path, url.Values{"token": {"x"}, "why": {strings.Repeat("x", one.size)}}); a.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("%s of %d bytes is answered with %d", one.path, one.size, a.StatusCode)
		}
	}
	r := s.request(http.MethodPost, "/login", url.Values{})
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("X-Large", strings.Repeat("x", 64<<10))
	if a := stranger.do(r); a.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("a large header is answered with %d", a.StatusCode)
	}
}

// markup would run, if it were taken for HTML.
const markup = `"><script>alert(1)</script><img src=x onerror='alert(2)'>`

func TestTextFromOutsideStaysText(t *testing.T) {
	s := newSite(t, nil)
	name := "name " + markup
	s.publish(name, "one")
	s.report(name, fleet.Report{ID: "id " + markup, Error: "error " + markup, Held: "held " + markup, Labels: map[string]string{"key " + markup: "value"}})
	v := s.operator("by " + markup)
	if a := v.steers(name, s.plan(name), "pause", url.Values{"why": {"why " + markup}}); a.StatusCode != http.StatusSeeOther {
		t.Fatalf("%d: %s", a.StatusCode, a.text)
	}
	refusal := v.steers(name, s.plan(name), "promote", url.Values{"why": {"why " + markup}})
	at := "?name=" + url.QueryEscape(name)
	for path, a := range map[string]*answer{"/": v.get("/"), "/fleet": v.get("/fleet" + at + "&find=" + url.QueryEscape(markup)), "/history": v.get("/history" + at), "/revisions": v.get("/revisions" + at), "a refusal": refusal} {
		if strings.Contains(a.text, markup) || strings.Contains(a.text, "<img") || strings.Count(a.text, "<script>") > 1 {
			t.Errorf("%s has markup from outside", path)
		}
		if !strings.Contains(a.text, "name &#34;&gt;&lt;script&gt;") {
			t.Errorf("%s does not show the name:\n%s", path, a.text)
		}
	}
}
