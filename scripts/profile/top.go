package main

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
)

// top is what go tool pprof -top says of a profile, in bytes.
type top struct {
	total     float64
	functions []function // the largest first
}

type function struct {
	name string
	flat float64 // allocated by the function itself
}

// flat returns what a function allocated, and 0 for one that is not listed.
func (t top) flat(name string) float64 {
	for _, f := range t.functions {
		if f.name == name {
			return f.flat
		}
	}
	return 0
}

var (
	totalLine    = regexp.MustCompile(`(?m)^Showing nodes accounting for .* of (\d+)B total$`)
	functionLine = regexp.MustCompile(`(?m)^\s*(\d+)B?\s+\S+%\s+\S+%\s+\d+B?\s+\S+%\s+(\S+)`)
)

// parse reads the output of go tool pprof -top -unit=B.
func parse(text string) (top, error) {
	match := totalLine.FindStringSubmatch(text)
	if match == nil {
		return top{}, fmt.Errorf("no total in the output of pprof:\n%s", text)
	}
	var t top
	t.total, _ = strconv.ParseFloat(match[1], 64) // digits
	for _, match := range functionLine.FindAllStringSubmatch(text, -1) {
		flat, _ := strconv.ParseFloat(match[1], 64) // digits
		t.functions = append(t.functions, function{match[2], flat})
	}
	if len(t.functions) == 0 {
		return top{}, fmt.Errorf("no function in the output of pprof:\n%s", text)
	}
	return t, nil
}

const (
	grow   = "bytes.(*Buffer).grow"
	format = "time.Time.Format"
)

// check returns what docs/verify-with-pprof.md says and the profiles do not
// show. A pool makes its first objects too, and go test allocates a little:
// what is below a hundredth of the profile without a pool counts as nothing.
func check(profiles map[string]top) error {
	var wrong []error
	claim := func(holds bool, format string, values ...any) {
		if !holds {
			wrong = append(wrong, fmt.Errorf(format, values...))
		}
	}
	for _, work := range works {
		none := profiles[work+" no-pool"]
		nothing := none.total / 100
		for _, way := range ways[1:] {
			pooled := profiles[work+" "+way]
			claim(pooled.total < none.total/5, "%s with %s allocates %.0f B, more than a fifth of %.0f B without a pool", work, way, pooled.total, none.total)
			claim(pooled.flat(grow) < nothing, "%s with %s: %s allocates %.0f B", work, way, grow, pooled.flat(grow))
		}
		if work != "data" {
			claim(none.functions[0].name == grow, "%s without a pool: %s allocates most, not %s", work, none.functions[0].name, grow)
		}
	}
	line := func(way string) top { return profiles["log-line "+way] }
	wrapped := line("sync.Pool")
	claim(wrapped.functions[0].name == format, "log-line with sync.Pool: %s allocates most, not %s", wrapped.functions[0].name, format)
	claim(line("typedpool").flat(format) == 0, "log-line with typedpool: %s allocates %.0f B", format, line("typedpool").flat(format))
	return errors.Join(wrong...)
}
