package page_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/page"
)

// stream is a stream of events.
type stream struct {
	t     *testing.T
	body  io.ReadCloser
	lines *bufio.Reader
}

func (v *visitor) stream(query string) *stream {
	v.s.t.Helper()
	response, err := v.Do(v.s.request(http.MethodGet, "/events?"+query, nil))
	if err != nil {
		v.s.t.Fatal(err)
	}
	v.s.t.Cleanup(func() { response.Body.Close() })
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "text/event-stream" {
		v.s.t.Fatalf("the stream is answered with %d, %q", response.StatusCode, response.Header)
	}
	return &stream{v.s.t, response.Body, bufio.NewReader(response.Body)}
}

// next returns the next event, or io.EOF.
func (s *stream) next() (event, data string, err error) {
	for {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			return "", "", err
		}
		switch line = strings.TrimSuffix(line, "\n"); {
		case line == "" && event != "":
			return event, data, nil
		case strings.HasPrefix(line, "event: "):
			event = line[len("event: "):]
		case strings.HasPrefix(line, "data: "):
			data = line[len("data: "):]
		}
	}
}

// until returns the parts of the page that come first with a text in one of them.
func (s *stream) until(text string) map[string]string {
	s.t.Helper()
	for {
		event, data, err := s.next()
		if err != nil || event != "parts" {
			s.t.Fatalf("%q comes before %q: %v", event, text, err)
		}
		parts := map[string]string{}
		if err := json.Unmarshal([]byte(data), &parts); err != nil {
			s.t.Fatal(err)
		}
		for _, part := range parts {
			if strings.Contains(part, text) {
				return parts
			}
		}
	}
}

// The timeouts of the server, here short, are for requests that end.
func TestStreamFollowsBeyondTheTimeouts(t *testing.T) {
	s := newSite(t, func(_ *page.Options, c *http.Server) {
		c.ReadTimeout, c.WriteTimeout = 500*time.Millisecond, 500*time.Millisecond
	})
	one := s.publish("asn", "one")
	stream := s.operator("ann").stream("name=asn")
	parts := stream.until(one)
	for _, part := range []string{"headline", "status", "steer"} {
		if parts[part] == "" {
			t.Errorf("the first event has no %s", part)
		}
	}
	for _, text := range []string{"two", "three"} {
		time.Sleep(s.Config.WriteTimeout * 5 / 4)
		next := s.publish("asn", text)
		stream.until("Replicas are to run <code>" + next)
		s.report("asn", fleet.Report{ID: "a", Revision: next})
		if parts := stream.until("The one replica runs its planned revision."); parts["steer"] != "" && text == "three" {
			t.Errorf("a report sends more than it changes: %v", parts)
		}
	}
}

func TestStreamEndsWithItsSession(t *testing.T) {
	s := newSite(t, nil)
	s.publish("asn", "one")
	leaving, _ := s.member(fleet.Token{Name: "ann", Role: fleet.ReaderRole})
	revoked, eve := s.member(fleet.Token{Name: "eve", Role: fleet.ReaderRole})
	ends, stays := map[string]*stream{}, s.operator("ann").stream("name=asn")
	for name, v := range map[string]*visitor{"logout": leaving, "revocation": revoked} {
		ends[name] = v.stream("name=asn")
		ends[name].until("No replica reports.")
	}
	leaving.post("/logout", url.Values{})
	s.check(s.store.DeleteToken(t.Context(), eve))
	for name, stream := range ends {
		event, _, err := stream.next()
		for event == "parts" { // of a time before
			event, _, err = stream.next()
		}
		if event != "end" || err != nil {
			t.Errorf("after the %s comes %q, %v", name, event, err)
		}
		if _, _, err := stream.next(); err != io.EOF {
			t.Errorf("then %v", err)
		}
	}
	stays.until(s.publish("asn", "two"))
}

