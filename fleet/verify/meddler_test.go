package verify

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// meddler is a proxy that meddles with the next requests of a kind.
type meddler struct {
	url    string
	client http.Client
	server string

	mu      sync.Mutex
	armed   map[string][]fault // by kind
	earlier map[string][]byte  // answers, by kind
	count   func(what string)
	got     map[string]int // bytes of answers, by kind
	asked   int            // requests that were answered, but for reports
}

// fault is what happens to a request or its answer.
type fault struct {
	what   string
	random uint64
}

// kinds are the requests that a meddler tells apart, and what can happen to them.
var kinds = map[string][]string{
	"plan":    {"lose request", "lose answer", "repeat", "delay", "cut", "earlier"},
	"chain":   {"lose request", "lose answer", "cut", "earlier", "reorder", "reorder", "reorder", "reorder"},
	"content": {"lose request", "lose answer", "repeat", "delay", "cut", "earlier", "flip"},
	"report":  {"lose request", "lose answer", "repeat", "delay"},
	"upload":  {"lose request", "lose answer", "repeat", "delay", "cut"},
	"change":  {"lose request", "lose answer", "repeat", "delay", "cut"},
}

// kindNames are the kinds in an order that is always the same.
var kindNames = slices.Sorted(maps.Keys(kinds))

func kindOf(r *http.Request) string {
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/plan") && r.Method == http.MethodGet:
		return "plan"
	case strings.HasSuffix(path, "/plan"):
		return "change"
	case strings.HasSuffix(path, "/chain"):
		return "chain"
	case strings.Contains(path, "/content/"), strings.HasSuffix(path, "/deltas"):
		return "content"
	case strings.Contains(path, "/replicas/"):
		return "report"
	case strings.HasSuffix(path, "/revisions") && r.Method == http.MethodPost:
		return "upload"
	}
	return ""
}

func newMeddler(t testing.TB, server string) *meddler {
	m := &meddler{server: server, client: http.Client{Transport: &http.Transport{}}}
	m.reset(func(string) {})
	s := httptest.NewServer(m)
	m.url = s.URL
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
		m.client.CloseIdleConnections()
	})
	return m
}

// reset begins with another history.
func (m *meddler) reset(count func(what string)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.armed, m.earlier, m.count = map[string][]fault{}, map[string][]byte{}, count
	m.got, m.asked = map[string]int{}, 0
}

// arm makes faults happen to the next requests of their kinds, and to no others.
func (m *meddler) arm(faults map[string][]fault) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.armed = faults
}

// next returns the fault of a request, or none.
func (m *meddler) next(kind string) (f fault) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if armed := m.armed[kind]; len(armed) > 0 {
		f, m.armed[kind] = armed[0], armed[1:]
		m.count(f.what)
	}
	return f
}

// ServeHTTP implements http.Handler.
func (m *meddler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	kind := kindOf(r)
	f := m.next(kind)
	body, err := io.ReadAll(r.Body)
	if err != nil || f.what == "lose request" {
		panic(http.ErrAbortHandler)
	}
	times := 1
	switch f.what {
	case "repeat":
		times = 2
	case "delay":
		time.Sleep(time.Duration(f.random%20) * time.Millisecond)
	}
	var status int
	var text []byte
	for range times {
		if status, text, err = m.forward(w.Header(), r, body); err != nil {
			panic(http.ErrAbortHandler)
		}
	}
	if f.what == "lose answer" {
		panic(http.ErrAbortHandler)
	}
	if status == http.StatusOK {
		text = m.damage(kind, f, text)
	}
	if status != http.StatusNoContent {
		w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	}
	w.WriteHeader(status)
	if f.what == "cut" {
		w.Write(text[:len(text)/2])
		panic(http.ErrAbortHandler)
	}
	w.Write(text)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.got[kind] += len(text); kind != "report" {
		m.asked++
	}
}

// forward sends a request to the server. It adds the header of the answer to header.
func (m *meddler) forward(header http.Header, r *http.Request, body []byte) (status int, text []byte, err error) {
	target := *r.URL
	target.Scheme, target.Host = "http", m.server
	request, err := http.NewRequestWithContext(r.Context(), r.Method, target.String(), bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	request.Header = r.Header.Clone()
	response, err := m.client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	maps.Copy(header, response.Header)
	text, err = io.ReadAll(response.Body)
	return response.StatusCode, text, err
}

// damage returns what comes in the place of an answer.
func (m *meddler) damage(kind string, f fault, text []byte) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.earlier[kind]
	if before == nil || f.random%3 == 0 { // so that it is not always the last one
		m.earlier[kind] = bytes.Clone(text)
	}
	switch {
	case f.what == "earlier" && before != nil:
		return before
	case f.what == "flip" && len(text) > 0:
		text[f.random/8%uint64(len(text))] ^= 1 << (f.random % 8)
	case f.what == "reorder":
		return reorder(text, f.random)
	}
	return text
}

// reorder returns an answer with another order of revisions, or without one of them.
func reorder(text []byte, random uint64) []byte {
	var answer struct {
		Revisions []json.RawMessage `json:"revisions"`
	}
	if json.Unmarshal(text, &answer) != nil || len(answer.Revisions) == 0 {
		return text
	}
	all := answer.Revisions
	i := int(random / 4 % uint64(len(all)))
	switch random % 4 {
	case 0:
		slices.Reverse(all)
	case 1:
		all = slices.Delete(all, i, i+1)
	case 2:
		all = slices.Insert(all, i, all[i])
	case 3:
		if len(all) > 2 { // the last stays the last
			i = int(random / 4 % uint64(len(all)-2))
			all[i], all[i+1] = all[i+1], all[i]
		}
	}
	answer.Revisions = all
	text, _ = json.Marshal(answer)
	return text
}
