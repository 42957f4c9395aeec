// Package figures keeps the figures that documents quote equal to those of a
// run. A document marks what it quotes, and what is marked is written by this
// package or refused by it.
package figures

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/poolswap/poolswap/bench/internal/measure"
	"github.com/poolswap/poolswap/bench/internal/results"
)

// Source is where figures come from.
type Source struct {
	Suites []measure.Suite
	Run    *results.Run
}

// The marks. A block holds a table, an inline figure one value; a reference
// holds figures that others have published, which nobody here can check.
var (
	block     = regexp.MustCompile(`(?s)(<!-- figures: ([^>]*?) -->)(.*?)(<!-- /figures -->)`)
	inline    = regexp.MustCompile(`(?s)(<!-- figure: ([^>]*?) -->)(.*?)(<!-- /figure -->)`)
	reference = regexp.MustCompile(`(?s)<!-- reference -->.*?<!-- /reference -->`)

	anyMark  = regexp.MustCompile(`<!-- /?(figures?|reference)\b.*?-->`)
	unmarked = regexp.MustCompile(`\d[\d.,]*(?:\s|&nbsp;|\x{a0})?(?:ns|µs|us|x faster|times faster)\b`)
)

// Update returns the document with all marked figures as the run has them.
func (s *Source) Update(document string) (string, error) {
	var failed error
	replace := func(mark *regexp.Regexp, write func(string) (string, error)) {
		document = mark.ReplaceAllStringFunc(document, func(found string) string {
			part := mark.FindStringSubmatch(found)
			text, err := write(part[2])
			if err != nil && failed == nil {
				failed = fmt.Errorf("%s: %w", part[1], err)
			}
			return part[1] + text + part[4]
		})
	}
	replace(block, func(what string) (string, error) {
		text, err := s.table(what)
		return "\n" + text, err
	})
	replace(inline, s.value)
	return document, failed
}

// Check returns what is wrong with a document: figures that the run does not
// have, marks that are broken, and times outside of any mark.
func (s *Source) Check(document string) []error {
	var wrong []error
	for _, mark := range []*regexp.Regexp{block, inline} {
		for _, part := range mark.FindAllStringSubmatch(document, -1) {
			want, err := s.Update(part[0])
			switch {
			case err != nil:
				wrong = append(wrong, err)
			case want != part[0]:
				wrong = append(wrong, fmt.Errorf("%s holds\n%s\nbut the results say\n%s", part[1], strings.TrimSpace(part[3]), strings.TrimSpace(mark.FindStringSubmatch(want)[3])))
			}
		}
	}
	if len(block.FindAllString(document, 1))+len(inline.FindAllString(document, 1)) == 0 {
		wrong = append(wrong, fmt.Errorf("no figure is marked; see bench/README.md"))
	}
	rest := document
	for _, mark := range []*regexp.Regexp{block, inline, reference} {
		rest = mark.ReplaceAllString(rest, "")
	}
	for _, broken := range anyMark.FindAllString(rest, -1) {
		wrong = append(wrong, fmt.Errorf("%s has no other half", broken))
	}
	for _, figure := range unmarked.FindAllString(rest, -1) {
		wrong = append(wrong, fmt.Errorf("%q is quoted without a mark; see bench/README.md", figure))
	}
	return wrong
}
