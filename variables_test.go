package poolswap_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// variablesTable is where every environment variable that the project reads is
// explained, under a heading of this name.
const (
	variablesFile    = "CONTRIBUTING.md"
	variablesHeading = "## Environment variables"
)

var (
	variable    = regexp.MustCompile(`POOLSWAP_[A-Z_]*[A-Z]`)
	variableRow = regexp.MustCompile("(?m)^\\| `(POOLSWAP_[A-Z_]*[A-Z])`")
)

// variableProblems compares the environment variables that the files of a tree
// name with the rows of the table, both ways, and returns what is wrong, sorted.
// Of the changelog nothing is asked: it names what was once there.
func variableProblems(tree fs.FS) (wrong []string, err error) {
	page, err := fs.ReadFile(tree, variablesFile)
	if err != nil {
		return nil, err
	}
	_, table, found := strings.Cut(string(page), variablesHeading+"\n")
	if !found {
		return []string{variablesFile + " has no heading " + variablesHeading}, nil
	}
	table, _, _ = strings.Cut(table, "\n## ")
	explained := map[string]bool{}
	for _, row := range variableRow.FindAllStringSubmatch(table, -1) {
		if explained[row[1]] {
			wrong = append(wrong, row[1]+" has two rows in "+variablesFile)
		}
		explained[row[1]] = true
	}
	read := map[string]bool{} // named by something else than documentation
	err = fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && notOurs(name):
			return fs.SkipDir
		case !entry.Type().IsRegular() || name == "CHANGELOG.md":
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		if bytes.IndexByte(text, 0) >= 0 {
			return nil // a program that somebody built here
		}
		for _, match := range variable.FindAll(text, -1) {
			if v := string(match); !explained[v] {
				wrong = append(wrong, name+" names "+v+", which has no row in "+variablesFile)
			} else if path.Ext(name) != ".md" {
				read[v] = true
			}
		}
		return nil
	})
	for v := range explained {
		if !read[v] {
			wrong = append(wrong, variablesFile+" explains "+v+", which nothing reads")
		}
	}
	slices.Sort(wrong)
	return slices.Compact(wrong), err
}

func TestEveryEnvironmentVariableIsExplained(t *testing.T) {
	readsTheSource(t)
	wrong, err := variableProblems(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range wrong {
		t.Error(problem)
	}
}

// TestEveryUnexplainedVariableIsSeen breaks each rule in a tree of a few files.
func TestEveryUnexplainedVariableIsSeen(t *testing.T) {
	const one, two = "POOLSWAP" + "_ONE", "POOLSWAP" + "_TWO"
	row := func(name string) string { return "| `" + name + "` | is explained |\n" }
	right := map[string]string{
		variablesFile:  "# Contributing\n" + variablesHeading + "\n\n" + row(one) + "\n## More\n",
		"a_test.go":    "os.Getenv(\"" + one + "\")",
		"docs/a.md":    "With " + one + "=1",
		"CHANGELOG.md": "Removed: " + two,
		"bin/tool":     two,
	}
	for _, c := range []struct{ file, text, want string }{
		{"a.go", one, ""},
		{"a.go", two, "a.go names " + two + ", which has no row in " + variablesFile},
		{"scripts/b", two + "=1", "scripts/b names " + two + ", which has no row in " + variablesFile},
		{"docs/a.md", two, "docs/a.md names " + two + ", which has no row in " + variablesFile},
		{"a_test.go", "", variablesFile + " explains " + one + ", which nothing reads"},
		{variablesFile, variablesHeading + "\n" + row(one) + row(one), one + " has two rows in " + variablesFile},
		{variablesFile, row(one), variablesFile + " has no heading " + variablesHeading},
	} {
		tree := fstest.MapFS{}
		for name, text := range right {
			tree[name] = &fstest.MapFile{Data: []byte(text)}
		}
		tree[c.file] = &fstest.MapFile{Data: []byte(c.text)}
		wrong, err := variableProblems(tree)
		if err != nil {
			t.Fatal(err)
		}
		wantProblem(t, fmt.Sprintf("with %s %q", c.file, c.text), wrong, c.want)
	}
}
