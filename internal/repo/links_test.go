package repo_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// homePage begins the links to files of the repository where a relative one
// would not do.
var homePage = regexp.MustCompile(`^https://` + regexp.QuoteMeta(module) + `/(?:tree|blob)/main/`)

var (
	notText = regexp.MustCompile("(?ms)^ *```.*?^ *```|<!--.*?-->") // code, comments
	code    = regexp.MustCompile("`[^`\n]*`")

	inlineLink    = regexp.MustCompile(`\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)`)
	imageSource   = regexp.MustCompile(`<(?:img|source)\b[^>]*\s(?:src|srcset)="([^"]+)"`)
	referenceLink = regexp.MustCompile(`\][ \n]?\[[^]]*\]|(?m)^ {0,3}\[[^]\n]+\]:\s`)
	heading       = regexp.MustCompile(`(?m)^ {0,3}#{1,6}[ \t]+(.+?)[ \t]*#*$`)
	linkInHeading = regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`)
)

// anchors returns the names under which the headings of a page can be linked
// to, as GitHub makes them.
func anchors(page string) map[string]bool {
	found := map[string]bool{}
	for _, match := range heading.FindAllStringSubmatch(notText.ReplaceAllString(page, ""), -1) {
		slug := strings.Map(func(r rune) rune {
			switch {
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			case r == ' ':
				return '-'
			}
			return -1
		}, linkInHeading.ReplaceAllString(match[1], "$1"))
		name := slug
		for n := 1; found[name]; n++ {
			name = fmt.Sprintf("%s-%d", slug, n)
		}
		found[name] = true
	}
	return found
}

// badLink returns the fault of a link of a page, or "". It does not look up
// addresses elsewhere.
func badLink(page, target string) string {
	dir := path.Dir(page)
	if home := homePage.FindString(target); home != "" {
		target, dir = strings.TrimPrefix(target, home), "."
	}
	if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
		return ""
	}
	file, anchor, _ := strings.Cut(target, "#")
	to := page
	if file != "" {
		to = path.Join(dir, file)
	}
	tree := os.DirFS(top)
	info, err := fs.Stat(tree, to)
	if err != nil {
		return "no such file"
	}
	if anchor == "" {
		return ""
	}
	if info.IsDir() {
		to = path.Join(to, "README.md")
	}
	if text, err := fs.ReadFile(tree, to); path.Ext(to) == ".md" && (err != nil || !anchors(string(text))[anchor]) {
		return "no such heading"
	}
	return ""
}

// TestLinksOfPagesResolve looks for the target of each link in the Markdown files.
func TestLinksOfPagesResolve(t *testing.T) {
	readsTheSource(t)
	links := 0
	err := fs.WalkDir(os.DirFS(top), ".", func(name string, entry fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil:
			return err
		case entry.IsDir() && (name == "bin" || name == "tmp" || base[0] == '.' && name != "." && name != ".github"):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".md":
			return nil
		}
		page := code.ReplaceAllString(notText.ReplaceAllString(textOf(t, name), ""), "")
		if link := referenceLink.FindString(page); link != "" {
			t.Errorf("%s: %q is a link by reference, which this test does not follow", name, link)
		}
		for _, match := range slices.Concat(inlineLink.FindAllStringSubmatch(page, -1), imageSource.FindAllStringSubmatch(page, -1)) {
			links++
			if problem := badLink(name, match[1]); problem != "" {
				t.Errorf("%s: %s: %s", name, match[1], problem)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if links < 20 {
		t.Errorf("found only %d links", links)
	}
}
