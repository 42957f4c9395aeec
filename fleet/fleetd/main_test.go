package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/reload"
)

// patience bounds each wait of a test.
const patience = time.Minute

// instance is a server that serve runs.
type instance struct {
	t        *testing.T
	dir, url string
	admin    string   // file of the token of an administrator
	more     []string // flags of each command
	log      *output
}

// output keeps the prints of a command.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(text []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(text)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

func newInstance(t *testing.T, more ...string) *instance {
	t.Helper()
	in := &instance{t: t, dir: t.TempDir(), log: new(output)}
	in.admin = filepath.Join(in.dir, "admin.token")
	in.start(more...)
	return in
}

// start starts the server. The function that it returns ends it.
func (in *instance) start(more ...string) (stop func()) {
	in.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	said, ended := new(output), make(chan int, 1)
	go func() {
		ended <- run(ctx, append([]string{"serve", "-addr", "127.0.0.1:0", "-dir", in.dir, "-reserve", "0"}, more...), said, in.log)
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		if code := <-ended; code != 0 {
			in.t.Errorf("serve ended with %d: %s", code, in.log)
		}
	})
	in.t.Cleanup(stop)
	in.await("the address and the token", func() bool {
		line, _, _ := strings.Cut(said.String(), "\n")
		in.url = strings.TrimPrefix(line, "serving at ")
		_, err := os.Stat(in.admin)
		return in.url != "" && err == nil || len(ended) > 0
	})
	return stop
}

func (in *instance) await(what string, so func() bool) {
	in.t.Helper()
	for end := time.Now().Add(patience); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			in.t.Fatalf("after %v, not yet: %s", patience, what)
		}
	}
}

// run runs a command as the holder of a token, and fails the test unless it ends with
// code.
func (in *instance) as(token string, code int, args ...string) (stdout, stderr string) {
	in.t.Helper()
	var out, says bytes.Buffer
	all := append([]string{args[0], "-server", in.url, "-token-file", token}, in.more...)
	if got := run(in.t.Context(), append(all, args[1:]...), &out, &says); got != code {
		in.t.Fatalf("fleetd %s ends with %d, want %d: %s%s", strings.Join(args, " "), got, code, &out, &says)
	}
	return out.String(), says.String()
}

func (in *instance) run(code int, args ...string) (stdout, stderr string) {
	in.t.Helper()
	return in.as(in.admin, code, args...)
}

