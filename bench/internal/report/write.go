package report

import (
	"bytes"
	"path/filepath"

	"github.com/poolswap/poolswap/bench/internal/measure"
	"github.com/poolswap/poolswap/bench/internal/results"
)

// Page is the name of the report within the output folder.
const Page = "report.html"

// Keep writes the samples of a run alone to a folder, which it makes.
func Keep(folder string, run *results.Run) error {
	if err := results.Writable(folder); err != nil {
		return err
	}
	return writeSamples(folder, run)
}

func writeSamples(folder string, run *results.Run) error {
	var text bytes.Buffer
	if err := run.WriteText(&text); err != nil {
		return err
	}
	return results.WriteFile(folder, results.File, text.Bytes())
}

// Write writes everything that a run leaves behind to a folder and returns the
// path of the report.
func Write(folder string, suites []measure.Suite, run *results.Run) (string, error) {
	if err := writeSamples(folder, run); err != nil {
		return "", err
	}
	encoded, err := encode(run)
	if err != nil {
		return "", err
	}
	if err := results.WriteFile(folder, "results.json", encoded); err != nil {
		return "", err
	}
	var page bytes.Buffer
	if err := WriteHTML(&page, suites, run); err != nil {
		return "", err
	}
	return filepath.Join(folder, Page), results.WriteFile(folder, Page, page.Bytes())
}
