// Mutants plants small faults in the protocol, one at a time, in a scratch copy
// of the repository, and reports which layer of tests catches each and how
// soon.
//
//	go run ./internal/mutants [-layers unit,stress,scheduler,verify] [-run substring] [-timeout 3m]
//
// It prints a table in Markdown and ends with an error when a fault survives
// all layers that ran, or survives the scheduler. A fault whose text is no
// longer in the source is an error too: the table has to follow the code.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

// layer is a kind of test.
type layer struct {
	name string
	dir  string
	args []string
}

var layers = []layer{
	{"unit", ".", []string{"test", "-short", "-skip", "Stress|Inline|Disassembl|Seeds|Vet|Arrows", "."}},
	{"stress", ".", []string{"test", "-run", "Stress", "."}},
	{"scheduler", ".", []string{"test", "-tags", "poolswapsched", "-run", "Interleaving", "."}},
	{"verify", "verify", []string{"test", "-short", "./..."}},
}

func main() {
	names := flag.String("layers", "unit,stress,scheduler,verify", "the layers to run, separated by commas")
	only := flag.String("run", "", "plant only faults whose name contains this")
	timeout := flag.Duration("timeout", 3*time.Minute, "how long one layer may take for one fault")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *names, *only, *timeout); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, names, only string, timeout time.Duration) error {
	chosen, err := choose(names)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "poolswap-mutants-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	if err := copySources(".", scratch); err != nil {
		return err
	}
	fmt.Print("| fault |")
	for _, l := range chosen {
		fmt.Printf(" %s |", l.name)
	}
	fmt.Printf("\n|---|%s\n", strings.Repeat("---|", len(chosen)))

	var survivors []string
	planted := 0
	for _, f := range faults {
		if !strings.Contains(f.name, only) {
			continue
		}
		planted++
		restore, err := f.plant(scratch)
		if err != nil {
			return err
		}
		fmt.Printf("| %s |", f.name)
		caught := false
		for _, l := range chosen {
			verdict, failed, err := l.try(ctx, scratch, timeout)
			if err != nil {
				return fmt.Errorf("%s, layer %s: %w", f.name, l.name, err)
			}
			fmt.Printf(" %s |", verdict)
			caught = caught || failed
			if l.name == "scheduler" && !failed {
				survivors = append(survivors, f.name+" (scheduler)")
			}
		}
		fmt.Println()
		if !caught {
			survivors = append(survivors, f.name)
		}
		if err := restore(); err != nil {
			return err
		}
	}
	if planted == 0 {
		return fmt.Errorf("no fault is named like %q", only)
	}
	if len(survivors) > 0 {
		return fmt.Errorf("survived: %s", strings.Join(survivors, "; "))
	}
	fmt.Printf("\n%d faults, none survived.\n", planted)
	return nil
}

func choose(names string) ([]layer, error) {
	var chosen []layer
	for name := range strings.SplitSeq(names, ",") {
		found := false
		for _, l := range layers {
			if l.name == name {
				chosen, found = append(chosen, l), true
			}
		}
		if !found {
			return nil, fmt.Errorf("no layer %q (unit, stress, scheduler, verify)", name)
		}
	}
	return chosen, nil
}

// try runs the layer in dir and says whether it failed, as it should.
func (l layer) try(ctx context.Context, dir string, timeout time.Duration) (verdict string, failed bool, err error) {
	where := filepath.Join(dir, l.dir)
	if _, err := os.Stat(where); err != nil {
		return "", false, err
	}
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	test := exec.CommandContext(limited, "go", append(l.args, "-vet=off", "-count=1", "-failfast")...)
	test.Dir = where
	test.WaitDelay = time.Second
	begun := time.Now()
	out, err := test.CombinedOutput()
	took := time.Since(begun).Round(100 * time.Millisecond)
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", false, ctx.Err()
	case limited.Err() != nil:
		return fmt.Sprintf("hangs, %v", took), true, nil
	case err == nil:
		return "-", false, nil
	case errors.As(err, &exit):
		if strings.Contains(string(out), "[build failed]") {
			return "", false, fmt.Errorf("the fault does not compile: %s", out)
		}
		return took.String(), true, nil
	}
	return "", false, err
}