// store stores a text and returns its revision.
func (in *instance) store(text string) string {
	in.t.Helper()
	out, _ := in.run(0, "store", "table", in.file(text))
	return strings.TrimSpace(out)
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

// token makes a token and returns its file.
func (in *instance) token(args ...string) string {
	in.t.Helper()
	file := filepath.Join(in.t.TempDir(), "token")
	in.run(0, append([]string{"token", "make", "ann", "-o", file}, args...)...)
	return file
}

// replica starts a replica of "table". It refuses the text "bad".
func (in *instance) replica(id string) *reload.Value[string] {
	in.t.Helper()
	client, err := fleet.NewClient(in.url, fleet.ClientOptions{TokenFile: in.token("-role", "replica", "-names", "*", "-ids", id)})
	if err != nil {
		in.t.Fatal(err)
	}
	logger := slog.New(slog.DiscardHandler)
	var reports atomic.Uint64
	health := func() fleet.Health { n := reports.Add(1); return fleet.Health{Requests: 50 * n, Errors: n} }
	source, err := fleet.NewSource(client, "table", fleet.SourceOptions{ID: id, Labels: map[string]string{"host": id}, Health: health, ReportEvery: time.Second, Logger: logger})
	if err != nil {
		in.t.Fatal(err)
	}
	value := reload.NewValue(source, func(_ context.Context, content *reload.Content) (string, error) {
		text, err := io.ReadAll(content.Body)
		if string(text) == "bad" {
			err = errors.New("bad row 3")
		}
		return string(text), err
	}, reload.Options{Every: time.Second, Observe: source.Observe, Logger: logger})
	ctx, cancel := context.WithCancel(in.t.Context())
	ended := make(chan error)
	go func() { ended <- value.Run(ctx) }()
	in.t.Cleanup(func() {
		cancel()
		<-ended
		client.CloseIdleConnections()
	})
	return value
}

// awaitText waits until a replica runs a text.
func (in *instance) awaitText(v *reload.Value[string], want string) {
	in.t.Helper()
	in.await("the text "+want, func() bool { text, _ := v.Load(); return text == want })
}

// status returns the status of "table".
func (in *instance) status() *fleet.Status {
	in.t.Helper()
	out, _ := in.run(0, "status", "-json", "table")
	s := new(fleet.Status)
	if err := json.Unmarshal([]byte(out), s); err != nil {
		in.t.Fatal(err)
	}
	return s
}

func TestCommandsPublishAndSteer(t *testing.T) {
	in := newInstance(t)
	if _, says := in.run(exitFailed, "publish", "table", in.file("one")); !strings.Contains(says, "-new begins it") {
		t.Errorf("it says %q", says)
	}
	if _, says := in.run(exitFailed, "publish", "-new", "table", in.file("")); !strings.Contains(says, "empty") {
		t.Errorf("of an empty file it says %q", says)
	}
	publisher := in.token("-role", "publisher", "-names", "ta*")
	in.as(publisher, 0, "publish", "-new", "table", in.file("one"), "-why", "the first")
	a, b := in.replica("a"), in.replica("b")
	in.awaitText(a, "one")
	in.awaitText(b, "one")
	out, _ := in.as(publisher, 0, "publish", "table", in.file("two"), "-wait", "1m")
	if !strings.Contains(out, "2 replicas run what the plan wants") {
		t.Errorf("it says %q", out)
	}
	if text, _ := a.Load(); text != "two" {
		t.Errorf("after the wait a replica runs %q", text)
	}
	two := in.status().Plan.Stable
	three := in.store("three")
	out, _ = in.run(0, "canary", "table", three, "b", "-why", "try it", "-wait", "1m")
	if !strings.Contains(out, "canary "+three+" on b") {
		t.Errorf("it says %q", out)
	}
	in.awaitText(b, "three")
	in.awaitText(a, "two")
	if out, _ := in.run(0, "status", "table"); strings.Count(out, "running") != 2 {
		t.Errorf("the status is\n%s", out)
	}
	in.run(0, "promote", "table", "-wait", "1m")
	in.awaitText(a, "three")
	in.run(0, "rollback", "table", "-why", "too slow", "-wait", "1m")
	in.awaitText(b, "two")
	in.await("the status has labels and health", func() bool {
		out, _ := in.run(0, "status", "table")
		return strings.Contains(out, "host=b") && strings.Contains(out, " fail")
	})
	in.run(0, "pin", "table", "a", three, "-wait", "1m")
	in.awaitText(a, "three")
	in.run(0, "unpin", "table", "a")
	in.awaitText(a, "two")
	in.run(0, "pause", "table", "-why", "\x1b[2J\nso")
	in.run(0, "resume", "table")
	in.run(0, "rollback", "table", three)
	in.awaitText(a, "three")

	out, _ = in.run(0, "history", "table", "-json")
	var changes []fleet.Change
	if err := json.Unmarshal([]byte(out), &changes); err != nil {
		t.Fatal(err)
	}
	kinds := ""
	for _, c := range changes {
		kinds += string(c.Kind) + " "
	}
	if kinds != "publish publish canary promote rollback pin unpin pause resume rollback " || changes[0].By != "ann" || changes[4].Why != "too slow" || changes[0].Why != "the first" {
		t.Errorf("the history is %s", out)
	}
	if out, _ := in.run(0, "history", "table", "-limit", "2"); strings.Count(out, "\n") != 3 || !strings.Contains(out, "resume") {
		t.Errorf("the last two changes are\n%s", out)
	}
	if out, _ := in.run(0, "history", "table"); strings.Contains(out, "\x1b") || strings.Count(out, "\n") != 11 {
		t.Errorf("a terminal would obey\n%q", out)
	}
	if out, _ := in.run(0, "verify", "table"); out != "3 of 3 revisions have the bytes that were published\n" {
		t.Errorf("verify says %q", out)
	}
	if out, _ := in.run(0, "stored", "table"); strings.Count(out, "\n") != 4 || !strings.Contains(out, two) {
		t.Errorf("stored says\n%s", out)
	}
	if out, _ := in.run(0, "names"); out != "table\n" {
		t.Errorf("the names are %q", out)
	}
}

func TestCommandsWaitForReplicasAndSayWhoIsMissing(t *testing.T) {
	in := newInstance(t)
	in.run(0, "publish", "-new", "table", in.file("one"))
	if _, says := in.run(exitFailed, "publish", "table", in.file("two"), "-wait", "1s"); !strings.Contains(says, "no replica reports") {
		t.Errorf("without a replica it says %q", says)
	}
	before, _ := in.run(0, "stored", "table")
	if _, says := in.run(exitFailed, "publish", "table", in.file("three"), "-steps", "50%"); !strings.Contains(says, "no replica reports") {
		t.Errorf("a rollout without a replica says %q", says)
	}
	if after, _ := in.run(0, "stored", "table"); after != before {
		t.Errorf("a rollout that cannot begin stored\n%s", after)
	}
	if _, says := in.run(exitFailed, "publish", "-new", "other", in.file("one"), "-steps", "50%"); !strings.Contains(says, "publish the first one without -steps") {
		t.Errorf("a rollout of a first revision says %q", says)
	}
	stable := in.status().Plan.Stable
	if _, says := in.run(0, "pin", "table", "ghost", stable); !strings.Contains(says, "no replica ghost reports") {
		t.Errorf("a pin of an id that no replica has says %q", says)
	}
	in.run(0, "unpin", "table", "ghost")
	a := in.replica("a")
	in.awaitText(a, "two")
	if _, says := in.run(exitFailed, "publish", "table", in.file("bad"), "-wait", "1m"); !strings.Contains(says, "a has refused") || !strings.Contains(says, "bad row 3") {
		t.Errorf("a publication that is refused says %q", says)
	}
	in.run(0, "rollback", "table", "-wait", "1m")
	in.run(0, "pause", "table")
	if _, says := in.run(exitFailed, "publish", "table", in.file("three"), "-wait", "1m"); !strings.Contains(says, "paused") {
		t.Errorf("a publication in a pause says %q", says)
	}
	in.run(0, "resume", "table", "-wait", "1m")
	in.awaitText(a, "three")

	bad := in.store("bad")
	in.run(0, "canary", "table", bad, "a")
	in.await("the canary is on hold", func() bool { c := in.status().Plan.Canary; return c != nil && c.Hold != "" })
	if _, says := in.run(exitFailed, "promote", "table"); !strings.Contains(says, "on hold") {
		t.Errorf("promote says %q", says)
	}
	in.run(0, "rollback", "table", "-wait", "1m")
	if out, _ := in.run(0, "canary", "table", bad, "-label", "host=a"); !strings.Contains(out, "100 %, host=a") {
		t.Errorf("a canary by label alone says %q", out)
	}
	in.run(0, "rollback", "table")
	if _, says := in.run(0, "publish", "table", in.file("four"), "-steps", "50%,100%", "-bake", "1s", "-wait", "1m"); !strings.Contains(says, "1 replica reports") {
		t.Errorf("a rollout that compares nothing says %q", says)
	}
	if s := in.status(); s.Plan.Rollout != nil || s.Plan.Canary != nil || s.Plan.Revisions[s.Plan.Stable].Size != 4 {
		t.Errorf("after a rollout the plan is %+v", s.Plan)
	}
	in.awaitText(a, "four")
	if out, _ := in.run(0, "rollout", "table", bad, "-steps", "100%", "-bake", "1h"); !strings.Contains(out, "step 1 of 1") {
		t.Errorf("rollout says %q", out)
	}
	in.await("the rollout is rolled back", func() bool { s := in.status(); return s.Plan.Canary == nil })
	if _, says := in.run(exitFailed, "rollout", "table", bad, "-steps", "100%", "-bake", "1h", "-wait", "1m"); !strings.Contains(says, "bad row 3") {
		t.Errorf("a rollout that ends says %q", says)
	}
	in.awaitText(a, "four")
}

func TestTokensOfCommands(t *testing.T) {
	in := newInstance(t)
	in.run(0, "publish", "-new", "table", in.file("one"))
	reader := in.token("-role", "reader", "-names", "table", "-valid", "1h")
	for _, file := range []string{in.admin, reader} {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", file, info, err)
		}
	}
	in.as(reader, 0, "status", "table")
	for _, args := range [][]string{{"publish", "table", in.file("two")}, {"pause", "table"}, {"token", "list"}, {"remove", "-yes", "table"}, {"status", "other"}, {"verify", "table"}} {
		if _, says := in.as(reader, exitFailed, args...); !strings.Contains(says, "403") {
			t.Errorf("%q of a reader says %q", args, says)
		}
	}
	if _, says := in.run(exitFailed, "token", "make", "x", "-role", "reader", "-names", "*", "-o", reader); !strings.Contains(says, "exists") {
		t.Errorf("a file that is there: %q", says)
	}
	fails := filepath.Join(t.TempDir(), "token")
	in.run(exitFailed, "token", "make", "x", "-role", "king", "-names", "*", "-o", fails)
	if _, err := os.Stat(fails); err == nil {
		t.Error("a file without a token is left")
	}
	out, _ := in.run(0, "token", "list", "-json")
	var all []fleet.Token
	if err := json.Unmarshal([]byte(out), &all); err != nil || len(all) != 2 || all[1].Name != "ann" || all[1].By != "admin" || all[1].Expires.IsZero() {
		t.Errorf("the tokens are %s, %v", out, err)
	}
	if out, _ := in.run(0, "token", "revoke", all[1].ID); out != "token "+all[1].ID+" is revoked\n" {
		t.Errorf("revoke says %q", out)
	}
	if _, says := in.as(reader, exitFailed, "status", "table"); !strings.Contains(says, "401") {
		t.Errorf("a token that was revoked: %q", says)
	}
	out, _ = in.run(0, "token", "make", "ann", "-role", "operator", "-names", "*")
	if !strings.HasPrefix(out, "psw_") || strings.Count(out, "\n") != 1 {
		t.Errorf("the token is %q", out)
	}
	if log := in.log.String(); strings.Contains(log, strings.TrimSpace(out)) || !strings.Contains(log, "a token was revoked") || strings.Contains(log, "0001-01-01") {
		t.Errorf("the log is\n%s", log)
	}
}

