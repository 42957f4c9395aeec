package fleet_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log"
	"log/slog"
	"strings"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/oplog"
	"github.com/poolswap/poolswap/oplog/lthash"
	"github.com/poolswap/poolswap/reload"
)

type (
	row  = oplog.Change[string, string]
	view = oplog.View[string, string]
)

// decodeRows yields a row for each line "key value", and a deletion for "key".
func decodeRows(_ context.Context, content *reload.Content) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		lines := bufio.NewScanner(content.Body)
		for lines.Scan() {
			key, value, ok := strings.Cut(lines.Text(), " ")
			if !yield(row{Key: key, Value: value, Delete: !ok}, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(row{}, err)
		}
	}
}

// publishChange publishes a change of the rows of base, or all rows if the server asks for
// them.
func publishChange(ctx context.Context, p *fleet.Publisher, base, delta string, all func() io.Reader) (fleet.Revision, error) {
	revision, _, err := p.PublishDelta(ctx, base, strings.NewReader(delta), "")
	if errors.Is(err, fleet.ErrSnapshot) {
		revision, _, err = p.Publish(ctx, all(), "")
	}
	return revision, err
}

// A replica follows a change by that alone.
func ExamplePublisher_PublishDelta() {
	ctx := context.Background()
	client, end := startServer()
	defer end()
	publisher, err := fleet.NewPublisher(client, "asn", fleet.PublisherOptions{New: true})
	if err != nil {
		log.Fatal(err)
	}
	source, err := fleet.NewSource(client, "asn", fleet.SourceOptions{ID: "r1"})
	if err != nil {
		log.Fatal(err)
	}
	routes, err := oplog.NewMap(oplog.MapOptions[string, string]{})
	if err != nil {
		log.Fatal(err)
	}
	reloader := reload.NewLog(routes.Log(), source, decodeRows, reload.LogOptions[view]{
		Options: reload.Options{Observe: source.Observe, Logger: slog.New(slog.DiscardHandler)},
	})

	all := "db-1 10.0.0.1\ndb-2 10.0.0.2\ndb-3 10.0.0.3\ndb-4 10.0.0.4\ndb-5 10.0.0.5\n"
	revision, _, err := publisher.Publish(ctx, strings.NewReader(all), "")
	fmt.Println(err, reloader.Reload(ctx), reloader.Status().Size)
	revision, err = publishChange(ctx, publisher, revision.ID, "db-2 10.0.0.9\n", nil)
	fmt.Println(err, reloader.Reload(ctx), reloader.Status().Size)
	fmt.Println(routes.Get("db-2"))

	large := func() io.Reader { return strings.NewReader("db-1 10.0.1.1\ndb-2 10.0.1.2\n") }
	last, err := publishChange(ctx, publisher, revision.ID, "db-1 10.0.1.1\ndb-2 10.0.1.2\ndb-3\n", large)
	fmt.Println(err, last.Base == "")
	// Output:
	// <nil> <nil> 70
	// <nil> <nil> 14
	// 10.0.0.9 true
	// <nil> true
}

// A publisher that keeps the digest of its rows tells what a change has to come to.
func ExamplePublisher_WithState() {
	ctx := context.Background()
	client, first, end := published()
	defer end()
	publisher, err := fleet.NewPublisher(client, "asn", fleet.PublisherOptions{})
	if err != nil {
		log.Fatal(err)
	}
	var rows lthash.Hash // of all rows that the publisher has
	rows.Add(lthash.AppendRow(nil, "db-1", "10.0.0.1"))
	rows.Add(lthash.AppendRow(nil, "db-2", "10.0.0.2"))
	revision, _, err := publisher.WithState(rows.Sum()).PublishDelta(ctx, first.ID, strings.NewReader("+"), "")
	fmt.Println(revision.State == fmt.Sprintf("%x", rows.Sum()), fleet.IsDigest(revision.State), err)
	// Output:
	// true true <nil>
}

// A chain is a whole content, and at most MaxDeltas deltas on it.
func ExampleClient_Chain() {
	ctx := context.Background()
	client, first, end := published()
	defer end()
	publisher, err := fleet.NewPublisher(client, "asn", fleet.PublisherOptions{})
	if err != nil {
		log.Fatal(err)
	}
	second, err := publisher.StoreDelta(ctx, first.ID, strings.NewReader("+"))
	if err != nil {
		log.Fatal(err)
	}
	all, err := client.Chain(ctx, "asn", second, "")
	fmt.Println(len(all), all[0].ID == first.ID, err, len(all) <= fleet.MaxDeltas+1)
	delta, err := client.Chain(ctx, "asn", second, first.ID)
	fmt.Println(len(delta), delta[0].ID == second.ID, err)
	// Output:
	// 2 true <nil> true
	// 1 true <nil>
}
