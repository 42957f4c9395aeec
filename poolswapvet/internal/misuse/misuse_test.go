package misuse_test

import (
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/poolswap/poolswap/poolswapvet/internal/misuse"
)

// TestMisuse runs the analyzers over programs that say which lines are wrong, and have
// as many beside them that only look so.
func TestMisuse(t *testing.T) {
	for _, c := range []struct {
		programs  string
		analyzers []*analysis.Analyzer
	}{
		{"lost", []*analysis.Analyzer{misuse.LostRelease}},
		{"twice", []*analysis.Analyzer{misuse.DoubleRelease}},
		{"after", []*analysis.Analyzer{misuse.UseAfterRelease, misuse.PublishedUse}},
		{"kept", []*analysis.Analyzer{misuse.KeptCurrent}},
		{"shared", []*analysis.Analyzer{misuse.ReaderShare}},
		{"slabs", []*analysis.Analyzer{misuse.SlabEscape}},
		{"service", misuse.All},
		{"paths", misuse.All},
	} {
		t.Run(c.programs, func(t *testing.T) {
			all := together(c.analyzers)
			analysistest.Run(t, analysistest.TestData(), all, c.programs)
		})
	}
}

// TestSuggestedFix releases what no line releases, and leaves the rest alone.
func TestSuggestedFix(t *testing.T) {
	analysistest.RunWithSuggestedFixes(t, analysistest.TestData(), misuse.LostRelease, "fixed")
}

// together returns an analyzer that does what all of them do.
func together(analyzers []*analysis.Analyzer) *analysis.Analyzer {
	if len(analyzers) == 1 {
		return analyzers[0]
	}
	all := *analyzers[0]
	all.Name = "together"
	all.Run = func(pass *analysis.Pass) (any, error) {
		for _, a := range analyzers {
			if _, err := a.Run(pass); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	return &all
}
