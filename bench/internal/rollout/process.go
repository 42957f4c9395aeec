// Package rollout measures a publication to many replicas: how long it takes,
// and its cost to the server and the network. Servers are processes
// of their own, so that the system tells what each of them uses; the replicas
// share the measuring process.
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

// process is a server that runs, with a folder for its files.
type process struct {
	command *exec.Cmd
	stdin   io.Closer
	dir     string
	url     string
}

// start builds the command in a folder of a module and starts it. It ends when
// close is called or this process ends.
func start(module, folder string, arguments func(dir string) []string) (*process, error) {
	program, err := build(module, folder)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "bench-server-")
	if err != nil {
		return nil, err
	}
	command := exec.Command(program, arguments(dir)...)
	command.Stderr, command.SysProcAttr = os.Stderr, runner.WithParent
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
	p := &process{command: command, stdin: stdin, dir: dir}
	lines := bufio.NewScanner(stdout)
	lines.Scan()
	url, ok := strings.CutPrefix(lines.Text(), "serving at ")
	if !ok {
		p.close()
		return nil, fmt.Errorf("%s does not serve: it says %q", folder, lines.Text())
	}
	p.url = url
	return p, nil
}

// build builds a command with the go.mod that holds in its folder, once for all
// processes that share a folder for temporary files.
func build(module, folder string) (program string, err error) {
	program = filepath.Join(os.TempDir(), "bench-"+filepath.Base(folder))
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	root, err := output("go", "list", "-m", "-f", "{{.Dir}}", module)
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

// sample returns the sample of a publication to n replicas, the last of which had
// swapped after that time, by a server that had had that CPU time before.
func (p *process) sample(n int, published, last, before time.Duration) runner.Sample {
	values := map[string]float64{"publish-ns": float64(published), "last-ns": float64(last)}
	pid := p.command.Process.Pid
	if now, ok := runner.ProcessorTime(pid); ok {
		values["server-cpu-ns"] = float64(now - before)
	}
	if peak, ok := runner.PeakMemory(pid); ok {
		values["server-rss-bytes"] = peak
	}
	return runner.Sample{Iterations: n, Values: values}
}
