package typedpool_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/poolswap/poolswap/typedpool"
)

var midnight = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// A line of a log without a pool: two allocations, one for the text of the time
// and one for the bytes of the buffer.
func Example_logLineWithoutPool() {
	log := func(w io.Writer, t time.Time, key, value string) {
		var b bytes.Buffer
		b.WriteString(t.Format(time.TimeOnly))
		fmt.Fprintf(&b, " %s=%s\n", key, value)
		w.Write(b.Bytes())
	}
	log(os.Stdout, midnight, "path", "/search")
	// Output: 00:00:00 path=/search
}

// A line of a log with a pooled buffer: the bytes of the buffer are recycled,
// the text of the time is allocated still.
func Example_logLineWithPool() {
	buffers := typedpool.New(func() *bytes.Buffer { return new(bytes.Buffer) })
	log := func(w io.Writer, t time.Time, key, value string) {
		b := buffers.Get()
		b.Reset()
		b.WriteString(t.Format(time.TimeOnly))
		fmt.Fprintf(b, " %s=%s\n", key, value)
		w.Write(b.Bytes())
		buffers.Put(b)
	}
	log(os.Stdout, midnight, "path", "/search")
	// Output: 00:00:00 path=/search
}

// A line of a log without an allocation: AvailableBuffer lends the room that the
// buffer has left, AppendFormat fills it, and Write finds the bytes in their
// place already.
func ExampleBuffers() {
	var lines typedpool.Buffers
	log := func(w io.Writer, t time.Time, key, value string) {
		b := lines.Get()
		b.Write(t.AppendFormat(b.AvailableBuffer(), time.TimeOnly))
		b.WriteByte(' ')
		b.WriteString(key)
		b.WriteByte('=')
		b.WriteString(value)
		b.WriteByte('\n')
		w.Write(b.Bytes())
		lines.Put(b)
	}
	log(os.Stdout, midnight, "path", "/search")
	log(os.Stdout, midnight.Add(time.Second), "status", "200")
	// Output:
	// 00:00:00 path=/search
	// 00:00:01 status=200
}

// Reading into a pooled buffer. The text is copied out before the buffer goes
// back, because the bytes go with it.
func ExampleBuffers_read() {
	buffers := typedpool.NewBuffers(1 << 20)
	read := func(r io.Reader) (string, error) {
		b := buffers.Get()
		defer buffers.Put(b)
		if _, err := b.ReadFrom(r); err != nil {
			return "", err
		}
		return b.String(), nil
	}
	text, err := read(strings.NewReader("hello, pooled world"))
	fmt.Println(text, err)
	// Output: hello, pooled world <nil>
}

// A slab of records: one array takes in a whole file and is recycled for the
// next.
func ExampleSlices() {
	type record struct{ from, to, owner uint32 }
	var slabs typedpool.Slices[record]

	largest := func(file string) (owner uint32) {
		records := slabs.Get(100)
		defer func() { slabs.Put(records) }() // as append has left it
		for line := range strings.Lines(file) {
			var r record
			fmt.Sscan(line, &r.from, &r.to, &r.owner)
			records = append(records, r)
		}
		var best record
		for _, r := range records {
			if r.to-r.from > best.to-best.from {
				best = r
			}
		}
		return best.owner
	}
	fmt.Println(largest("0 9 7\n10 99 8\n100 120 9\n"))
	fmt.Println(largest("0 3 1\n4 5 2\n"))
	// Output:
	// 8
	// 1
}

// A pool that resets its objects and does not keep the largest.
func ExampleNewWithOptions() {
	type scratch struct {
		words  []string
		counts map[string]int
	}
	scratches := typedpool.NewWithOptions(
		func() *scratch { return &scratch{counts: make(map[string]int)} },
		typedpool.Options[scratch]{
			Reset: func(s *scratch) bool {
				clear(s.words) // do not keep the strings alive
				s.words = s.words[:0]
				clear(s.counts)
				return true
			},
			Size:    func(s *scratch) int { return cap(s.words) },
			MaxSize: 10_000,
		})
	repeated := func(text string) string {
		s := scratches.Get()
		defer scratches.Put(s)
		words := bufio.NewScanner(strings.NewReader(text))
		words.Split(bufio.ScanWords)
		for words.Scan() {
			s.words = append(s.words, words.Text())
			s.counts[words.Text()]++
		}
		for _, word := range s.words {
			if n := s.counts[word]; n > 1 {
				return word + " " + strconv.Itoa(n)
			}
		}
		return "none"
	}
	fmt.Println(repeated("to be or not to be"))
	fmt.Println(repeated("that is the question"))
	// Output:
	// to 2
	// none
}
