package report

import (
	"bytes"
	"path/filepath"

	"github.com/poolswap/poolswap/bench/internal/measure"
	"github.com/poolswap/poolswap/bench/internal/results"
)

// Page is the name of the report within the output folder.
const Page = "report.html"

// Write writes everything that a run leaves behind to a folder and returns the
// path of the report.
func Write(folder string, suites []measure.Suite, run *results.Run) (string, error) {
	var text bytes.Buffer
	if err := run.WriteText(&text); err != nil {
		return "", err
	}
	if err := results.WriteFile(folder, results.File, text.Bytes()); err != nil {
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
