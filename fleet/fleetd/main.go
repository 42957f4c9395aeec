// Command fleetd runs the server of a fleet, and publishes and steers what its
// replicas run. See README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/poolswap/poolswap/fleet"
)

// The exit codes.
const (
	exitFailed   = 1
	exitUsage    = 2
	exitConflict = 3 // another change came between
)

// errUsage is the error of arguments that are wrong. The message was printed.
var errUsage = errors.New("wrong usage")

// command is a subcommand.
type command struct {
	arguments string // as the usage shows them
	does      string
	run       func(ctx context.Context, c *call) error
}

// call is a subcommand with its flags and arguments.
type call struct {
	flags  *flag.FlagSet
	args   []string // those of the command line
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
}

var commands = map[string]command{
	"serve":    {"", "run a server", serve},
	"token":    {"make NAME | list | revoke ID", "make a token for a person or program, list or revoke tokens", token},
	"key":      {"FILE", "make a key that signs, and print the public one for replicas", newKey},
	"names":    {"", "list the names", names},
	"publish":  {"NAME FILE", "store a file and make it stable, with -steps as a rollout", publish},
	"store":    {"NAME FILE", "store a file for a canary or a rollout", storeFile},
	"diff":     {"OLD NEW", "print the operations that make one file of rows out of another", diff},
	"status":   {"NAME", "show the plan and the replicas", status},
	"history":  {"NAME", "show the changes, the oldest first", history},
	"stored":   {"NAME", "list the revisions that are stored", stored},
	"canary":   {"NAME REVISION [ID...]", "let some replicas run a revision", canary},
	"promote":  {"NAME", "make the canary stable", change(fleet.KindPromote, 0)},
	"rollout":  {"NAME REVISION", "widen a canary step by step, and go back by itself if it fails", rollout},
	"rollback": {"NAME [REVISION]", "end a canary or a rollout, or go back to the stable revision before", change(fleet.KindRollback, 0, revisionField)},
	"pin":      {"NAME ID REVISION", "let one replica run a revision", change(fleet.KindPin, 2, idField, revisionField)},
	"unpin":    {"NAME ID", "end a pin", change(fleet.KindUnpin, 1, idField)},
	"pause":    {"NAME", "let every replica stay with its revision", change(fleet.KindPause, 0)},
	"resume":   {"NAME", "end a pause", change(fleet.KindResume, 0)},
	"verify":   {"NAME", "read every stored revision and check its bytes", verify},
	"repair":   {"NAME [REVISION]", "replace a plan that cannot be read, or begin an epoch of a plan that replicas are ahead of", repair},
	"remove":   {"NAME", "remove a name with its plan, history and content", remove},
	"backup":   {"NAME FILE", "write plan and content to a file", backup},
	"restore":  {"NAME FILE", "bring back a backup, where nothing was published", restore},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the second signal ends a command that cannot stop reading a pipe
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run runs a command line and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		usage(stderr)
		return exitUsage
	}
	cmd, ok := commands[args[0]]
	if !ok {
		if args[0] == "help" || args[0] == "-h" || args[0] == "--help" {
			usage(stdout)
			return 0
		}
		fmt.Fprintf(stderr, "fleetd: there is no command %q\n", args[0])
		usage(stderr)
		return exitUsage
	}
	c := &call{flags: flag.NewFlagSet("fleetd "+args[0], flag.ContinueOnError), args: args[1:], stdin: os.Stdin, stdout: stdout, stderr: stderr}
	c.flags.SetOutput(stderr)
	c.flags.Usage = func() {
		fmt.Fprintf(c.flags.Output(), "usage: fleetd %s\n%s\n", strings.TrimSpace(args[0]+" [flags] "+cmd.arguments), cmd.does)
		c.flags.PrintDefaults()
	}
	err := cmd.run(ctx, c)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errUsage):
		return exitUsage
	}
	for line := range strings.SplitSeq(err.Error(), "\n") { // errors quote what others wrote
		fmt.Fprintln(stderr, plain(line))
	}
	if errors.Is(err, fleet.ErrConflict) {
		return exitConflict
	}
	return exitFailed
}

func usage(w io.Writer) {
	fmt.Fprintln(w, "usage: fleetd COMMAND [flags] [arguments]")
	for _, name := range slices.Sorted(maps.Keys(commands)) {
		fmt.Fprintf(w, "  %-36s %s\n", name+" "+commands[name].arguments, commands[name].does)
	}
	fmt.Fprintln(w, "fleetd COMMAND -h shows the flags. It exits with 1 after a failure, with 2 for wrong usage,\nand with 3 if another change of the plan came between.")
}

// parse parses flags, which may stand before and behind arguments, of which there
// must be least to most.
func (c *call) parse(least, most int) ([]string, error) {
	var plain []string
	for args := c.args; ; {
		if err := c.flags.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return nil, err
			}
			return nil, errUsage
		}
		if c.flags.NArg() == 0 {
			break
		}
		plain, args = append(plain, c.flags.Arg(0)), c.flags.Args()[1:]
	}
	if len(plain) < least || len(plain) > most {
		fmt.Fprintf(c.stderr, "fleetd: wrong number of arguments: %d\n", len(plain))
		c.flags.Usage()
		return nil, errUsage
	}
	return plain, nil
}

// many is a number of arguments that is not bounded.
const many = 1 << 20
