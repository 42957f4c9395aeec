package poolswap_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

const module = "github.com/poolswap/poolswap"

// mayImport lists, by directory, the packages of the project and of the
// standard library that sources may import: "." is the root package, and "std"
// is the whole standard library. A directory without an entry is restricted by
// closedDirs and testDirs alone.
var mayImport = map[string][]string{
	".":                 {"internal/refcount", "context", "errors", "fmt", "iter", "reflect", "time", "unsafe"},
	"internal/refcount": {"internal/stripe", "internal/seam", "cmp", "context", "errors", "fmt", "maps", "runtime", "runtime/debug", "slices", "strings", "sync", "sync/atomic", "time", "unsafe", "weak"},
	"internal/stripe":   {"internal/seam", "sync", "sync/atomic", "unsafe"},
	"internal/seam":     {"context", "errors", "runtime", "slices", "sync", "sync/atomic", "syscall", "unsafe"},
	"oplog":             {".", "std"},
	"reload":            {".", "reload", "std"},
	"typedpool":         {"std"},
}

// testsMayImport is the same for tests, but lists only packages of the project.
var testsMayImport = map[string][]string{
	".":                 {".", "internal"},
	"internal/refcount": {".", "internal"},
	"internal/stripe":   {"internal/stripe", "internal/seam", "internal/test/machine"},
	"internal/seam":     {"internal/seam", "internal/test/buildflag", "internal/test/machine"},
	"oplog":             {"oplog", ".", "internal/test"},
	"reload":            {"reload", ".", "internal/test"},
	"typedpool":         {"typedpool"},
}

// Only packages below a closed directory may import it, and only tests may
// import a test directory.
var (
	closedDirs = []string{"examples", "bench", "verify", "internal/mutants"}
	testDirs   = []string{"internal/test", "internal/sched", "internal/jitter"}
)

// arrows returns the violations of the rules by the imports and the modules of
// a source tree, sorted.
func arrows(tree fs.FS) (wrong []string, err error) {
	thirdParty := map[string]bool{} // directories with third-party imports
	modules := map[string]string{}  // directories with a go.mod, and its text
	err = fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil:
			return err
		case entry.IsDir() && (base == "testdata" || len(base) > 1 && base[0] == '.'):
			return fs.SkipDir
		case base == "go.work":
			wrong = append(wrong, name+": a workspace must not be committed")
		case base == "go.mod":
			text, err := fs.ReadFile(tree, name)
			modules[path.Dir(name)] = string(text)
			return err
		case path.Ext(base) == ".go":
			imports, err := importsOf(tree, name)
			for _, imported := range imports {
				if thirdPartyImport(imported) {
					thirdParty[path.Dir(name)] = true
				} else if problem := badArrow(name, imported); problem != "" {
					wrong = append(wrong, name+": "+problem)
				}
			}
			return err
		}
		return nil
	})
	wrong = append(wrong, badModules(modules, thirdParty)...)
	slices.Sort(wrong)
	return wrong, err
}

