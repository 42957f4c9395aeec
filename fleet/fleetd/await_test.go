package main

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/poolswap/poolswap/fleet"
)

// waitForReplicas changes the plan of "table", which two replicas follow, and
// waits for them.
func (in *instance) waitForReplicas() {
	in.t.Helper()
	for _, args := range [][]string{
		{"publish", "table", in.file("three")},
		{"pause", "table"},
		{"resume", "table"},
		{"rollback", "table"},
	} {
		if out, _ := in.as("publisher", 0, append(args, "-wait", "1m")...); !strings.Contains(out, "2 replicas run what the plan wants") {
			in.t.Errorf("%s says %q", args[0], out)
		}
	}
	if _, says := in.as("publisher", exitFailed, "publish", "table", in.file("bad"), "-wait", "1m"); !strings.Contains(says, "has refused it: ") {
		in.t.Errorf("a publication that is refused says %q", says)
	}
	in.as("publisher", 0, "rollback", "table", "-wait", "1m")

	in.as("publisher", 0, "pause", "table")
	if _, says := in.as("publisher", exitFailed, "publish", "table", in.file("four"), "-wait", "1m"); !strings.Contains(says, "it is paused") {
		in.t.Errorf("a publication in a pause says %q", says)
	}
	in.as("publisher", 0, "resume", "table", "-wait", "1m")
	out, _ := in.as("publisher", 0, "store", "table", in.file("five"))
	if _, says := in.as("publisher", exitFailed, "canary", "table", strings.TrimSpace(out), "nobody", "-wait", "1s"); !strings.Contains(says, "nobody (which does not report)") {
		in.t.Errorf("a canary on no replica says %q", says)
	}
	in.as("publisher", 0, "rollback", "table", "-wait", "1m")
}

func TestProgressKnowsWhoIsToRunWhat(t *testing.T) {
	plan := &fleet.Plan{Stable: "new", Pins: map[string]string{"pinned": "old"}, Revisions: map[string]fleet.Revision{"new": {ID: "new"}, "old": {ID: "old"}}}
	for _, test := range []struct {
		report  fleet.Report
		waiting bool
		refused bool
	}{
		{fleet.Report{ID: "a", Revision: "new"}, false, false},
		{fleet.Report{ID: "a", Revision: "new", Error: "no connection"}, false, false},
		{fleet.Report{ID: "a", Revision: "old"}, true, false},
		{fleet.Report{ID: "a", Revision: "old", Failed: "older"}, true, false},
		{fleet.Report{ID: "a", Revision: "old", Failed: "new"}, true, true},
		{fleet.Report{ID: "pinned", Revision: "old"}, false, false},
		{fleet.Report{ID: "pinned", Revision: "new"}, true, false},
	} {
		waiting, refused := progress(&fleet.Status{Plan: plan, Replicas: []fleet.Report{{ID: "other", Revision: "new"}, test.report}})
		if len(waiting) == 1 != test.waiting || (refused != nil) != test.refused {
			t.Errorf("%+v: %q wait, refused %+v", test.report, waiting, refused)
		}
	}
}

func TestWaitingEndsWithItsTimeOrWithAnotherChange(t *testing.T) {
	in := newInstance(t)
	in.as("publisher", 0, "publish", "table", in.file("one"))
	in.replica("a", "replica")
	in.awaitReport("a")
	if _, says := in.as("publisher", exitFailed, "publish", "table", in.file("bad"), "-wait", "1ns"); !strings.Contains(says, "the server has not answered") {
		t.Errorf("it says %q", says)
	}
	f, conn, err := in.controller()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	status, err := f.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	before := *status.Plan
	before.Seq--
	if err := awaitReplicas(t.Context(), &call{stdout: io.Discard}, f, &before, time.Minute); !errors.Is(err, fleet.ErrConflict) {
		t.Errorf("after another change it returns %v", err)
	}
}

// controller returns a Controller of "table" and its connection.
func (in *instance) controller() (*fleet.Controller, *nats.Conn, error) {
	password, err := secretOf(filepath.Join(in.dir, "publisher.password"))
	if err != nil {
		return nil, nil, err
	}
	conn, err := nats.Connect(in.url, nats.UserInfo("publisher", password))
	if err != nil {
		return nil, nil, err
	}
	f, err := fleet.NewController(conn, "table", "a test")
	return f, conn, err
}

func TestAKeyThatIsMadeSigns(t *testing.T) {
	in := newInstance(t)
	file := filepath.Join(t.TempDir(), "key")
	var out strings.Builder
	if code := run(t.Context(), []string{"key", file}, &out, os.Stderr); code != 0 {
		t.Fatalf("key ends with %d", code)
	}
	public, err := base64.StdEncoding.DecodeString(strings.TrimSpace(out.String()))
	if err != nil || len(public) != ed25519.PublicKeySize {
		t.Fatalf("it prints %q, %v", &out, err)
	}
	in.as("publisher", 0, "publish", "table", in.file("one"), "-key", file)
	in.awaitStatus(func(s *fleet.Status) bool {
		r := s.Plan.Revisions[s.Plan.Stable]
		return ed25519.Verify(public, r.Statement("table"), r.Signature)
	})
	if code := run(t.Context(), []string{"key", file}, io.Discard, io.Discard); code != exitFailed {
		t.Errorf("a key that is there is overwritten: %d", code)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info, err)
	}
}
