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
	fencedCode = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	inlineCode = regexp.MustCompile("`[^`\n]*`")
	comment    = regexp.MustCompile(`(?s)<!--.*?-->`)

	inlineLink     = regexp.MustCompile(`\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)`)
	imageSource    = regexp.MustCompile(`<(?:img|source)\b[^>]*\s(?:src|srcset)="([^"]+)"`)
	definition     = regexp.MustCompile(`(?m)^ {0,3}\[([^]\n]+)\]:\s*(\S+)`)
	referenceLink  = regexp.MustCompile(`\[([^]]+)\]\[([^]]*)\]`)
	heading        = regexp.MustCompile(`(?m)^ {0,3}#{1,6}[ \t]+(.+?)[ \t]*#*$`)
	linkInHeading  = regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`)
	explicitAnchor = regexp.MustCompile(`<a\s+(?:id|name)="([^"]+)"`)
)

// anchors returns the names under which the headings of a page can be linked
// to, as GitHub makes them.
func anchors(page string) map[string]bool {
	page = fencedCode.ReplaceAllString(page, "")
	found := map[string]bool{}
	for _, match := range explicitAnchor.FindAllStringSubmatch(page, -1) {
		found[match[1]] = true
	}
	for _, match := range heading.FindAllStringSubmatch(page, -1) {
		text := linkInHeading.ReplaceAllString(match[1], "$1")
		slug := strings.Map(func(r rune) rune {
			switch {
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			case r == ' ':
				return '-'
			}
			return -1
		}, text)
		name := slug
		for n := 1; found[name]; n++ {
			name = fmt.Sprintf("%s-%d", slug, n)
		}
		found[name] = true
	}
	return found
}

// brokenLinks returns the links in the Markdown files of a tree that lead to no
// file or heading in it, sorted. Addresses elsewhere are not looked up.
func brokenLinks(tree fs.FS) (broken []string, links int, err error) {
	err = fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && notOurs(name):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".md":
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		targets, undefined := targetsIn(string(text))
		for _, label := range undefined {
			broken = append(broken, fmt.Sprintf("%s: [%s] is not defined", name, label))
		}
		for _, target := range targets {
			links++
			if problem := badLink(tree, name, target); problem != "" {
				broken = append(broken, fmt.Sprintf("%s: %s: %s", name, target, problem))
			}
		}
		return nil
	})
	slices.Sort(broken)
	return broken, links, err
}

// notOurs reports whether a directory holds files of tools.
func notOurs(dir string) bool {
	switch base := path.Base(dir); {
	case dir == ".", dir == ".ci", dir == ".github":
		return false
	case dir == "bin", dir == "tmp":
		return true
	default:
		return base[0] == '.'
	}
}

// targetsIn returns where the links of a page lead, and the labels of those
// that are defined nowhere.
func targetsIn(page string) (targets, undefined []string) {
	page = comment.ReplaceAllString(page, "")
	page = fencedCode.ReplaceAllString(page, "")
	page = inlineCode.ReplaceAllString(page, "")
	for _, match := range slices.Concat(inlineLink.FindAllStringSubmatch(page, -1), imageSource.FindAllStringSubmatch(page, -1)) {
		targets = append(targets, match[1])
	}
	defined := map[string]bool{}
	for _, match := range definition.FindAllStringSubmatch(page, -1) {
		defined[strings.ToLower(match[1])] = true
		targets = append(targets, match[2])
	}
	for _, match := range referenceLink.FindAllStringSubmatch(page, -1) {
		label := match[2]
		if label == "" {
			label = match[1]
		}
		if !defined[strings.ToLower(label)] {
			undefined = append(undefined, label)
		}
	}
	return targets, undefined
}

// badLink returns the fault of a link of a page, or "".
func badLink(tree fs.FS, page, target string) string {
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
	if !fs.ValidPath(to) {
		return "outside of the repository"
	}
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
	if path.Ext(to) != ".md" {
		return ""
	}
	text, err := fs.ReadFile(tree, to)
	if err != nil {
		return "no such file"
	}
	if !anchors(string(text))[anchor] {
		return "no such heading"
	}
	return ""
}

func TestLinksOfPagesResolve(t *testing.T) {
	readsTheSource(t)
	broken, links, err := brokenLinks(os.DirFS(top))
	if err != nil {
		t.Fatal(err)
	}
	if links < 20 {
		t.Errorf("found only %d links", links)
	}
	for _, problem := range broken {
		t.Error(problem)
	}
}
