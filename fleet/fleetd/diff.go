package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/poolswap/poolswap/oplog/lthash"
)

// diff prints the operations that make one file of rows out of another.
func diff(ctx context.Context, c *call) error {
	name := c.flags.String("format", "lines", "`format` of the files: lines, csv, or jsonl for a JSON object a line")
	key := c.flags.String("key", "", "`field` that is the key of a row (default the first column of csv, id of jsonl)")
	args, err := c.parse(2, 2)
	if err != nil {
		return err
	}
	format, err := newRowFormat(*name, *key)
	if err == nil && args[0] == "-" && args[1] == "-" {
		err = errors.New("fleetd: OLD and NEW cannot both be the standard input")
	}
	if err != nil {
		fmt.Fprintln(c.stderr, plain(err.Error()))
		return errUsage
	}
	d := newDelta()
	if err := c.eachRow(ctx, format, args[0], d.addOld); err != nil {
		return err
	}
	if err := c.eachRow(ctx, format, args[1], d.addNew); err != nil {
		return err
	}
	d.addRemoved()
	if err := d.write(c.stdout, format); err != nil {
		return fmt.Errorf("fleetd: %w", err)
	}
	return nil
}

// eachRow calls do with each row of a file, or of the standard input.
func (c *call) eachRow(ctx context.Context, format rowFormat, name string, do func(row) error) error {
	content := c.stdin
	if name == "-" {
		name = "standard input"
	} else {
		file, err := os.Open(name)
		if err != nil {
			return fmt.Errorf("fleetd: %w", err)
		}
		defer file.Close()
		content = file
	}
	return format.read(newRowFile(name, content), until(ctx, do))
}

// until returns do, which fails once ctx has ended.
func until(ctx context.Context, do func(row) error) func(row) error {
	return func(r row) error {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("fleetd: %w", err)
		}
		return do(r)
	}
}

// delta finds the rows that differ between two files. It has the keys of both, but of
// the text only that of rows that were set.
type delta struct {
	index map[string]int // by key, where rows has it
	rows  []knownRow
	ops   []operation
	state lthash.Hash // of the new rows
	news  int         // their number
}

func newDelta() *delta { return &delta{index: map[string]int{}} }

// knownRow is a row of one or both files.
type knownRow struct {
	digest   [16]byte // of its text in the old file
	old, new int      // its line in each file, or 0
}

// operation sets or removes a row.
type operation struct {
	key, text string
	removed   bool
}

// known returns what is known of the row with a key, until its next call.
func (d *delta) known(key []byte) *knownRow {
	i, ok := d.index[string(key)]
	if !ok {
		i = len(d.rows)
		d.index[string(key)] = i
		d.rows = append(d.rows, knownRow{})
	}
	return &d.rows[i]
}

// addOld adds a row of the old file.
func (d *delta) addOld(r row) error {
	k := d.known(r.key)
	if k.old != 0 {
		return r.twice(k.old)
	}
	k.old, k.digest = r.line, digestOf(r.text)
	return nil
}

// change changes a row of the old file.
func (d *delta) change(r row, removed bool) error {
	k := d.known(r.key)
	if k.old, k.digest = r.line, digestOf(r.text); removed {
		k.old = 0
	}
	return nil
}

// addNew adds a row of the new file, after all of the old one.
func (d *delta) addNew(r row) error {
	k := d.known(r.key)
	if k.new != 0 {
		return r.twice(k.new)
	}
	k.new = r.line
	d.state.Add(r.hash)
	d.news++
	if k.old == 0 || k.digest != digestOf(r.text) {
		d.ops = append(d.ops, operation{key: string(r.key), text: string(r.text)})
	}
	return nil
}

// addRemoved adds the operations for rows that only the old file has, after all rows.
func (d *delta) addRemoved() {
	for key, i := range d.index {
		if d.rows[i].new == 0 && d.rows[i].old != 0 {
			d.ops = append(d.ops, operation{key: key, removed: true})
		}
	}
}

// write writes the operations, sorted by key.
func (d *delta) write(to io.Writer, format rowFormat) error {
	slices.SortFunc(d.ops, func(a, b operation) int { return strings.Compare(a.key, b.key) })
	w := bufio.NewWriter(to)
	fmt.Fprint(w, format.head())
	for _, op := range d.ops {
		if op.removed {
			fmt.Fprintln(w, format.remove(op.key))
		} else {
			fmt.Fprintln(w, format.set(op.key, op.text))
		}
	}
	return w.Flush() // returns the first error
}

// digestOf returns 16 bytes of the SHA-256 of a row: they differ for rows that differ,
// also if somebody makes rows to deceive.
func digestOf(text []byte) [16]byte {
	sum := sha256.Sum256(text)
	return [16]byte(sum[:])
}
