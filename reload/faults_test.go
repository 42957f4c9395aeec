package reload_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
)

// TestFaults injects faults into every call that a Reloader makes. Readers get
// complete content all the time, errors say where they come from, and nothing is
// left open.
func TestFaults(t *testing.T) { //nolint:paralleltest // it counts open files
	runs := 10_000
	if testing.Short() {
		runs = 500
	}
	dir := t.TempDir()
	if shm, err := os.MkdirTemp("/dev/shm", "reload"); err == nil { //nolint:usetesting // memory, and no disk to wait for
		dir = shm
		t.Cleanup(func() { os.RemoveAll(shm) })
	}
	stacks := []struct {
		name   string
		cached bool
		source func(*faultyOrigin) reload.Source
	}{
		{"a source", false, func(o *faultyOrigin) reload.Source { return o }},
		{"FS", false, func(o *faultyOrigin) reload.Source { return reload.FS(o, "origin") }},
		{"HTTP", false, func(o *faultyOrigin) reload.Source {
			return reload.HTTP("http://host/origin", reload.HTTPOptions{Client: &http.Client{Transport: o}, Prepare: func(*http.Request) error { return o.spoil() }})
		}},
		{"a checksum", false, (*faultyOrigin).summed},
		{"a cache", true, func(o *faultyOrigin) reload.Source { return reload.Cache(o, filepath.Join(dir, "a")) }},
		{"a cache of a checksum", true, func(o *faultyOrigin) reload.Source { return reload.Cache(o.summed(), filepath.Join(dir, "b")) }},
		{"a join", false, func(o *faultyOrigin) reload.Source { return reload.Join(o.parts()...) }},
		{"a join of caches", true, func(o *faultyOrigin) reload.Source {
			parts := o.parts()
			for i, part := range parts {
				parts[i] = reload.Cache(part, filepath.Join(dir, string(rune('c'+i))))
			}
			return reload.Join(parts...)
		}},
	}
	outcomes := map[reload.Outcome]int{}
	stages := map[reload.Stage]int{}
	number := 0
	for run := range runs {
		seed := rand.Uint64()
		o := &faultyOrigin{faults: &faults{Rand: rand.New(rand.NewPCG(seed, 0))}, number: number}
		stack := stacks[run%len(stacks)]
		checkRun(t, o, stack.source(o), stack.cached, outcomes, stages)
		number = o.number
		if t.Failed() {
			t.Fatalf("run %d, %s, seed %d", run, stack.name, seed)
		}
	}
	for _, outcome := range []reload.Outcome{reload.Loaded, reload.NotModified, reload.Failed} {
		if outcomes[outcome] < runs/10 {
			t.Errorf("%d attempts were %s", outcomes[outcome], outcome)
		}
	}
	for _, stage := range []reload.Stage{reload.Fetching, reload.Reading, reload.Loading, reload.Verifying, reload.Publishing} {
		if stages[stage] == 0 {
			t.Errorf("no attempt failed at %s", stage)
		}
	}
	if left := openBelow(dir); len(left) > 0 {
		t.Errorf("files are open: %q", left)
	}
	for _, cache := range []string{"a", "b", "c", "d", "e", "f"} {
		if names := filesIn(t, filepath.Join(dir, cache)); strings.Join(names, " ") != strings.Join(onlyTheKept, " ") {
			t.Errorf("the cache has %v", names)
		}
	}
	t.Log(outcomes, stages)
}

// openBelow returns the files below dir that the process has open, but for the locks of
// its Caches.
func openBelow(dir string) (left []string) {
	links, _ := filepath.Glob("/proc/self/fd/*")
	for _, link := range links {
		if name, err := os.Readlink(link); err == nil && strings.HasPrefix(name, dir) && !strings.HasPrefix(filepath.Base(name), "lock") {
			left = append(left, name)
		}
	}
	return left
}

