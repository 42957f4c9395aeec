package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/reload"
)

// instance is a server that serve runs, and its address.
type instance struct {
	t        *testing.T
	dir, url string
}

// output collects what a command prints while it runs.
type output struct{ lines chan string }

func (o *output) Write(text []byte) (int, error) {
	o.lines <- string(text)
	return len(text), nil
}

func newInstance(t *testing.T) *instance {
	t.Helper()
	in := &instance{t: t, dir: t.TempDir()}
	ctx, cancel := context.WithCancel(t.Context())
	said, ended := &output{make(chan string, 100)}, make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"serve", "-addr", "127.0.0.1:0", "-dir", in.dir, "-page", "off"}, said, os.Stderr)
	}()
	t.Cleanup(func() {
		cancel()
		if code := <-ended; code != 0 {
			t.Errorf("serve ended with %d", code)
		}
	})
	select {
	case line := <-said.lines:
		in.url = strings.TrimSpace(strings.TrimPrefix(line, "serving at "))
	case code := <-ended:
		ended <- code
		t.Fatalf("serve ended with %d", code)
	case <-time.After(time.Minute):
		t.Fatal("serve says nothing")
	}
	return in
}

// as runs a command as a user, and fails the test unless it ends with code.
func (in *instance) as(name string, code int, args ...string) (stdout, stderr string) {
	in.t.Helper()
	var out, says bytes.Buffer
	all := append([]string{args[0], "-server", in.url, "-user", name, "-password-file", filepath.Join(in.dir, name+".password")}, args[1:]...)
	if got := run(in.t.Context(), all, &out, &says); got != code {
		in.t.Fatalf("fleetd %s ends with %d, want %d: %s", strings.Join(args, " "), got, code, &says)
	}
	return out.String(), says.String()
}

// file returns a file with a text.
func (in *instance) file(text string) string {
	in.t.Helper()
	name := filepath.Join(in.t.TempDir(), "content")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		in.t.Fatal(err)
	}
	return name
}

// object is what a replica runs.
type object struct {
	poolswap.Ref
	text string
}

// replica starts a replica of "table" with the rights of a user, and returns its
// container.
func (in *instance) replica(id, user string) *poolswap.Container[object, *object] {
	in.t.Helper()
	password, err := secretOf(filepath.Join(in.dir, user+".password"))
	if err != nil {
		in.t.Fatal(err)
	}
	conn, err := nats.Connect(in.url, nats.UserInfo(user, password), nats.MaxReconnects(-1))
	if err != nil {
		in.t.Fatal(err)
	}
	in.t.Cleanup(conn.Close)
	return in.replicaOf(id, conn)
}

// replicaOf starts a replica with a connection.
func (in *instance) replicaOf(id string, conn *nats.Conn) *poolswap.Container[object, *object] {
	in.t.Helper()
	source, err := fleet.NewSource(conn, "table", fleet.SourceOptions{ID: id})
	if err != nil {
		in.t.Fatal(err)
	}
	objects := poolswap.NewEmptyContainer(poolswap.NewPool(func() *object { return new(object) }, nil))
	r := reload.New(objects, source, func(_ context.Context, next, _ *object, content *reload.Content) error {
		text, err := io.ReadAll(content.Body)
		next.text = string(text)
		if next.text == "bad" {
			return errors.New("bad row 3")
		}
		return err
	}, reload.Options{Every: time.Second, Observe: source.Observe, Logger: slog.New(slog.DiscardHandler)})
	ctx, cancel := context.WithCancel(in.t.Context())
	ended := make(chan error)
	go func() { ended <- r.Run(ctx) }()
	in.t.Cleanup(func() {
		cancel()
		<-ended
	})
	return objects
}

// await waits until a replica runs a text.
func await(t *testing.T, c *poolswap.Container[object, *object], want string) {
	t.Helper()
	text := ""
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		c.WithAcquire(func(o *object) {
			if o != nil {
				text = o.text
			}
		})
		if text == want {
			return
		}
	}
	t.Fatalf("the replica runs %q, not %q", text, want)
}

