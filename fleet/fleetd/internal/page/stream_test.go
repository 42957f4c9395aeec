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

	"github.com/poolswap/poolswap/fleet/fleetd/internal/page"
)

// stream is a stream of events.
type stream struct {
	t     *testing.T
	body  io.ReadCloser
	lines *bufio.Reader
}

func (v *visitor) stream(name string) *stream {
	v.s.t.Helper()
	response, err := v.Do(v.s.request(http.MethodGet, "/events?name="+url.QueryEscape(name), nil))
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
func TestAStreamFollowsBeyondTheTimeouts(t *testing.T) {
	s := newSite(t, func(_ *page.Options, c *http.Server) {
		c.ReadTimeout, c.WriteTimeout = 500*time.Millisecond, 500*time.Millisecond
	})
	one := s.publish("asn", "one")
	stream := s.member("alice").stream("asn")
	if parts := stream.until(one); parts["status"] == "" || parts["steer"] == "" || parts["record"] == "" {
		t.Errorf("the first event has %d parts", len(parts))
	}
	for _, text := range []string{"two", "three"} {
		time.Sleep(s.Config.WriteTimeout * 5 / 4)
		next := s.publish("asn", text)
		stream.until("Replicas are to run <code>" + next)
		s.report("asn", "a", next)
		stream.until("The one replica runs what it should.")
	}
}

func TestAStreamEndsWithTheSession(t *testing.T) {
	s := newSite(t, nil)
	s.publish("asn", "one")
	v, other := s.member("alice"), s.member("bob")
	ends, stays := v.stream("asn"), other.stream("asn")
	ends.until("No replica reports.")
	stays.until("No replica reports.")
	v.post("/logout", url.Values{})
	if event, _, err := ends.next(); event != "end" || err != nil {
		t.Errorf("after the logout comes %q, %v", event, err)
	}
	if _, _, err := ends.next(); err != io.EOF {
		t.Errorf("then %v", err)
	}
	two := s.publish("asn", "two")
	stays.until(two)
}

func TestStreamsEndWithThePage(t *testing.T) {
	s := newSite(t, nil)
	s.publish("asn", "one")
	stream := s.member("alice").stream("asn")
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
	eventually(t, "nothing is left", func() bool {
		streams, feeds := s.page.Streams()
		return streams == 0 && feeds == 0
	})
}

func TestStreamsAreBounded(t *testing.T) {
	s := newSite(t, nil)
	s.publish("asn", "one")
	v := s.member("alice")
	var all []*stream
	for range page.MaxStreamsOfSession {
		all = append(all, v.stream("asn"))
	}
	if a := v.get("/events?name=asn"); a.StatusCode != http.StatusServiceUnavailable || a.Header.Get("Retry-After") == "" {
		t.Errorf("one more is answered with %d", a.StatusCode)
	}
	all[0].until("No replica reports.")
	if streams, feeds := s.page.Streams(); streams != page.MaxStreamsOfSession || feeds != 1 {
		t.Errorf("there are %d streams of %d feeds", streams, feeds)
	}
	s.member("bob").stream("asn").until("No replica reports.")
	for _, one := range all {
		one.body.Close()
	}
	eventually(t, "there is room again", func() bool {
		streams, _ := s.page.Streams()
		return streams == 1
	})
	v.stream("asn").until("No replica reports.")
}

func TestAStreamSaysThatTheServerIsGone(t *testing.T) {
	s := newSite(t, nil)
	s.publish("asn", "one")
	stream := s.member("alice").stream("asn")
	stream.until("No replica reports.")
	s.conn.Close()
	if parts := stream.until("does not answer"); !strings.Contains(parts["status"], "what was known last") {
		t.Errorf("the status is %s", parts["status"])
	}
}

func TestAPageNeedsAConnectionAndAPassword(t *testing.T) {
	if _, err := page.New(page.Options{Password: password}); err == nil {
		t.Error("no connection, no error")
	}
	if _, err := page.New(page.Options{Conn: natsConn(t)}); err == nil {
		t.Error("no password, no error")
	}
}

// A status that is new comes with the history and what is stored of its plan.
func TestAStreamHasTheRecordOfItsPlan(t *testing.T) {
	s := newSite(t, nil)
	one := s.publish("asn", "one")
	v := s.member("alice")
	stream := v.stream("asn")
	stream.until("Replicas are to run <code>" + one)
	for i, action := range []string{"pause", "resume", "pause"} {
		v.steers("asn", s.plan("asn"), action, nil)
		parts := stream.until(fmt.Sprintf("Plan %d: alice", i+2))
		if want := fmt.Sprintf(`data-name="plan">%d<`, i+2); !strings.Contains(parts["record"], want) {
			t.Errorf("the record of plan %d is %s", i+2, parts["record"])
		}
	}
}

// What no one looks at is not watched.
func TestAFeedWithoutReadersEnds(t *testing.T) {
	s := newSite(t, nil)
	one := s.publish("asn", "one")
	v := s.member("alice")
	before := s.conn.NumSubscriptions()
	stream := v.stream("asn")
	stream.until(one)
	stream.body.Close()
	eventually(t, "there is no subscription more than before", func() bool { return s.conn.NumSubscriptions() <= before+1 }) // one for answers to requests
}
