// Command profile shows with pprof what a pool saves: it takes heap profiles of
// the benchmarks of examples/pooling, each work without a pool, with a sync.Pool
// and with typedpool, and writes for each the profile, the output of go tool
// pprof -top, and for all a comparison, into a folder. It fails if the profiles
// do not show what docs/verify-with-pprof.md says of them.
//
// Run it in the root of the repository:
//
//	go run ./scripts/profile
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"
)

func main() {
	n := flag.Int("n", 1_000_000, "do each piece of work this many `times`")
	folder := flag.String("o", filepath.Join("tmp", "profile"), "write to this `folder`")
	flag.Parse()
	if err := run(*n, *folder, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "profile:", err)
		os.Exit(1)
	}
}

var (
	works = []string{"data", "buffer", "log-line"}
	ways  = []string{"no-pool", "sync.Pool", "typedpool"}
)

func run(n int, folder string, out io.Writer) error {
	if n < 1 {
		return fmt.Errorf("-n %d: at least 1 iteration is needed", n)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	binary := filepath.Join(folder, "pooling.test")
	if _, err := goTool("test", "-c", "-o", binary, "./examples/pooling"); err != nil {
		return err
	}
	profiles := map[string]top{}
	for _, work := range works {
		for _, way := range ways {
			t, err := profile(binary, filepath.Join(folder, work+"."+way), work, way, n)
			if err != nil {
				return err
			}
			profiles[work+" "+way] = t
		}
	}
	comparison := compare(profiles)
	if err := os.WriteFile(filepath.Join(folder, "comparison.txt"), []byte(comparison), 0o644); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d iterations of each\n\n%s\nprofiles: %s\n", n, comparison, folder)
	return check(profiles)
}

// profile runs a benchmark n times and returns the top of its profile, which
// it writes to files that begin with base. One allocation in 4 KiB is sampled:
// the usual one in 512 KiB would be too few for short runs.
func profile(binary, base, work, way string, n int) (top, error) {
	bench := fmt.Sprintf("^BenchmarkWork$/^work=%s$/^way=%s$", work, way)
	run := exec.Command("./"+filepath.Base(binary), "-test.run=^$", "-test.bench="+bench,
		fmt.Sprintf("-test.benchtime=%dx", n), "-test.memprofilerate=4096", "-test.memprofile="+filepath.Base(base)+".prof")
	run.Dir = filepath.Dir(binary)
	if output, err := run.CombinedOutput(); err != nil {
		return top{}, fmt.Errorf("%v: %w\n%s", run.Args, err, output)
	}
	text, err := goTool("tool", "pprof", "-top", "-sample_index=alloc_space", "-unit=B", binary, base+".prof")
	if err != nil {
		return top{}, err
	}
	if err := os.WriteFile(base+".txt", text, 0o644); err != nil {
		return top{}, err
	}
	return parse(string(text))
}

func goTool(arguments ...string) ([]byte, error) {
	command := exec.Command("go", arguments...)
	output, err := command.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w\n%s", err, exit.Stderr)
		}
		return nil, fmt.Errorf("go %s: %w", strings.Join(arguments, " "), err)
	}
	return output, nil
}

// compare says what each way allocates, and where most of it is allocated.
func compare(profiles map[string]top) string {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "work\tway\tallocated\tmost of it by")
	for _, work := range works {
		for _, way := range ways {
			t := profiles[work+" "+way]
			first := t.functions[0]
			fmt.Fprintf(table, "%s\t%s\t%.1f MB\t%s (%.0f%%)\n", work, way, t.total/1e6, first.name, 100*first.flat/t.total)
		}
	}
	_ = table.Flush() // to memory
	return text.String()
}
