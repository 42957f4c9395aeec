package fleet_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/reload"
)

// Table is the object that the replicas serve.
type Table struct {
	poolswap.Ref
	text []byte
}

func loadTable(_ context.Context, next, _ *Table, content *reload.Content) (err error) {
	next.text, err = io.ReadAll(content.Body)
	return err
}

// startServer stands for a fleetd.
func startServer() (client *fleet.Client, end func()) {
	server := httptest.NewServer(newServer())
	client, err := fleet.NewClient(server.URL, fleet.ClientOptions{Token: "secret-token"})
	if err != nil {
		log.Fatal(err)
	}
	return client, func() { client.CloseIdleConnections(); server.Close() }
}

// published returns a client, and the only revision of the name asn.
func published() (client *fleet.Client, revision fleet.Revision, end func()) {
	client, end = startServer()
	publisher, err := fleet.NewPublisher(client, "asn", fleet.PublisherOptions{New: true})
	if err != nil {
		log.Fatal(err)
	}
	if revision, _, err = publisher.Publish(context.Background(), strings.NewReader("first"), "start"); err != nil {
		log.Fatal(err)
	}
	return client, revision, end
}

// A replica follows the plan of a name.
func Example() {
	ctx, id := context.Background(), "r1"
	client, err := fleet.NewClient("http://127.0.0.1:8422", fleet.ClientOptions{TokenFile: "replica.token"})
	if err != nil {
		log.Fatal(err)
	}
	source, err := fleet.NewSource(client, "asn", fleet.SourceOptions{ID: id})
	if err != nil {
		log.Fatal(err)
	}
	pool := poolswap.NewPool(func() *Table { return new(Table) }, nil)
	tables := poolswap.NewEmptyContainer(pool)
	reloader := reload.New(tables, reload.Cache(source, "asn.cache"), loadTable, reload.Options{Observe: source.Observe})
	err = reloader.Run(ctx) // ends with ctx
	log.Print(err, source.Leave())
}

// A program without a Reloader waits for the next revision itself.
func ExampleSource() {
	ctx := context.Background()
	client, first, end := published()
	defer end()
	source, err := fleet.NewSource(client, "asn", fleet.SourceOptions{ID: "r1"})
	if err != nil {
		log.Fatal(err)
	}
	publisher, err := fleet.NewPublisher(client, "asn", fleet.PublisherOptions{})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := source.Fetch(ctx, first.ID); !errors.Is(err, reload.ErrNotModified) {
		log.Fatal(err)
	}
	go publisher.Publish(ctx, strings.NewReader("second"), "")
	if err := source.Wait(ctx, first.ID); err != nil {
		log.Fatal(err)
	}
	content, err := source.Fetch(ctx, first.ID)
	if err != nil {
		log.Fatal(err)
	}
	defer content.Body.Close()
	text, err := io.ReadAll(content.Body)
	fmt.Printf("%s: %s %v %v\n", source.String(), text, err, content.Verify(sha256.Sum256(text)))
	fmt.Println(source.Identity())
	// Output:
	// fleet asn: second <nil> <nil>
	// fleet asn
}

// The token comes from a file, and the servers of a cluster are one client.
func ExampleClient() {
	client, err := fleet.NewClient("https://a.example:8443,https://b.example:8443", fleet.ClientOptions{Token: "pst_1_text"})
	fmt.Println(client.String(), err)
	_, err = fleet.NewClient("http://a.example", fleet.ClientOptions{Token: "pst_1_text"})
	fmt.Println(err)
	// Output:
	// https://a.example:8443,https://b.example:8443 <nil>
	// fleet: URL 1 of the servers: http would send the token to a.example in the clear: use https, or ClientOptions.Insecure
}

