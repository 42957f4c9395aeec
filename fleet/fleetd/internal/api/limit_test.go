package api_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/api"
)

// hold is a connection that has sent a part of a request.
type hold struct{ net.Conn }

func (s *server) hold(text string) *hold {
	s.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { conn.Close() })
	if _, err := io.WriteString(conn, text); err != nil {
		s.t.Fatal(err)
	}
	return &hold{conn}
}

// status returns the status of the next answer.
func (h *hold) status(t *testing.T) int {
	t.Helper()
	h.SetReadDeadline(time.Now().Add(patience))
	response, err := http.ReadResponse(bufio.NewReader(h), nil)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}

func report(id string, more string) string {
	return fmt.Sprintf(`{"id": %q, "at": "2026-11-23T15:21:00Z", "every_ns": 30000000000%s}`, id, more)
}

func TestReportsAreChecked(t *testing.T) {
	s := newServer(t)
	r, plan := s.publish("asn", "one")
	token := s.token(fleet.ReplicaRole, "asn", "r*")
	const path = "/v1/names/asn/replicas/"
	s.want(204, "", token, "PUT", path+"r1", report("r1", fmt.Sprintf(`, "revision": %q, "epoch": %d, "seq": 1, "labels": {"region": "eu"}, "later": {"a": 1}, "received": "2020-01-01T00:00:00Z"`, r.ID, plan.Epoch)))
	s.await("the report", func() bool { return len(s.store.Reports("asn")) == 1 })
	status := decode[*fleet.Status](t, s.want(200, "", s.token(fleet.ReaderRole, "*", ""), "GET", "/v1/names/asn/status", ""))
	if got := status.Replicas[0]; got.ID != "r1" || got.Labels["region"] != "eu" || time.Since(got.Received) > patience || status.Counts[fleet.Running] != 1 {
		t.Errorf("the status is %+v", status)
	}
	for i, body := range []string{
		``, `[]`, `{`, report("r2", ""), report("r1", `, "every_ns": 0`), report("r1", `, "every_ns": 999999999999999`), report("r1", `, "labels": {"a": ""}`),
		report("r1", `, "revision": "a\nb"`), report("r1", `, "health": {"requests": 1, "errors": 2}`), report("r1", `, "at": "x"`), report("r1", `, "since": "2026-11-23T15:21:00+24:00"`),
	} {
		id := fmt.Sprint("r1", strings.Repeat("0", i)) // each has its own rate
		s.want(400, "bad_request", token, "PUT", path+id, strings.ReplaceAll(body, `"r1"`, strconv.Quote(id)))
	}
	s.want(204, "", token, "PUT", path+"r3", report("r3", `, "error": "`+strings.Repeat("x", fleet.MaxReport-200)+`"`))
	s.want(413, "too_large", token, "PUT", path+"r4", report("r4", `, "error": "`+strings.Repeat("x", fleet.MaxReport)+`"`))
	s.want(204, "", token, "DELETE", path+"r1", "")
	s.await("r1 is gone", func() bool { return len(s.store.Reports("asn")) == 1 })
}

func TestStatusHasPages(t *testing.T) {
	s := newServer(t)
	token := s.token(fleet.ReplicaRole, "asn", "*")
	for i := range 25 {
		s.want(204, "", token, "PUT", fmt.Sprintf("/v1/names/asn/replicas/r%02d", i), report(fmt.Sprintf("r%02d", i), ""))
	}
	s.await("the reports", func() bool { return len(s.store.Reports("asn")) == 25 })
	reader := s.token(fleet.ReaderRole, "asn", "")
	var seen []string
	after := ""
	for pages := 0; pages == 0 || after != ""; pages++ {
		page := decode[*fleet.Status](t, s.want(200, "", reader, "GET", "/v1/names/asn/status?limit=10&after="+after, ""))
		if page.Plan != nil || page.Counts[fleet.Empty] != 25 || pages > 3 {
			t.Fatalf("the page is %+v", page)
		}
		for _, r := range page.Replicas {
			seen = append(seen, r.ID)
		}
		after = page.Next
	}
	if len(seen) != 25 || seen[0] != "r00" || seen[24] != "r24" {
		t.Errorf("the pages have %q", seen)
	}
	for _, limit := range []string{"0", "-1", "x"} {
		s.want(400, "bad_request", reader, "GET", "/v1/names/asn/status?limit="+limit, "")
	}
}

