// Command followers follows the plan of a name with many replicas, and reports as they
// do: it says when all of them know a plan, and when all have swapped.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/reload"
)

// Arguments: URL, file of the CA or nothing, file of the token, name, first number, count.
func main() {
	if err := follow(os.Args[1], os.Args[2], os.Args[3], os.Args[4], number(os.Args[5]), number(os.Args[6])); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return n
}

// counts tells when all of the replicas have come so far.
type counts struct {
	replicas int

	mu   sync.Mutex
	come map[string]int   // replicas, by event
	last map[string]int64 // of them, in nanoseconds
}

func (c *counts) add(event string, at int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.come[event]++
	c.last[event] = max(c.last[event], at)
	if c.come[event] == c.replicas {
		fmt.Printf("%s %d\n", event, c.last[event])
	}
}

// noting notes when its replica is answered with another plan.
type noting struct {
	http.Transport
	all *counts

	mu   sync.Mutex
	plan string // the last
}

func (n *noting) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := n.Transport.RoundTrip(r)
	if err == nil && response.StatusCode == http.StatusOK && strings.HasSuffix(r.URL.Path, "/plan") {
		n.mu.Lock()
		defer n.mu.Unlock()
		if plan := strings.Trim(response.Header.Get("ETag"), `"`); plan != n.plan {
			n.plan = plan
			n.all.add("known "+plan, time.Now().UnixNano())
		}
	}
	return response, err
}

func follow(url, ca, token, name string, first, count int) error {
	silent := slog.New(slog.DiscardHandler)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var running sync.WaitGroup
	all := &counts{replicas: count, come: map[string]int{}, last: map[string]int64{}}
	roots := x509.NewCertPool()
	if ca != "" {
		text, err := os.ReadFile(ca)
		if err != nil {
			return err
		}
		roots.AppendCertsFromPEM(text)
	}
	for i := range count {
		transport := &noting{all: all, Transport: http.Transport{ // as that of a Client
			TLSClientConfig: &tls.Config{RootCAs: roots, ClientSessionCache: tls.NewLRUClientSessionCache(8)},
			IdleConnTimeout: 30 * time.Second, MaxIdleConnsPerHost: 1,
		}}
		client, err := fleet.NewClient(url, fleet.ClientOptions{TokenFile: token, Transport: transport})
		if err != nil {
			return err
		}
		source, err := fleet.NewSource(client, name, fleet.SourceOptions{ID: fmt.Sprintf("replica-%06d", first+i), Logger: silent})
		if err != nil {
			return err
		}
		drop := func(_ context.Context, content *reload.Content) (int, error) {
			_, err := io.Copy(io.Discard, content.Body)
			return 0, err
		}
		value := reload.NewValue(source, drop, reload.Options{Logger: silent, Observe: func(e reload.Event) {
			source.Observe(e)
			if e.Outcome == reload.Loaded {
				all.add("swapped "+e.Revision, time.Now().UnixNano())
			}
		}})
		running.Go(func() { _ = value.Run(ctx) })
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	cancel()
	running.Wait()
	return nil
}
