package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/poolswap/poolswap"
)

// get returns the response of the service to a request.
func get(s *service, method, url string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, httptest.NewRequest(method, url, nil))
	return w
}

func TestEveryRequestIsAnsweredInJSON(t *testing.T) {
	s, _ := loadedService(t, files{tempTable(t,
		"1.0.0.0,1.0.0.255,13335,\"AT&T <\"\"Inc.\"\">\"\n2001:200::,2001:200::ffff,2500,WIDE Project\n")})
	const v4 = `{"ip":"1.0.0.7","asn":13335,"name":"AT&T <\"Inc.\">","first":"1.0.0.0","last":"1.0.0.255"}`
	for _, c := range []struct {
		name, method, url string
		status            int
		body              string
	}{
		{"IPv4", "GET", "/lookup?ip=1.0.0.7", 200, v4},
		{"IPv4-mapped", "GET", "/lookup?ip=::ffff:1.0.0.7", 200, v4},
		{"IPv6", "GET", "/lookup?ip=2001:200::f", 200, `{"ip":"2001:200::f","asn":2500,"name":"WIDE Project","first":"2001:200::","last":"2001:200::ffff"}`},
		{"IPv6 with its colons escaped", "GET", "/lookup?ip=2001%3A200%3A%3Af", 200, `{"ip":"2001:200::f","asn":2500,"name":"WIDE Project","first":"2001:200::","last":"2001:200::ffff"}`},
		{"HEAD", "HEAD", "/lookup?ip=1.0.0.7", 200, v4}, // the server proper leaves the body out
		{"not in the table", "GET", "/lookup?ip=1.0.1.0", 404, `{"error":"the address is in no range of the table"}`},
		{"IPv6 not in the table", "GET", "/lookup?ip=::", 404, `{"error":"the address is in no range of the table"}`},
		{"no ip", "GET", "/lookup", 400, `{"error":"give one ip parameter, as in /lookup?ip=192.0.2.1"}`},
		{"two ips", "GET", "/lookup?ip=1.0.0.1&ip=1.0.0.2", 400, `{"error":"give one ip parameter, as in /lookup?ip=192.0.2.1"}`},
		{"an empty ip", "GET", "/lookup?ip=", 400, `{"error":"ip is not an IP address"}`},
		{"a bad ip", "GET", "/lookup?ip=1.0.0.256", 400, `{"error":"ip is not an IP address"}`},
		{"a number", "GET", "/lookup?ip=16777216", 400, `{"error":"ip is not an IP address"}`},
		{"a zone", "GET", "/lookup?ip=fe80::1%25eth0", 400, `{"error":"ip has a zone; zones are local to a machine"}`},
		{"a malformed query", "GET", "/lookup?ip=%zz", 400, `{"error":"the query string is malformed"}`},
		{"POST", "POST", "/lookup?ip=1.0.0.7", 405, `{"error":"only GET and HEAD are answered here"}`},
		{"another path", "GET", "/other", 404, `{"error":"there is nothing here; try /lookup?ip=192.0.2.1 or /debug/vars"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := get(s, c.method, c.url)
			if got := strings.TrimSuffix(w.Body.String(), "\n"); w.Code != c.status || got != c.body {
				t.Errorf("%d %s, want %d %s", w.Code, got, c.status, c.body)
			}
			if kind := w.Header().Get("Content-Type"); kind != "application/json" {
				t.Errorf("the content type is %q", kind)
			}
			if allow := w.Header().Get("Allow"); (c.status == 405) != (allow == "GET, HEAD") {
				t.Errorf("the Allow header is %q", allow)
			}
		})
	}
	if got := []int64{s.counts.lookups.Value(), s.counts.missing.Value(), s.counts.refused.Value()}; got[0] != 5 || got[1] != 2 || got[2] != 8 {
		t.Errorf("%v lookups, missing, refused; want 5, 2, 8", got)
	}
	if held := s.pool.Stats(); held.Retired != 0 || s.refs() != 0 {
		t.Errorf("%d references are held after the last request", s.refs())
	}
}

// refs returns how many references to the current table are outstanding.
func (s *service) refs() (n int) {
	s.tables.WithAcquire(func(t *table) { n = s.pool.Refs(t) - 1 })
	return n
}

func TestWithoutATableTheServiceIsUnavailable(t *testing.T) {
	s, _ := newTestService(newSynthetic())
	w := get(s, http.MethodGet, "/lookup?ip=1.0.0.1")
	if got := w.Body.String(); w.Code != http.StatusServiceUnavailable || got != "{\"error\":\"no table is loaded\"}\n" {
		t.Errorf("%d %s", w.Code, got)
	}
}

func TestTheVariablesShowTheCountersAndThePool(t *testing.T) {
	path := tempTable(t, generationCSV(1))
	s, _ := loadedService(t, files{path})
	get(s, "GET", "/lookup?ip=10.0.0.1")
	get(s, "GET", "/lookup?ip=192.0.2.1")
	replaceFile(t, path, "broken\n")
	_ = s.reloader.reload("test")

	var vars struct {
		Lookups, Missing, Refused, Reloads, ReloadsFailed int
		LastReloadError                                   string
		LastReloadSeconds                                 float64
		Table                                             tableSize
		Pool                                              poolswap.Stats
	}
	if err := json.Unmarshal([]byte(s.counts.vars(s.pool).String()), &vars); err != nil {
		t.Fatal(err)
	}
	if vars.Lookups != 1 || vars.Missing != 1 || vars.Refused != 0 || vars.Reloads != 1 || vars.ReloadsFailed != 1 || vars.LastReloadSeconds <= 0 {
		t.Errorf("the counters are %+v", vars)
	}
	if !strings.HasPrefix(vars.LastReloadError, path+":1: ") {
		t.Errorf("the last error is %q", vars.LastReloadError)
	}
	if vars.Table.IPv4 != generationRanges(1) || vars.Table.IPv6 != generationRanges(1) || vars.Table.Systems != 1 || vars.Table.Bytes == 0 {
		t.Errorf("the table is %+v", vars.Table)
	}
	if vars.Pool != s.pool.Stats() || vars.Pool.Updates != 1 || vars.Pool.Live != 2 {
		t.Errorf("the accounts of the pool are %+v", vars.Pool)
	}
}