func TestServerKeepsItsStateAndItsDirectory(t *testing.T) {
	in := &instance{t: t, dir: t.TempDir(), log: new(output)}
	in.admin = filepath.Join(in.dir, "admin.token")
	stop := in.start()
	in.run(0, "publish", "-new", "table", in.file("one"))
	before := in.status().Plan
	text, err := os.ReadFile(in.admin)
	if err != nil {
		t.Fatal(err)
	}
	var says bytes.Buffer
	if code := run(t.Context(), []string{"serve", "-addr", "127.0.0.1:0", "-dir", in.dir}, io.Discard, &says); code != exitFailed || !strings.Contains(says.String(), "another server") {
		t.Errorf("a second server ends with %d: %s", code, &says)
	}
	stop()
	in.start()
	if after := in.status().Plan; after.Version() != before.Version() || after.Stable != before.Stable {
		t.Errorf("after a restart the plan is %s", after.Version())
	}
	if again, err := os.ReadFile(in.admin); err != nil || !bytes.Equal(again, text) {
		t.Errorf("the token of the administrator has changed, %v", err)
	}
}

func TestBackupIsRestored(t *testing.T) {
	in := newInstance(t)
	key := filepath.Join(t.TempDir(), "key")
	var public bytes.Buffer
	if code := run(t.Context(), []string{"key", key}, &public, os.Stderr); code != 0 {
		t.Fatalf("key ends with %d", code)
	}
	in.run(0, "publish", "-new", "table", in.file("one"+strings.Repeat("-", 100)), "-key", key)
	first := in.status().Plan.Stable
	in.run(0, "publish", "table", in.file("two"), "-key", key, "-delta-from", first)
	in.run(0, "publish", "table", in.file("three"), "-key", key, "-delta-from", in.status().Plan.Stable)
	if _, says := in.run(exitFailed, "store", "table", in.file(strings.Repeat("-", 90)), "-key", key, "-delta-from", first); !strings.Contains(says, "publish whole content") {
		t.Errorf("of a large delta it says %q", says)
	}
	if _, says := in.run(exitFailed, "publish", "table", in.file("two")); !strings.Contains(says, "the stable revision is signed") {
		t.Errorf("without a key it says %q", says)
	}
	before := in.status().Plan
	saved := filepath.Join(t.TempDir(), "backup")
	if out, _ := in.run(0, "backup", "table", saved); out != "table is in "+saved+"\n" {
		t.Errorf("backup says %q", out)
	}
	if _, says := in.run(exitFailed, "restore", "table", saved); !strings.Contains(says, "has plan "+before.Version()) {
		t.Errorf("over a plan it says %q", says)
	}
	whole, err := os.ReadFile(saved)
	if err != nil {
		t.Fatal(err)
	}

	other := newInstance(t)
	damaged := bytes.Replace(whole, []byte("one"), []byte("eno"), 1)
	for name, text := range map[string][]byte{"cut off": whole[:len(whole)-3000], "damaged": damaged, "empty": nil, "not a backup": bytes.Repeat([]byte("x"), 2000)} {
		if _, says := other.run(exitFailed, "restore", "table", other.file(string(text))); !strings.Contains(says, "no whole backup") {
			t.Errorf("a backup that is %s: %q", name, says)
		}
	}
	if _, says := other.run(exitFailed, "restore", "other", saved); !strings.Contains(says, `of the name "table"`) {
		t.Errorf("another name: %q", says)
	}
	if out, _ := other.run(0, "names"); out != "" {
		t.Errorf("failures left the names %q", out)
	}
	other.run(0, "restore", "table", saved, "-why", "moved")
	after := other.status().Plan
	text, err := base64.StdEncoding.DecodeString(strings.TrimSpace(public.String()))
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{before.Stable, before.Previous} {
		was, is := before.Revisions[id], after.Revisions[id]
		if !is.Created.Equal(was.Created) || is.SHA256 != was.SHA256 || !ed25519.Verify(text, is.Statement("table"), is.Signature) {
			t.Errorf("revision %s was %+v and is %+v", id, was, is)
		}
	}
	if out, _ := other.run(0, "stored", "table"); strings.Count(out, "\n") != 4 || !strings.Contains(out, first) {
		t.Errorf("stored are\n%s", out)
	}
	if after.Stable != before.Stable || after.Previous != before.Previous {
		t.Errorf("the plan is %+v", after)
	}
	if out, _ := other.run(0, "history", "table"); strings.Count(out, "publish") != 1 {
		t.Errorf("replicas that still serve would go back to the previous revision:\n%s", out)
	}
	other.run(0, "verify", "table")
	if out, _ := other.run(0, "remove", "-yes", "table", "-why", "a test"); out != "table is removed\n" {
		t.Errorf("remove says %q", out)
	}
	if out, _ := other.run(0, "names"); out != "" {
		t.Errorf("after a removal the names are %q", out)
	}
}

