package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// turnArgument makes the command the process of one turn. The name of the way, the
// time and the size of the encoded rows follow. The process reads the rows from
// standard input, and writes its result to standard output.
const turnArgument = "turn"

// patience is how much longer than its measurement a turn may take.
const patience = 30 * time.Second

// usage is how long processes ran, and the processor time that they had.
type usage struct{ ran, had time.Duration }

// takeTurn measures a way in a process of its own, which does not outlive it, and
// adds to its usage.
func takeTurn(ctx context.Context, name string, d time.Duration, encoded []byte, stderr io.Writer, use *usage) (r result, err error) {
	program, err := os.Executable()
	if err != nil {
		return r, err
	}
	turn, cancel := context.WithTimeout(ctx, d+warmUp(d)+patience)
	defer cancel()
	process := exec.CommandContext(turn, program, turnArgument, name, d.String(), strconv.Itoa(len(encoded)))
	process.Stderr = stderr
	input, err := process.StdinPipe()
	if err != nil {
		return r, err
	}
	output, err := process.StdoutPipe()
	if err != nil {
		return r, err
	}
	start := time.Now()
	if err := process.Start(); err != nil {
		return r, err
	}
	// Wait closes the input, and not before: its end tells the process that this one
	// is gone.
	_, writeErr := input.Write(encoded)
	readErr := json.NewDecoder(output).Decode(&r)
	waitErr := process.Wait()
	if ctx.Err() != nil {
		return r, ctx.Err()
	}
	err = cmp.Or(turn.Err(), waitErr, writeErr, readErr)
	if err == nil && (r.Reads.Total == 0 || r.Took <= 0) {
		err = errors.New("no answer in that time")
	}
	if err != nil {
		return r, fmt.Errorf("the process that measures %s: %w", name, err)
	}
	use.ran += time.Since(start)
	use.had += process.ProcessState.UserTime() + process.ProcessState.SystemTime()
	return r, nil
}

// serveTurn is the process of one turn. It leaves interrupts to its parent, and
// ends when the parent ends.
func serveTurn(ways []way, arguments []string, stdin io.Reader, stdout io.Writer) error {
	signal.Ignore(os.Interrupt, syscall.SIGTERM)
	i := slices.IndexFunc(ways, func(w way) bool { return w.name == arguments[0] })
	d, timeErr := time.ParseDuration(arguments[1])
	size, sizeErr := strconv.Atoi(arguments[2])
	if i < 0 || timeErr != nil || sizeErr != nil || size < encodedRow {
		return misuse{fmt.Errorf("no such turn: %q", arguments)}
	}
	encoded := make([]byte, size)
	if _, err := io.ReadFull(stdin, encoded); err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(io.Discard, stdin)
		os.Exit(failed)
	}()
	r, err := measure(ways[i], encoded, d)
	if err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(r)
}
