package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"syscall"
	"time"
)

const (
	askers     = 4 // of each replica
	perRequest = 8 // addresses
	pause      = 2 * time.Millisecond
	askTime    = 10 * time.Second // for an answer
)

// checker asks the replicas, and checks and counts their answers.
//
// A request asks for several addresses. Each row of an edition has the stamp of that
// edition, so rows of two editions in one answer show. An answer also names its
// revision, which always stands for the same edition: for that of learn.
type checker struct {
	ctx    context.Context
	cancel context.CancelFunc
	asking sync.WaitGroup
	probes []probe
	last   string // revision that was learned

	mu       sync.Mutex // guards the fields below
	replicas map[string]*tally
	editions map[string]int // by revision
	examples []string       // of wrong answers, the first few
}

// tally is the answers of a replica.
type tally struct {
	editions map[int]int // right answers by edition
	latest   int         // edition
	failed   int         // no answer, or one that cannot be read
	mixed    int         // rows of several editions, or of none, or of another one than the revision's
	away     int         // requests without an answer while the process was replaced
}

func newChecker(ctx context.Context) *checker {
	c := &checker{replicas: map[string]*tally{}, editions: map[string]int{}}
	c.ctx, c.cancel = context.WithCancel(ctx)
	return c
}

// stop ends the questions.
func (c *checker) stop() {
	c.cancel()
	c.asking.Wait()
}

// askAll asks a replica until ctx ends.
func (c *checker) askAll(r *replica) {
	for range askers {
		c.asking.Go(func() {
			// With more connections, one that was opened and never used would make the
			// replica wait for a request at its end.
			client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
			defer client.CloseIdleConnections()
			for ; c.ctx.Err() == nil; time.Sleep(pause) {
				c.ask(client, r)
			}
		})
	}
}

func (c *checker) ask(client *http.Client, r *replica) {
	var asked []probe
	query := url.Values{}
	for range perRequest {
		p := c.probes[rand.IntN(len(c.probes))]
		asked = append(asked, p)
		query.Add("ip", p.ip)
	}
	away := r.away.Load()
	status, body, err := get(c.ctx, client, r.url+"/lookup?"+query.Encode())
	away = away || r.away.Load()
	if c.ctx.Err() == nil {
		c.check(r.id, asked, status, body, err, away)
	}
}

func get(ctx context.Context, client *http.Client, url string) (status int, body []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	body, err = io.ReadAll(response.Body)
	return response.StatusCode, body, err
}

// check counts an answer to a request for the probes in asked.
func (c *checker) check(id string, asked []probe, status int, body []byte, err error, away bool) {
	var answer struct {
		Revision string
		Version  uint64
		Answers  []struct {
			IP, Name string
			ASN      uint32
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.replicas[id] == nil {
		c.replicas[id] = &tally{editions: map[int]int{}}
	}
	t := c.replicas[id]
	if away && (errors.Is(err, syscall.ECONNREFUSED) || status == http.StatusServiceUnavailable) {
		t.away++
		return
	}
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("status %d: %.100s", status, body)
	}
	if err == nil {
		err = json.Unmarshal(body, &answer)
	}
	if err == nil && (len(answer.Answers) != len(asked) || answer.Revision == "" || answer.Version == 0) {
		err = fmt.Errorf("it is not whole: %.100s", body)
	}
	if err != nil {
		t.failed++
		c.note("%s failed: %v", id, err)
		return
	}
	edition, known := c.editions[answer.Revision]
	if !known { // the command that publishes it has not ended yet
		edition = editionOf(asked[0], answer.Answers[0].Name)
		c.editions[answer.Revision] = edition
	}
	for i, p := range asked {
		if a := answer.Answers[i]; edition == 0 || a.IP != p.ip || a.ASN != p.asn || a.Name != p.name+stamp(edition) {
			t.mixed++
			c.note("%s mixed: it says that %s is %d %q, in revision %s, which is edition %d with %d %q", id, p.ip, a.ASN, a.Name, answer.Revision, edition, p.asn, p.name+stamp(edition))
			return
		}
	}
	t.editions[edition]++
	t.latest = edition
}

// editionOf returns the edition that has the name for a probe, or 0.
func editionOf(p probe, name string) int {
	for e := 1; e <= editions; e++ {
		if name == p.name+stamp(e) {
			return e
		}
	}
	return 0
}

func (c *checker) note(format string, args ...any) {
	if len(c.examples) < 5 {
		c.examples = append(c.examples, fmt.Sprintf(format, args...))
	}
}

// learn tells which edition a revision has: 0 for one that must not be served.
func (c *checker) learn(revision string, edition int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if served, known := c.editions[revision]; known && served != edition {
		return fmt.Errorf("revision %s is edition %d, and was served as %d", revision, edition, served)
	}
	c.editions[revision], c.last = edition, revision
	return nil
}

// tally returns the answers of a replica so far.
func (c *checker) tally(id string) tally {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.replicas[id]
	if t == nil {
		return tally{}
	}
	now := *t
	now.editions = maps.Clone(t.editions)
	return now
}

// wrong returns an error if an answer was failed or mixed.
func (c *checker) wrong() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.examples) == 0 {
		return nil
	}
	return fmt.Errorf("answers were wrong, such as: %q", c.examples)
}

// right returns the number of right answers.
func (t tally) right() (n int) {
	for _, of := range t.editions {
		n += of
	}
	return n
}

// minus returns the answers since before.
func (t tally) minus(before tally) tally {
	since := tally{map[int]int{}, t.latest, t.failed - before.failed, t.mixed - before.mixed, t.away - before.away}
	for e, n := range t.editions {
		if n > before.editions[e] {
			since.editions[e] = n - before.editions[e]
		}
	}
	return since
}

func (t tally) String() (text string) {
	for _, e := range slices.Sorted(maps.Keys(t.editions)) {
		text += fmt.Sprintf("%d of edition %d, ", t.editions[e], e)
	}
	text += fmt.Sprintf("%d failed, %d mixed", t.failed, t.mixed)
	if t.away > 0 {
		text += fmt.Sprintf("; %d requests met no process or one that was not ready, during its restart", t.away)
	}
	return text
}
