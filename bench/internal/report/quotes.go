package report

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/poolswap/poolswap/bench/internal/runner"
)

// Quotes keeps the figures that documents quote equal to those of kept runs. A
// document marks each table that it quotes; Quotes writes the table, or refuses
// one that differs.
type Quotes struct {
	Suites []runner.Suite
	Runs   map[string]*runner.Run // by the folder that a mark names
}

// A block holds a table between its marks.
var (
	block    = regexp.MustCompile(`(?s)(<!-- figures: ([^>]*?) -->)(.*?)(<!-- /figures -->)`)
	anyMark  = regexp.MustCompile(`<!-- /?figures?\b.*?-->`)
	unmarked = regexp.MustCompile(`\d[\d.,]*(?:\s|&nbsp;|\x{a0})?(?:ns|µs|us|x faster|times faster)\b`)
)

// Update returns the document with all marked figures as the runs have them.
func (q *Quotes) Update(document string) (string, error) {
	var failed error
	document = block.ReplaceAllStringFunc(document, func(found string) string {
		part := block.FindStringSubmatch(found)
		text, err := q.table(part[2])
		if err != nil && failed == nil {
			failed = fmt.Errorf("%s: %w", part[1], err)
		}
		return part[1] + "\n" + text + part[4]
	})
	return document, failed
}

// Check returns the faults of a document: figures that no run has, marks
// that are broken, and times outside of any mark.
func (q *Quotes) Check(document string) []error {
	var wrong []error
	blocks := block.FindAllStringSubmatch(document, -1)
	for _, part := range blocks {
		want, err := q.Update(part[0])
		switch {
		case err != nil:
			wrong = append(wrong, err)
		case want != part[0]:
			wrong = append(wrong, fmt.Errorf("%s holds\n%s\nbut the results say\n%s", part[1], strings.TrimSpace(part[3]), strings.TrimSpace(block.FindStringSubmatch(want)[3])))
		}
	}
	if len(blocks) == 0 {
		wrong = append(wrong, fmt.Errorf("no figure is marked; see bench/README.md"))
	}
	rest := block.ReplaceAllString(document, "")
	for _, broken := range anyMark.FindAllString(rest, -1) {
		wrong = append(wrong, fmt.Errorf("%s has no other half", broken))
	}
	for _, figure := range unmarked.FindAllString(rest, -1) {
		wrong = append(wrong, fmt.Errorf("%q is quoted without a mark; see bench/README.md", figure))
	}
	return wrong
}
