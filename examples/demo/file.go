package main

import (
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"slices"
	"strconv"
)

// readFile returns the encoded rows of a CSV file.
func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	encoded, err := readCSV(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return encoded, nil
}

// readCSV encodes lines of first address, last address and number; it ignores
// further fields. The ranges must ascend. A published table has some that begin
// inside the one before, which they cut short.
func readCSV(in io.Reader) (encoded []byte, err error) {
	lines := csv.NewReader(in)
	lines.ReuseRecord = true
	lines.FieldsPerRecord = -1
	for before := (row{}); ; {
		fields, err := lines.Read()
		switch {
		case errors.Is(err, io.EOF) && encoded == nil:
			return nil, errors.New("there is no range in it")
		case errors.Is(err, io.EOF):
			return slices.Clip(encoded), nil
		case err != nil:
			return nil, err // with the line
		}
		r, err := parseRow(fields)
		if err == nil && encoded != nil && r.first <= before.first {
			err = errors.New("the range does not begin behind the one before")
		}
		if err != nil {
			line, _ := lines.FieldPos(0)
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		if encoded != nil && r.first <= before.last {
			binary.LittleEndian.PutUint32(encoded[len(encoded)-encodedRow+4:], r.first-1)
		}
		encoded = appendRow(encoded, r.first, r.last, r.number)
		before = r
	}
}

func parseRow(fields []string) (r row, err error) {
	if len(fields) < 3 {
		return row{}, fmt.Errorf("%d fields, want at least 3: start,end,number", len(fields))
	}
	if r.first, err = parseAddress(fields[0]); err != nil {
		return row{}, err
	}
	if r.last, err = parseAddress(fields[1]); err != nil {
		return row{}, err
	}
	number, err := strconv.ParseUint(fields[2], 10, 32)
	switch {
	case err != nil:
		return row{}, fmt.Errorf("%.40q is not a number of 32 bits", fields[2])
	case r.last < r.first:
		return row{}, fmt.Errorf("%s - %s is not a range", fields[0], fields[1])
	}
	r.number = uint32(number)
	return r, nil
}

func parseAddress(text string) (uint32, error) {
	address, err := netip.ParseAddr(text)
	if err != nil || !address.Is4() {
		return 0, fmt.Errorf("%.40q is not an IPv4 address", text)
	}
	bytes := address.As4()
	return binary.BigEndian.Uint32(bytes[:]), nil
}
