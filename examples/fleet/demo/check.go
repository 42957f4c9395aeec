package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"
)

const (
	askers  = 4 // of each replica
	others  = 2 // addresses of a request, besides those that change
	pause   = 2 * time.Millisecond
	askTime = 10 * time.Second // for an answer
)

// checker asks the replicas, and checks and counts their answers.
//
// A request asks for each row that the newest edition changes, so an answer with some of
// the changes shows. An answer also names its revision, and all its rows must be those of
// this edition.
type checker struct {
	ctx    context.Context
	cancel context.CancelFunc
	asking sync.WaitGroup
	rows   int // of the table

	mu       sync.Mutex // guards the fields below
	changing []int      // the rows that the newest edition changes
	replicas map[string]tally
	editions map[string]*edition // by revision
	wrong    error               // of the last answer that was
}

// tally is the answers of a replica.
type tally struct {
	right  int
	latest int // edition
	failed int // no answer, or one that cannot be read
	mixed  int // rows of several editions, or of another one than the revision's
}

func newChecker(ctx context.Context, rows int) *checker {
	c := &checker{rows: rows, replicas: map[string]tally{}, editions: map[string]*edition{}}
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
	c.mu.Lock()
	asked := slices.Clone(c.changing)
	c.mu.Unlock()
	query := url.Values{}
	for range others {
		asked = append(asked, rand.IntN(c.rows))
	}
	for _, row := range asked {
		query.Add("ip", addressOf(row))
	}
	r.restart.RLock()
	defer r.restart.RUnlock()
	body, _, err := get(c.ctx, client, r.url+"/lookup?"+query.Encode())
	if c.ctx.Err() == nil {
		c.check(r.id, asked, body, err)
	}
}

// get returns an answer, and an error unless its status is 200.
func get(ctx context.Context, client *http.Client, url string) (body []byte, header http.Header, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	body, err = io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %.100s", response.Status, body)
	}
	return body, response.Header, err
}

// check counts an answer to a request for the rows in asked.
func (c *checker) check(id string, asked []int, body []byte, err error) {
	var answer struct {
		Revision string
		Version  uint64
		Answers  []struct {
			IP, Name string
			ASN      uint32
		}
	}
	if err == nil {
		err = json.Unmarshal(body, &answer)
	}
	if err == nil && (len(answer.Answers) != len(asked) || answer.Version == 0) {
		err = fmt.Errorf("it is not whole: %.100s", body)
	}
	var e *edition
	if err == nil {
		e, err = c.edition(answer.Revision)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil { // it may be why
		return
	}
	t := c.replicas[id]
	defer func() { c.replicas[id] = t }()
	if err != nil {
		t.failed++
		c.wrong = fmt.Errorf("%s failed: %w", id, err)
		return
	}
	for i, row := range asked {
		a := answer.Answers[i]
		if a.IP != addressOf(row) || a.Name != rowOf(row, e.of(row))[2] || strconv.Itoa(int(a.ASN)) != rowOf(row, 0)[1] {
			t.mixed++
			c.wrong = fmt.Errorf("%s mixed: it says that %s is %d %q in revision %s", id, a.IP, a.ASN, a.Name, answer.Revision)
			return
		}
	}
	t.right++
	t.latest = e.number
}

// edition returns the edition of a revision, once it has been learned: its publisher may
// not know yet that it is published.
func (c *checker) edition(revision string) (*edition, error) {
	for began := time.Now(); c.ctx.Err() == nil && time.Since(began) < askTime; time.Sleep(pause) {
		c.mu.Lock()
		e := c.editions[revision]
		c.mu.Unlock()
		if e != nil {
			return e, nil
		}
	}
	return nil, fmt.Errorf("it has revision %q, which was not published", revision)
}

// learn tells which edition a revision has.
func (c *checker) learn(revision string, e *edition) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.editions[revision], e.revision = e, revision
}

// watch has all requests ask for rows that are about to change.
func (c *checker) watch(rows []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changing = rows
}

// tally returns the answers of a replica so far.
func (c *checker) tally(id string) tally {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.replicas[id]
}

func (t tally) String() string {
	return fmt.Sprintf("%d answers are right, the last of edition %d; %d failed, %d mixed", t.right, t.latest, t.failed, t.mixed)
}
