package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
)

// ChildArgument as the only argument of the command makes it a child: a process
// that measures and does nothing else. It takes one request at a time from its
// standard input and answers on its standard output, so the parent draws and
// writes only while nothing is measured.
const ChildArgument = "child"

// request asks a child for one sample.
type request struct {
	Suite, Case, Rival string
	Config             Config
}

// answer is the answer of the child.
type answer struct {
	Sample Sample
	Error  string
}

// Serve is what a child does: it answers requests until its input ends.
func Serve(suites []Suite, in io.Reader, out io.Writer) error {
	signal.Ignore(os.Interrupt) // where Ctrl-C is for all processes, the parent decides
	requests, answers := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var q request
		if err := requests.Decode(&q); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		var a answer
		var err error
		if a.Sample, err = take(suites, q); err != nil {
			a = answer{Error: err.Error()}
		}
		if err := answers.Encode(a); err != nil {
			return err
		}
	}
}

func take(suites []Suite, q request) (Sample, error) {
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
	return Sample{}, fmt.Errorf("there is no rival %s in case %s of suite %s", q.Rival, q.Case, q.Suite)
}

// child is a running child, as the parent sees it.
type child struct {
	command *exec.Cmd
	stdin   io.WriteCloser
	in      *json.Encoder
	out     *json.Decoder
}

// start starts a child under a memory limit, if one is given. It is killed when
// the context ends.
func start(ctx context.Context, memoryLimit string, stderr io.Writer) (*child, error) {
	executable, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, executable, ChildArgument)
	if memoryLimit != "" {
		command.Env = append(os.Environ(), "GOMEMLIMIT="+memoryLimit)
	}
	command.Stderr, command.SysProcAttr = stderr, apart
	stdin, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &child{command, stdin, json.NewEncoder(stdin), json.NewDecoder(stdout)}, command.Start()
}

// sample asks for one sample and waits for it.
func (c *child) sample(q request) (Sample, error) {
	var a answer
	err := c.in.Encode(q)
	if err == nil {
		err = c.out.Decode(&a)
	}
	if err != nil {
		if ended := c.stop(); ended != nil {
			err = ended // says more than that the pipe is closed
		}
		return Sample{}, fmt.Errorf("the measuring process broke off: %w", err)
	}
	if a.Error != "" {
		return Sample{}, errors.New(a.Error)
	}
	return a.Sample, nil
}

// stop ends the child and waits for it. Stopping nil, or twice, does nothing.
func (c *child) stop() error {
	if c == nil || c.command.ProcessState != nil {
		return nil
	}
	_ = c.stdin.Close()
	return c.command.Wait()
}
