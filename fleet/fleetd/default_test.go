package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/poolswap/poolswap/fleet"
)

// Until told otherwise, a server listens for this machine alone, writes to the
// disk before it acknowledges, and lets no other user read what it keeps.
func TestAServerIsSafeUnlessToldOtherwise(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"serve", "-h"}, &stdout, &stderr); code != 0 {
		t.Fatalf("it ends with %d", code)
	}
	for _, address := range []string{`(default "127.0.0.1:4222")`, `(default "127.0.0.1:8422")`} {
		if !strings.Contains(stderr.String(), address) {
			t.Errorf("no address has %s:\n%s", address, &stderr)
		}
	}
	dir := filepath.Join(t.TempDir(), "data")
	s, _, err := start("127.0.0.1:0", dir, "", "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		s.Shutdown()
		s.WaitForShutdown()
	}()
	if !s.JetStreamConfig().SyncAlways {
		t.Error("what is acknowledged is not on the disk")
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory is %v, %v", info, err)
	}
}

// A password file that is empty lets no one in who gives no password.
func TestAnEmptyPasswordIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "admin.password"), []byte("\n"), fileMode); err != nil {
		t.Fatal(err)
	}
	if _, err := usersIn(dir); err == nil || !strings.Contains(err.Error(), "admin.password is empty") {
		t.Errorf("the users are made: %v", err)
	}
}

// With a certificate the server takes TLS alone, and a client checks it.
func TestAServerWithACertificateTakesTLSAlone(t *testing.T) {
	cert, key := pageCertificate(t)
	dir := t.TempDir()
	s, users, err := start("127.0.0.1:0", dir, cert, key)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		s.Shutdown()
		s.WaitForShutdown()
	}()
	admin, err := nats.Connect("", nats.InProcessServer(s), nats.UserInfo(users.admin.name, users.admin.password), nats.RootCAs(cert))
	if err != nil {
		t.Fatal(err)
	}
	if err := setUp(t.Context(), admin); err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	for authority, code := range map[string]int{cert: 0, "": exitFailed} {
		var stderr bytes.Buffer
		args := []string{"names", "-server", "tls://" + s.Addr().String(), "-user", users.admin.name, "-password-file", users.admin.file, "-tls-ca", authority}
		if got := run(t.Context(), args, io.Discard, &stderr); got != code {
			t.Errorf("with the authority %q it ends with %d: %s", authority, got, &stderr)
		}
	}
	plain, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	if hello, err := bufio.NewReader(plain).ReadString('\n'); err != nil || !strings.Contains(hello, `"tls_required":true`) {
		t.Errorf("the server says %q, %v", hello, err)
	}
}

// A replica hears what it asks for, and not what others write.
func TestAReplicaListensToAnswersAlone(t *testing.T) {
	in := newInstance(t)
	conn, err := nats.Connect(in.url, nats.UserInfo("replica/a", passwordOf(t, in.dir, "a")), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.SubscribeSync("$KV.>"); err != nil {
		t.Fatal(err)
	}
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := conn.LastError(); !errors.Is(err, nats.ErrPermissionViolation) {
		t.Errorf("it is told %v", err)
	}
}

// What the documents say of defaults and exit codes is what the program has.
func TestTheDocumentsSayWhatHolds(t *testing.T) {
	for file, sentences := range map[string][]string{
		"README.md": {
			"It serves at 127.0.0.1:4222 unless `-addr`",
			"<http://" + pageAddress + "/>",
			fmt.Sprintf("The exit code is %d after a failure, %d for wrong usage, and %d if another change of the plan came between.", exitFailed, exitUsage, exitConflict),
			fmt.Sprintf("those of the last %.0f hours", fleet.DefaultMinAge.Hours()),
		},
		"../../docs/fleet.md": {
			fmt.Sprintf("wanted within `MinAge` (%.0f hours)", fleet.DefaultMinAge.Hours()),
			fmt.Sprintf("must be shorter than `ReportTTL` (%.0f s)", fleet.DefaultReportTTL.Seconds()),
			"`fleetd serve` listens on 127.0.0.1 until told otherwise",
		},
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, sentence := range sentences {
			if !strings.Contains(strings.Join(strings.Fields(string(text)), " "), sentence) {
				t.Errorf("%s does not say: %s", file, sentence)
			}
		}
	}
}