// checkRun changes content and makes attempts, and checks what readers get.
func checkRun(t *testing.T, o *faultyOrigin, source reload.Source, cached bool, outcomes map[reload.Outcome]int, stages map[reload.Stage]int) {
	pool := poolswap.NewPoolWithOptions(func() *text { return new(text) }, nil, poolswap.Options[text]{Spares: 8}) // all that there are, for Stats
	c := poolswap.NewEmptyContainer(pool)
	var last reload.Event
	fresh := false // content of the origin was published
	r := reload.New(c, source, o.load, reload.Options{Logger: quiet, Observe: func(e reload.Event) {
		last = e
		fresh = fresh || e.Outcome == reload.Loaded && e.Stale == nil
	}})
	oldest := o.number
	o.change()
	var held *text
	var heldNumber int
	for range 8 {
		if o.IntN(3) == 0 {
			o.change()
		}
		before := c.Version()
		ctx, cancel := context.WithCancel(t.Context())
		o.cancel, o.spoilt, fresh = cancel, false, false
		err := r.Reload(ctx)
		cancel()
		outcomes[last.Outcome]++
		s := r.Status()
		number, tornErr := whole([]byte(current(c)))
		switch {
		case before == 0 && c.Version() == 0:
		case tornErr != nil:
			t.Errorf("readers get torn content: %v", tornErr)
		case !cached && number <= oldest || number > o.number:
			t.Errorf("readers get content %d of %d to %d", number, oldest+1, o.number)
		case err == nil && s.Refused == "" && s.Stale == nil && number != o.number:
			t.Errorf("Reload says that the newest content is loaded, and readers get %d, not %d", number, o.number)
		}
		if o.spoilt && fresh {
			t.Error("content was published that a fault had spoilt")
		}
		if o.open != 0 {
			t.Errorf("%d bodies are open after the attempt", o.open)
		}
		if err != nil {
			var failure *reload.Error
			if !errors.As(err, &failure) || failure.Source != s.Source || failure.Stage == "" || failure.Current != before || !strings.HasPrefix(err.Error(), "reload: "+s.Source+":") {
				t.Errorf("the error is %v", err)
				continue
			}
			stages[failure.Stage]++
			if c.Version() != before {
				t.Errorf("Reload failed and published: %v", err)
			}
		}
		if held != nil && o.IntN(2) == 0 {
			if n, err := whole(held.value); err != nil || n != heldNumber {
				t.Errorf("the content that a reader holds has become content %d (%v), not %d", n, err, heldNumber)
			}
			c.Release(held)
			held = nil
		} else if held == nil && c.Version() != 0 {
			held, heldNumber = c.Acquire(), number
		}
	}
	c.Release(held)
	o.over = true
	o.change()
	if err := r.Reload(t.Context()); err != nil {
		t.Errorf("without faults: %v", err)
	}
	if number, err := whole([]byte(current(c))); err != nil || number != o.number {
		t.Errorf("without faults readers get %d (%v), not %d", number, err, o.number)
	}
	if err := errors.Join(c.Close(t.Context()), pool.Close(t.Context())); err != nil {
		t.Error(err)
	}
	if s := pool.Stats(); s.Live != 0 || s.Retired != 0 || s.Held != 0 {
		t.Errorf("the pool has %+v", s)
	}
}

var errFault = errors.New("an injected fault")

// faults makes calls fail at random. It is for one goroutine.
type faults struct {
	*rand.Rand
	over   bool   // no fault comes any more
	cancel func() // ends the ctx of the attempt
	spoilt bool   // whether the last fetched content must not be published
	open   int    // bodies and files
}

// once returns true once in n times, until the faults are over.
func (f *faults) once(n int) bool { return !f.over && f.IntN(n) == 0 }

// fail returns an error now and then.
func (f *faults) fail() error {
	if f.once(30) {
		return fmt.Errorf("%w number %d", errFault, f.IntN(1000))
	}
	return nil
}

