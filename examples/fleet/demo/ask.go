package main

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	perRequest = 8                    // addresses
	pause      = 2 * time.Millisecond // between two requests of a goroutine
	askTime    = 10 * time.Second     // how long an answer may take
)

// target is a replica that is asked.
type target struct {
	id, url string

	// away is set while the process is replaced. If nothing listens then, or the
	// replica says that it is not ready, the answer has not failed: a balancer would
	// not have sent the request there. Every other failure counts.
	away atomic.Bool
}

// askAll asks each target by n goroutines until stop is called.
func (c *checker) askAll(ctx context.Context, targets []*target, n int) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var asking sync.WaitGroup
	for _, t := range targets {
		for range n {
			asking.Go(func() { c.ask(ctx, t) })
		}
	}
	return func() {
		cancel()
		asking.Wait()
	}
}

// newClient returns a client with one connection to each replica. With more, one
// that was opened and never used would make a replica wait for a request at its end.
func newClient() *http.Client {
	return &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
}

// ask asks a replica until ctx ends.
func (c *checker) ask(ctx context.Context, t *target) {
	client := newClient()
	defer client.CloseIdleConnections()
	for ctx.Err() == nil {
		var asked []probe
		query := url.Values{}
		for range perRequest {
			p := c.probes[rand.IntN(len(c.probes))]
			asked = append(asked, p)
			query.Add("ip", p.ip)
		}
		before := t.away.Load()
		status, body, err := get(ctx, client, t.url+"/lookup?"+query.Encode())
		switch away := before || t.away.Load(); {
		case ctx.Err() != nil:
		case away && (errors.Is(err, syscall.ECONNREFUSED) || status == http.StatusServiceUnavailable):
			c.wasAway(t.id)
		default:
			c.check(t.id, asked, status, body, err)
		}
		time.Sleep(pause)
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
