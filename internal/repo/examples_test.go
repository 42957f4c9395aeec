package repo_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestExportedNamesHaveExamples compares the exported names of a package
// with the examples that have output, without which they do not run.
func TestExportedNamesHaveExamples(t *testing.T) {
	readsTheSource(t)
	for dir, without := range map[string][]string{
		".":                 {"Ref", "Object"}, // a program only embeds them and never names them
		"fleet":             nil,
		"oplog":             nil,
		"poolswaptest":      {"Check", "Drain", "FailFill", "Hold", "Pool", "Wait"}, // they need a *testing.T
		"oplog/lthash":      nil,
		"oplog/oplogtest":   nil,
		"reload":            nil,
		"reload/mapped":     nil,
		"reload/reloadtest": {"Origin", "TestSource", "TestWrapper"}, // they need a *testing.T: the package's example names its test
	} {
		t.Run(path.Join(module, dir), func(t *testing.T) { checkExamples(t, dir, without) })
	}
}

// checkExamples does it for the package in dir. A name is shown by its own example,
// or by its use in a file with examples. The names in without need no example, nor
// do defaults, constants of a type, and methods that package errors calls.
func checkExamples(t *testing.T, dir string, without []string) {
	names, err := filepath.Glob(filepath.Join(top, dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var sources, tests []*ast.File
	set := token.NewFileSet()
	for _, name := range names {
		file, err := parser.ParseFile(set, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(name, "_test.go") {
			sources = append(sources, file)
		} else if strings.HasSuffix(file.Name.Name, "_test") {
			tests = append(tests, file)
		}
	}
	shown, used := map[string]bool{}, map[string]bool{"Error": true, "Unwrap": true, "Is": true}
	for _, test := range tests {
		examples := doc.Examples(test)
		for _, example := range examples {
			shown[withoutSuffix(example.Name)] = shown[withoutSuffix(example.Name)] || example.Output != ""
		}
		if len(examples) == 0 {
			continue
		}
		ast.Inspect(test, func(node ast.Node) bool {
			if selector, ok := node.(*ast.SelectorExpr); ok {
				used[selector.Sel.Name] = true
			}
			return true
		})
	}
	for _, name := range exportedNames(t, path.Join(module, dir), set, sources) {
		if !slices.Contains(without, name) && !strings.HasPrefix(name, "Default") && !shown[name] && !used[name[strings.LastIndexByte(name, '_')+1:]] {
			t.Errorf("no Example%s with output", name)
		}
		delete(shown, name)
	}
	delete(shown, "") // the example of the package
	for name := range shown {
		t.Errorf("Example%s shows nothing that is exported", name)
	}
}

// withoutSuffix returns the name that an example shows: Pool_Get of
// ExamplePool_Get_twice, and nothing, the package, of Example_twice.
func withoutSuffix(example string) string {
	name, suffix := example, ""
	if i := strings.LastIndexByte(example, '_'); i >= 0 {
		name, suffix = example[:i], example[i+1:]
	}
	if suffix == "" || ast.IsExported(suffix) {
		return example
	}
	return name
}

// exportedNames returns the exported names of a package, methods as
// Type_Method.
func exportedNames(t *testing.T, importPath string, set *token.FileSet, files []*ast.File) (names []string) {
	pkg, err := doc.NewFromFiles(set, files, importPath)
	if err != nil {
		t.Fatal(err)
	}
	functions := func(prefix string, funcs []*doc.Func) {
		for _, f := range funcs {
			names = append(names, prefix+f.Name)
		}
	}
	values := func(values []*doc.Value) {
		for _, v := range values {
			for _, name := range v.Names {
				if ast.IsExported(name) {
					names = append(names, name)
				}
			}
		}
	}
	values(pkg.Consts)
	values(pkg.Vars)
	functions("", pkg.Funcs)
	for _, typ := range pkg.Types {
		names = append(names, typ.Name)
		values(typ.Vars)
		functions("", typ.Funcs)
		functions(typ.Name+"_", typ.Methods)
	}
	if len(names) == 0 {
		t.Fatal("found no name")
	}
	return names
}
