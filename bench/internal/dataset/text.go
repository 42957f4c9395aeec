// Package dataset holds a real table, as text, and two ways to decode it.
package dataset

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/pierrec/lz4/v4"
)

// Synthetic is the source of a text that is not real.
const Synthetic = "synthetic package index"

// Text returns the text of a package index with that many records, and where it
// is from. The text is read or made once for each number of records.
func Text(records int) (text []byte, source string, err error) {
	cache.Lock()
	defer cache.Unlock()
	if cache.text == nil || cache.records != records {
		if cache.text, cache.source, err = read(records); err != nil {
			return nil, cache.source, err
		}
		cache.records = records
	}
	return cache.text, cache.source, nil
}

var cache struct {
	sync.Mutex
	records int
	text    []byte
	source  string
}

// read looks for the largest package index that apt has fetched.
func read(records int) (text []byte, source string, err error) {
	var largest string
	var size int64
	files, _ := filepath.Glob("/var/lib/apt/lists/*_Packages*")
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && info.Size() > size && (strings.HasSuffix(file, "_Packages") || strings.HasSuffix(file, ".lz4")) {
			largest, size = file, info.Size()
		}
	}
	if largest != "" {
		text, err := readIndex(largest, records)
		if err != nil || bytes.Count(text, []byte("\n\n")) == records {
			return text, largest, err
		}
	}
	return synthesize(records), Synthetic, nil
}

// readIndex returns the first records of a file.
func readIndex(file string, records int) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var in io.Reader = f
	if strings.HasSuffix(file, ".lz4") {
		in = lz4.NewReader(f)
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	end := 0
	for range records {
		i := bytes.Index(text[end:], []byte("\n\n"))
		if i < 0 {
			break
		}
		end += i + 2
	}
	return bytes.Clone(text[:end]), nil
}

// synthesize makes records with the fields of a package index and values of
// about the same lengths.
func synthesize(records int) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	word := func(least, most int) string {
		letters := make([]byte, least+random.IntN(most-least+1))
		for i := range letters {
			letters[i] = byte('a' + random.IntN(26))
		}
		return string(letters)
	}
	for i := range records {
		_, _ = fmt.Fprintf(&b, "Package: %s-%d\nVersion: %d.%d.%d-%d\nInstalled-Size: %d\nMaintainer: %s %s <%s@example.org>\nArchitecture: amd64\n",
			word(4, 16), i, random.IntN(9), random.IntN(20), random.IntN(20), random.IntN(9), random.IntN(90000), word(4, 9), word(4, 12), word(6, 20))
		_, _ = fmt.Fprintf(&b, "Depends: %s, %s, %s\nDescription: %s %s %s %s\nSection: %s\nPriority: optional\nFilename: pool/main/%s/%s.deb\nSize: %d\nSHA256: %s\n\n",
			word(5, 20), word(5, 20), word(5, 20), word(3, 9), word(3, 9), word(3, 9), word(3, 9), word(4, 8), word(4, 16), word(10, 30), random.IntN(9e6), word(64, 64))
	}
	return b.Bytes()
}
