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
	"sync"
)

// process is a server that runs.
type process struct {
	command *exec.Cmd
	stdin   io.Closer
	lines   *bufio.Scanner // of its standard output
}

// The servers are built once in a process that measures.
var (
	fleetd     = sync.OnceValues(func() (string, error) { return build("github.com/poolswap/poolswap/fleet", "fleetd") })
	fileserver = sync.OnceValues(func() (string, error) {
		return build("github.com/poolswap/poolswap/bench", "internal/rollout/fileserver")
	})
)

// build builds the command in a folder of a module, with the go.mod that holds
// there, and returns the path of the program.
func build(module, folder string) (string, error) {
	root, err := output("go", "list", "-m", "-f", "{{.Dir}}", module)
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "bench-server-")
	if err != nil {
		return "", err
	}
	program := filepath.Join(dir, "server")
	_, err = output("go", "build", "-C", filepath.Join(root, folder), "-o", program, ".")
	return program, err
}

func output(name string, arguments ...string) (string, error) {
	text, err := exec.Command(name, arguments...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(arguments, " "), err)
	}
	return strings.TrimSpace(string(text)), nil
}

// start starts a program. It ends when stop is called or this process ends.
func start(program string, arguments ...string) (*process, error) {
	command := exec.Command(program, arguments...)
	command.Stderr, command.SysProcAttr = os.Stderr, withParent
	stdin, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &process{command, stdin, bufio.NewScanner(stdout)}, command.Start()
}

// line returns what follows a prefix in the next line that the process writes.
func (p *process) line(prefix string) (string, error) {
	if !p.lines.Scan() {
		return "", fmt.Errorf("%s ended before it served", p.command.Path)
	}
	rest, ok := strings.CutPrefix(p.lines.Text(), prefix)
	if !ok {
		return "", fmt.Errorf("%s says %q, not %q", p.command.Path, p.lines.Text(), prefix)
	}
	return rest, nil
}

func (p *process) stop() {
	_ = p.stdin.Close()
	_ = p.command.Process.Kill() // its files are deleted next
	_ = p.command.Wait()
}
