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

var (
	makeTarget  = regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*):(?:[^=]|$)`)
	makeCommand = regexp.MustCompile("`make ([^`]*)`")
	pageName    = regexp.MustCompile(`\bdocs/[\w.-]*\.md\b`)
)

// wrongNames returns the names in a tree of what does not exist, sorted: the
// targets of make that a page has in backticks, and the pages of docs that a
// comment of a Go file has. Of the changelog nothing is asked: it names what was
// once there.
func wrongNames(tree fs.FS) (wrong []string, names int, err error) {
	makefile, err := fs.ReadFile(tree, "Makefile")
	if err != nil {
		return nil, 0, err
	}
	targets := map[string]bool{}
	for _, match := range makeTarget.FindAllStringSubmatch(string(makefile), -1) {
		targets[match[1]] = true
	}
	err = fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && notOurs(name):
			return fs.SkipDir
		case entry.IsDir() || name == "CHANGELOG.md" || path.Ext(name) != ".md" && path.Ext(name) != ".go":
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		if path.Ext(name) == ".md" {
			for _, target := range targetsMade(string(text)) {
				names++
				if !targets[target] {
					wrong = append(wrong, name+": make "+target)
				}
			}
			return nil
		}
		pages, err := pagesNamed(name, text)
		for _, page := range pages {
			names++
			if _, err := fs.Stat(tree, page); err != nil {
				wrong = append(wrong, name+": "+page)
			}
		}
		return err
	})
	slices.Sort(wrong)
	return wrong, names, err
}

// targetsMade returns the targets of the make commands of a page. The words from
// the first variable on are not looked at: its value may have spaces.
func targetsMade(page string) (targets []string) {
	page = fencedCode.ReplaceAllString(page, "")
	for _, match := range makeCommand.FindAllStringSubmatch(page, -1) {
		for _, word := range strings.Fields(match[1]) {
			if strings.Contains(word, "=") {
				break
			}
			if word[0] != '-' {
				targets = append(targets, word)
			}
		}
	}
	return targets
}

// pagesNamed returns the pages of docs that the comments of a Go file name.
func pagesNamed(name string, source []byte) (pages []string, err error) {
	file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	for _, group := range file.Comments {
		for _, comment := range group.List {
			pages = append(pages, pageName.FindAllString(comment.Text, -1)...)
		}
	}
	return pages, nil
}

func TestLinksByNameLeadSomewhere(t *testing.T) {
	readsTheSource(t)
	wrong, names, err := wrongNames(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	if names < 50 {
		t.Errorf("found only %d names", names)
	}
	for _, name := range wrong {
		t.Errorf("%s: there is no such thing", name)
	}
}

// TestEveryWrongNameOfALinkIsSeen puts one name at a time into a file.
func TestEveryWrongNameOfALinkIsSeen(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{"page.md", "`make test`", ""},
		{"page.md", "`make no-such`", "page.md: make no-such"},
		{"deep/page.md", "`make test lint no-such`", "deep/page.md: make no-such"},
		{"page.md", "`make test FLAGS='-short none'`", ""},
		{"page.md", "`make -k none`", "page.md: make none"},
		{"page.md", "`make FLAG`", "page.md: make FLAG"},
		{"page.md", "`make hidden`", "page.md: make hidden"},
		{"page.md", "make no fuss, `make`", ""},
		{"page.md", "```\n`make none`\n```", ""},
		{"CHANGELOG.md", "`make none`", ""},
		{".cache/page.md", "`make none`", ""},
		{"x.go", "package x // docs/a.md", ""},
		{"x.go", "package x // see docs/none.md.", "x.go: docs/none.md"},
		{"x.go", "package x /* see\ndocs/none-of.md */", "x.go: docs/none-of.md"},
		{"deep/x_test.go", "// Package x (docs/none.md) is a test.\npackage x", "deep/x_test.go: docs/none.md"},
		{"x.go", "package x\nconst page = `docs/none.md`", ""},
	} {
		tree := fstest.MapFS{
			"Makefile":  {Data: []byte("FLAG := none\nall:: test\ntest: lint\n\tgo test\nlint:\n.PHONY: hidden\nci: export FLAG = 1\n")},
			"docs/a.md": {},
			c.file:      {Data: []byte(c.text)},
		}
		wrong, _, err := wrongNames(tree)
		if err != nil {
			t.Fatal(err)
		}
		wantProblem(t, fmt.Sprintf("of %q in %s", c.text, c.file), wrong, c.want)
	}
}
