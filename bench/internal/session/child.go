package session

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"

	"github.com/poolswap/poolswap/bench/internal/measure"
)

// ChildArgument as the only argument of the command makes it a child.
const ChildArgument = "child"

// Serve is what a child does: it answers requests until its input ends.
func Serve(suites []measure.Suite, in io.Reader, out io.Writer) error {
	signal.Ignore(os.Interrupt) // where Ctrl-C is for all processes, the parent decides
	requests, answers := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var q request
		if err := requests.Decode(&q); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		var a answer
		sample, err := take(suites, q)
		if err != nil {
			a.Error = err.Error()
		} else {
			a.Sample = sample
		}
		if err := answers.Encode(a); err != nil {
			return err
		}
	}
}

func take(suites []measure.Suite, q request) (measure.Sample, error) {
	for i := range suites {
		if suites[i].Name != q.Suite {
			continue
		}
		if c := suites[i].Find(q.Case); c != nil {
			if rival := c.Find(q.Rival); rival != nil {
				return rival.Sample(q.Config)
			}
		}
	}
	return measure.Sample{}, fmt.Errorf("there is no rival %s in case %s of suite %s", q.Rival, q.Case, q.Suite)
}

// child is a running child, as the parent sees it.
type child struct {
	command *exec.Cmd
	stdin   io.WriteCloser
	in      *json.Encoder
	out     *json.Decoder

	memoryLimit string
}

// start starts a child under a memory limit, if one is given. It is killed when
// the context ends.
func start(ctx context.Context, memoryLimit string, stderr io.Writer) (*child, error) {
	executable, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, executable, ChildArgument)
	command.Env = os.Environ()
	if memoryLimit != "" {
		command.Env = append(command.Env, "GOMEMLIMIT="+memoryLimit)
	}
	command.Stderr = stderr
	command.SysProcAttr = apart
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
	return &child{command, stdin, json.NewEncoder(stdin), json.NewDecoder(bufio.NewReader(stdout)), memoryLimit}, nil
}

// sample asks for one sample and waits for it.
func (c *child) sample(q request) (measure.Sample, error) {
	var a answer
	err := c.in.Encode(q)
	if err == nil {
		err = c.out.Decode(&a)
	}
	if err != nil {
		if ended := c.stop(); ended != nil {
			err = ended // says more than that the pipe is closed
		}
		return measure.Sample{}, fmt.Errorf("the measuring process broke off: %w", err)
	}
	if a.Error != "" {
		return measure.Sample{}, errors.New(a.Error)
	}
	return a.Sample, nil
}

// stop ends the child and waits for it. Stopping twice does nothing.
func (c *child) stop() error {
	if c.command.ProcessState != nil {
		return nil
	}
	_ = c.stdin.Close()
	return c.command.Wait()
}