func TestStreamsEndWithThePage(t *testing.T) {
	s := newSite(t, nil)
	s.publish("asn", "one")
	stream := s.operator("ann").stream("name=asn")
	stream.until("No replica reports.")
	s.page.Close()
	for {
		event, _, err := stream.next()
		if err == io.EOF {
			break
		}
		if err != nil || event == "end" { // a browser asks again
			t.Fatalf("it ends with %q, %v", event, err)
		}
	}
	eventually(t, "no stream is left", func() bool { return s.page.Streams() == 0 })
}

func TestStreamsAreBounded(t *testing.T) {
	s := newSite(t, nil)
	s.publish("asn", "one")
	_, token := s.token(fleet.Token{Name: "ann", Role: fleet.ReaderRole})
	var all []*stream
	v := s.visitor()
	for i := range page.MaxStreamsOfAToken {
		if i%4 == 0 { // in more than one session
			v = s.visitor()
			v.logIn(token)
		}
		all = append(all, v.stream("name=asn"))
	}
	v = s.visitor()
	v.logIn(token)
	if a := v.get("/events?name=asn"); a.StatusCode != http.StatusServiceUnavailable || a.Header.Get("Retry-After") == "" {
		t.Errorf("one more is answered with %d", a.StatusCode)
	}
	s.operator("bob").stream("name=asn").until("No replica reports.")
	for _, one := range all {
		one.body.Close()
	}
	eventually(t, "there is room again", func() bool { return s.page.Streams() == 1 })
	v.stream("name=asn").until("No replica reports.")
}

// A large fleet is looked at once a second for all viewers, and each gets a page.
func TestStreamsShareTheirWork(t *testing.T) {
	s, crowd := newCrowd(t, 10_000)
	begin := time.Now()
	for i := range 3 * page.MaxStreamsOfAToken {
		v := s.operator(fmt.Sprint("viewer ", i))
		parts := v.stream("name=asn").until("of 10,000 replicas run their planned revision.")
		if n := strings.Count(parts["replicas"], "<tr><td"); n != 100 {
			t.Fatalf("a stream has %d replicas", n)
		}
		if size := len(fmt.Sprint(parts)); size > 64<<10 {
			t.Fatalf("an event has %d bytes", size)
		}
	}
	reader, _ := s.member(fleet.Token{Name: "a reader", Role: fleet.ReaderRole})
	if parts := reader.stream("name=asn").until("of 10,000 replicas"); strings.Contains(parts["steer"], "<form") {
		t.Error("a reader gets the forms of operators")
	}
	if parts := reader.stream("name=asn&state=failing").until("of 10,000 replicas"); !strings.Contains(parts["replicas"], "1 to 100 of 100<") {
		t.Error("a stream does not follow its own page")
	}
	if n, most := crowd.reads.Load(), int64(time.Since(begin)/time.Second)+1; n > most {
		t.Errorf("the replicas were read %d times, want %d at most", n, most)
	}
}

// However often reports change, a stream has one event each second.
func TestStreamCoalescesChanges(t *testing.T) {
	s := newSite(t, nil)
	s.publish("asn", "one")
	stream := s.operator("ann").stream("name=asn")
	stream.until("No replica reports.")
	begin := time.Now()
	for i := range 40 {
		s.change("asn", "bob", fleet.Operation{Kind: []fleet.Kind{fleet.KindPause, fleet.KindResume}[i%2]})
		s.report("asn", fleet.Report{ID: fmt.Sprint("replica-", i), Revision: "rev-one"})
	}
	events := 0
	for {
		event, data, err := stream.next()
		if err != nil || event != "parts" {
			t.Fatal(event, err)
		}
		events++
		if strings.Contains(data, "All 40 replicas") {
			break
		}
	}
	if most := int(time.Since(begin)/time.Second) + 2; events > most { // one may be late
		t.Errorf("there are %d events, want %d at most", events, most)
	}
}
