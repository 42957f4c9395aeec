package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// checker checks and counts what replicas answer.
//
// A request asks for several addresses. Each row of an edition has the stamp of
// that edition, so rows of two editions in one answer show, and so do rows that no
// edition has. An answer also names its revision. The checker learns which edition
// that is after replicas answer from it: the command that publishes it tells, once
// it has ended. So answers are counted by claim, and tally judges the claims.
type checker struct {
	probes []probe

	mu       sync.Mutex // guards what follows
	replicas map[string]*counts
	editions map[string]int // by revision
	examples []string       // of what was wrong, the first few
}

// claim is what an answer says of itself: the revision that it names, and the
// edition that all of its rows are of.
type claim struct {
	revision string
	edition  int
}

// counts are the answers of a replica.
type counts struct {
	claims map[claim]int
	latest int // the edition of the latest
	failed int
	mixed  int // without those whose claim is wrong
	away   int
}

// tally is what a replica answered.
type tally struct {
	editions map[int]int // right answers by edition
	failed   int         // no answer, or one that cannot be read
	mixed    int         // rows of several editions, or of none, or of another one than the named revision
	away     int         // requests without an answer while the process was replaced
}

func newChecker(probes []probe) *checker {
	return &checker{probes: probes, replicas: map[string]*counts{}, editions: map[string]int{}}
}

// check counts an answer to a request for the probes in asked.
func (c *checker) check(id string, asked []probe, status int, body []byte, err error) {
	var answer struct {
		Revision string
		Version  uint64
		Answers  []struct {
			IP, Name string
			ASN      uint32
		}
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
	c.mu.Lock()
	defer c.mu.Unlock()
	of := c.of(id)
	if err != nil {
		of.failed++
		c.note("%s failed: %v", id, err)
		return
	}
	edition := editionOf(asked[0], answer.Answers[0].Name)
	for i, p := range asked {
		if a := answer.Answers[i]; a.IP != p.ip || a.ASN != p.asn || a.Name != p.name+stamp(edition) {
			of.mixed++
			c.note("%s mixed: it says that %s is %d %q, in an answer of edition %d, which has %d %q", id, p.ip, a.ASN, a.Name, edition, p.asn, p.name+stamp(edition))
			return
		}
	}
	of.claims[claim{answer.Revision, edition}]++
	of.latest = edition
}

// editionOf returns the edition whose name of a probe that is, or 0.
func editionOf(p probe, name string) int {
	for e := 1; e <= editions; e++ {
		if name == p.name+stamp(e) {
			return e
		}
	}
	return 0
}

// of returns the counts of a replica.
func (c *checker) of(id string) *counts {
	if c.replicas[id] == nil {
		c.replicas[id] = &counts{claims: map[claim]int{}}
	}
	return c.replicas[id]
}

func (c *checker) note(format string, args ...any) {
	if len(c.examples) < 5 {
		c.examples = append(c.examples, fmt.Sprintf(format, args...))
	}
}

// wasAway counts a request that a replica could not answer because its process was
// being replaced.
func (c *checker) wasAway(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.of(id).away++
}

// learn tells which edition a revision has: 0 for one that must not be served.
func (c *checker) learn(revision string, edition int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.editions[revision] = edition
}

// latest returns the edition of a replica's latest answer.
func (c *checker) latest(id string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.of(id).latest
}

// tally returns what a replica answered so far.
func (c *checker) tally(id string) tally {
	c.mu.Lock()
	defer c.mu.Unlock()
	of := c.of(id)
	t := tally{map[int]int{}, of.failed, of.mixed, of.away}
	for claim, n := range of.claims {
		if claim.edition != 0 && c.editions[claim.revision] == claim.edition {
			t.editions[claim.edition] += n
		} else {
			t.mixed += n
		}
	}
	return t
}

// wrong returns an error if an answer was failed or mixed.
func (c *checker) wrong() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	problems := slices.Clone(c.examples)
	for id, of := range c.replicas {
		for claim, n := range of.claims {
			if claim.edition == 0 || c.editions[claim.revision] != claim.edition {
				problems = append(problems, fmt.Sprintf("%s mixed: %d answers name revision %s, and their rows are of edition %d", id, n, claim.revision, claim.edition))
			}
		}
	}
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("answers failed or were mixed:\n%s", strings.Join(problems, "\n"))
}

// right returns the number of right answers.
func (t tally) right() (n int) {
	for _, of := range t.editions {
		n += of
	}
	return n
}

// minus returns what was counted since before.
func (t tally) minus(before tally) tally {
	since := tally{map[int]int{}, t.failed - before.failed, t.mixed - before.mixed, t.away - before.away}
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
