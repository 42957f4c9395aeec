// Command asnlookup answers which autonomous system an IP address belongs to,
// and replaces its table under full load when the files change: an example of
// package poolswap on real data. See README.md.
package main

import (
	"context"
	"expvar"
	"flag"
	"fmt"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	var paths []string
	flag.Func("table", "CSV `file` of first address, last address, AS number, name;\ngive it again to make one table of several files", func(path string) error {
		paths = append(paths, path)
		return nil
	})
	addr := flag.String("addr", "127.0.0.1:8080", "serve HTTP at this `address`")
	watch := flag.Duration("watch", 5*time.Second, "poll the files at this `interval`; 0: reload only on SIGHUP")
	maxShrink := flag.Uint("max-shrink", 10, "refuse a table that lacks more than this `percent` of the last one's ranges;\n100: accept every table")
	flag.Parse()
	if len(paths) == 0 || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "give a -table, such as -table examples/asnlookup/sample.csv, and no other arguments")
		flag.Usage()
		os.Exit(2)
	}
	log.SetPrefix("asnlookup: ") // slog.Default writes there
	log.SetFlags(log.LstdFlags | log.Lmsgprefix)

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP) // before the first load, which a SIGHUP must not kill

	s := newService(paths, max(*watch, 0), int(min(*maxShrink, 100)), slog.Default())
	expvar.Publish("asnlookup", s.vars())
	if err := s.run(ctx, *addr, hangups); err != nil {
		log.Fatal(err)
	}
}
