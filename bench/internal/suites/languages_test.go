package suites_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap/bench/internal/measure"
	"github.com/poolswap/poolswap/bench/internal/program"
	"github.com/poolswap/poolswap/bench/internal/suites"
)

func languagesSuite(t *testing.T) measure.Suite {
	t.Helper()
	all := suites.All()
	i := slices.IndexFunc(all, func(s measure.Suite) bool { return s.Name == "rivals" })
	if i < 0 {
		t.Fatal("no suite rivals")
	}
	return all[i]
}

// languagesGo builds the programs in Go into the folder of this test and
// returns the names of the rivals in them.
func languagesGo(t *testing.T) (rivals []string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("make rivals is for systems with a shell")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for name, tags := range map[string]string{"go": "", "go-purego": "purego"} {
		target, err := filepath.Abs(filepath.Join(program.Folder, name))
		if err != nil {
			t.Fatal(err)
		}
		build := exec.Command("go", "build", "-tags", tags, "-o", target, "./rivals/go")
		build.Dir = root
		if output, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
	}
	return []string{"PoolSwap", "WithAcquire", "Portable", "Purego", "Reader.Load", "atomic.Pointer", "RWMutexRef", "RBMutex"}
}

// TestRivalsInGo takes a sample of each. That each read saw a value it may see
// is asserted in the program.
func TestRivalsInGo(t *testing.T) {
	names := languagesGo(t)
	s := languagesSuite(t)
	for _, c := range s.Cases {
		for _, name := range names {
			sample, err := c.Find(name).Sample(measure.Config{Time: 4 * time.Millisecond, Shrink: 1})
			if err != nil {
				t.Errorf("%s, %s: %v", c.Name, name, err)
				continue
			}
			if sample.Iterations < 1 || sample.Values["ns/op"] <= 0 || sample.Values["core-ns/op"] < sample.Values["ns/op"] {
				t.Errorf("%s, %s: %+v", c.Name, name, sample)
			}
			if _, ok := sample.Values["swaps/s"]; ok != strings.HasSuffix(c.Name, "writer=1000") {
				t.Errorf("%s, %s: swaps are counted: %v", c.Name, name, ok)
			}
		}
	}
}

func TestProgramThatIsMissingIsNamed(t *testing.T) {
	t.Chdir(t.TempDir())
	s := languagesSuite(t)
	_, err := s.Cases[0].Find("urcu-memb").Sample(measure.Config{Time: time.Millisecond})
	if err == nil || !strings.Contains(err.Error(), "make rivals") {
		t.Errorf("says %v", err)
	}
}

func TestEachRivalPromises(t *testing.T) {
	s := languagesSuite(t)
	for _, c := range s.Cases {
		for _, rival := range c.Rivals {
			if promise := s.FindPromise(rival.Name); promise == nil || slices.Contains(promise.Cells(), "") {
				t.Errorf("%s: %+v", rival.Name, promise)
			}
		}
	}
}

// TestVersionsOfRivals: the versions that tables show are those that are built.
func TestVersionsOfRivals(t *testing.T) {
	crates := textFile(t, "../../rivals/rust/Cargo.toml")
	modules := textFile(t, "../../go.mod")
	versions := 0
	s := languagesSuite(t)
	for _, promise := range s.Promises {
		what := regexp.MustCompile(`(\S+) (v?\d+\.\d+\.\d+)`).FindStringSubmatch(promise.Is)
		if what == nil {
			continue
		}
		versions++
		name, version := what[1], what[2]
		crate := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name+` = "=`+version+`"`) + `$`)
		module := regexp.MustCompile(`(?m)/` + regexp.QuoteMeta(name) + `/v\d+ ` + regexp.QuoteMeta(version) + `$`)
		if !crate.MatchString(crates) && !module.MatchString(modules) {
			t.Errorf("%s: neither Cargo.toml nor go.mod has it", promise.Is)
		}
	}
	if versions < 8 {
		t.Errorf("%d versions only", versions)
	}
}

func textFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
