package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxRow is the most bytes of a row, with the end of its line.
const maxRow = 1 << 20

// rowFormat is how a file has rows, and a delta has changes.
type rowFormat interface {
	read(f *rowFile, do func(row) error) error
	readDelta(f *rowFile, do func(r row, removed bool) error) error // which write wrote
	head() string                                                   // the begin of a delta, with the end of its line
	set(key, text string) string
	remove(key string) string
}

func newRowFormat(name, key string) (rowFormat, error) {
	switch name {
	case "lines":
		if key != "" {
			return nil, errors.New("fleetd: a key is for csv and jsonl: in lines, the line is the key")
		}
		return lineRows{}, nil
	case "csv":
		return newCSVRows(key), nil
	case "jsonl":
		if key == "" {
			key = "id"
		}
		return &jsonRows{key: key}, nil
	}
	return nil, fmt.Errorf("fleetd: the format of rows is lines, csv or jsonl, not %q", name)
}

// row is a row of a file. Its bytes are good until the next one is read.
type row struct {
	file *rowFile
	line int
	key  []byte
	text []byte // what a delta has of it beside the key
	hash []byte // what the digest of the rows is made from
}

// twice returns the error of a row whose key an earlier line has.
func (r row) twice(earlier int) error {
	return r.file.at(r.line, "the key of the row is on line %d, too", earlier)
}

// rowFile is a file that is read by lines.
type rowFile struct {
	name    string
	scanner *bufio.Scanner
	line    int // the number of the last one
}

func newRowFile(name string, content io.Reader) *rowFile {
	f := &rowFile{name: name, scanner: bufio.NewScanner(content)}
	f.scanner.Buffer(make([]byte, 64<<10), maxRow)
	return f
}

// at returns an error in a line.
func (f *rowFile) at(line int, format string, args ...any) error {
	return fmt.Errorf("fleetd: %s:%d: %w", f.name, line, fmt.Errorf(format, args...))
}

// next returns a line without its end, or io.EOF.
func (f *rowFile) next() ([]byte, error) {
	f.line++
	if !f.scanner.Scan() {
		switch err := f.scanner.Err(); {
		case err == nil:
			return nil, io.EOF
		case errors.Is(err, bufio.ErrTooLong):
			return nil, f.tooLong(f.line)
		default:
			return nil, f.at(f.line, "%w", err)
		}
	}
	text := f.scanner.Bytes()
	if bytes.HasSuffix(text, []byte("\r")) { // a reader of the delta would take it for an end
		return nil, f.at(f.line, "the line ends with two carriage returns")
	}
	return text, nil
}

func (f *rowFile) tooLong(line int) error {
	return f.at(line, "the row is longer than %d bytes", maxRow)
}

// each calls do with each line.
func (f *rowFile) each(do func(text []byte) error) error {
	for {
		text, err := f.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = do(text)
		}
		if err != nil {
			return err
		}
	}
}

// lineRows are lines, each of which is its key.
type lineRows struct{}

func (lineRows) read(f *rowFile, do func(row) error) error {
	return f.each(func(text []byte) error {
		if len(text) == 0 {
			return f.at(f.line, "the line is empty")
		}
		return do(row{file: f, line: f.line, key: text, hash: text})
	})
}

func (lineRows) readDelta(f *rowFile, do func(row, bool) error) error {
	return f.each(func(text []byte) error {
		if len(text) < 2 || text[0] != '+' && text[0] != '-' {
			return f.at(f.line, "the line of a delta begins with + or -")
		}
		return do(row{file: f, line: f.line, key: text[1:]}, text[0] == '-')
	})
}

func (lineRows) head() string             { return "" }
func (lineRows) set(key, _ string) string { return "+" + key }
func (lineRows) remove(key string) string { return "-" + key }
