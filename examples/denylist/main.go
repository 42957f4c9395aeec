// Command denylist says whether a domain is on a list, which it keeps fresh from
// a URL: an example of package reload. See README.md.
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/slab"
)

type list struct {
	poolswap.Ref
	domains slab.Map[struct{}]
}

// reset keeps the memory for another list.
func (l *list) reset() bool {
	l.domains.Reset()
	return true
}

// load refuses content that is no list of domains, such as the page of a proxy.
func load(_ context.Context, next, _ *list, content *reload.Content) error {
	lines := bufio.NewScanner(content.Body)
	for lines.Scan() {
		domain, _, _ := bytes.Cut(lines.Bytes(), []byte("#")) // of a comment
		if domain = bytes.TrimSpace(domain); bytes.ContainsAny(domain, " \t<>/") {
			return fmt.Errorf("%.60q is no domain", domain)
		} else if len(domain) > 0 {
			next.domains.SetBytes(domain, struct{}{}) // copies it
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if next.domains.Len() == 0 {
		return errors.New("the list is empty")
	}
	return nil
}

// has reports whether the domain, or one that it is part of, is on the list.
func (l *list) has(domain string) (listed bool) {
	for found := true; found && !listed; _, domain, found = strings.Cut(domain, ".") {
		_, listed = l.domains.Get(domain)
	}
	return listed
}

// serve answers at listener until ctx ends.
func serve(ctx context.Context, listener net.Listener, source reload.Source, every time.Duration) error {
	pool := poolswap.NewPool(func() *list { return new(list) }, (*list).reset)
	lists := poolswap.NewEmptyContainer(pool)
	reloader := reload.New(lists, source, load, reload.Options{Every: every, Stats: pool.Stats})
	mux := http.NewServeMux()
	mux.Handle("GET /status", reloader)
	mux.HandleFunc("GET /check", func(w http.ResponseWriter, r *http.Request) {
		l := lists.Acquire()
		if l == nil {
			http.Error(w, "no list is loaded", http.StatusServiceUnavailable)
			return
		}
		denied, version := l.has(strings.ToLower(r.FormValue("domain"))), lists.VersionOf(l)
		lists.Release(l) // not while a slow client is written to
		fmt.Fprintf(w, "{\"denied\":%t,\"version\":%d}\n", denied, version)
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	return reload.Serve(ctx, server, reload.ServeOptions{Listener: listener, Close: pool.Close}, reloader)
}

func main() {
	address := flag.String("addr", "127.0.0.1:8080", "serve HTTP at this `address`")
	url := flag.String("url", "http://127.0.0.1:8000/list.txt", "`URL` of the list: a domain a line")
	dir := flag.String("cache", "denylist.cache", "`directory` for the last good list")
	every := flag.Duration("every", time.Minute, "ask for a newer list at this `interval`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	listener, err := net.Listen("tcp", *address)
	if err == nil {
		err = serve(ctx, listener, reload.Cache(reload.HTTP(*url, reload.HTTPOptions{}), *dir), *every)
	}
	if err != nil {
		log.Fatal(err)
	}
}
