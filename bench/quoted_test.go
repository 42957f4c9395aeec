package main

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/poolswap/poolswap/bench/internal/report"
	"github.com/poolswap/poolswap/bench/internal/runner"
	"github.com/poolswap/poolswap/bench/internal/suites"
)

var quote = flag.Bool("quote", false, "write the figures of results/ into the documents that quote them")

// TestQuotedFigures fails when a document quotes a figure that no run below
// results/ has. README.md says how a document marks figures.
func TestQuotedFigures(t *testing.T) {
	quotes := report.Quotes{Suites: suites.All(), Runs: recordedRuns(t)}
	for _, name := range []string{"../docs/performance.md", "../docs/oplog.md", "../examples/pooling/README.md", "../docs/fleet.md", "../docs/slab.md"} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			content, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			document := string(content)
			if *quote {
				if document, err = quotes.Update(document); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, []byte(document), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			for _, err := range quotes.Check(document) {
				t.Error(err)
			}
		})
	}
}

// recordedRuns returns the runs below results/ by the names that documents have
// for their folders.
func recordedRuns(t *testing.T) map[string]*runner.Run {
	t.Helper()
	runs := make(map[string]*runner.Run)
	err := filepath.WalkDir("results", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Base(path) != runner.File {
			return err
		}
		folder := filepath.Dir(path)
		runs["bench/"+filepath.ToSlash(folder)], err = runner.ReadKept(folder)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return runs
}
