// Package refs understands references to the objects of poolswap: which calls take one,
// which give it back, and where it goes in between. The analyzers stand on it.
//
// It is built to be silent: where it does not understand what becomes of a reference, it
// says so, and no analyzer reports anything.
package refs

import (
	"go/ast"
	"go/types"
	"reflect"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

// Library is the import path of the package whose references these are.
const Library = "github.com/poolswap/poolswap"

// Analyzer gives the other analyzers a *Program, or nil for a package that does not reach
// the library.
var Analyzer = &analysis.Analyzer{
	Name:       "poolswaprefs",
	Doc:        "finds the references to objects of poolswap, for the other analyzers",
	Run:        run,
	ResultType: reflect.TypeFor[*Program](),
	FactTypes:  []analysis.Fact{new(Summary)},
}

// Program is a package that reaches the library.
type Program struct {
	pass      *analysis.Pass
	Functions []*ssa.Function // of its source, with function literals
	summaries map[*types.Func]Summary
}

func run(pass *analysis.Pass) (any, error) {
	if !Reaches(pass.Pkg) {
		return (*Program)(nil), nil
	}
	p := &Program{pass: pass, summaries: make(map[*types.Func]Summary)}
	program := ssa.NewProgram(pass.Fset, 0)
	program.SetNoReturn(neverReturns)
	for _, imported := range pass.Pkg.Imports() {
		program.CreatePackage(imported, nil, nil, true)
	}
	program.CreatePackage(pass.Pkg, pass.Files, pass.TypesInfo, false).Build()
	for _, file := range pass.Files {
		for _, declared := range file.Decls {
			if f, ok := declared.(*ast.FuncDecl); ok {
				if named, ok := pass.TypesInfo.Defs[f.Name].(*types.Func); ok {
					p.add(program.FuncValue(named))
				}
			}
		}
	}
	p.summarize()
	return p, nil
}

// add adds a function and the literals in it.
func (p *Program) add(f *ssa.Function) {
	if f == nil || f.Blocks == nil {
		return
	}
	p.Functions = append(p.Functions, f)
	for _, literal := range f.AnonFuncs {
		p.add(literal)
	}
}

// Reaches reports whether the package is one that uses the library, directly or through
// others, and not the library itself.
func Reaches(pkg *types.Package) bool {
	if isLibrary(pkg.Path()) {
		return false
	}
	seen := map[*types.Package]bool{}
	var reaches func(*types.Package) bool
	reaches = func(pkg *types.Package) bool {
		if calls[pkg.Path()] != nil {
			return true
		}
		if seen[pkg] {
			return false
		}
		seen[pkg] = true
		for _, imported := range pkg.Imports() {
			if reaches(imported) {
				return true
			}
		}
		return false
	}
	return reaches(pkg)
}

// isLibrary reports whether the path is of the root package or of its engine, which
// handle references below the rules for programs.
func isLibrary(path string) bool {
	return path == Library || strings.HasPrefix(path, Library+"/internal/refcount")
}

// neverReturns reports whether a call of the function does not return: then what it leaves
// behind does not matter. That is assumed of all that have a name like those of package log.
func neverReturns(f *types.Func) bool {
	switch f.Name() {
	case "Fatal", "Fatalf", "Fatalln", "FailNow":
		return true
	case "Skip", "Skipf", "SkipNow":
		return strings.HasPrefix(f.FullName(), "(*testing.") || strings.HasPrefix(f.FullName(), "(testing.TB")
	}
	switch f.FullName() {
	case "os.Exit", "runtime.Goexit", "log.Panic", "log.Panicf", "log.Panicln", "syscall.Exit":
		return true
	}
	return false
}
