package main

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/bench/internal/figures"
	"github.com/poolswap/poolswap/bench/internal/results"
	"github.com/poolswap/poolswap/bench/internal/suites"
)

var quote = flag.Bool("quote", false, "write the figures of results/ into the documents that quote them")

// TestQuotedFigures fails when a document quotes a figure that the run in
// results/ does not have. README.md says how a document marks figures.
func TestQuotedFigures(t *testing.T) {
	raw, err := os.Open(filepath.Join("results", results.File))
	if errors.Is(err, fs.ErrNotExist) {
		nothingIsQuoted(t)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = raw.Close() }()
	run, err := results.ReadText(raw, raw.Name())
	if err != nil {
		t.Fatal(err)
	}
	source := figures.Source{Suites: suites.All(), Run: run}
	for _, name := range []string{"../README.md", "../docs/performance.md"} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			content, err := os.ReadFile(name)
			if errors.Is(err, fs.ErrNotExist) {
				t.Skip("not written yet")
			}
			if err != nil {
				t.Fatal(err)
			}
			document := string(content)
			if *quote {
				if document, err = source.Update(document); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, []byte(document), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			for _, err := range source.Check(document) {
				t.Error(err)
			}
		})
	}
}

// nothingIsQuoted fails when a document quotes figures though there is no run
// that they could come from.
func nothingIsQuoted(t *testing.T) {
	for _, name := range []string{"../README.md", "../docs/performance.md"} {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(content), "<!-- figures") {
			t.Errorf("%s quotes figures, and there are none in results/", name)
		}
	}
}