func importsOf(tree fs.FS, name string) (imports []string, err error) {
	text, err := fs.ReadFile(tree, name)
	if err != nil {
		return nil, err
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	for _, spec := range file.Imports {
		imports = append(imports, strings.Trim(spec.Path.Value, `"`))
	}
	return imports, nil
}

// within reports whether dir is root or below it.
func within(dir, root string) bool { return dir == root || strings.HasPrefix(dir, root+"/") }

func thirdPartyImport(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return strings.Contains(first, ".") && !within(imported, module)
}

// badArrow returns the rule that a file breaks by an import of a package of the
// project or of the standard library, or "".
func badArrow(file, imported string) string {
	dir, isTest := path.Dir(file), strings.HasSuffix(file, "_test.go")
	target, ours := imported, within(imported, module)
	if ours {
		if target = "."; imported != module {
			target = strings.TrimPrefix(imported, module+"/")
		}
		for _, closed := range closedDirs {
			if within(target, closed) && !within(dir, closed) {
				return "nothing may import " + imported
			}
		}
		for _, tests := range testDirs {
			if within(target, tests) && !within(dir, tests) && !isTest && !within(dir, "verify") {
				return "only tests may import " + imported
			}
		}
	}
	rules := mayImport
	if isTest {
		rules = testsMayImport
	}
	for ruled, allowed := range rules {
		if dir != ruled && (ruled == "." || !within(dir, ruled)) || isTest && !ours {
			continue
		}
		if !slices.ContainsFunc(allowed, func(a string) bool {
			return target == a || a == "std" && !ours || ours && a != "." && within(target, a)
		}) {
			return ruled + " must not import " + imported
		}
	}
	return ""
}

var (
	requireLine = regexp.MustCompile(`(?m)^\s*require\b`)
	replaceLine = regexp.MustCompile(`(?m)^\s*replace\b`)
)

// badModules returns the go.mod files that break a rule, or are missing or
// needless.
func badModules(modules map[string]string, thirdParty map[string]bool) (wrong []string) {
	needed := map[string]bool{} // modules with third-party imports
	for dir := range thirdParty {
		home := dir
		for _, ok := modules[home]; !ok && home != "."; _, ok = modules[home] {
			home = path.Dir(home)
		}
		if home == "." {
			wrong = append(wrong, dir+": the root module must not have a third-party import")
		}
		needed[home] = true
	}
	for dir, text := range modules {
		switch {
		case dir == ".":
			if requireLine.MatchString(text) || replaceLine.MatchString(text) {
				wrong = append(wrong, "go.mod: the root module must not require or replace a module")
			}
		case !needed[dir]:
			wrong = append(wrong, dir+": a module without a third-party import does not need a go.mod")
		}
	}
	if _, ok := modules["."]; !ok {
		wrong = append(wrong, "go.mod: missing")
	}
	return wrong
}

func TestImportsAndModulesFollowTheRules(t *testing.T) {
	readsTheSource(t)
	wrong, err := arrows(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range wrong {
		t.Error(problem)
	}
}

// TestEveryBrokenRuleIsFound breaks each rule in a tree of a few files.
func TestEveryBrokenRuleIsFound(t *testing.T) {
	readsTheSource(t)
	const bare = "module x\n\ngo 1.26\n"
	imports := func(paths ...string) string {
		var text strings.Builder
		text.WriteString("package p\n")
		for _, p := range paths {
			fmt.Fprintf(&text, "import _ %q\n", p)
		}
		return text.String()
	}
	valid := map[string]string{
		"go.mod":                      bare,
		"pool.go":                     imports("reflect", module+"/internal/refcount"),
		"pool_test.go":                imports("net/http", module, module+"/internal/test/pooltest", module+"/internal/refcount"),
		"internal/refcount/read.go":   imports("sync", module+"/internal/stripe", module+"/internal/seam"),
		"internal/refcount/a_test.go": imports("testing", module, module+"/internal/sched"),
		"internal/seam/seam.go":       imports("sync/atomic"),
		"internal/seam/seam_test.go":  imports("testing", module+"/internal/seam"),
		"internal/stripe/counters.go": imports("sync", module+"/internal/seam"),
		"internal/sched/world.go":     imports(module + "/internal/seam"),
		"internal/test/pooltest/a.go": imports(module, module+"/internal/refcount"),
		"oplog/log.go":                imports("context", module),
		"oplog/log_test.go":           imports("testing", module, module+"/oplog", module+"/internal/test/pooltest"),
		"reload/file.go":              imports("os", module),
		"reload/reloadtest/fake.go":   imports("testing", module+"/reload"),
		"reload/watch/go.mod":         bare + "require y v1.0.0\nreplace " + module + " => ../../\n",
		"reload/watch/watch.go":       imports("example.org/y", module+"/reload"),
		"typedpool/pool.go":           imports("sync"),
		"typedpool/pool_test.go":      imports("testing", module+"/typedpool"),
		"examples/a/main.go":          imports("net/http", module, module+"/examples/internal/b"),
		"examples/c/go.mod":           bare + "require y v1.0.0\nreplace " + module + " => ../../\n",
		"examples/c/main.go":          imports("example.org/y", module),
		"bench/go.mod":                bare + "require y v1.0.0\nreplace " + module + " => ../\n",
		"bench/bench.go":              imports("example.org/y/z", module, module+"/typedpool"),
		"metrics/prometheus/go.mod":   bare + "require y v1.0.0\n",
		"metrics/prometheus/main.go":  imports("example.org/y", module),
		"testdata/any.go":             imports("example.org/y", module+"/examples/a"),
	}
	check := func(name, text string) []string {
		tree := fstest.MapFS{}
		for file, text := range valid {
			tree[file] = &fstest.MapFile{Data: []byte(text)}
		}
		if name != "" {
			tree[name] = &fstest.MapFile{Data: []byte(text)}
		}
		wrong, err := arrows(tree)
		if err != nil {
			t.Fatal(err)
		}
		return wrong
	}
	if wrong := check("", ""); len(wrong) > 0 {
		t.Fatalf("in a tree that follows the rules: %q", wrong)
	}
	for _, broken := range []struct{ name, text, want string }{
		{"pool.go", imports(module + "/typedpool"), "pool.go: . must not import " + module + "/typedpool"},
		{"pool.go", imports("net/http"), "pool.go: . must not import net/http"},
		{"pool.go", imports(module + "/internal/seam"), "pool.go: . must not import " + module + "/internal/seam"},
		{"pool.go", imports(module + "/internal/test/pooltest"), "pool.go: only tests may import " + module + "/internal/test/pooltest"},
		{"pool_test.go", imports("example.org/y"), ".: the root module must not have a third-party import"},
		{"docs/a_test.go", imports("example.org/y"), "docs: the root module must not have a third-party import"},
		{"internal/refcount/a.go", imports(module), "internal/refcount/a.go: internal/refcount must not import " + module},
		{"internal/refcount/a.go", imports("runtime/pprof"), "internal/refcount/a.go: internal/refcount must not import runtime/pprof"},
		{"internal/refcount/a.go", imports(module + "/internal/sched"), "internal/refcount/a.go: only tests may import " + module + "/internal/sched"},
		{"internal/seam/a.go", imports(module), "internal/seam/a.go: internal/seam must not import " + module},
		{"internal/seam/a.go", imports(module + "/internal/stripe"), "internal/seam/a.go: internal/seam must not import " + module + "/internal/stripe"},
		{"internal/stripe/a_test.go", imports(module), "internal/stripe/a_test.go: internal/stripe must not import " + module},
		{"internal/stripe/deep/a.go", imports(module + "/internal/refcount"), "internal/stripe/deep/a.go: internal/stripe must not import " + module + "/internal/refcount"},
		{"oplog/a.go", imports(module + "/internal/refcount"), "oplog/a.go: oplog must not import " + module + "/internal/refcount"},
		{"oplog/a_test.go", imports(module + "/internal/refcount"), "oplog/a_test.go: oplog must not import " + module + "/internal/refcount"},
		{"reload/a.go", imports(module + "/oplog"), "reload/a.go: reload must not import " + module + "/oplog"},
		{"reload/a.go", imports("example.org/y"), "reload: the root module must not have a third-party import"},
		{"typedpool/a.go", imports(module + "/internal/seam"), "typedpool/a.go: typedpool must not import " + module + "/internal/seam"},
		{"typedpool/a_test.go", imports(module), "typedpool/a_test.go: typedpool must not import " + module},
		{"a_test.go", imports(module + "/examples/a"), "a_test.go: nothing may import " + module + "/examples/a"},
		{"examples/a/a.go", imports(module + "/bench"), "examples/a/a.go: nothing may import " + module + "/bench"},
		{"bench/a.go", imports(module + "/verify/x"), "bench/a.go: nothing may import " + module + "/verify/x"},
		{"examples/a/go.mod", bare, "examples/a: a module without a third-party import does not need a go.mod"},
		{"go.mod", bare + "require example.org/y v1.0.0\n", "go.mod: the root module must not require or replace a module"},
		{"go.mod", bare + "replace y => ../y\n", "go.mod: the root module must not require or replace a module"},
		{"go.work", "go 1.26\n", "go.work: a workspace must not be committed"},
	} {
		if wrong := check(broken.name, broken.text); !slices.Equal(wrong, []string{broken.want}) {
			t.Errorf("with %s\n%s: found %q, want %q", broken.name, broken.text, wrong, broken.want)
		}
	}
}
