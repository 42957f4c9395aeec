package main

import (
	"context"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/poolswap/poolswap/fleet"
)

func TestAServerOfAnotherKindIsSetUpAndKept(t *testing.T) {
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	go s.Start()
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server does not become ready")
	}
	defer func() {
		s.Shutdown()
		s.WaitForShutdown()
	}()
	url := "nats://" + s.Addr().(*net.TCPAddr).String()
	do := func(code int, args ...string) {
		t.Helper()
		if got := run(t.Context(), append(args, "-server", url), io.Discard, os.Stderr); got != code {
			t.Fatalf("%q ends with %d, want %d", args, got, code)
		}
	}
	do(exitFailed, "names")
	do(exitFailed, "setup", "-report-ttl", "-1s")
	do(0, "setup", "-report-ttl", "1m")
	do(0, "names")
	do(exitFailed, "keep", "-keep", "-1")

	in := &instance{t: t, url: url}
	conn, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	do(0, "publish", "table", in.file("one"))
	await(t, in.replicaOf("a", conn), "one")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int)
	go func() { ended <- run(ctx, []string{"keep", "-server", url}, io.Discard, os.Stderr) }()
	defer func() {
		cancel()
		if code := <-ended; code != 0 {
			t.Errorf("keep ends with %d", code)
		}
	}()
	f, err := fleet.NewController(conn, "table", "a test")
	if err != nil {
		t.Fatal(err)
	}
	do(0, "store", "table", in.file("bad"))
	stored, err := f.Stored(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	do(0, "canary", "table", stored[0].ID, "a")
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		plan, err := f.Plan(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if plan.Hold != "" {
			break
		}
		if time.Now().After(end) {
			t.Fatal("nothing holds the canary")
		}
	}
}
