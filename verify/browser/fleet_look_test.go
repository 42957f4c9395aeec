package browser_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

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
	{"all is well", "fresh", "All 2 replicas run their planned revision.", "2 of 2 run it", func(d *daemon, name string) {
		d.publish(d.publisher(name), "one", "the first")
		d.replica(name, "a")
		d.replica(name, "b")
	}},
	{"a replica cannot load", "failing", "The one replica reports a failure.", "is to run", func(d *daemon, name string) {
		p := d.publisher(name)
		d.publish(p, "one", "the first "+longWord)
		d.replica(name, longWord)
		d.runs(name, 1)
		d.publish(p, "bad "+longWord, longWord)
	}},
	{"a replica is silent", "stale", "The one replica is silent.", "silent heard", func(d *daemon, name string) {
		d.publish(d.publisher(name), "one", "the first")
		at := fmt.Sprintf("%s/v1/names/%s/replicas/%s", d.url, url.PathEscape(name), longWord)
		r, err := http.NewRequestWithContext(d.t.Context(), http.MethodPut, at, strings.NewReader(`{"id":"`+longWord+`","every_ns":1000000000}`))
		d.check(err)
		r.Header.Set("Authorization", "Bearer "+d.token("replica", fleet.ReplicaRole))
		answer, err := http.DefaultClient.Do(r)
		d.check(err)
		answer.Body.Close()
		if answer.StatusCode != http.StatusNoContent {
			d.t.Fatalf("the report is answered with %s", answer.Status)
		}
	}},
	{"a canary is on hold", "failing", "The canary is on hold. 1 of 2 replicas run their planned revision.", "must not be promoted: a: ", func(d *daemon, name string) {
		p := d.publisher(name)
		d.publish(p, "one", "the first")
		d.replica(name, "a")
		d.replica(name, "b")
		d.runs(name, 2)
		_, err := d.controller(name).Canary(d.t.Context(), d.storeContent(p, "bad row 3"), fleet.Selection{IDs: []string{"a"}}, "try it")
		d.check(err)
	}},
	{"a rollout", "stale", "A rollout is at step 1 of 4. 3 of 3 replicas run their planned revision.", "no worse than the others for 2 h", func(d *daemon, name string) {
		p, c := d.publisher(name), d.controller(name)
		d.publish(p, "one", "the first")
		for _, id := range []string{"a", "b", longWord} {
			d.replica(name, id)
		}
		d.runs(name, 3)
		two := d.storeContent(p, "two")
		_, err := c.Rollout(d.t.Context(), two, []float64{0.01, 0.1, 0.5}, 2*time.Hour, "tables of today "+longWord)
		d.check(err)
	}},
	{"a canary, a pin and a pause", "stale", "Paused. 2 of 2 replicas run their planned revision.", "All is paused", func(d *daemon, name string) {
		p, c := d.publisher(name), d.controller(name)
		one := d.publish(p, "one", "the first")
		d.publish(p, "two", "the second")
		d.replica(name, "a")
		d.replica(name, longWord)
		d.runs(name, 2)
		_, err := c.Canary(d.t.Context(), one, fleet.Selection{Share: 0.5, Labels: map[string]string{"region": longWord}, IDs: []string{"a"}}, "try "+longWord)
		d.check(err)
		_, err = c.Pin(d.t.Context(), longWord, one, "keep it")
		d.check(err)
		d.runs(name, 2)
		_, err = c.Pause(d.t.Context(), "look at it first")
		d.check(err)
	}},
}

// runs waits until so many replicas run the revision that they want.
func (d *daemon) runs(name string, n int) {
	d.t.Helper()
	c := d.controller(name)
	for end := time.Now().Add(hang); ; time.Sleep(20 * time.Millisecond) {
		s, err := c.Status(d.t.Context())
		d.check(err)
		if s.Counts[fleet.Running] == n {
			return
		}
		if time.Now().After(end) {
			d.t.Fatalf("replicas do not run their revision: %+v", s)
		}
	}
}

func TestFleetIsReadableInEachState(t *testing.T) {
	d := newDaemon(t)
	g := newGuest(t, d, "")
	g.wantInEachLook(d.url+"/login", "", "", "Your token")
	g.logIn(fleet.OperatorRole)
	name := ""
	for i, look := range looks {
		name = strings.Repeat("x", 120) + string(rune('a'+i))
		look.do(d, name)
		address := d.url + "/fleet?name=" + name
		g.opens(address)
		g.shows(look.headline)
		if !g.subtest(look.name, func() { g.wantInEachLook(address, look.class, look.headline, look.says) }) {
			t.Logf("%q", g.troubles())
		}
	}
	g.wantInEachLook(d.url+"/", "", "", "Paused. 2 of 2 replicas run their planned revision.")
	g.wantInEachLook(d.url+"/history?name="+name, "", "", "bob began a canary", longWord)
	g.wantInEachLook(d.url+"/revisions?name="+name, "", "", "2 revisions", "canary")
	g.quiet("404 (Not Found)") // nothing was published
}
