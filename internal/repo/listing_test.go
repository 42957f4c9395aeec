package repo_test

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// checker type-checks packages of the repository from their sources, without the
// bodies of functions, and takes those of the standard library as compiled.
// Third-party packages, which may not be here, have the types that the sources
// name.
type checker struct {
	context  build.Context
	files    *token.FileSet
	standard types.Importer
	packages map[string]*types.Package
}

// standard is shared, because reading the standard library takes longest.
var standard = importer.ForCompiler(token.NewFileSet(), "gc", nil)

func newChecker(tags ...string) *checker {
	c := &checker{context: build.Default, files: token.NewFileSet(), standard: standard, packages: map[string]*types.Package{}}
	c.context.BuildTags = tags
	return c
}

// Import makes checker a types.Importer.
func (c *checker) Import(name string) (*types.Package, error) {
	if pkg := c.packages[name]; pkg != nil {
		return pkg, nil
	}
	if !within(name, module) {
		return c.standard.Import(name)
	}
	dir := top + strings.TrimPrefix(name, module)
	found, err := c.context.ImportDir(dir, 0)
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	foreign := false
	for _, file := range found.GoFiles {
		parsed, err := parser.ParseFile(c.files, filepath.Join(dir, file), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, parsed)
		foreign = c.declareForeign(parsed) || foreign
	}
	config := types.Config{Importer: c, IgnoreFuncBodies: true, Sizes: types.SizesFor("gc", c.context.GOARCH)}
	if foreign {
		config.Error = func(error) {} // a constant of another package was declared as a type
	}
	pkg, err := config.Check(name, c.files, files, nil)
	if foreign {
		err = nil
	}
	c.packages[name] = pkg
	return pkg, err
}

// declareForeign declares the names of third-party packages in a file, as types.
// It reports whether there are any.
func (c *checker) declareForeign(file *ast.File) bool {
	foreign := map[string]*types.Package{} // by name
	for _, spec := range file.Imports {
		imported := strings.Trim(spec.Path.Value, `"`)
		if !isThirdParty(imported) {
			continue
		}
		name := strings.TrimSuffix(path.Base(imported), ".go")
		if c.packages[imported] == nil {
			c.packages[imported] = types.NewPackage(imported, name)
			c.packages[imported].MarkComplete()
		}
		foreign[name] = c.packages[imported]
	}
	ast.Inspect(file, func(node ast.Node) bool {
		selector, ok := node.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if of, ok := selector.X.(*ast.Ident); ok && foreign[of.Name] != nil {
			name := types.NewTypeName(token.NoPos, foreign[of.Name], selector.Sel.Name, nil)
			types.NewNamed(name, types.NewStruct(nil, nil), nil)
			foreign[of.Name].Scope().Insert(name)
		}
		return true
	})
	return len(foreign) > 0
}

// listing returns the exported interface of a package: a line for each name
// that a program can use, sorted within its kind.
func (c *checker) listing(t *testing.T, dir string) string {
	t.Helper()
	name := path.Join(module, dir)
	pkg, err := c.Import(name)
	if err != nil {
		t.Fatal(err)
	}
	l := lister{pkg: pkg}
	l.text.WriteString("package " + pkg.Name() + " // import \"" + name + "\"\n")
	l.objects()
	return l.text.String()
}

type lister struct {
	pkg  *types.Package
	text strings.Builder
}

// qualifier names packages as a file that imports them does, those of this
// module by their directories: two of them may have one name.
func (l *lister) qualifier(other *types.Package) string {
	switch {
	case other == l.pkg:
		return ""
	case within(other.Path(), module+"/internal"):
		return strings.TrimPrefix(other.Path(), module+"/")
	}
	return other.Name()
}

func (l *lister) printf(format string, args ...any) { fmt.Fprintf(&l.text, format+"\n", args...) }

