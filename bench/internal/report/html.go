package report

import (
	"io"

	"github.com/poolswap/poolswap/bench/internal/measure"
	"github.com/poolswap/poolswap/bench/internal/results"
)

// WriteHTML writes the report.
func WriteHTML(w io.Writer, suites []measure.Suite, run *results.Run) error {
	return nil
}
