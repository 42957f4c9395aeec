package browser_test

import (
	"strings"
	"testing"

	"github.com/poolswap/poolswap/fleet"
)

// longWord has no place where a line would break by itself.
var longWord = strings.Repeat("abcdefgh", 16)

// looks are the states that the page can show. Each is made under a name of its own,
// and returns once the page can tell it.
var looks = []struct {
	name, class, headline string
	says                  string // besides
	do                    func(d *daemon, name string)
}{
	{"nothing was published", "empty", "Nothing was published under this name yet.", "Renew it", func(*daemon, string) {}},
	{"no replica reports", "empty", "No replica reports.", "the first", func(d *daemon, name string) {
		d.publish(d.publisher(name), "one", "the first")
	}},
	{"all is well", "fresh", "All 2 replicas run what they should.", "2 of 2 run it", func(d *daemon, name string) {
		d.publish(d.publisher(name), "one", "the first")
		d.replica(name, "a")
		d.replica(name, "b")
	}},
	{"a replica cannot load", "failing", "The one replica reports a failure.", "is to run", func(d *daemon, name string) {
		p := d.publisher(name)
		d.publish(p, "one", "the first "+longWord)
		d.replica(name, longWord)
		d.publish(p, "bad "+longWord, longWord)
	}},
	{"a canary is on hold", "failing", "The canary is on hold: a replica could not load it.", "must not be promoted: a: ", func(d *daemon, name string) {
		p := d.publisher(name)
		d.publish(p, "one", "the first")
		d.replica(name, "a")
		d.replica(name, "b")
		_, err := d.controller(name).Canary(d.t.Context(), d.storeContent(p, "bad row 3"), 0, "try it", "a")
		d.check(err)
	}},
	{"a canary, a pin and a pause", "stale", "Paused. 2 of 2 replicas run what they should.", "All is paused", func(d *daemon, name string) {
		p, c := d.publisher(name), d.controller(name)
		one := d.publish(p, "one", "the first")
		d.publish(p, "two", "the second")
		d.replica(name, "a")
		d.replica(name, longWord)
		_, err := c.Canary(d.t.Context(), one, 0, "try "+longWord, "a")
		if err == nil {
			_, err = c.Pin(d.t.Context(), longWord, one, "keep it")
		}
		for err == nil {
			var s *fleet.Status
			if s, err = c.Status(d.t.Context()); err == nil && len(s.Replicas) == 2 && s.Replicas[0].Revision == one && s.Replicas[1].Revision == one {
				break
			}
		}
		if err == nil {
			_, err = c.Pause(d.t.Context(), "look at it first")
		}
		d.check(err)
	}},
}

func TestFleetIsReadableInEachState(t *testing.T) {
	d := newDaemon(t)
	g := newGuest(t, d, "")
	g.wantInEachLook(d.url+"/login", "", "", "Password of the administrator")
	g.logIn("alice")
	for i, look := range looks {
		name := strings.Repeat("x", 120) + string(rune('a'+i))
		look.do(d, name)
		address := d.url + "/fleet?name=" + name
		g.opens(address)
		g.shows(look.headline)
		if !g.subtest(look.name, func() { g.wantInEachLook(address, look.class, look.headline, look.says) }) {
			t.Logf("%q", g.troubles())
		}
	}
	g.wantInEachLook(d.url+"/", "", "", "Paused. 2 of 2 replicas run what they should.")
	g.quiet("404 (Not Found)") // nothing was published
}
