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
	"setup":    {"", "prepare a server that is not of fleetd", setup},
	"keep":     {"", "guard canaries and delete old content of a fleet that is elsewhere", keepElsewhere},
	"key":      {"FILE", "make a key that signs, and print the public one for replicas", newKey},
	"names":    {"", "list the names under which something was published", names},
	"page":     {"", "serve the page of a fleet that is elsewhere", servePage},
	"publish":  {"NAME FILE", "store a file and make it what every replica wants", publish},
	"store":    {"NAME FILE", "store a file for a canary", storeFile},
	"status":   {"NAME", "show what replicas are to run, and run", status},
	"history":  {"NAME", "show the changes, the oldest first", history},
	"stored":   {"NAME", "list the revisions that are stored", stored},
	"canary":   {"NAME REVISION [ID...]", "let some replicas run a revision", canary},
	"promote":  {"NAME", "make the canary stable", promote},
	"rollback": {"NAME [REVISION]", "end a canary, or go back to what was stable before", rollback},
	"pin":      {"NAME ID REVISION", "let one replica run a revision", pin},
	"unpin":    {"NAME ID", "end a pin", unpin},
	"pause":    {"NAME", "let every replica stay with what it runs", pause},
	"resume":   {"NAME", "end a pause", resume},
	"verify":   {"NAME", "read every stored revision and check its bytes", verify},
	"password": {"ID", "print the password of the user replica/ID, who writes the reports of that replica alone", userOf},
	"backup":   {"NAME FILE", "write plan, history and content to a file", backup},
	"restore":  {"NAME FILE", "bring back what a backup has, where nothing was published", restore},
	"retain":   {"NAME", "delete old content", retain},
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
		fmt.Fprintf(c.flags.Output(), "usage: fleetd %s [flags] %s\n%s\n", args[0], cmd.arguments, cmd.does)
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
		fmt.Fprintf(w, "  %-34s %s\n", name+" "+commands[name].arguments, commands[name].does)
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
		fmt.Fprintf(c.stderr, "fleetd: %d arguments, want %s\n", len(plain), span(least, most))
		c.flags.Usage()
		return nil, errUsage
	}
	return plain, nil
}

func span(least, most int) string {
	switch {
	case least == most:
		return fmt.Sprint(least)
	case most == many:
		return fmt.Sprintf("at least %d", least)
	}
	return fmt.Sprintf("%d to %d", least, most)
}

// many is a number of arguments that is not bounded.
const many = 1 << 20