func TestStatusIsBounded(t *testing.T) {
	s := newServer(t)
	token, reader := s.token(fleet.ReplicaRole, "asn", "*"), s.token(fleet.ReaderRole, "asn", "")
	const replicas = 200
	for i := range replicas {
		id := fmt.Sprintf("r%03d", i)
		s.want(204, "", token, "PUT", "/v1/names/asn/replicas/"+id, report(id, `, "error": "`+strings.Repeat("x", 7800)+`"`))
	}
	s.await("the reports", func() bool { return len(s.store.Reports("asn")) == replicas })
	seen, after := 0, ""
	for pages := 0; pages == 0 || after != ""; pages++ {
		a := s.want(200, "", reader, "GET", "/v1/names/asn/status?limit=1000&after="+after, "")
		page := decode[*fleet.Status](t, a)
		if len(a.text) > api.MaxPageBytes+10<<10 || len(page.Replicas) == 0 || page.Replicas[0].ID != fmt.Sprintf("r%03d", seen) {
			t.Fatalf("a page has %d bytes, from %d on", len(a.text), seen)
		}
		seen, after = seen+len(page.Replicas), page.Next
	}
	if seen != replicas {
		t.Errorf("the pages have %d replicas", seen)
	}
	release := s.api.HoldReads()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if a, err := s.try(ctx, reader, "GET", "/v1/names/asn/status", ""); err == nil {
		t.Errorf("one more is made at once: %d", a.status)
	}
	s.want(404, "no_plan", reader, "GET", planPath, "")
	release()
	s.want(200, "", reader, "GET", "/v1/names/asn/status", "")
}

func TestReportsHaveARate(t *testing.T) {
	s := newServer(t)
	token := s.token(fleet.ReplicaRole, "*", "r*")
	const path = "/v1/names/asn/replicas/"
	taken, begin := 0, time.Now()
	var refused answer
	for range 3 * api.ReportBurst {
		a := s.do(token, "PUT", path+"r1", report("r1", ""))
		if a.status == http.StatusNoContent {
			taken++
		} else {
			refused = a
		}
	}
	if most := api.ReportBurst + int(time.Since(begin)/time.Second); taken < api.ReportBurst || taken > most {
		t.Errorf("%d of the reports were taken, of %d", taken, most)
	}
	if refused.status != http.StatusTooManyRequests || refused.header.Get("Retry-After") != "1" {
		t.Errorf("the others were refused with %d %v", refused.status, refused.header)
	}
	s.want(204, "", token, "PUT", path+"r2", report("r2", ""))
	s.want(204, "", token, "PUT", "/v1/names/other/replicas/r1", report("r1", ""))
	s.await("r1 may report", func() bool { return s.do(token, "PUT", path+"r1", report("r1", "")).status == 204 })
}

func TestTokensHoldSoManyReports(t *testing.T) {
	l := api.NewLimits()
	for i := range api.MaxReportIDs {
		if err := l.Report("t", "asn", strconv.Itoa(i), 100); err != nil {
			t.Fatal(i, err)
		}
	}
	if err := l.Report("t", "asn", "one more", 100); err == nil {
		t.Error("it takes one more id")
	}
	for _, other := range [][2]string{{"t", "other"}, {"u", "asn"}} {
		if err := l.Report(other[0], other[1], "one more", 100); err != nil {
			t.Error(other, err)
		}
	}
	if err := l.Report("t", "asn", "7", 100); err != nil {
		t.Error("a known id:", err)
	}
	l = api.NewLimits()
	const size = 8000
	for i := range api.MaxReportBytes / (size + api.ReportCost) {
		if err := l.Report("t", strconv.Itoa(i/10_000), strconv.Itoa(i), size); err != nil {
			t.Fatal(i, err)
		}
	}
	if err := l.Report("t", "last", "one more", size); err == nil {
		t.Error("it takes more bytes")
	}
	if err := l.Report("t", "0", "7", 10); err != nil { // a shorter one in its place
		t.Error(err)
	}
	if err := l.Report("t", "last", "one more", 7700); err != nil {
		t.Error("there is room:", err)
	}
	l.Expire()
	for i := range 100 {
		if err := l.Report("t", "last", "x"+strconv.Itoa(i), size); err != nil {
			t.Fatal("after the reports were forgotten:", err)
		}
	}
	if n := l.Held("t"); n != 100 {
		t.Errorf("it remembers %d reports", n)
	}
}