// hit is fail, and now and then ends the ctx of the attempt.
func (f *faults) hit() error {
	if f.once(60) {
		f.cancel()
	}
	return f.fail()
}

// spoil is hit, for faults that the attempt cannot survive.
func (f *faults) spoil() error {
	err := f.hit()
	f.spoilt = f.spoilt || err != nil
	return err
}

// body is content whose reading fails now and then: with an error, or early as if
// it were whole, or, if something checks it, with a wrong byte.
func (f *faults) body(content []byte, mayCorrupt bool) io.ReadCloser {
	f.open++
	closed := false
	return struct {
		reading
		closing
	}{func(p []byte) (n int, err error) {
		if closed {
			panic("a Read after Close")
		}
		n = copy(p[:min(len(p), 1+f.IntN(2000))], content)
		content = content[n:]
		if err := f.spoil(); err != nil {
			if f.IntN(2) == 0 {
				err = io.ErrUnexpectedEOF
			}
			return n, err
		}
		switch {
		case n > 0 && len(content) > 0 && f.once(60):
			f.spoilt = true
			return n, io.EOF // early
		case n > 0 && mayCorrupt && f.once(60):
			f.spoilt = true
			p[f.IntN(n)] ^= 1
		case len(content) == 0:
			return n, io.EOF
		}
		return n, nil
	}, func() error {
		if closed {
			panic("a second Close")
		}
		f.open--
		closed = true
		return f.hit()
	}}
}

// faultyOrigin has the numbered content that sources of a run serve.
type faultyOrigin struct {
	*faults
	number  int
	content []byte
	joined  bool // content comes in parts
}

// change makes new content: a header with a checksum, rows, and padding that a
// load may leave unread.
func (o *faultyOrigin) change() {
	o.number++
	rows := strings.Repeat("row of "+strconv.Itoa(o.number)+"\n", 1+o.IntN(500))
	o.content = fmt.Appendf(nil, "%d %d %x\n%s%s", o.number, len(rows), sha256.Sum256([]byte(rows)), rows, strings.Repeat("#", o.IntN(2)*o.IntN(5000)))
}

// whole returns the number of content, whose header and rows must be there and
// right. Padding may be missing.
func whole(content []byte) (number int, err error) {
	header, rest, _ := bytes.Cut(content, []byte("\n"))
	var length int
	var sum string
	if _, err := fmt.Sscanf(string(header), "%d %d %s", &number, &length, &sum); err != nil {
		return 0, err
	}
	if len(rest) < length || fmt.Sprintf("%x", sha256.Sum256(rest[:length])) != sum {
		return 0, errors.New("torn")
	}
	return number, nil
}

func (o *faultyOrigin) String() string { return "origin" }

// Fetch implements reload.Source.
func (o *faultyOrigin) Fetch(ctx context.Context, have string) (*reload.Content, error) {
	return o.fetch(ctx, have, o.content, false)
}

func (o *faultyOrigin) fetch(ctx context.Context, have string, content []byte, mayCorrupt bool) (*reload.Content, error) {
	o.spoilt = false
	if err := errors.Join(o.spoil(), ctx.Err()); err != nil {
		return nil, err
	}
	revision := strconv.Itoa(o.number)
	if have == revision {
		return nil, reload.ErrNotModified
	}
	return &reload.Content{
		Revision: revision, Size: int64(len(content)), Body: o.body(content, mayCorrupt),
		Verify:    func([sha256.Size]byte) error { return o.spoil() },
		Published: o.hit,
	}, nil
}

// RoundTrip implements http.RoundTripper.
func (o *faultyOrigin) RoundTrip(r *http.Request) (*http.Response, error) {
	o.spoilt = false
	if err := errors.Join(o.spoil(), r.Context().Err()); err != nil {
		return nil, err
	}
	response := &http.Response{StatusCode: http.StatusOK, ContentLength: int64(len(o.content)), Header: http.Header{"Etag": {strconv.Itoa(o.number)}}}
	switch {
	case o.once(30):
		o.spoilt = true
		response.StatusCode, response.ContentLength = 500+o.IntN(5), -1
		response.Header.Set("Retry-After", "1")
	case r.Header.Get("If-None-Match") == strconv.Itoa(o.number):
		response.StatusCode, response.ContentLength, response.Body = http.StatusNotModified, 0, http.NoBody
		return response, nil
	}
	response.Body = o.body(o.content, false)
	return response, nil
}