func (l *lister) objects() {
	scope := l.pkg.Scope()
	var typeNames []*types.TypeName
	kinds := map[string][]string{}
	for _, name := range scope.Names() {
		if !token.IsExported(name) {
			continue
		}
		switch object := scope.Lookup(name).(type) {
		case *types.Const:
			typ := ""
			if basic, ok := object.Type().(*types.Basic); !ok || basic.Info()&types.IsUntyped == 0 {
				typ = types.TypeString(object.Type(), l.qualifier) + " "
			}
			kinds["const"] = append(kinds["const"], fmt.Sprintf("const %s %s= %s", name, typ, object.Val().ExactString()))
		case *types.TypeName:
			typeNames = append(typeNames, object)
		case *types.Var:
			kinds["var"] = append(kinds["var"], types.ObjectString(object, l.qualifier))
		case *types.Func:
			kinds["func"] = append(kinds["func"], types.ObjectString(object, l.qualifier))
		}
	}
	for _, kind := range []string{"const", "var", "func"} {
		if len(kinds[kind]) > 0 {
			l.printf("\n%s", strings.Join(kinds[kind], "\n"))
		}
	}
	for _, name := range typeNames {
		l.typeName(name)
	}
}

// typeName lists a type, its fields, and its methods, those of embedded
// types included.
func (l *lister) typeName(name *types.TypeName) {
	typ := name.Type()
	under := typ.Underlying()
	shown := types.TypeString(under, l.qualifier)
	structure, isStruct := under.(*types.Struct)
	if isStruct {
		shown = "struct"
		if !types.Comparable(typ) {
			shown += " // not comparable"
		}
	}
	if name.IsAlias() {
		shown = "= " + types.TypeString(types.Unalias(typ), l.qualifier) + " " + shown
	}
	declared, receiver := name.Name(), name.Name()
	if generic, ok := typ.(interface{ TypeParams() *types.TypeParamList }); ok && generic.TypeParams().Len() > 0 {
		var names, constrained []string
		for parameter := range generic.TypeParams().TypeParams() {
			names = append(names, parameter.Obj().Name())
			constrained = append(constrained, parameter.Obj().Name()+" "+types.TypeString(parameter.Constraint(), l.qualifier))
		}
		declared += "[" + strings.Join(constrained, ", ") + "]"
		receiver += "[" + strings.Join(names, ", ") + "]"
	}
	l.printf("\ntype %s %s", declared, shown)
	if isStruct && l.fields(structure) {
		l.printf("\t// has unexported fields")
	}
	l.methods(receiver, typ)
}

// fields lists exported fields, those of embedded structs too: a program uses
// them alike. It reports whether there are others, with which a literal without
// field names does not compile.
func (l *lister) fields(structure *types.Struct) (unexported bool) {
	for i := range structure.NumFields() {
		field := structure.Field(i)
		unexported = unexported || !field.Exported()
		embedded := ""
		if field.Embedded() {
			embedded = "embedded "
		}
		if field.Exported() {
			tag := ""
			if structure.Tag(i) != "" {
				tag = fmt.Sprintf(" %q", structure.Tag(i))
			}
			l.printf("\t%s%s %s%s", embedded, field.Name(), types.TypeString(field.Type(), l.qualifier), tag)
		}
		if inner, ok := field.Type().Underlying().(*types.Struct); ok && field.Embedded() {
			l.fields(inner)
		}
	}
	return unexported
}

// methods lists the exported methods of a type and of its pointer.
func (l *lister) methods(receiver string, typ types.Type) {
	if types.IsInterface(typ) {
		return // they are in its text
	}
	ofValue := types.NewMethodSet(typ)
	for method := range types.NewMethodSet(types.NewPointer(typ)).Methods() {
		function := method.Obj().(*types.Func)
		if !function.Exported() {
			continue
		}
		pointer := ""
		if ofValue.Lookup(function.Pkg(), function.Name()) == nil {
			pointer = "*"
		}
		signature := types.TypeString(method.Type(), l.qualifier)
		l.printf("\tfunc (%s%s) %s%s", pointer, receiver, function.Name(), strings.TrimPrefix(signature, "func"))
	}
}