func TestTokensHaveSoManyRequestsAtOnce(t *testing.T) {
	s := newServer(t)
	_, plan := s.publish("asn", "one")
	token := s.token(fleet.ReplicaRole, "asn", "r1")
	path := planPath + "?wait=60s&after=" + plan.Version()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	for range api.MaxOneReplica {
		go func() {
			s.try(ctx, token, "GET", path, "")
			ended <- struct{}{}
		}()
	}
	s.awaitPolls(api.MaxOneReplica)
	if a := s.want(429, "too_many", token, "GET", planPath, ""); a.header.Get("Retry-After") == "" {
		t.Errorf("the header is %v", a.header)
	}
	s.want(200, "", s.token(fleet.ReplicaRole, "asn", "r1"), "GET", planPath, "")
	cancel()
	for range api.MaxOneReplica {
		<-ended
	}
	s.await("a free place", func() bool { return s.do(token, "GET", planPath, "").status == 200 })
	for _, test := range []struct {
		token fleet.Token
		most  int
	}{
		{fleet.Token{Role: fleet.ReplicaRole, IDs: "r1"}, api.MaxOneReplica},
		{fleet.Token{Role: fleet.ReplicaRole, IDs: "r*"}, 75},
		{fleet.Token{Role: fleet.ReaderRole}, api.MaxOthers},
		{fleet.Token{Role: fleet.AdminRole}, api.MaxOthers},
	} {
		if got := api.MostAtOnce(test.token, 100); got != test.most {
			t.Errorf("%+v has %d at once", test.token, got)
		}
	}
}

func TestHeadersAndBodiesAreBounded(t *testing.T) {
	s := newServer(t)
	admin := s.token(fleet.AdminRole, "*", "")
	begin := "GET /healthz HTTP/1.1\r\nHost: fleet\r\nConnection: close\r\n"
	if text := s.raw(begin + "X: " + strings.Repeat("x", api.MaxHeader/2) + "\r\n\r\n"); !strings.HasPrefix(text, "HTTP/1.1 200 ") {
		t.Errorf("a header that is long: %.100q", text)
	}
	if text := s.raw(begin + "X: " + strings.Repeat("x", 2*api.MaxHeader) + "\r\n\r\n"); !strings.HasPrefix(text, "HTTP/1.1 431 ") {
		t.Errorf("a header that is too long: %.100q", text)
	}
	for _, route := range api.Routes() {
		method, path, _ := strings.Cut(route, " ")
		if method == "GET" || method == "DELETE" || strings.HasSuffix(path, "/revisions") || strings.HasSuffix(path, "/verify") {
			continue
		}
		path = strings.NewReplacer("{name}", "asn", "{id}", "r1").Replace(path)
		s.want(413, "too_large", admin, method, path, `{"why": "`+strings.Repeat("x", api.MaxSmallBody)+`"}`)
	}
	s.want(400, "bad_request", admin, "GET", "/v1/names", "a body")
	s.want(400, "bad_request", admin, "DELETE", "/v1/names/asn", "a body")
}

