// Package rollout measures a publication to many replicas: how long it takes,
// and its cost to the server. Servers are processes of their own, so that the
// system tells what each of them uses; so are replicas that only follow the plan.
package rollout

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/poolswap/poolswap/bench/internal/runner"
)

// process is a program that runs, with a folder for its files.
type process struct {
	command *exec.Cmd
	stdin   io.WriteCloser
	lines   *bufio.Scanner
	dir     string
}

// start builds the command in a folder of the repository and starts it. It ends when
// close is called or this process ends.
func start(folder, dir string, arguments ...string) (*process, error) {
	program, err := build(folder)
	if err != nil {
		return nil, err
	}
	log, err := os.CreateTemp("", "bench-log-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }() // the process has it
	_ = os.Remove(log.Name())
	command := exec.Command(program, arguments...)
	command.Stderr, command.SysProcAttr = log, runner.WithParent
	stdin, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	return &process{command: command, stdin: stdin, lines: bufio.NewScanner(stdout), dir: dir}, nil
}

// line returns what follows prefix in the next line of the process that has it.
func (p *process) line(prefix string) (string, error) {
	for p.lines.Scan() {
		if rest, ok := strings.CutPrefix(p.lines.Text(), prefix); ok {
			return rest, nil
		}
	}
	return "", fmt.Errorf("%s ended before it said %q", filepath.Base(p.command.Path), prefix)
}

// build builds a command with the go.mod that holds in its folder, once for all
// processes that share a folder for temporary files.
func build(folder string) (program string, err error) {
	program = filepath.Join(os.TempDir(), "bench-"+filepath.Base(folder))
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	root, err := output("go", "list", "-m", "-f", "{{.Dir}}", "github.com/poolswap/poolswap")
	if err == nil {
		_, err = output("go", "build", "-C", filepath.Join(root, folder), "-o", program, ".")
	}
	return program, err
}

func output(name string, arguments ...string) (string, error) {
	text, err := exec.Command(name, arguments...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%s %s: %w: %s", name, strings.Join(arguments, " "), err, exit.Stderr)
	}
	return strings.TrimSpace(string(text)), err
}

// close ends the process; twice does nothing.
func (p *process) close() {
	_ = p.stdin.Close()
	_ = p.command.Process.Kill() // its files are deleted next
	_ = p.command.Wait()
	_ = os.RemoveAll(p.dir)
}

// processorTime returns the CPU time of the process.
func (p *process) processorTime() time.Duration {
	spent, _ := runner.ProcessorTime(p.command.Process.Pid)
	return spent
}

// sample returns the sample of n replicas, of a server that had had that CPU time
// before.
func (p *process) sample(n int, before time.Duration, values map[string]float64) runner.Sample {
	if now, ok := runner.ProcessorTime(p.command.Process.Pid); ok {
		values["server-cpu-ns"] = float64(now - before)
	}
	if peak, ok := runner.PeakMemory(p.command.Process.Pid); ok {
		values["server-rss-bytes"] = peak
	}
	return runner.Sample{Iterations: n, Values: values}
}
