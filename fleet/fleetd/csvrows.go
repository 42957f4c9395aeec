package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"slices"

	"github.com/poolswap/poolswap/oplog/lthash"
)

// csvRows are the rows of CSV files with the same header.
type csvRows struct {
	key    string   // the name of its column, or "" for the first
	column int      // where it is
	header []string // of the first file that was read
	first  string   // its name
	hash   []byte   // of the last row
	text   bytes.Buffer
	writer *csv.Writer // to text
}

func newCSVRows(key string) *csvRows {
	c := &csvRows{key: key}
	c.writer = csv.NewWriter(&c.text)
	return c
}

func (c *csvRows) read(f *rowFile, do func(row) error) error {
	text := newCSVText(f)
	line, record, err := text.record()
	if errors.Is(err, io.EOF) {
		return f.at(1, "there is no header")
	}
	if err == nil {
		err = c.checkHeader(f, line, record)
	}
	for err == nil {
		if line, record, err = text.record(); err == nil {
			err = c.do(f, line, record, do)
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// checkHeader finds the key in the header of the first file. That of the second must be
// the same.
func (c *csvRows) checkHeader(f *rowFile, line int, header []string) error {
	if c.header != nil {
		if !slices.Equal(c.header, header) {
			return f.at(line, "the header is another one than that of %s", c.first)
		}
		return nil
	}
	c.header, c.first = slices.Clone(header), f.name
	if c.key == "" {
		c.key = header[0]
	}
	c.column = slices.Index(header, c.key)
	switch {
	case c.column < 0:
		return f.at(line, "the header has no column %q", c.key)
	case slices.Contains(header[c.column+1:], c.key):
		return f.at(line, "the header has the column %q twice", c.key)
	}
	return nil
}

func (c *csvRows) do(f *rowFile, line int, record []string, do func(row) error) error {
	key := record[c.column]
	if key == "" {
		return f.at(line, "the column %q is empty", c.key)
	}
	c.hash = lthash.AppendRow(c.hash[:0], record...)
	return do(row{file: f, line: line, key: []byte(key), text: c.line(record), hash: c.hash})
}

func (c *csvRows) readDelta(f *rowFile, do func(row, bool) error) error {
	text := newCSVText(f)
	line, record, err := text.record()
	if err == nil && record[0] != "op" {
		err = f.at(line, "the header of a delta begins with op")
	}
	if err == nil {
		err = c.checkHeader(f, line, record[1:])
	}
	for err == nil {
		if line, record, err = text.record(); err == nil {
			if record[0] != "set" && record[0] != "delete" {
				return f.at(line, "the op is %.100q", record[0])
			}
			removed := record[0] == "delete"
			err = c.do(f, line, record[1:], func(r row) error { return do(r, removed) })
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// line returns the line of a record without its end, until the next call.
func (c *csvRows) line(record []string) []byte {
	c.text.Reset()
	_ = c.writer.Write(record) // a Buffer takes all
	c.writer.Flush()
	return bytes.TrimSuffix(c.text.Bytes(), []byte("\n"))
}

func (c *csvRows) head() string { return "op," + string(c.line(c.header)) + "\n" }

func (c *csvRows) set(_, text string) string { return "set," + text }

func (c *csvRows) remove(key string) string {
	record := make([]string, len(c.header))
	record[c.column] = key
	return "delete," + string(c.line(record))
}

// csvText gives a csv.Reader a line when it needs one, so that it knows the size and the
// first line of the record that the csv.Reader reads.
type csvText struct {
	file   *rowFile
	reader *csv.Reader
	rest   []byte // of the last line
	start  int    // the line where the record, or an empty line before it, begins
	size   int
}

func newCSVText(f *rowFile) *csvText {
	t := &csvText{file: f}
	t.reader = csv.NewReader(t)
	t.reader.ReuseRecord = true
	return t
}

// record returns a record until the next call, and its first line, or io.EOF.
func (t *csvText) record() (line int, record []string, err error) {
	t.start, t.size = t.file.line+1, 0
	record, err = t.reader.Read()
	if wrong := new(csv.ParseError); errors.As(err, &wrong) {
		err = t.file.at(wrong.StartLine, "%w", wrong.Err)
	}
	if err != nil {
		return 0, nil, err
	}
	line, _ = t.reader.FieldPos(0)
	return line, record, nil
}

// Read implements io.Reader.
func (t *csvText) Read(p []byte) (int, error) {
	if len(t.rest) == 0 {
		line, err := t.file.next()
		if err != nil {
			return 0, err
		}
		t.rest = append(line, '\n') // where the end of the line was
		if t.size += len(t.rest); t.size > maxRow {
			return 0, t.file.tooLong(t.start)
		}
	}
	n := copy(p, t.rest)
	t.rest = t.rest[n:]
	return n, nil
}
