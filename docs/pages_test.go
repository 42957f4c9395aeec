package docs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPagesShowCompiledCode looks for every block of Go on a page in the tests
// that run it, except those that a paragraph beginning with "Wrong" introduces.
func TestPagesShowCompiledCode(t *testing.T) {
	if testing.Short() {
		t.Skip("the pages are the same in every build")
	}
	for _, c := range []struct {
		page  string
		tests []string // patterns of file names
		right int      // blocks at least
		wrong int      // blocks at least
	}{
		{"patterns.md", []string{"*_test.go"}, 25, 1},
		{"oplog.md", []string{"../oplog/example_*_test.go"}, 8, 1},
		{"reload.md", []string{"../reload/example_*_test.go", "../reload/mapped/example_test.go", "../reload/verify/objectstore/example_test.go", "../reload/watch/example_configmap_test.go"}, 7, 1},
		{"fleet.md", []string{"../fleet/example_test.go"}, 1, 0},
		{"slab.md", []string{"../slab/example_test.go"}, 1, 0},
		{"../reload/watch/README.md", []string{"../reload/watch/example_test.go"}, 1, 0},
		{"../reload/oci/README.md", []string{"../reload/oci/example_test.go"}, 1, 0},
		{"../metrics/prometheus/README.md", []string{"../metrics/prometheus/example_test.go"}, 1, 0},
	} {
		t.Run(c.page, func(t *testing.T) {
			var compiled string
			for _, pattern := range c.tests {
				files, err := filepath.Glob(pattern)
				if err != nil {
					t.Fatal(err)
				}
				for _, file := range files {
					compiled += unindented(textOf(t, file))
				}
			}
			blocks := codeBlocks(textOf(t, c.page))
			right := 0
			for _, block := range blocks {
				if block.wrong {
					continue
				}
				right++
				if !strings.Contains(compiled, unindented(block.code)) {
					t.Errorf("no test has this code:\n%s", block.code)
				}
			}
			if right < c.right || len(blocks)-right < c.wrong {
				t.Errorf("found %d blocks, %d of them right; does the page look as this test expects?", len(blocks), right)
			}
		})
	}
}

type codeBlock struct {
	code  string
	wrong bool // the last paragraph before it begins with "Wrong"
}

func codeBlocks(page string) (blocks []codeBlock) {
	inCode, wrong, paragraph := false, false, false
	for line := range strings.Lines(page) {
		switch {
		case inCode && line == "```\n":
			inCode, paragraph = false, false
		case inCode:
			blocks[len(blocks)-1].code += line
		case strings.HasPrefix(line, "```"):
			inCode = true
			blocks = append(blocks, codeBlock{wrong: wrong})
		case line == "\n":
			paragraph = false
		case !paragraph:
			paragraph, wrong = true, strings.HasPrefix(line, "Wrong")
		}
	}
	return blocks
}

// unindented returns the text with each line's indentation gone, so that a
// statement of a function is found at the left margin of a page too.
func unindented(text string) string {
	var b strings.Builder
	b.WriteByte('\n')
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimLeft(line, " \t"))
	}
	return b.String()
}

func textOf(t *testing.T, file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
