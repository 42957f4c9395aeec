package suites

import (
	"encoding/binary"
	"fmt"

	"github.com/poolswap/poolswap/bench/internal/rivals"
)

// catalogue is the object of a steady service: records in one slice of bytes, and
// an index by key.
type catalogue struct {
	data  []byte
	index map[string]uint32 // where the record of a key begins, in records
}

const (
	catalogueRecords = 380_000 // 200 MiB with the index
	recordBytes      = 512
)

// catalogueFunctions make catalogues of n records. Each record begins with its
// number, then the number of the fill, which ends it too.
func catalogueFunctions(n int) *rivals.Functions[catalogue] {
	keys := newEntries(n).keys
	var text [recordBytes]byte
	for i := range text {
		text[i] = 'a' + byte(i%26)
	}
	var fills uint64
	return &rivals.Functions[catalogue]{
		New: func() catalogue {
			return catalogue{make([]byte, 0, n*recordBytes), make(map[string]uint32, n)}
		},
		Reset: func(c *catalogue) {
			c.data = c.data[:0]
			clear(c.index)
		},
		Fill: func(c *catalogue) {
			fills++
			binary.NativeEndian.PutUint64(text[8:], fills)
			binary.NativeEndian.PutUint64(text[recordBytes-8:], fills)
			for i, key := range keys {
				binary.NativeEndian.PutUint64(text[:], uint64(i))
				c.data = append(c.data, text[:]...)
				c.index[key] = uint32(i)
			}
		},
	}
}

// look reads the record of the key of that number. It returns an error if a
// writer has the object.
func (c *catalogue) look(key string, number int) error {
	at, ok := c.index[key]
	if !ok || len(c.data) < int(at+1)*recordBytes {
		return fmt.Errorf("%s is not in the object that a reader holds", key)
	}
	record := c.data[at*recordBytes:][:recordBytes]
	found := binary.NativeEndian.Uint64(record)
	begins, ends := binary.NativeEndian.Uint64(record[8:]), binary.NativeEndian.Uint64(record[recordBytes-8:])
	if found != uint64(number) || begins != ends {
		return fmt.Errorf("%s leads to record %d, which begins with fill %d and ends with fill %d", key, found, begins, ends)
	}
	return nil
}
