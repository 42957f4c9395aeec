package main

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
)

// passwordOf returns what the command password prints.
func passwordOf(t *testing.T, dir, id string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"password", "-dir", dir, id}, &stdout, &stderr); code != 0 {
		t.Fatalf("password ends with %d: %s", code, &stderr)
	}
	return strings.TrimSpace(stdout.String())
}

func TestAReplicaWithAUserOfItsOwnWritesItsOwnReportAlone(t *testing.T) {
	in := newInstance(t)
	in.as("publisher", 0, "publish", "table", in.file("one"))
	for _, id := range []string{"a", "b.example*>"} {
		password := passwordOf(t, in.dir, id)
		conn, err := nats.Connect(in.url, nats.UserInfo("replica/"+id, password))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		await(t, in.replicaOf(id, conn), "one")
		await(t, in.replicaOf("impostor of "+id, conn), "one") // it reads all the same
	}
	// The shared user writes last: what came before it has been refused or is there.
	in.replica("z", "replica")
	out := in.awaitReport("z")
	for _, id := range []string{`"id": "a"`, `"id": "b.example*\u003e"`} {
		if !strings.Contains(out, id) {
			t.Errorf("there is no report with %s in %s", id, out)
		}
	}
	if strings.Contains(out, "impostor") {
		t.Errorf("a user has written the report of another replica: %s", out)
	}
}

func TestThePasswordOfAReplicaIsItsOwn(t *testing.T) {
	in := newInstance(t)
	a := passwordOf(t, in.dir, "a")
	if a != passwordOf(t, in.dir, "a") || a == passwordOf(t, in.dir, "b") {
		t.Error("the password does not belong to the id")
	}
	for _, user := range []string{"replica/b", "replica/", "replica", "publisher", "admin", "", "root"} {
		if conn, err := nats.Connect(in.url, nats.UserInfo(user, a)); err == nil {
			conn.Close()
			t.Errorf("%q gets in with the password of another user", user)
		}
	}
	if code := run(t.Context(), []string{"password", "-dir", t.TempDir(), "a"}, io.Discard, io.Discard); code != exitFailed {
		t.Errorf("password ends with %d in a directory without a server", code)
	}
}
