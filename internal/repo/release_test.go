//go:build linux

package repo_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// withoutTidy stands for go: go mod tidy would fetch versions that only the test's
// repository has.
const withoutTidy = `#!/bin/sh
[ "$*" != "mod tidy" ] || exit 0
exec go "$@"
`

func writeProgram(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

// TestReleaseScript takes fleet/fleetd, which requires two
// modules of the repository, to a state that can be tagged, and back.
func TestReleaseScript(t *testing.T) {
	readsTheSource(t)
	dir := t.TempDir()
	run := func(exit int, args ...string) {
		t.Helper()
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GO="+dir+"/.git/go")
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != exit {
			t.Fatalf("%q: exit code %d, want %d\n%s", args, code, exit, out)
		}
	}
	write := func(file, text string) {
		t.Helper()
		file = filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		writeProgram(t, file, text)
	}
	read := func(file string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	const root = "github.com/poolswap/poolswap"
	module := "module " + root + "/fleet/fleetd\n\ngo 1.26\n\nrequire (\n\texample.com/other v1.2.3\n\t" +
		root + " v0.0.0\n\t" + root + "/reload/watch v0.0.0\n)\n"
	replaces := "\nreplace " + root + " => ../..\n\nreplace " + root + "/reload/watch => ../../reload/watch\n"
	run(0, "git", "init", "-q")
	write(".git/go", withoutTidy)
	write("scripts/release", textOf(t, "scripts/release"))
	write("CHANGELOG.md", "## [fleet/fleetd/v0.1.0] - 2006-01-02\n\n## [fleet/fleetd/v0.2.0] - unreleased\n")
	write("fleet/fleetd/go.mod", module+replaces)
	commit := func() {
		t.Helper()
		run(0, "git", "add", ".")
		run(0, "git", "-c", "user.name=test", "-c", "user.email=test@invalid", "commit", "-q", "-m", "test")
	}
	commit()
	run(1, "scripts/release", "require", "fleet/fleetd") // nothing is tagged
	for _, tag := range []string{"v0.1.0", "v0.10.0", "v0.9.0", "v0.10.0-rc.1", "reload/watch/v0.2.0", "fleet/verify/v0.3.0"} {
		run(0, "git", "tag", tag)
	}
	run(1, "scripts/release", "check", "fleet/fleetd", "v0.1.0") // has a replace
	run(0, "scripts/release", "require", "fleet/fleetd")
	commit()
	run(0, "scripts/release", "check", "fleet/fleetd", "v0.1.0")
	run(1, "scripts/release", "check", "fleet/fleetd", "v0.2.0") // has no date
	tagged := strings.NewReplacer("poolswap v0.0.0", "poolswap v0.10.0", "watch v0.0.0", "watch v0.2.0").Replace(module)
	if got := read("fleet/fleetd/go.mod"); got != tagged {
		t.Errorf("would be tagged:\n%s\nwant:\n%s", got, tagged)
	}
	run(0, "scripts/release", "develop", "fleet/fleetd")
	got := read("fleet/fleetd/go.mod")
	for _, replace := range strings.Split(strings.TrimSpace(replaces), "\n\n") {
		if path := strings.TrimPrefix(replace, "replace "); !strings.Contains(got, path+"\n") {
			t.Errorf("no %q between releases:\n%s", path, got)
		}
	}
	run(0, "git", "tag", "-d", "reload/watch/v0.2.0")
	run(0, "git", "checkout", "-q", ".")
	run(1, "scripts/release", "check", "fleet/fleetd", "v0.1.0") // reload/watch is not tagged
	for _, not := range []string{"verify", "reload/verify", "fleet/verify", "verify/browser", "examples/otel", "."} {
		write(not+"/go.mod", "module example.com/other\n")
		run(2, "scripts/release", "require", not)
	}
}
