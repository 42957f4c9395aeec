package main

import (
	"bytes"
	"errors"
)

// columns is how many fields a row has: first address, last address, number of
// the autonomous system, name.
const columns = 4

var (
	errQuoteOpen  = errors.New(`a quoted field does not end on its line`)
	errQuoteBare  = errors.New(`a " inside a field that is not quoted`)
	errQuoteAfter = errors.New(`something follows the closing " of a field`)
)

// split cuts a line into its comma-separated fields, the quoted ones unquoted
// in place, and returns how many there are; those beyond the columns are only
// counted. The fields are parts of line.
func split(line []byte, fields *[columns][]byte) (n int, err error) {
	for more := true; more; n++ {
		var field []byte
		if len(line) > 0 && line[0] == '"' {
			field, line, more, err = quoted(line[1:])
		} else {
			field, line, more = bytes.Cut(line, comma)
			if bytes.IndexByte(field, '"') >= 0 {
				err = errQuoteBare
			}
		}
		if err != nil {
			return 0, err
		}
		if n < columns {
			fields[n] = field
		}
	}
	return n, nil
}

var comma = []byte{','}

// quoted cuts off the field that ends at the next lone quote: a doubled one
// stands for a quote in the field. What precedes it is moved together over the
// line itself.
func quoted(line []byte) (field, rest []byte, more bool, err error) {
	size := 0 // of the field, unquoted
	for from := 0; ; {
		i := bytes.IndexByte(line[from:], '"')
		if i < 0 {
			return nil, nil, false, errQuoteOpen
		}
		size += copy(line[size:], line[from:from+i])
		from += i + 1
		switch {
		case from == len(line):
			return line[:size], nil, false, nil
		case line[from] == ',':
			return line[:size], line[from+1:], true, nil
		case line[from] == '"':
			line[size] = '"'
			size++
			from++
		default:
			return nil, nil, false, errQuoteAfter
		}
	}
}
