package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// backUpAndRestore restores a name on another server.
func (in *instance) backUpAndRestore(name string) {
	in.t.Helper()
	file := filepath.Join(in.t.TempDir(), "backup")
	in.as("publisher", 0, "backup", name, file)
	piped, _ := in.as("publisher", 0, "backup", name, "-")
	if text, err := os.ReadFile(file); err != nil || len(text) == 0 || len(text) != len(piped) {
		in.t.Fatalf("the file has %d bytes, %v; the standard output %d", len(text), err, len(piped))
	}
	second := newInstance(in.t)
	second.as("publisher", 0, "restore", name, file, "-why", "a new machine")
	for _, what := range []string{"verify", "stored"} {
		before, _ := in.as("publisher", 0, what, name)
		after, _ := second.as("publisher", 0, what, name)
		if what == "verify" && before != after || strings.Count(before, "\n") != strings.Count(after, "\n") {
			in.t.Errorf("%s says %s, and before the backup %s", what, after, before)
		}
	}
	if out, _ := second.as("publisher", 0, "history", name); !strings.Contains(out, "a new machine") || !strings.Contains(out, "too slow") {
		in.t.Errorf("the history is\n%s", out)
	}
	if _, says := second.as("publisher", exitConflict, "restore", name, file); !strings.Contains(says, "the name has a plan, and a backup is for one without") {
		in.t.Errorf("a second restore says %q", says)
	}
}

func TestABackupThatFailsLeavesTheEarlierOne(t *testing.T) {
	in := newInstance(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "backup")
	if err := os.WriteFile(file, []byte("the earlier one"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, says := in.as("publisher", exitFailed, "backup", "table", file); !strings.Contains(says, "nothing was published") {
		t.Errorf("it says %q", says)
	}
	text, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(text, []byte("the earlier one")) {
		t.Errorf("the file has %q, %v", text, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("the directory has %v, %v", entries, err)
	}
	in.as("publisher", exitFailed, "backup", "table", filepath.Join(dir, "none", "backup"))
	in.as("publisher", exitFailed, "restore", "table", filepath.Join(dir, "none"))
	in.as("replica", exitFailed, "backup", "table", file)
}
