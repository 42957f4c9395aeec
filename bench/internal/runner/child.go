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

// ChildArgument as the first argument of the command makes it a child: a process
// that takes one sample and does nothing else. The parent draws and writes only
// while there is none.
const ChildArgument = "child"

// request asks a child for a sample.
type request struct {
	Suite, Case, Rival string
	Config             Config
}

// Serve is the work of a child: it takes the sample that its second argument asks
// for, and writes it.
func Serve(suites []Suite, arguments []string, out io.Writer) error {
	signal.Ignore(os.Interrupt) // where Ctrl-C is for all processes, the parent decides
	var q request
	if len(arguments) != 2 || json.Unmarshal([]byte(arguments[1]), &q) != nil {
		return errors.New("a child wants a request")
	}
	for i := range suites {
		if c := suites[i].Find(q.Case); c != nil && suites[i].Name == q.Suite {
			sample, err := c.Find(q.Rival).Sample(q.Config)
			if err != nil {
				return err
			}
			return json.NewEncoder(out).Encode(sample)
		}
	}
	return fmt.Errorf("there is no case %s in suite %s", q.Case, q.Suite)
}

// take takes a sample in a child, under a memory limit if one is given. The child
// is killed when the context ends.
func (q request) take(ctx context.Context, memoryLimit string, stderr io.Writer) (sample Sample, err error) {
	executable, err := os.Executable()
	if err != nil {
		return sample, err
	}
	text, err := json.Marshal(q)
	if err != nil {
		return sample, err
	}
	command := exec.CommandContext(ctx, executable, ChildArgument, string(text))
	if memoryLimit != "" {
		command.Env = append(os.Environ(), "GOMEMLIMIT="+memoryLimit)
	}
	command.Stderr, command.SysProcAttr = stderr, apart
	answer, err := command.Output()
	if err == nil {
		err = json.Unmarshal(answer, &sample)
	}
	if err != nil {
		err = fmt.Errorf("suite %s, case %s, %s: the measuring process broke off: %w", q.Suite, q.Case, q.Rival, err)
	}
	return sample, err
}
