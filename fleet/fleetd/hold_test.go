package main

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/poolswap/poolswap/fleet"
)

// The guard of the server may be faster than the report that it saw.
func TestWaitingForACanaryThatIsHeldFails(t *testing.T) {
	in := newInstance(t)
	in.as("publisher", 0, "publish", "table", in.file("one"))
	out, _ := in.as("publisher", 0, "store", "table", in.file("two"))
	f, conn, err := in.controller()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	plan, err := f.Canary(t.Context(), strings.TrimSpace(out), 0, "", "a")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- f.Guard(ctx) }()
	defer func() {
		cancel()
		<-ended
	}()
	password, err := secretOf(filepath.Join(in.dir, "replica.password"))
	if err != nil {
		t.Fatal(err)
	}
	replica, err := nats.Connect(in.url, nats.UserInfo("replica", password))
	if err != nil {
		t.Fatal(err)
	}
	defer replica.Close()
	if err := replica.Publish("$KV.poolswap-reports.table.a", fmt.Appendf(nil, `{"id":"a","epoch":%d,"seq":%d,"failed":%q,"error":"bad row"}`, plan.Epoch, plan.Seq, plan.Canary)); err != nil {
		t.Fatal(err)
	}
	var status *fleet.Status
	for status == nil || status.Plan.Hold == "" {
		if status, err = f.Status(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	c := &call{stdout: new(bytes.Buffer)}
	if err := awaitReplicas(t.Context(), c, f, plan, time.Minute); err == nil || !strings.Contains(err.Error(), "on hold: a: bad row") {
		t.Errorf("awaitReplicas returned %v", err)
	}
}
