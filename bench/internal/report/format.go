package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/poolswap/poolswap/bench/internal/runner"
)

// Format writes a value with its unit, to three digits, as tables and charts
// show it.
func Format(value float64, unit string) string {
	switch {
	case math.IsNaN(value):
		return "-"
	case unit == "ns/op" || strings.HasSuffix(unit, "-ns") || strings.HasSuffix(unit, "-ns/op"):
		return scaled(value, 1000, "ns", "µs", "ms", "s")
	case unit == "B/op" || unit == "B/update" || strings.HasSuffix(unit, "-bytes"):
		return scaled(whole(value), 1024, "B", "KiB", "MiB", "GiB")
	case strings.HasSuffix(unit, "-share"):
		return digits(100*value) + " %"
	case unit == "allocs/op":
		return digits(whole(value))
	}
	return digits(value)
}

// Others says in a line what share of the processors' time went to others, and
// nothing where that is not known.
func Others(run *runner.Run) string {
	if run.Others < 0 {
		return ""
	}
	text := fmt.Sprintf("%.0f%% of the processors' time went to other programs", 100*run.Others)
	if run.Others > quiet {
		text += ": times are too long, and ratios uncertain"
	}
	return text + "\n"
}

// quiet is the share of others up to which a machine counts as quiet.
const quiet = 0.05

// FormatRatio writes a ratio.
func FormatRatio(ratio float64) string {
	if math.IsNaN(ratio) {
		return "-"
	}
	return digits(ratio) + "x"
}

// whole rounds down to whole numbers per operation, as go test does: the
// process itself allocates a little.
func whole(perOperation float64) float64 {
	if perOperation < 0 {
		return math.Ceil(perOperation)
	}
	return math.Floor(perOperation)
}

func scaled(value, step float64, units ...string) string {
	i := 0
	for math.Abs(value) >= 0.9995*step && i < len(units)-1 {
		value /= step
		i++
	}
	return digits(value) + " " + units[i]
}

// digits writes three significant digits, and more before the point.
func digits(value float64) string {
	switch abs := math.Abs(value); {
	case value == math.Trunc(value) && abs < 1e6, abs >= 99.95:
		return strconv.FormatFloat(value, 'f', 0, 64)
	case abs >= 9.995:
		return fmt.Sprintf("%.1f", value)
	case abs >= 0.0995:
		return fmt.Sprintf("%.2f", value)
	}
	return fmt.Sprintf("%.3f", value)
}
