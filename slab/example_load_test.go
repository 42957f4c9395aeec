package slab_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/slab"
)

// loader loads files into maps that are loaded again and again. It keeps the buffers of
// a row: a row allocates nothing, a file a little.
type loader struct {
	row struct {
		Code text `json:"code"`
		Name text `json:"name"`
	}
	buffer [4096]byte
}

// text is a string that json decodes into memory that is there, where it would make a
// string each time.
type text []byte

func (t *text) UnmarshalText(b []byte) error {
	*t = append((*t)[:0], b...)
	return nil
}

// jsonLines loads objects, one after the other.
func (l *loader) jsonLines(file io.Reader, names *slab.Strings) error {
	objects := json.NewDecoder(file)
	for {
		l.row.Code, l.row.Name = l.row.Code[:0], l.row.Name[:0]
		switch err := objects.Decode(&l.row); {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		names.SetBytes(l.row.Code, l.row.Name)
	}
}

// csv loads lines of two fields that need no quotes. The loop over them keeps its error.
func (l *loader) csv(file io.Reader, names *slab.Strings) (err error) {
	lines := bufio.NewScanner(file)
	lines.Buffer(l.buffer[:], bufio.MaxScanTokenSize)
	names.SetAllBytes(func(yield func(code, name []byte) bool) {
		for lines.Scan() {
			code, name, ok := bytes.Cut(lines.Bytes(), []byte(","))
			if !ok || bytes.ContainsAny(lines.Bytes(), `"`) {
				err = fmt.Errorf("not two fields without quotes: %q", lines.Bytes())
				return
			}
			yield(code, name)
		}
		err = lines.Err()
	})
	return err
}

func ExampleStrings_jsonLines() {
	var (
		l     loader
		names slab.Strings
	)
	file := `{"code": "is", "name": "Iceland"}
{"code": "ci", "name": "C\u00f4te d'Ivoire"}
`
	fmt.Println(l.jsonLines(strings.NewReader(file), &names))
	fmt.Println(names.Get("ci"))
	// Output:
	// <nil>
	// Côte d'Ivoire true
}

func ExampleStrings_csv() {
	var (
		l     loader
		names slab.Strings
	)
	fmt.Println(l.csv(strings.NewReader("is,Iceland\nie,Ireland\n"), &names))
	fmt.Println(names.Get("ie"))
	fmt.Println(l.csv(strings.NewReader("fr,France\nbroken\n"), &names))
	// Output:
	// <nil>
	// Ireland true
	// not two fields without quotes: "broken"
}

// TestLoadsAllocateForAFileAndNotForARow compares files of 10 and of 1,000 rows.
func TestLoadsAllocateForAFileAndNotForARow(t *testing.T) {
	if debugging {
		t.Skip("each life has mappings of its own")
	}
	for name, format := range map[string]struct {
		row  string
		load func(*loader, io.Reader, *slab.Strings) error
	}{
		"JSON": {`{"code": "key %d", "name": "value"}` + "\n", (*loader).jsonLines},
		"CSV":  {"key %d,value\n", (*loader).csv},
	} {
		var l loader
		var names slab.Strings
		allocations := func(rows int) float64 {
			var file strings.Builder
			for n := range rows {
				fmt.Fprintf(&file, format.row, n)
			}
			load := func() {
				names.Reset()
				if err := format.load(&l, strings.NewReader(file.String()), &names); err != nil || names.Len() != rows {
					t.Fatalf("%s: %d rows, %v", name, names.Len(), err)
				}
			}
			load()
			return testing.AllocsPerRun(10, load)
		}
		if few, many := allocations(10), allocations(1000); many > few+10 {
			t.Errorf("%s: 1,000 rows take %v allocations, 10 take %v", name, many, few)
		}
	}
}
