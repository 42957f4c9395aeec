package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"
)

// lineWidth is how wide a line may be.
const lineWidth = 80

func printHead(w io.Writer, ranges int, each time.Duration) error {
	_, err := fmt.Fprintf(w, "%s ranges, replaced %d times a second; %d readers, %s each way\n%s\n",
		grouped(uint64(ranges)), time.Second/period, runtime.GOMAXPROCS(0), each.Round(time.Millisecond), machine(cpu()))
	return err
}

// printTable prints a row for each way, and whether the answers were right. It
// returns an error if not.
func printTable(out io.Writer, ways []way, results []result, use usage) error {
	w := new(strings.Builder)
	fmt.Fprint(w, `
                                 99.99 %   slowest   each replacement      peak
                       reads/s  of reads      read  allocates     GCs    memory
`)
	var all result
	var whose, behind []string
	for i, r := range results {
		replacements := max(float64(r.Replacements), 1)
		fmt.Fprintf(w, "%-20s  %8s  %8s  %8s  %9s  %6.2f  %8s\n", ways[i].name,
			human(float64(r.Reads.Total)/r.Took.Seconds(), "", " k", " M", " G"),
			duration(r.Reads.quantile(0.9999)), duration(r.Reads.Most),
			size(float64(r.Allocated)/replacements), float64(r.Collections)/replacements, size(float64(r.PeakMemory)))
		all.add(r)
		if r.Wrong > 0 {
			whose = append(whose, fmt.Sprintf("%s of %s", grouped(r.Wrong), ways[i].name))
		}
		if r.Replacements < r.Due {
			behind = append(behind, fmt.Sprintf("%s: only %d of %d replacements.\n", ways[i].name, r.Replacements, r.Due))
		}
	}
	verdict := "each of one version"
	if all.Wrong > 0 {
		verdict = grouped(all.Wrong) + " were wrong"
	}
	fmt.Fprintf(w, "\n%s answers checked, %s. %d of %d replacements.\n", grouped(all.Reads.Total), verdict, all.Replacements, all.Due)
	fmt.Fprint(w, strings.Join(behind, ""))
	if part := float64(use.had) / float64(use.ran) / float64(min(runtime.GOMAXPROCS(0), runtime.NumCPU())); part < 0.8 {
		fmt.Fprintf(w, "The demo had %.0f %% of the processors: is the machine busy?\n", 100*part)
	}
	fmt.Fprint(w, `A read looks up and checks one address. Lower is better, except for reads/s.
Next: "make bench" for the cost of each read, "make demo-fleet" for three hosts.
`)
	_, err := io.WriteString(out, w.String())
	if all.Wrong > 0 {
		return fmt.Errorf("answers of more than one version, or of another range: %s", strings.Join(whose, "; "))
	}
	return err
}

// machine describes where the program runs, in one line.
func machine(cpu string) string {
	rest := fmt.Sprintf("%d processors, %s/%s, %s", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	if room := lineWidth - len(rest) - len(", "); cpu != "" && room > 0 {
		return cpu[:min(len(cpu), room)] + ", " + rest
	}
	return rest
}

// cpu returns the name of the processor where the system has it in a file.
func cpu() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	_, after, _ := bytes.Cut(info, []byte("model name"))
	line, _, _ := bytes.Cut(after, []byte("\n"))
	return strings.Trim(string(line), "\t :")
}

func duration(d time.Duration) string { return human(float64(d), " ns", " µs", " ms", " s") }

func size(bytes float64) string { return human(bytes, " B", " kB", " MB", " GB") }

// human formats v with three digits and a unit; each unit is a thousand times the
// one before. The first has no fractions.
func human(v float64, units ...string) string {
	decimals := 0
	for v >= 999.5 && len(units) > 1 {
		v, units, decimals = v/1000, units[1:], 2
	}
	if v >= 9.995 {
		decimals--
	}
	if v >= 99.95 {
		decimals--
	}
	return fmt.Sprintf("%.*f%s", max(decimals, 0), v, units[0])
}

// grouped formats n with a comma between thousands.
func grouped(n uint64) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", grouped(n/1000), n%1000)
}
