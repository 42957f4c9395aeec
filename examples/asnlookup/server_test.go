package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/poolswap/poolswap"
)

// do returns the answer of the service to a request.
func do(s *service, method, url, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, httptest.NewRequest(method, url, strings.NewReader(body)))
	return w
}

// refs returns how many references to the current table are outstanding.
func (s *service) refs() (n int) {
	s.tables.WithAcquire(func(t *table) { n = s.pool.Refs(t) - 1 })
	return n
}

const (
	smallTable = "1.0.0.0,1.0.0.255,13335,\"Example, \"\"Inc.\"\"\"\n2001:200::,2001:200::ffff,2500,WIDE Project\n"
	answer4    = `{"ip":"1.0.0.7","asn":13335,"name":"Example, \"Inc.\"","first":"1.0.0.0","last":"1.0.0.255","version":1}` + "\n"
	answer6    = `{"ip":"2001:200::f","asn":2500,"name":"WIDE Project","first":"2001:200::","last":"2001:200::ffff","version":1}` + "\n"
	notFound   = `{"error":"the address is in no range of the table","version":1}` + "\n"
	badAddress = `{"error":"give one IP address without a zone, as in /lookup?ip=192.0.2.1"}` + "\n"
)

func TestLookupsAreAnswered(t *testing.T) {
	s, _ := loadedService(t, 100, tempTable(t, smallTable))
	for _, c := range []struct {
		name, url string
		status    int
		body      string
	}{
		{"IPv4", "/lookup?ip=1.0.0.7", 200, answer4},
		{"IPv4-mapped", "/lookup?ip=::ffff:1.0.0.7", 200, answer4},
		{"IPv6", "/lookup?ip=2001:200::f", 200, answer6},
		{"IPv6 with its colons escaped", "/lookup?ip=2001%3A200%3A%3Af", 200, answer6},
		{"not in the table", "/lookup?ip=1.0.1.0", 404, notFound},
		{"IPv6 not in the table", "/lookup?ip=::", 404, notFound},
		{"no address", "/lookup", 400, badAddress},
		{"a bad address", "/lookup?ip=1.0.0.256", 400, badAddress},
		{"a zone", "/lookup?ip=fe80::1%25eth0", 400, badAddress},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := do(s, http.MethodGet, c.url, "")
			if w.Code != c.status || w.Body.String() != c.body || w.Header().Get("Content-Type") != "application/json" {
				t.Errorf("%d %v %s, want %d %s", w.Code, w.Header(), w.Body, c.status, c.body)
			}
		})
	}
	if n := s.refs(); n != 0 || s.pool.Stats().Retired != 0 {
		t.Errorf("%d references are held after the last request", n)
	}
}

func TestABatchIsAnsweredLineByLine(t *testing.T) {
	s, _ := loadedService(t, 100, tempTable(t, smallTable))
	w := do(s, http.MethodPost, "/lookup", "1.0.0.7\n2001:200::f\r\n\n1.0.1.0")
	if want := answer4 + answer6 + badAddress + notFound; w.Code != 200 || w.Body.String() != want {
		t.Errorf("%d %s, want %s", w.Code, w.Body, want)
	}
	if w := do(s, http.MethodPost, "/lookup", strings.Repeat("\n", maxBatch+1)); w.Code != 400 || !strings.Contains(w.Body.String(), "too large") {
		t.Errorf("a body that is too large: %d %s", w.Code, w.Body)
	}
	if n := s.refs(); n != 0 {
		t.Errorf("%d references are held after the last request", n)
	}
}

func TestTheVersionGrowsWithEachTable(t *testing.T) {
	path := tempTable(t, generationCSV(1))
	s, _ := loadedService(t, 100, path)
	for _, text := range []string{generationCSV(2), generationCSV(2), "broken\n", generationCSV(3), generationCSV(1)} {
		replaceFile(t, path, text)
		tryReload(s)
	}
	for url, status := range map[string]int{"/lookup?ip=10.0.0.1": 200, "/lookup?ip=192.0.2.1": 404} {
		if w := do(s, http.MethodGet, url, ""); w.Code != status || !strings.Contains(w.Body.String(), `"version":4}`) {
			t.Errorf("after three more tables, one that came twice, and a broken one: %d %s", w.Code, w.Body)
		}
	}
}

// TestAnAnswerHasTheVersionOfTheTableItCameFrom: not that of the table that
// became current while the answer was looked up.
func TestAnAnswerHasTheVersionOfTheTableItCameFrom(t *testing.T) {
	path := tempTable(t, generationCSV(1))
	s, _ := loadedService(t, 100, path)
	old := s.tables.Acquire()
	defer s.tables.Release(old)
	replaceFile(t, path, generationCSV(2))
	mustReload(t, s)
	web := server{s.tables, s.reloader, s.metrics}
	if _, answer := web.lookupIn(old, "10.0.0.1"); answer.(found).Version != 1 || answer.(found).ASN != 1 {
		t.Errorf("the table that is held answers %+v", answer)
	}
	if _, answer := web.lookup("10.0.0.1"); answer.(found).Version != 2 || answer.(found).ASN != 2 || s.tables.Version() != 2 {
		t.Errorf("the current table, version %d, answers %+v", s.tables.Version(), answer)
	}
}

func TestWithoutATableTheServiceIsUnavailable(t *testing.T) {
	s, _ := newTestService(100, "/no/such/table.csv")
	if w := do(s, http.MethodGet, "/lookup?ip=1.0.0.1", ""); w.Code != http.StatusServiceUnavailable || w.Body.String() != "{\"error\":\"no table is loaded\"}\n" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if text := s.vars().String(); !strings.Contains(text, `"Table": null`) {
		t.Errorf("the variables are %s", text)
	}
}

func TestTheVariablesShowTheMetricsTheTableAndThePool(t *testing.T) {
	path := tempTable(t, generationCSV(1))
	s, _ := loadedService(t, 100, path)
	do(s, http.MethodGet, "/lookup?ip=10.0.0.1", "")
	do(s, http.MethodGet, "/lookup?ip=192.0.2.1", "")
	replaceFile(t, path, "broken\n")
	tryReload(s)

	var vars struct {
		Answers, Reloads map[string]int
		Table            tableInfo
		Pool             poolswap.Stats
	}
	if err := json.Unmarshal([]byte(s.vars().String()), &vars); err != nil {
		t.Fatal(err)
	}
	if len(vars.Answers) != 2 || vars.Answers["200"] != 1 || vars.Answers["404"] != 1 || vars.Reloads["loaded"] != 1 || vars.Reloads["failed"] != 1 {
		t.Errorf("the metrics are %+v", vars)
	}
	if info := vars.Table; info.Version != 1 || info.Ranges != 2*generationRanges(1) || info.Systems != 1 || info.Bytes == 0 {
		t.Errorf("the table is %+v", info)
	}
	if vars.Pool.Updates != 1 || vars.Pool.Live != 2 {
		t.Errorf("the pool is %+v", vars.Pool)
	}
}
