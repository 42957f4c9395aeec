package verify

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// goCommand runs the go command in dir without the network.
func goCommand(t testing.TB, dir string, args ...string) string {
	t.Helper()
	command := exec.Command("go", args...)
	command.Dir = dir
	command.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "GOTOOLCHAIN=local")
	var errs strings.Builder
	command.Stderr = &errs
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go %q: %v\n%s", args, err, errs.String())
	}
	return string(out)
}

// A program with fleet gets nats.go and what that needs, and no server.
func TestAProgramWithFleetGetsNoServer(t *testing.T) {
	fleetDir, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": fmt.Sprintf("module program\n\ngo 1.26.0\n\nrequire github.com/poolswap/poolswap/fleet v0.0.0\n\nreplace (\n\tgithub.com/poolswap/poolswap => %s\n\tgithub.com/poolswap/poolswap/fleet => %s\n)\n",
			filepath.Dir(fleetDir), fleetDir),
		"main.go": "package main\n\nimport _ \"github.com/poolswap/poolswap/fleet\"\n\nfunc main() {}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if sums, err := os.ReadFile(filepath.Join(fleetDir, "go.sum")); err != nil {
		t.Fatal(err)
	} else if err := os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o600); err != nil {
		t.Fatal(err)
	}
	var built []string
	for module := range strings.Lines(goCommand(t, dir, "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".")) {
		built = append(built, strings.TrimSpace(module))
	}
	slices.Sort(built)
	built = slices.DeleteFunc(slices.Compact(built), func(module string) bool { return module == "" })
	want := []string{
		"github.com/klauspost/compress", "github.com/nats-io/nats.go", "github.com/nats-io/nkeys", "github.com/nats-io/nuid",
		"github.com/poolswap/poolswap", "github.com/poolswap/poolswap/fleet", "golang.org/x/crypto", "golang.org/x/sys", "program",
	}
	if !slices.Equal(built, want) {
		t.Errorf("it is built from %q, want %q", built, want)
	}
	all := goCommand(t, dir, "list", "-m", "all")
	if strings.Contains(all, "nats-server") || !strings.Contains(all, "github.com/nats-io/nats.go v") {
		t.Errorf("its modules are\n%s", all)
	}
	if requires := goCommand(t, filepath.Dir(fleetDir), "list", "-m", "all"); requires != "github.com/poolswap/poolswap\n" {
		t.Errorf("the modules of the root are\n%s", requires)
	}
}
