package api_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/api"
)

// listen serves at another listener, of n connections.
func (s *server) listen(n int) {
	s.t.Helper()
	var web *http.Server
	web, s.url = serve(s.t, s.api, s.api, n)
	s.t.Cleanup(func() { web.Close() })
}

func TestConnectionsAreBounded(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	limited := api.LimitListener(listener.(*net.TCPListener), 2)
	accepted := make(chan net.Conn)
	go func() {
		for {
			conn, err := limited.Accept()
			if err != nil {
				close(accepted)
				return
			}
			accepted <- conn
		}
	}()
	for range 3 {
		conn, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	first, second := <-accepted, <-accepted
	select {
	case <-accepted:
		t.Error("it accepts a third connection")
	case <-time.After(50 * time.Millisecond):
	}
	first.Close()
	first.Close() // which frees no second place
	third := <-accepted
	limited.Close()
	if _, ok := <-accepted; ok {
		t.Error("it accepts after Close")
	}
	second.Close()
	third.Close()
	if _, ok := third.(io.ReaderFrom); !ok {
		t.Error("its connections cannot send files by themselves")
	}
}

// TestPollsOfATokenLeaveConnections holds polls of a token for many replicas at all
// connections of a server.
func TestPollsOfATokenLeaveConnections(t *testing.T) {
	s := newServerWith(t, api.Options{MaxConns: 8})
	_, plan := s.publish("asn", "one")
	many, other := s.token(fleet.ReplicaRole, "asn", "r*"), s.token(fleet.ReplicaRole, "asn", "good")
	s.listen(8)
	get := "GET " + planPath + "%s HTTP/1.1\r\nHost: fleet\r\nAuthorization: Bearer %s\r\n\r\n"
	for range 16 {
		s.hold(fmt.Sprintf(get, "?wait=60s&after="+plan.Version(), many))
	}
	s.awaitPolls(6)
	if status := s.hold(fmt.Sprintf(get, "", other)).status(t); status != http.StatusOK {
		t.Errorf("another token is answered with %d", status)
	}
	s.awaitPolls(6)
}

// TestConnectionsWithoutARequestMakeRoom fills a server with connections that ask for
// nothing, or have stopped in a header.
func TestConnectionsWithoutARequestMakeRoom(t *testing.T) {
	s := newServer(t)
	_, plan := s.publish("asn", "one")
	token := s.token(fleet.ReplicaRole, "asn", "r1")
	s.listen(4)
	get := "GET " + planPath + "%s HTTP/1.1\r\nHost: fleet\r\nAuthorization: Bearer " + token + "\r\n\r\n"
	wait := fmt.Sprintf(get, "?wait=60s&after="+plan.Version())
	polls := []*hold{s.hold(wait), s.hold(wait), s.hold(wait)}
	s.awaitPolls(3)
	// Those that come at once for the last place have the time to ask.
	var crowd []*hold
	for range 50 {
		crowd = append(crowd, s.hold(strings.Replace(fmt.Sprintf(get, ""), "Host", "Connection: close\r\nHost", 1)))
	}
	for _, one := range crowd {
		if status := one.status(t); status != http.StatusOK {
			t.Fatalf("one of many is answered with %d", status)
		}
	}
	polls[1].Close()
	polls[2].Close()
	s.awaitPolls(1)
	for i := range 4 {
		s.hold([]string{"", "GET /v1/names HTTP/1.1\r\nX: "}[i%2])
		if status := s.hold(fmt.Sprintf(get, "")).status(t); status != http.StatusOK { // and stays open
			t.Fatalf("a request is answered with %d", status)
		}
	}
	s.awaitPolls(1)
	s.publish("asn", "two")
	if status := polls[0].status(t); status != http.StatusOK {
		t.Errorf("the poll is answered with %d", status)
	}
}

// TestSlowHeadersMakeRoom has as many connections stop in a header, of a first or a second
// request, as may. New ones end these, the first first, and none that idles or polls.
func TestSlowHeadersMakeRoom(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	_, plan := s.publish("asn", "one")
	token := s.token(fleet.ReplicaRole, "asn", "r1")
	s.listen(4 * api.MinBegun)
	get := "GET " + planPath + "%s HTTP/1.1\r\nHost: fleet\r\nAuthorization: Bearer " + token + "\r\n\r\n"
	poll, idle := s.hold(fmt.Sprintf(get, "?wait=60s&after="+plan.Version())), s.hold(fmt.Sprintf(get, ""))
	s.awaitPolls(1)
	begin := "GET /v1/names HTTP/1.1\r\nX: "
	var slow []*hold
	for i := range api.MinBegun {
		if i < 10 {
			slow = append(slow, s.hold(fmt.Sprintf(get, "")+begin))
			slow[i].status(t)
		} else {
			slow = append(slow, s.hold(begin))
		}
	}
	if idle.status(t) != http.StatusOK {
		t.Fatal("the idle connection is refused")
	}
	if status := s.hold(fmt.Sprintf(get, "")).status(t); status != http.StatusOK { // it waits
		t.Errorf("a new connection is answered with %d", status)
	}
	for range api.MinBegun {
		s.hold(begin)
	}
	for i, h := range slow[:10] {
		h.SetReadDeadline(time.Now().Add(api.HeaderTime - api.Moment - 2*time.Second))
		if _, err := io.Copy(io.Discard, h); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the second header of connection %d is still waited for", i)
		}
	}
	io.WriteString(idle, fmt.Sprintf(get, ""))
	if status := idle.status(t); status != http.StatusOK {
		t.Errorf("the idle connection is answered with %d", status)
	}
	s.publish("asn", "two")
	if status := poll.status(t); status != http.StatusOK {
		t.Errorf("the poll is answered with %d", status)
	}
}
