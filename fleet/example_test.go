package fleet_test

import (
	"context"
	"io"
	"log"
	"os"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/reload"
)

// Table is what the replicas serve.
type Table struct {
	poolswap.Ref
	text []byte
}

func loadTable(_ context.Context, next, _ *Table, content *reload.Content) (err error) {
	next.text, err = io.ReadAll(content.Body)
	return err
}

// A replica follows what is published under a name.
func ExampleNewSource() {
	ctx := context.Background()
	password, err := os.ReadFile("fleet.data/replica.password") // that fleetd serve has made
	if err != nil {
		log.Fatal(err)
	}
	options := append(fleet.ReplicaOptions(nil), nats.UserInfo("replica", strings.TrimSpace(string(password))))
	conn, err := nats.Connect("nats://127.0.0.1:4222", options...)
	if err != nil {
		log.Fatal(err)
	}
	id, err := os.Hostname()
	if err != nil {
		log.Fatal(err)
	}
	source, err := fleet.NewSource(conn, "asn", fleet.SourceOptions{ID: id})
	if err != nil {
		log.Fatal(err)
	}
	pool := poolswap.NewPool(func() *Table { return new(Table) }, nil)
	tables := poolswap.NewEmptyContainer(pool)
	reloader := reload.New(tables, reload.Cache(source, "asn.cache"), loadTable, reload.Options{Observe: source.Observe})
	err = reloader.Run(ctx) // ends with ctx
	log.Print(err, source.Leave())
}

// A publisher stores content and makes it what every replica wants.
func ExamplePublisher_Publish() {
	ctx := context.Background()
	conn, err := nats.Connect("nats://127.0.0.1:4222")
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	publisher, err := fleet.NewPublisher(conn, "asn", fleet.PublisherOptions{By: "nightly build"})
	if err != nil {
		log.Fatal(err)
	}
	file, err := os.Open("asn.csv")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	revision, _, err := publisher.Publish(ctx, file, "tables of today")
	if err != nil {
		log.Fatal(err)
	}
	log.Print("published ", revision.ID)
}

// A tenth of the replicas try a revision before the others get it.
func ExampleController_Canary() {
	ctx := context.Background()
	conn, err := nats.Connect("nats://127.0.0.1:4222")
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	controller, err := fleet.NewController(conn, "asn", "alice")
	if err != nil {
		log.Fatal(err)
	}
	stored, err := controller.Stored(ctx)
	if err != nil || len(stored) == 0 {
		log.Fatal("nothing is stored: ", err)
	}
	if _, err := controller.Canary(ctx, stored[0].ID, 0.1, "a new format"); err != nil {
		log.Fatal(err)
	}
	if _, err := controller.Promote(ctx, "a tenth runs it"); err != nil { // refused until a replica does
		log.Print(err)
		_, err = controller.Rollback(ctx, "", "it does not load")
		log.Print(err)
	}
}
