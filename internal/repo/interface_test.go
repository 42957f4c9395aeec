package repo_test

import (
	"flag"
	"go/build"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const updateCommand = "go test -run TestInterfaceIsTheRecordedOne ./internal/repo -update"

var update = flag.Bool("update", false, "write testdata/api anew from the sources")

// TestInterfaceIsTheRecordedOne compares the interface of each released
// package with a listing in testdata/api, so that a change of it shows in a diff,
// and in a review.
func TestInterfaceIsTheRecordedOne(t *testing.T) {
	readsTheSource(t)
	recorded := map[string]bool{}
	for _, dir := range publicPackages(t) {
		listing := newChecker().listing(t, dir)
		file := filepath.Join("testdata", "api", listingName(dir))
		recorded[file] = true
		if *update {
			if err := os.WriteFile(file, []byte(listing), 0o644); err != nil {
				t.Error(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Errorf("%v; to record the interface: %s", err, updateCommand)
			continue
		}
		if changes := lineChanges(string(want), listing); len(changes) > 0 {
			t.Errorf("the interface of package %s differs from %s:\n%s\nto record it: %s",
				dir, file, strings.Join(changes, "\n"), updateCommand)
		}
	}
	files, err := filepath.Glob("testdata/api/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !recorded[file] {
			t.Errorf("%s lists the interface of a package that is not there: delete it", file)
		}
	}
}

// TestInterfaceIsTheSameInEveryBuild: a build tag may change how a package
// works, never its interface.
func TestInterfaceIsTheSameInEveryBuild(t *testing.T) {
	readsTheSource(t)
	for _, dir := range publicPackages(t) {
		want := newChecker().listing(t, dir)
		for _, tag := range []string{"purego", "poolswapsched", "poolswapdebug", "race"} {
			if changes := lineChanges(want, newChecker(tag).listing(t, dir)); len(changes) > 0 {
				t.Errorf("package %s with -tags %s:\n%s", dir, tag, strings.Join(changes, "\n"))
			}
		}
	}
}

// notImported names the directories without packages for other programs: tests
// and modules that are not released among them.
var notImported = []string{"bench", "bin", "examples", "internal", "testdata", "tmp", "verify"}

// publicPackages returns the directories whose packages other programs can
// import, from the root on.
func publicPackages(t *testing.T) (dirs []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(top), ".", func(name string, entry fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil:
			return err
		case !entry.IsDir():
			return nil
		case name != "." && (base[0] == '.' || slices.Contains(notImported, base)):
			return fs.SkipDir
		}
		pkg, err := build.ImportDir(filepath.Join(top, name), 0)
		if err == nil && pkg.Name != "main" && len(pkg.GoFiles) > 0 {
			dirs = append(dirs, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(dirs, ".") || !slices.Contains(dirs, "fleet") {
		t.Fatalf("found only the packages %v", dirs)
	}
	return dirs
}

func listingName(dir string) string {
	if dir == "." {
		dir = path.Base(module)
	}
	return strings.ReplaceAll(dir, "/", "_") + ".txt"
}

// lineChanges returns the lines that only one of two listings has, or that they
// have in another order, as a diff marks them.
func lineChanges(old, now string) (changes []string) {
	a, b := strings.Split(old, "\n"), strings.Split(now, "\n")
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(a) > 0 && len(b) > 0 && a[0] == b[0]:
			a, b = a[1:], b[1:]
		case len(a) > 0 && !slices.Contains(b, a[0]):
			changes, a = append(changes, "-"+a[0]), a[1:]
		case len(b) > 0:
			changes, b = append(changes, "+"+b[0]), b[1:]
		default:
			changes, a = append(changes, "-"+a[0]), a[1:]
		}
	}
	return changes
}
