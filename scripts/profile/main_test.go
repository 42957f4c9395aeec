package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestProfilesShowWhatTheDocumentSays runs the whole command in the root of the
// repository, at a size for a test.
func TestProfilesShowWhatTheDocumentSays(t *testing.T) {
	t.Setenv("GOFLAGS", "") // the profiles are those of a usual build
	if testing.Short() {
		t.Skip("builds and runs nine benchmarks")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	folder := t.TempDir()
	t.Chdir(filepath.Join("..", ".."))
	var out strings.Builder
	if err := run(100_000, folder, &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, name := range []string{"comparison.txt", "data.no-pool.prof", "buffer.sync.Pool.txt", "log-line.typedpool.txt"} {
		if info, err := os.Stat(filepath.Join(folder, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	comparison, err := os.ReadFile(filepath.Join(folder, "comparison.txt"))
	if err != nil || !strings.Contains(out.String(), string(comparison)) {
		t.Errorf("the comparison is not shown: %v", err)
	}
}

const topText = `File: pooling.test
Type: alloc_space
Showing nodes accounting for 7248744B, 98.49% of 7359760B total
Dropped 134 nodes (cum <= 36798B)
      flat  flat%   sum%        cum   cum%
  6400064B 86.96% 86.96%   6400064B 86.96%  bytes.(*Buffer).grow
    39648B  0.54% 98.37%     39648B  0.54%  regexp/syntax.(*compiler).inst (inline)
         0     0% 98.49%   7200112B 97.83%  example.lineNoPool
`

func TestParseReadsTheTotalAndTheFunctions(t *testing.T) {
	got, err := parse(topText)
	if err != nil {
		t.Fatal(err)
	}
	if got.total != 7_359_760 || len(got.functions) != 3 || got.flat(grow) != 6_400_064 || got.flat("example.lineNoPool") != 0 {
		t.Errorf("%+v", got)
	}
	if name := got.functions[1].name; name != "regexp/syntax.(*compiler).inst" {
		t.Errorf("the second function is %q", name)
	}
	for _, text := range []string{"", "Showing nodes accounting for 0, 0% of 10B total\n"} {
		if _, err := parse(text); err == nil {
			t.Errorf("%q is taken for a profile", text)
		}
	}
}

// TestCheckSeesEachClaimThatDoesNotHold changes one profile at a time.
func TestCheckSeesEachClaimThatDoesNotHold(t *testing.T) {
	one := func(name string, flat float64) top { return top{flat, []function{{name, flat}}} }
	right := map[string]top{
		"data no-pool": one("example.dataNoPool", 8e9), "data sync.Pool": one("x", 1e5), "data typedpool": one("x", 1e5),
		"buffer no-pool": one(grow, 64e6), "buffer sync.Pool": one("x", 1e5), "buffer typedpool": one("x", 1e5),
		"log-line no-pool": one(grow, 72e6), "log-line sync.Pool": one(format, 8e6), "log-line typedpool": one("x", 1e5),
	}
	if err := check(right); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		profile top
		want    string
	}{
		"data sync.Pool":     {one("x", 7e9), "more than a fifth"},
		"buffer no-pool":     {one("x", 64e6), "allocates most, not " + grow},
		"buffer typedpool":   {one(grow, 1e6), grow + " allocates"},
		"log-line sync.Pool": {one("x", 8e6), "allocates most, not " + format},
		"log-line typedpool": {one(format, 1e5), format + " allocates"},
	} {
		broken := maps.Clone(right)
		broken[name] = c.profile
		if err := check(broken); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