func TestAFleetIsPublishedToAndSteered(t *testing.T) {
	in := newInstance(t)
	in.as("publisher", 0, "publish", "table", in.file("one"), "-by", "alice", "-why", "the first")
	a, b := in.replica("a", "replica"), in.replica("b", "replica")
	await(t, a, "one")
	await(t, b, "one")

	out, _ := in.as("publisher", 0, "store", "table", in.file("two"))
	two := strings.TrimSpace(out)
	in.as("publisher", 0, "canary", "table", two, "b", "-why", "try it")
	await(t, b, "two")
	await(t, a, "one")
	in.awaitStatus(func(s *fleet.Status) bool {
		return len(s.Replicas) == 2 && s.Replicas[0].State(s.Plan) == "running" && s.Replicas[1].Revision == two
	})
	if out, _ := in.as("publisher", 0, "status", "table"); !strings.Contains(out, "canary "+two+" on b") || strings.Count(out, "running") != 2 {
		t.Errorf("the status is\n%s", out)
	}
	in.as("publisher", 0, "promote", "table")
	await(t, a, "two")
	in.as("publisher", 0, "rollback", "table", "-why", "too slow")
	await(t, a, "one")
	in.as("publisher", 0, "pin", "table", "a", two)
	await(t, a, "two")
	await(t, b, "one")
	in.as("publisher", 0, "unpin", "table", "a")
	await(t, a, "one")
	in.as("publisher", 0, "pause", "table")
	in.as("publisher", 0, "resume", "table")

	out, _ = in.as("publisher", 0, "history", "table", "-json")
	var changes []fleet.Change
	if err := json.Unmarshal([]byte(out), &changes); err != nil {
		t.Fatal(err)
	}
	whats := ""
	for _, c := range changes {
		whats += c.What + " "
	}
	if whats != "publish canary promote rollback pin unpin pause resume " || changes[0].By != "alice" || changes[3].Why != "too slow" {
		t.Errorf("the history is %s", out)
	}
	if out, _ := in.as("publisher", 0, "verify", "table"); out != "2 revisions have the bytes that were published\n" {
		t.Errorf("verify says %q", out)
	}
	if out, _ := in.as("publisher", 0, "stored", "table"); strings.Count(out, "\n") != 3 || !strings.Contains(out, two) {
		t.Errorf("stored says\n%s", out)
	}
	in.backUpAndRestore("table")
	in.waitForReplicas()
	if out, _ := in.as("publisher", 0, "retain", "table"); !strings.HasPrefix(out, "0 objects were deleted") {
		t.Errorf("retain says %q", out)
	}
}

func TestAServerPutsACanaryOnHoldThatFails(t *testing.T) {
	in := newInstance(t)
	in.as("publisher", 0, "publish", "table", in.file("one"))
	a := in.replica("a", "replica")
	await(t, a, "one")
	out, _ := in.as("publisher", 0, "store", "table", in.file("bad"))
	in.as("publisher", 0, "canary", "table", strings.TrimSpace(out), "a")
	in.awaitStatus(func(s *fleet.Status) bool { return s.Plan.Hold == "a: "+s.Replicas[0].Error })
	if _, says := in.as("publisher", exitFailed, "promote", "table"); !strings.Contains(says, "the canary is on hold") {
		t.Errorf("promote says %q", says)
	}
	in.as("publisher", 0, "rollback", "table")
	await(t, a, "one")
	if out, _ := in.as("publisher", 0, "history", "table"); !strings.Contains(out, "fleetd serve") {
		t.Errorf("the history is\n%s", out)
	}
	if out, _ := in.as("replica", 0, "names"); out != "table\n" {
		t.Errorf("the names are %q", out)
	}
}

// awaitReport waits until a replica reports, and returns the status.
func (in *instance) awaitReport(id string) string {
	in.t.Helper()
	return in.awaitStatus(func(s *fleet.Status) bool {
		return slices.ContainsFunc(s.Replicas, func(r fleet.Report) bool { return r.ID == id })
	})
}

// awaitStatus waits until the status is right, and returns it as JSON.
func (in *instance) awaitStatus(right func(*fleet.Status) bool) string {
	in.t.Helper()
	out := ""
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		out, _ = in.as("publisher", 0, "status", "-json", "table")
		s := new(fleet.Status)
		if err := json.Unmarshal([]byte(out), s); err != nil {
			in.t.Fatal(err)
		}
		if right(s) {
			return out
		}
	}
	in.t.Fatalf("the status stays %s", out)
	return ""
}

