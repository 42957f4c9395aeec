// Command fleet answers which autonomous system an IP address belongs to. It is a
// replica: when a table or a change of it is published, each replica of the fleet swaps to
// it. See README.md.
package main

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"flag"
	"fmt"
	"log"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/reload"
)

// config is what the flags say.
type config struct {
	address, dir, name string
	servers            string
	client             fleet.ClientOptions
	source             fleet.SourceOptions
	maxLoss            float64
}

func main() {
	host, _ := os.Hostname() // without one, -id is needed
	c := config{}
	flag.StringVar(&c.address, "addr", "127.0.0.1:8080", "serve HTTP at this `address`")
	flag.StringVar(&c.dir, "dir", "fleet.spool", "`directory` for the last good table; no other process may use it")
	flag.StringVar(&c.name, "name", "asn", "`name` under which the tables are published")
	flag.StringVar(&c.source.ID, "id", host, "`id` of this replica in plans and reports; no other has the same")
	flag.StringVar(&c.servers, "server", "http://127.0.0.1:8422", "`URL` of the server; several, with commas, of a cluster")
	flag.StringVar(&c.client.TokenFile, "token-file", "", "`file` with the token of this replica")
	flag.StringVar(&c.client.CAFile, "ca", "", "`file` with the certificates that may have signed the server's")
	flag.Func("key", "public Ed25519 `key` of a publisher, in base64; refuse what none of the keys has signed;\ngive it again for each key", func(text string) error {
		key, err := base64.StdEncoding.DecodeString(text)
		if err == nil && len(key) != ed25519.PublicKeySize {
			err = fmt.Errorf("it has %d bytes, not %d", len(key), ed25519.PublicKeySize)
		}
		c.source.Keys = append(c.source.Keys, key)
		return err
	})
	flag.Float64Var(&c.maxLoss, "max-loss", 0.1, "refuse a table that lacks more than this `share` of the rows of the last one")
	flag.Parse()
	if flag.NArg() > 0 || !(c.maxLoss >= 0 && c.maxLoss <= 1) {
		fmt.Fprintln(os.Stderr, "give no arguments, and a share from 0 to 1")
		flag.Usage()
		os.Exit(2)
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	if err := run(ctx, c); err != nil {
		log.Fatal(err)
	}
}

// run serves until ctx ends.
func run(ctx context.Context, c config) error {
	client, err := fleet.NewClient(c.servers, c.client)
	if err != nil {
		return err
	}
	source, err := fleet.NewSource(client, c.name, c.source)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", c.address)
	if err != nil {
		return err
	}
	log.Printf("replica %s at http://%s", c.source.ID, listener.Addr())
	// The Cache is what a restart serves from while the server is down.
	err = serve(ctx, listener, reload.Cache(source, c.dir), c.maxLoss, reload.Options{Every: 10 * time.Second, Observe: source.Observe})
	if left := source.Leave(); left != nil { // the server may be down
		slog.Warn("the fleet still lists this replica for a while", "err", left)
	}
	return err
}
