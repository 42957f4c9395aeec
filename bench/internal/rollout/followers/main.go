// Command followers follows the plan of a name with many replicas, and reports as they
// do: it says when all of them know a plan.
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/reload"
)

// Arguments: URL, file of the token, name, first number, count.
func main() {
	if err := follow(os.Args[1], os.Args[2], os.Args[3], number(os.Args[4]), number(os.Args[5])); err != nil {
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

func follow(url, token, name string, first, count int) error {
	silent := slog.New(slog.DiscardHandler)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var running sync.WaitGroup
	var mu sync.Mutex
	known := map[string]int{} // replicas by revision
	for i := range count {
		client, err := fleet.NewClient(url, fleet.ClientOptions{TokenFile: token})
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
			if e.Outcome != reload.Loaded {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			known[e.Revision]++
			if known[e.Revision] == count {
				fmt.Printf("known %s %d\n", e.Revision, time.Now().UnixNano())
			}
		}})
		running.Go(func() { _ = value.Run(ctx) })
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	cancel()
	running.Wait()
	return nil
}