func TestUsersHaveTheRightsThatTheyNeedAndNoOthers(t *testing.T) {
	in := newInstance(t)
	in.as("admin", 0, "publish", "table", in.file("one"))
	in.as("admin", 0, "publish", "table", in.file("two"))
	for _, args := range [][]string{
		{"publish", "table", in.file("by a replica")},
		{"rollback", "table"},
	} {
		if _, says := in.as("replica", exitFailed, args...); !strings.Contains(strings.ToLower(says), "permissions violation") {
			t.Errorf("%q fails with %q", args, says)
		}
	}
	if out, _ := in.as("admin", 0, "history", "-json", "table"); strings.Count(out, `"seq"`) != 2 {
		t.Errorf("a replica has changed the plan: %s", out)
	}
	for user, file := range map[string]string{"replica": "admin", "admin": "replica"} { // the wrong password
		var stderr bytes.Buffer
		args := []string{"status", "-server", in.url, "-user", user, "-password-file", filepath.Join(in.dir, file+".password"), "table"}
		if code := run(t.Context(), args, io.Discard, &stderr); code != exitFailed || !strings.Contains(stderr.String(), "Authorization Violation") {
			t.Errorf("%s with the password of %s: %d, %s", user, file, code, &stderr)
		}
	}
	if code := run(t.Context(), []string{"status", "-server", in.url, "table"}, io.Discard, io.Discard); code != exitFailed {
		t.Errorf("without a user: %d", code)
	}
	for _, name := range []string{"admin", "publisher", "replica"} {
		info, err := os.Stat(filepath.Join(in.dir, name+".password"))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the password of %s: %v, %v", name, info, err)
		}
	}
}

func TestWrongUsageIsTold(t *testing.T) {
	used, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer used.Close()
	name := filepath.Join(t.TempDir(), "none")
	for _, test := range []struct {
		args []string
		code int
		says string
	}{
		{nil, exitUsage, "usage: fleetd COMMAND"},
		{[]string{"publsh"}, exitUsage, `fleetd: there is no command "publsh"`},
		{[]string{"publish", "table"}, exitUsage, "fleetd: 1 arguments, want 2\nusage: fleetd publish [flags] NAME FILE"},
		{[]string{"canary", "table"}, exitUsage, "fleetd: 1 arguments, want at least 2"},
		{[]string{"rollback"}, exitUsage, "fleetd: 0 arguments, want 1 to 2"},
		{[]string{"status", "-colour", "table"}, exitUsage, "flag provided but not defined: -colour"},
		{[]string{"status", "-h"}, 0, "usage: fleetd status [flags] NAME\nshow what replicas are to run, and run\n"},
		{[]string{"publish", "table", name}, exitFailed, "fleetd: open " + name + ": no such file"},
		{[]string{"publish", "table", os.Args[0], "-key", name}, exitFailed, "fleetd: -key: open "},
		{[]string{"publish", "table", os.Args[0], "-key", os.Args[0]}, exitFailed, "holds no Ed25519 private key as `fleetd key` makes it"},
		{[]string{"status", "table", "-user", "a"}, exitFailed, "fleetd: -password-file: it is missing"},
		{[]string{"status", "table", "-server", "nats://127.0.0.1:1"}, exitFailed, "fleetd: nats://127.0.0.1:1: "},
		{[]string{"serve", "-addr", "nonsense"}, exitFailed, "fleetd: serve: address nonsense: missing port"},
		{[]string{"serve", "-addr", "127.0.0.1:70000"}, exitFailed, `fleetd: serve: "70000" is no port`},
		{[]string{"serve", "-addr", used.Addr().String(), "-dir", t.TempDir()}, exitFailed, "address already in use"},
		{[]string{"serve", "-addr", "127.0.0.1:0", "-dir", filepath.Join(os.Args[0], "x")}, exitFailed, "fleetd: serve: mkdir "},
	} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), test.args, &stdout, &stderr); code != test.code || !strings.Contains(stdout.String()+stderr.String(), test.says) {
			t.Errorf("fleetd %q ends with %d and says %q, want %d and %q", test.args, code, stdout.String()+stderr.String(), test.code, test.says)
		}
	}
}
