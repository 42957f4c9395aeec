package repo_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// room says which packages the files below a directory may import besides their
// own. Paths are relative to the root of the repository and separated by spaces;
// "." is the root package alone, any other path includes the packages below it.
type room struct {
	ours  string // for sources and tests
	tests string // for tests besides
	std   string // the packages of the standard library for sources; all if empty
}

// rooms is the plan of the repository. The longest path that contains a file
// applies to it.
var rooms = map[string]room{
	".":                 {ours: "internal/refcount", tests: "internal/stripe internal/test", std: "context errors fmt iter os reflect sync/atomic time unsafe"},
	"internal/refcount": {ours: "internal/stripe internal/seam", tests: ". internal", std: "cmp context errors fmt maps runtime runtime/debug slices strings sync sync/atomic time unsafe weak"},
	"internal/stripe":   {ours: "internal/seam", tests: "internal/test", std: "sync sync/atomic unsafe"},
	"internal/seam":     {tests: "internal/test", std: "context errors runtime slices sync sync/atomic syscall unsafe"},
	"internal/sched":    {ours: "internal/seam"},
	"internal/jitter":   {ours: "internal/seam"},
	"internal/mutants":  {},
	"internal/repo":     {},
	"internal/test":     {ours: ". internal/refcount internal/seam"},
	"oplog":             {ours: ".", tests: "internal/test"},
	"poolswaptest":      {ours: "."},
	"poolswapvet":       {},
	"trace":             {ours: "."},
	"reload":            {ours: ". oplog", tests: "internal/test"},
	"slab":              {tests: "."},
	"typedpool":         {},
	"fleet":             {ours: ". oplog/lthash reload", tests: "oplog"},
	"metrics":           {ours: ". reload"},
	"examples":          {ours: ". fleet metrics oplog reload slab typedpool", tests: "internal/test"},
	"docs":              {tests: ". slab"},
	"verify":            {tests: ". internal slab"},
	"verify/browser":    {tests: ". fleet reload"},
	"bench":             {ours: ". fleet internal/seam internal/stripe oplog reload slab typedpool"},
}

// badImport returns the rule that a file breaks by an import of a package of the
// project or of the standard library, or "".
func badImport(file, imported string) string {
	dir := path.Dir(file)
	home := dir
	for _, ok := rooms[home]; !ok && home != "."; _, ok = rooms[home] {
		home = path.Dir(home)
	}
	if home == "." && dir != "." {
		return dir + " is in no room"
	}
	rule, isTest := rooms[home], strings.HasSuffix(file, "_test.go")
	if !within(imported, module) {
		if std := strings.Fields(rule.std); !isTest && len(std) > 0 && !slices.Contains(std, imported) {
			return home + " must not import " + imported
		}
		return ""
	}
	target := path.Clean(strings.TrimPrefix(strings.TrimPrefix(imported, module), "/"))
	allowed := append(strings.Fields(rule.ours), home)
	if isTest {
		allowed = append(allowed, strings.Fields(rule.tests)...)
	}
	if slices.ContainsFunc(allowed, func(a string) bool { return target == a || a != "." && within(target, a) }) {
		return ""
	}
	return home + " must not import " + imported
}

// within reports whether dir is root or below it.
func within(dir, root string) bool { return dir == root || strings.HasPrefix(dir, root+"/") }

func isThirdParty(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return strings.Contains(first, ".") && !within(imported, module)
}

// TestImportsFollowThePlan checks every import, and that a directory has a go.mod
// if and only if it needs a third-party import.
func TestImportsFollowThePlan(t *testing.T) {
	readsTheSource(t)
	thirdParty := map[string]bool{} // directories with third-party imports
	modules := map[string]string{}  // directories with a go.mod, and its text
	tree := os.DirFS(top)
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil:
			return err
		case entry.IsDir() && (base == "testdata" || base[0] == '.' && name != "."):
			return fs.SkipDir
		case base == "go.work":
			t.Errorf("%s: a workspace must not be committed", name)
		case base == "go.mod":
			modules[path.Dir(name)] = textOf(t, name)
		case path.Ext(base) == ".go":
			file, err := parser.ParseFile(token.NewFileSet(), name, textOf(t, name), parser.ImportsOnly)
			if err != nil {
				return err
			}
			for _, spec := range file.Imports {
				imported := strings.Trim(spec.Path.Value, `"`)
				if isThirdParty(imported) {
					thirdParty[path.Dir(name)] = true
				} else if problem := badImport(name, imported); problem != "" {
					t.Errorf("%s: %s", name, problem)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	needed := map[string]bool{} // modules with third-party imports
	for dir := range thirdParty {
		home := dir
		for _, ok := modules[home]; !ok && home != "."; _, ok = modules[home] {
			home = path.Dir(home)
		}
		if home == "." {
			t.Errorf("%s: the root module must not have a third-party import", dir)
		}
		needed[home] = true
	}
	for dir := range modules {
		if dir != "." && !needed[dir] {
			t.Errorf("%s: a module without a third-party import does not need a go.mod", dir)
		}
	}
	if regexp.MustCompile(`(?m)^\s*(require|replace)\b`).MatchString(modules["."]) {
		t.Error("go.mod: the root module must not require or replace a module")
	}
}

// TestDesignNamesEveryRoom compares the plan with the one in docs/design.md.
func TestDesignNamesEveryRoom(t *testing.T) {
	readsTheSource(t)
	page := textOf(t, "docs/design.md")
	for dir := range rooms {
		if !strings.Contains(page, "`"+dir) {
			t.Errorf("docs/design.md does not name %s", dir)
		}
	}
}

// TestImportRulesRefuse breaks each kind of rule once.
func TestImportRulesRefuse(t *testing.T) {
	for _, c := range []struct{ file, imported, want string }{
		{"pool.go", "net/http", ". must not import net/http"},
		{"pool.go", module + "/internal/seam", ". must not import " + module + "/internal/seam"},
		{"pool.go", module + "/internal/test/pooltest", ". must not import " + module + "/internal/test/pooltest"},
		{"pool_test.go", module + "/internal/test/pooltest", ""},
		{"oplog/log.go", module, ""},
		{"oplog/log_test.go", module + "/internal/refcount", "oplog must not import " + module + "/internal/refcount"},
		{"typedpool/pool_test.go", module, "typedpool must not import " + module},
		{"internal/stripe/deep/a.go", module + "/internal/refcount", "internal/stripe must not import " + module + "/internal/refcount"},
		{"examples/demo/main.go", module + "/bench", "examples must not import " + module + "/bench"},
		{"new/a.go", "fmt", "new is in no room"},
	} {
		if got := badImport(c.file, c.imported); got != c.want {
			t.Errorf("%s imports %s: %q, want %q", c.file, c.imported, got, c.want)
		}
	}
}