func TestWrongUsageIsTold(t *testing.T) {
	used, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer used.Close()
	name := filepath.Join(t.TempDir(), "none")
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("psw_a_b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args []string
		code int
		says string
	}{
		{nil, exitUsage, "usage: fleetd COMMAND"},
		{[]string{"publsh"}, exitUsage, `fleetd: there is no command "publsh"`},
		{[]string{"publish", "table"}, exitUsage, "fleetd: wrong number of arguments: 1\nusage: fleetd publish [flags] NAME FILE"},
		{[]string{"canary", "table"}, exitUsage, "fleetd: wrong number of arguments: 1"},
		{[]string{"rollback"}, exitUsage, "fleetd: wrong number of arguments: 0"},
		{[]string{"status", "-colour", "table"}, exitUsage, "flag provided but not defined: -colour"},
		{[]string{"status", "-h"}, 0, "usage: fleetd status [flags] NAME\nshow the plan and the replicas\n"},
		{[]string{"token", "steal"}, exitUsage, "token has make NAME, list and revoke"},
		{[]string{"token", "revoke"}, exitUsage, "token has make NAME, list and revoke"},
		{[]string{"token", "make", "x", "-names", "*", "-token-file", token}, exitUsage, "token make needs -role and -names"},
		{[]string{"token", "make", "x", "-role", "reader", "-token-file", token}, exitUsage, "token make needs -role and -names"},
		{[]string{"token", "make", "x", "-role", "replica", "-names", "*", "-token-file", token}, exitUsage, "needs -ids"},
		{[]string{"serve", "-h"}, 0, "usage: fleetd serve [flags]\nrun a server\n"},
		{[]string{"publish", "table", name, "-token-file", token}, exitFailed, "fleetd: open " + name + ": no such file"},
		{[]string{"publish", "table", token, "-key", token, "-token-file", token}, exitFailed, "holds no Ed25519 private key as `fleetd key` makes it"},
		{[]string{"publish", "table", token, "-steps", "10%,x", "-token-file", token}, exitFailed, `"x" is no share`},
		{[]string{"rollout", "table", "r", "-token-file", token}, exitFailed, "needs -steps"},
		{[]string{"canary", "table", "r", "-share", "200%", "-token-file", token}, exitFailed, `"200%" is no share`},
		{[]string{"remove", "table", "-token-file", token}, exitFailed, "say -yes"},
		{[]string{"status", "table", "-token-file", ""}, exitFailed, "-token-file"},
		{[]string{"status", "table", "-server", "http://192.0.2.1", "-token-file", token}, exitFailed, "in the clear"},
		{[]string{"serve", "-addr", "nonsense"}, exitFailed, "fleetd: serve: listen tcp: address nonsense: missing port"},
		{[]string{"serve", "-addr", used.Addr().String(), "-dir", t.TempDir()}, exitFailed, "address already in use"},
		{[]string{"serve", "-addr", "127.0.0.1:0", "-dir", filepath.Join(token, "x")}, exitFailed, "fleetd: serve: "},
		{[]string{"serve", "-addr", ":0", "-dir", name}, exitFailed, "give -cert and -key, or -insecure"},
		{[]string{"serve", "-cert", token}, exitFailed, "-cert and -key belong together"},
		{[]string{"serve", "-addr", "127.0.0.1:0", "-cert", token, "-key", token, "-dir", name}, exitFailed, "the certificate"},
		{[]string{"serve", "-mirror", "mirror.example"}, exitFailed, "is no URL of a mirror"},
		{[]string{"serve", "-node", "a"}, exitFailed, "need -cluster"},
		{[]string{"serve", "-cluster", "127.0.0.1:0"}, exitFailed, "-cluster needs -node"},
		{[]string{"serve", "-keep", "-1"}, exitFailed, "must not be negative"},
	} {
		var stdout, stderr bytes.Buffer
		ctx, cancel := context.WithTimeout(t.Context(), patience) // a server that should not run would go on
		code := run(ctx, test.args, &stdout, &stderr)
		if cancel(); code != test.code || !strings.Contains(stdout.String()+stderr.String(), test.says) {
			t.Errorf("fleetd %q ends with %d and says %q, want %d and %q", test.args, code, stdout.String()+stderr.String(), test.code, test.says)
		}
		if _, err := os.Stat(name); err == nil {
			t.Errorf("fleetd %q has made the directory", test.args)
		}
	}
}

func TestServerSpeaksTLS(t *testing.T) {
	helper := httptest.NewTLSServer(nil) // for its certificate
	helper.Close()
	pair := helper.TLS.Certificates[0]
	private, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for name, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: pair.Certificate[0]}, key: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	probe, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	metrics := probe.Addr().String()
	probe.Close()
	in := newInstance(t, "-cert", cert, "-key", key, "-metrics", metrics, "-mirror", "https://mirror.example/x")
	if _, says := in.run(exitFailed, "names"); !strings.Contains(says, "certificate") || !strings.HasPrefix(in.url, "https://") {
		t.Errorf("without -ca it says %q", says)
	}
	t.Setenv("FLEETD_CA", cert)
	in.run(0, "publish", "-new", "table", in.file("one"))
	if mirrors := in.status(); mirrors.Plan == nil {
		t.Errorf("the status is %+v", mirrors)
	}
	for url, want := range map[string]string{"http://" + metrics: "fleetd_names 1\n", in.url + "/": "<html", in.url + "/readyz": "ready"} {
		response, err := helper.Client().Get(url)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %d %.300s, %v", url, response.StatusCode, text, err)
		}
	}
}