// Content that the check refuses is not sent.
func ExamplePublisher() {
	ctx := context.Background()
	client, end := startServer()
	defer end()
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		log.Fatal(err)
	}
	publisher, err := fleet.NewPublisher(client, "asn", fleet.PublisherOptions{
		Key: key,
		New: true,
		Check: func(_ context.Context, content io.Reader) error {
			text, err := io.ReadAll(content)
			if err == nil && bytes.Count(text, []byte("\n")) == 0 {
				err = errors.New("there is no line")
			}
			return err
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	_, _, err = publisher.Publish(ctx, strings.NewReader("half a line"), "daily")
	fmt.Println(err)
	revision, plan, err := publisher.Publish(ctx, strings.NewReader("a line\n"), "daily")
	fmt.Println(plan.Version(), plan.Stable == revision.ID, revision.Size, err)
	// Output:
	// fleet: the content for asn was not stored: the check refuses it: there is no line
	// 1.1 true 7 <nil>
}

// Some replicas try a revision, and then all run it.
func ExampleController() {
	ctx := context.Background()
	client, _, end := published()
	defer end()
	publisher, err := fleet.NewPublisher(client, "asn", fleet.PublisherOptions{})
	if err != nil {
		log.Fatal(err)
	}
	second, err := publisher.Store(ctx, strings.NewReader("second"))
	if err != nil {
		log.Fatal(err)
	}
	controller, err := fleet.NewController(client, "asn")
	if err != nil {
		log.Fatal(err)
	}
	plan, err := controller.Canary(ctx, second.ID, fleet.Selection{Share: 0.25, Labels: map[string]string{"region": "eu"}, IDs: []string{"r7"}}, "a new parser")
	fmt.Println(plan.Canary.String(), err)
	fmt.Println(plan.Wanted("r7", nil).ID == second.ID, plan.Wanted("r8", nil).ID == second.ID)
	if _, err := controller.Pause(ctx, ""); err != nil {
		log.Fatal(err)
	}
	_, err = controller.At(plan.Epoch, plan.Seq).Promote(ctx, "decided before the pause")
	fmt.Println(errors.Is(err, fleet.ErrConflict))
	plan, err = controller.Promote(ctx, "it runs well")
	fmt.Println(plan.Stable == second.ID, plan.Change.Kind, err)

	_, err = controller.Resume(ctx, "")
	fmt.Println(err)
	_, err = controller.Rollback(ctx, "", "it does not")
	fmt.Println(err)
	_, err = controller.Rollout(ctx, second.ID, []float64{0.01, 0.1, 1}, 10*time.Minute, "again, by steps")
	fmt.Println(err)
	_, err = controller.Pin(ctx, "r9", second.ID, "for an experiment")
	fmt.Println(err)
	_, err = controller.Unpin(ctx, "r9", "")
	fmt.Println(err)
	_, err = controller.Do(ctx, fleet.Operation{Kind: fleet.KindPublish, Revision: second.ID})
	fmt.Println(err)
	revisions, err := controller.Revisions(ctx)
	size := func(s fleet.Stored) int64 { return s.Size }
	fmt.Println(len(revisions), size(revisions[0]), err)
	history, err := controller.History(ctx, "", 100)
	fmt.Println(len(history), history[0].Kind, err)
	// Output:
	// 25 %, region=eu, r7 <nil>
	// true false
	// true
	// true promote <nil>
	// <nil>
	// <nil>
	// <nil>
	// <nil>
	// <nil>
	// <nil>
	// 2 5 <nil>
	// 10 publish <nil>
}

// A publication has come through when each replica runs it.
func ExampleController_Await() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client, _, end := published()
	defer end()
	source, err := fleet.NewSource(client, "asn", fleet.SourceOptions{ID: "r1", Health: func() fleet.Health { return fleet.Health{Requests: 100} }})
	if err != nil {
		log.Fatal(err)
	}
	tables := poolswap.NewEmptyContainer(poolswap.NewPool(func() *Table { return new(Table) }, nil))
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		ended <- reload.New(tables, source, loadTable, reload.Options{Observe: source.Observe}).Run(running)
	}()

	controller, err := fleet.NewController(client, "asn")
	if err != nil {
		log.Fatal(err)
	}
	plan, err := controller.Plan(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if _, err = controller.Await(ctx, plan); err != nil {
		log.Fatal(err)
	}
	for status, err := range controller.Watch(ctx) {
		var replica fleet.Report
		for _, replica = range status.Replicas {
			fmt.Println(replica.ID, replica.State(status.Plan, status.Now), replica.Check(), err)
		}
		break
	}
	stop()
	fmt.Println(<-ended, source.Leave())
	status, err := controller.Status(ctx)
	fmt.Println(len(status.Replicas), err)
	// Output:
	// r1 running <nil> <nil>
	// context canceled <nil>
	// 0 <nil>
}

// A copy of a revision can be stored in another fleet.
func ExamplePublisher_Restore() {
	ctx := context.Background()
	client, revision, end := published()
	defer end()
	copied, err := client.Content(ctx, "asn", revision)
	if err != nil {
		log.Fatal(err)
	}
	defer copied.Close()
	other, stop := startServer()
	defer stop()
	publisher, err := fleet.NewPublisher(other, "asn", fleet.PublisherOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(publisher.Restore(ctx, revision, copied))
	// Output: <nil>
}

// Errors say which server refused which operation, and why.
func ExampleError() {
	client, end := startServer()
	defer end()
	controller, err := fleet.NewController(client, "asm")
	if err != nil {
		log.Fatal(err)
	}
	_, err = controller.Plan(context.Background())
	var refused *fleet.Error
	if errors.As(err, &refused) {
		fmt.Println(refused.Op, refused.Status, refused.Code, refused.RetryAfter(), errors.Is(err, fleet.ErrNoPlan))
	}
	// Output: get the plan of asm 404 no_plan 0s true
}

// An administrator manages tokens and names.
func ExampleClient_NewToken() {
	ctx := context.Background()
	client, revision, end := published()
	defer end()
	made, err := client.NewToken(ctx, fleet.Token{Name: "deploy", Role: fleet.PublisherRole, Names: "asn*"})
	fmt.Println(made.Text, made.Role.Valid(), err)
	tokens, err := client.Tokens(ctx)
	fmt.Println(tokens[0].Name, tokens[0].Text, err)
	fmt.Println(client.RevokeToken(ctx, made.ID))
	fmt.Println(fleet.Roles())

	names, err := client.Names(ctx)
	fmt.Println(names, err)
	checked, damaged, err := client.Verify(ctx, "asn")
	fmt.Println(checked, damaged, err)
	plan, err := client.Repair(ctx, "asn", revision.ID, "the plan was lost")
	fmt.Println(plan.Version(), err)
	fmt.Println(client.RemoveName(ctx, "asn", "a typo"))
	// Output:
	// pst_t1_text true <nil>
	// deploy  <nil>
	// <nil>
	// [replica reader publisher operator admin]
	// [asn] <nil>
	// 1 [] <nil>
	// 2.1 <nil>
	// <nil>
}

// A replica in another program finds the revision that it wants in the plan.
func ExamplePlan_Wanted() {
	text := `{"format": 2, "name": "asn", "epoch": 1, "seq": 7, "stable": "a", "new": "kept",
		"canary": {"revision": "b", "share": 0.5, "seq": 6}, "rollout": {"steps": [0.5, 1], "step": 0, "bake_ns": 60000000000, "by": "ann"},
		"revisions": {"a": {"id": "a"}, "b": {"id": "b"}}, "change": {}}`
	plan := new(fleet.Plan)
	if err := plan.UnmarshalJSON([]byte(text)); err != nil { // as json.Unmarshal does
		log.Fatal(err)
	}
	fmt.Println(plan.Format > fleet.Format, plan.Version(), plan.After(1, 6), plan.Named())
	for _, id := range []string{"r1", "r2", "r3"} {
		fmt.Printf("%s %.2f %s\n", id, fleet.Rank("b", id), plan.Wanted(id, nil).ID)
	}
	again, err := plan.Clone().MarshalJSON()
	fmt.Println(bytes.Contains(again, []byte(`"new":"kept"`)), err)
	// Output:
	// true 1.7 true [a b]
	// r1 0.75 a
	// r2 0.60 a
	// r3 0.24 b
	// true <nil>
}

// Operations, names and selections can be checked before they are sent.
func ExampleOperation_Check() {
	operation := fleet.Operation{Kind: fleet.KindCanary, Revision: "b", Selection: fleet.Selection{Share: 2}}
	fmt.Println(operation.Check())
	fmt.Println(fleet.CheckName("name", ""))
	selection := fleet.Selection{Share: 1, Labels: map[string]string{"region": "eu"}}
	fmt.Println(selection.Check(), selection.Includes("b", "r1", map[string]string{"region": "us"}))
	fmt.Println(fleet.MaxIDs, fleet.MaxWhy, fleet.MaxReport, fleet.MaxReportEvery)
	// Output:
	// a share of 2 is not from 0 to 1
	// the name is empty
	// <nil> false
	// 100 1000 8192 5m0s
}

// A signature says that content belongs to a name.
func ExampleRevision_Statement() {
	r := fleet.Revision{ID: "a", Size: 5, SHA256: strings.Repeat("0", 64), Created: time.Date(2026, 11, 23, 10, 15, 0, 0, time.UTC)}
	fmt.Printf("%s", r.Statement("asn"))
	// Output:
	// poolswap fleet revision
	// "asn"
	// "a"
	// 5
	// 0000000000000000000000000000000000000000000000000000000000000000
	// 2026-11-23T10:15:00Z
}
