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

// mayImport says, for the rooms that are bound, which packages of the project
// their files may import beside their own: "." is the root package.
var mayImport = map[string][]string{
	".":               {"internal"},
	"internal/seam":   {},
	"internal/stripe": {"internal/seam"},
	"typedpool":       {},
}

// closedRooms are imported by nobody else.
var closedRooms = []string{"examples", "bench", "verify"}

// arrows returns what is wrong with the imports and the modules of a source
// tree, sorted.
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
			wrong = append(wrong, name+": a workspace is nobody else's business")
		case base == "go.mod":
			text, err := fs.ReadFile(tree, name)
			modules[path.Dir(name)] = string(text)
			return err
		case path.Ext(base) == ".go":
			imports, err := importsOf(tree, name)
			for _, imported := range imports {
				if thirdPartyImport(imported) {
					thirdParty[path.Dir(name)] = true
				} else if problem := badArrow(path.Dir(name), imported); problem != "" {
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

// within reports whether dir is room or below it.
func within(dir, room string) bool { return dir == room || strings.HasPrefix(dir, room+"/") }

func thirdPartyImport(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return strings.Contains(first, ".") && !within(imported, module)
}

// badArrow says what is wrong with a file in dir that imports a package of the
// project or of the standard library, or "".
func badArrow(dir, imported string) string {
	if !within(imported, module) {
		return ""
	}
	target := "."
	if imported != module {
		target = strings.TrimPrefix(imported, module+"/")
	}
	if within(dir, "poolswapvet") && !within(target, "poolswapvet") {
		return "the checker must not require the library: " + imported
	}
	for _, room := range closedRooms {
		if within(target, room) && !within(dir, room) {
			return "nothing may import " + imported
		}
	}
	for room, allowed := range mayImport {
		if dir != room && (room == "." || !within(dir, room)) || target == room || room != "." && within(target, room) {
			continue
		}
		if !slices.ContainsFunc(allowed, func(a string) bool { return within(target, a) }) {
			return room + " must not import " + imported
		}
	}
	return ""
}

var (
	requireLine = regexp.MustCompile(`(?m)^\s*require\b`)
	replaceLine = regexp.MustCompile(`(?m)^\s*replace\b`)
)

// badModules compares where modules begin with where they must.
func badModules(modules map[string]string, thirdParty map[string]bool) (wrong []string) {
	needed := map[string]bool{} // modules with third-party imports
	for dir := range thirdParty {
		home := dir
		for _, ok := modules[home]; !ok && home != "."; _, ok = modules[home] {
			home = path.Dir(home)
		}
		if home == "." {
			wrong = append(wrong, dir+": a third-party import in the root module")
		}
		needed[home] = true
	}
	for dir, text := range modules {
		switch {
		case dir == ".":
			if requireLine.MatchString(text) || replaceLine.MatchString(text) {
				wrong = append(wrong, "go.mod: the root module requires nothing and replaces nothing")
			}
		case !needed[dir]:
			wrong = append(wrong, dir+": a module of its own without a third-party import")
		case dir == "poolswapvet" && replaceLine.MatchString(text):
			wrong = append(wrong, dir+": a released module replaces nothing")
		}
	}
	if _, ok := modules["."]; !ok {
		wrong = append(wrong, "go.mod: missing")
	}
	return wrong
}

func TestImportsAndModulesFollowTheRules(t *testing.T) {
	wrong, err := arrows(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range wrong {
		t.Error(problem)
	}
}

// TestEveryBadArrowIsSeen breaks each rule in a tree of a few files.
func TestEveryBadArrowIsSeen(t *testing.T) {
	const bare = "module x\n\ngo 1.26\n"
	imports := func(paths ...string) string {
		var text strings.Builder
		text.WriteString("package p\n")
		for _, p := range paths {
			fmt.Fprintf(&text, "import _ %q\n", p)
		}
		return text.String()
	}
	right := map[string]string{
		"go.mod":                     bare,
		"pool.go":                    imports("sync", module+"/internal/stripe", module+"/internal/seam"),
		"pool_test.go":               imports("testing", module, module+"/internal/sched"),
		"internal/seam/seam.go":      imports("sync/atomic"),
		"internal/seam/seam_test.go": imports("testing", module+"/internal/seam"),
		"internal/stripe/way.go":     imports("sync", module+"/internal/seam"),
		"internal/sched/world.go":    imports(module + "/internal/seam"),
		"typedpool/pool.go":          imports("sync"),
		"typedpool/pool_test.go":     imports("testing", module+"/typedpool"),
		"examples/a/main.go":         imports("net/http", module, module+"/examples/internal/b"),
		"bench/go.mod":               bare + "require y v1.0.0\nreplace " + module + " => ../\n",
		"bench/bench.go":             imports("example.org/y/z", module, module+"/typedpool"),
		"poolswapvet/go.mod":         bare + "require y v1.0.0\n",
		"poolswapvet/main.go":        imports("example.org/y", module+"/poolswapvet/check"),
		"testdata/any.go":            imports("example.org/y", module+"/examples/a"),
	}
	check := func(name, text string) []string {
		tree := fstest.MapFS{}
		for file, text := range right {
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
		t.Fatalf("of a tree that is right: %q", wrong)
	}
	for _, broken := range []struct{ name, text, want string }{
		{"pool.go", imports(module + "/typedpool"), "pool.go: . must not import " + module + "/typedpool"},
		{"pool_test.go", imports("example.org/y"), ".: a third-party import in the root module"},
		{"docs/a_test.go", imports("example.org/y"), "docs: a third-party import in the root module"},
		{"internal/seam/a.go", imports(module), "internal/seam/a.go: internal/seam must not import " + module},
		{"internal/seam/a.go", imports(module + "/internal/stripe"), "internal/seam/a.go: internal/seam must not import " + module + "/internal/stripe"},
		{"internal/stripe/a_test.go", imports(module), "internal/stripe/a_test.go: internal/stripe must not import " + module},
		{"internal/stripe/deep/a.go", imports(module + "/internal/sched"), "internal/stripe/deep/a.go: internal/stripe must not import " + module + "/internal/sched"},
		{"typedpool/a.go", imports(module + "/internal/seam"), "typedpool/a.go: typedpool must not import " + module + "/internal/seam"},
		{"typedpool/a_test.go", imports(module), "typedpool/a_test.go: typedpool must not import " + module},
		{"a_test.go", imports(module + "/examples/a"), "a_test.go: nothing may import " + module + "/examples/a"},
		{"examples/a/a.go", imports(module + "/bench"), "examples/a/a.go: nothing may import " + module + "/bench"},
		{"bench/a.go", imports(module + "/verify/x"), "bench/a.go: nothing may import " + module + "/verify/x"},
		{"poolswapvet/a.go", imports(module), "poolswapvet/a.go: the checker must not require the library: " + module},
		{"poolswapvet/go.mod", bare + "replace y => ../y\n", "poolswapvet: a released module replaces nothing"},
		{"examples/go.mod", bare, "examples: a module of its own without a third-party import"},
		{"go.mod", bare + "require example.org/y v1.0.0\n", "go.mod: the root module requires nothing and replaces nothing"},
		{"go.mod", bare + "replace y => ../y\n", "go.mod: the root module requires nothing and replaces nothing"},
		{"go.work", "go 1.26\n", "go.work: a workspace is nobody else's business"},
	} {
		if wrong := check(broken.name, broken.text); !slices.Equal(wrong, []string{broken.want}) {
			t.Errorf("with %s\n%s: saw %q, want %q", broken.name, broken.text, wrong, broken.want)
		}
	}
}
