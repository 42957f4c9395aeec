package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// A replica that was taken over must not write to the terminal of an operator.
func TestOutputHasNoControlCharacters(t *testing.T) {
	in := newInstance(t)
	in.as("publisher", 0, "publish", "a\nb", in.file("one"), "-why", "\x1b[2Jgone\tfar")
	password, err := secretOf(filepath.Join(in.dir, "replica.password"))
	if err != nil {
		t.Fatal(err)
	}
	replica, err := nats.Connect(in.url, nats.UserInfo("replica", password))
	if err != nil {
		t.Fatal(err)
	}
	defer replica.Close()
	report := []byte(`{"id":"\u001b\u202e","revision":"\u009b","error":"two\nlines\u001b]0;title\u0007"}`)
	if _, err := replica.Request("$KV.poolswap-reports.a=0Ab.=1B=E2=80=AE", report, time.Minute); err != nil { // answered once it is stored
		t.Fatal(err)
	}
	for _, command := range []string{"names", "status", "history"} {
		args := []string{command, "a\nb"}
		if command == "names" {
			args = args[:1]
		}
		text, _ := in.as("publisher", 0, args...)
		if command == "status" && !strings.Contains(text, "two\uFFFDlines") {
			t.Errorf("status says %q", text)
		}
		if strings.ContainsAny(text, "\x07\x1b\t\u009b\u202e") || strings.Contains(text, "a\nb") {
			t.Errorf("%s says %q", command, text)
		}
	}
	if _, text := in.as("publisher", exitFailed, "pin", "a\nb", "r", "\x1bmissing"); strings.Contains(text, "\x1b") {
		t.Errorf("the error is %q", text)
	}
}