// Open implements fs.FS.
func (o *faultyOrigin) Open(name string) (fs.File, error) {
	o.spoilt = false
	if err := o.spoil(); err != nil {
		return nil, err
	}
	file, err := fstest.MapFS{name: {Data: o.content, ModTime: time.Unix(int64(o.number), 0)}}.Open(name)
	if err != nil {
		return nil, err
	}
	return faultyFile{file, o.body(o.content, false), o}, nil
}

// faultyFile is a file whose Stat fails now and then, beside its Read.
type faultyFile struct {
	fs.File
	io.ReadCloser
	*faultyOrigin
}

func (f faultyFile) Read(p []byte) (int, error) { return f.ReadCloser.Read(p) }

func (f faultyFile) Close() error { return f.ReadCloser.Close() }

func (f faultyFile) Stat() (fs.FileInfo, error) {
	if err := f.spoil(); err != nil {
		return nil, err
	}
	return f.File.Stat()
}

// summed returns the origin with a checksum, which changes with the content.
func (o *faultyOrigin) summed() reload.Source {
	content := named{sourceFunc(func(ctx context.Context, have string) (*reload.Content, error) {
		return o.fetch(ctx, have, o.content, true)
	}), "origin"}
	sums := sourceFunc(func(ctx context.Context, have string) (*reload.Content, error) {
		return o.fetch(ctx, have, fmt.Appendf(nil, "%x", sha256.Sum256(o.content)), true)
	})
	return reload.VerifySHA256(content, sums)
}

// parts returns sources of parts of the content: one that never changes, two that
// always change, and the padding, which may stay.
func (o *faultyOrigin) parts() []reload.Source {
	o.joined = true
	part := func(name string, cut func() []byte) reload.Source {
		return named{sourceFunc(func(ctx context.Context, have string) (*reload.Content, error) {
			content := cut()
			revision := fmt.Sprintf("%x of %q", sha256.Sum256(content), name)
			if have == revision {
				have = strconv.Itoa(o.number) // which fetch knows
			}
			fetched, err := o.fetch(ctx, have, content, false)
			if err == nil {
				fetched.Revision = revision
			}
			return fetched, err
		}), name}
	}
	padding := func() int { return bytes.LastIndexByte(o.content, '\n') + 1 }
	return []reload.Source{
		part("constant", func() []byte { return nil }),
		part("first", func() []byte { return o.content[:padding()/3] }),
		part("second", func() []byte { return o.content[padding()/3 : padding()] }),
		part("padding", func() []byte { return o.content[padding():] }),
	}
}

// load reads as a program does: all, or only a part. It fails at random.
func (o *faultyOrigin) load(_ context.Context, next, _ *text, content *reload.Content) error {
	next.value = next.value[:0]
	if o.IntN(2) == 0 {
		all, err := io.ReadAll(content.Body)
		if next.value = append(next.value, all...); err != nil && o.IntN(2) == 0 {
			return err // and else it is lost on the way
		}
	} else {
		part := make([]byte, 1000)
		for {
			if _, err := whole(next.value); err == nil {
				break // stops early
			}
			n, err := content.Body.Read(part)
			if next.value = append(next.value, part[:n]...); err != nil {
				break
			}
		}
	}
	if o.joined {
		if _, err := whole(next.value); err != nil {
			return err // the parts may be of different releases
		}
	}
	if err := o.spoil(); err != nil {
		if o.IntN(2) == 0 {
			panic(err)
		}
		return err
	}
	return nil
}