// TestSlowClientsAreLeft gives clients that stop in the middle of a request or answer
// less time than usual.
func TestSlowClientsAreLeft(t *testing.T) {
	s := newServerWith(t, api.Hurried())
	_, plan := s.publish("asn", "one")
	big, _ := s.publish("big", strings.Repeat("0123456789abcdef", 2<<20))
	admin := s.token(fleet.AdminRole, "*", "")
	bearer := "Host: fleet\r\nAuthorization: Bearer " + admin + "\r\n"
	t.Run("a body of JSON", func(t *testing.T) {
		h := s.hold("PATCH " + planPath + " HTTP/1.1\r\n" + bearer + "Content-Length: 20\r\n\r\n{")
		if status := h.status(t); status != http.StatusRequestTimeout {
			t.Errorf("it is answered with %d", status)
		}
	})
	t.Run("an upload", func(t *testing.T) {
		h := s.hold("POST /v1/names/asn/revisions HTTP/1.1\r\n" + bearer + "Content-Length: 20\r\n\r\n{")
		if status := h.status(t); status != http.StatusRequestTimeout {
			t.Errorf("it is answered with %d", status)
		}
	})
	t.Run("the body of a request that is refused", func(t *testing.T) {
		h := s.hold("POST /v1/names/asn/revisions HTTP/1.1\r\nHost: fleet\r\nContent-Length: 20\r\n\r\n{")
		if status := h.status(t); status != http.StatusUnauthorized {
			t.Errorf("it is answered with %d", status)
		}
		h.SetReadDeadline(time.Now().Add(patience))
		if _, err := io.ReadAll(h); err != nil {
			t.Errorf("the connection stays open: %v", err)
		}
	})
	t.Run("a reader of content", func(t *testing.T) {
		h := s.hold("GET /v1/names/big/content/" + big.SHA256 + " HTTP/1.1\r\n" + bearer + "\r\n")
		s.await("the server gives up", func() bool {
			return strings.Contains(s.metrics(), `fleetd_requests_total{route="GET /v1/names/{name}/content/{sha256}",status="200"} 1`)
		})
		h.SetReadDeadline(time.Now().Add(patience))
		n, err := io.Copy(io.Discard, h)
		if n > big.Size-api.DownloadPiece {
			t.Errorf("it still gets %d of %d bytes, %v", n, big.Size, err)
		}
	})
	t.Run("a steady upload takes longer than its time", func(t *testing.T) {
		h := s.hold("POST /v1/names/asn/revisions HTTP/1.1\r\n" + bearer + "Content-Length: 10485760\r\n\r\n")
		piece := make([]byte, 512<<10)
		for range 20 {
			if _, err := h.Write(piece); err != nil {
				t.Fatal(err)
			}
			time.Sleep(api.HurriedUpload / 10)
		}
		if status := h.status(t); status != http.StatusCreated {
			t.Errorf("it is answered with %d", status)
		}
	})
	t.Run("a poll is not hurried", func(t *testing.T) {
		s.want(204, "", admin, "GET", planPath+"?wait=500ms&after="+plan.Version(), "")
	})
}

// TestSlowReadersLeaveFiles has a token for many replicas get content that it does not read.
func TestSlowReadersLeaveFiles(t *testing.T) {
	s := newServerWith(t, api.Options{MaxDownloads: 4})
	r, _ := s.publish("asn", strings.Repeat("content", 5<<20)) // more than the buffers of a connection
	many, other := s.token(fleet.ReplicaRole, "asn", "r*"), s.token(fleet.ReplicaRole, "asn", "good")
	path := "/v1/names/asn/content/" + r.SHA256
	slow := func(token, want string) {
		t.Helper()
		h := s.hold("GET " + path + " HTTP/1.1\r\nHost: fleet\r\nAuthorization: Bearer " + token + "\r\n\r\n")
		h.SetReadDeadline(time.Now().Add(patience))
		status := make([]byte, len("HTTP/1.1 200"))
		if _, err := io.ReadFull(h, status); err != nil || string(status) != want {
			t.Errorf("the answer begins with %q, %v, want %q", status, err, want)
		}
	}
	for range 3 {
		slow(many, "HTTP/1.1 200")
	}
	slow(many, "HTTP/1.1 429")
	s.want(200, "", other, "GET", path, "")
	slow(other, "HTTP/1.1 200")
	slow(other, "HTTP/1.1 429")
}
