package store_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/store"
)

// wantNothing fails the test if chunks or files are left of content that is not stored.
func wantNothing(t testing.TB, s *store.Store, dir string, chunks uint64, files int) {
	t.Helper()
	eventually(t, "no chunk is left", func() bool { n, err := s.Messages(t.Context(), "content"); return err == nil && n == chunks })
	entries, err := os.ReadDir(filepath.Join(dir, "content"))
	if err != nil || len(entries) != files {
		t.Errorf("the files are %v, want %d: %v", entries, files, err)
	}
}

func TestPutFailsAndLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	s := open(t, store.Options{Dir: dir, Quota: 2_000_000})
	kept := put(t, s, "asn", "kept", "kept")
	broken := errors.New("broken")
	cancelled, cancel := context.WithCancel(t.Context())
	for what, one := range map[string]struct {
		ctx     context.Context
		name    string
		id      string
		size    int64
		content io.Reader
		want    error
	}{
		"the reader fails":   {size: -1, content: io.MultiReader(strings.NewReader(large(1)), iotest.ErrReader(broken)), want: broken},
		"it is cut off":      {size: -1, content: io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(io.ErrUnexpectedEOF)), want: io.ErrUnexpectedEOF},
		"it is too short":    {size: 800_001, content: strings.NewReader(large(1)), want: store.ErrInvalid},
		"it is too long":     {size: 799_999, content: strings.NewReader(large(1)), want: store.ErrInvalid},
		"beyond the quota":   {size: -1, content: strings.NewReader(large(1) + large(2) + large(3)), want: store.ErrFull},
		"announced too long": {size: 2_000_001, content: strings.NewReader(large(1)), want: store.ErrFull},
		"other content":      {id: "kept", size: -1, content: strings.NewReader("other"), want: store.ErrRefused},
		"no id":              {id: "\x00", size: -1, content: strings.NewReader("x"), want: store.ErrInvalid},
		"no name":            {name: "..", size: -1, content: strings.NewReader("x"), want: store.ErrInvalid},
		"given up":           {ctx: cancelled, size: -1, content: io.MultiReader(strings.NewReader(large(1)), readerFunc(func([]byte) (int, error) { cancel(); return 1, nil })), want: context.Canceled},
	} {
		ctx, name, id := t.Context(), "asn", "new"
		if one.ctx != nil {
			ctx = one.ctx
		}
		if one.name != "" {
			name = one.name
		}
		if one.id != "" {
			id = one.id
		}
		if _, err := s.Put(ctx, name, fleet.Revision{ID: id, Created: time.Now()}, one.size, one.content); !errors.Is(err, one.want) {
			t.Errorf("%s: %v, want %v", what, err, one.want)
		}
	}
	wantNothing(t, s, dir, 1, 1)
	if r := put(t, s, "asn", "kept", "kept"); r.SHA256 != kept.SHA256 || !r.Created.Equal(kept.Created) {
		t.Errorf("the same content again is %+v, was %+v", r, kept)
	}
	wantNothing(t, s, dir, 1, 1)
}

func TestQuotaIsOfAllRevisionsOfAName(t *testing.T) {
	s := open(t, store.Options{Dir: t.TempDir(), Quota: 10})
	put(t, s, "asn", "r1", "1234")
	put(t, s, "asn", "r2", "123456")
	for _, size := range []int64{1, -1} {
		if _, err := s.Put(t.Context(), "asn", fleet.Revision{ID: "r3", Created: time.Now()}, size, strings.NewReader("1")); !errors.Is(err, store.ErrFull) {
			t.Errorf("beyond the quota, announced as %d: %v", size, err)
		}
	}
	put(t, s, "other", "r1", "1234567890")
	if gone, err := s.Retain(t.Context(), "asn", 1, 0); err != nil || len(gone) != 1 {
		t.Fatal(gone, err)
	}
	put(t, s, "asn", "r3", "1234")
}

func TestRevisionsAreBounded(t *testing.T) {
	s := open(t, store.Options{Dir: t.TempDir()}.WithMaxRevisions(2))
	for _, id := range []string{"r1", "r2", "r1"} {
		put(t, s, "asn", id, id)
	}
	if _, err := s.Put(t.Context(), "asn", fleet.Revision{ID: "r3", Created: time.Now()}, -1, strings.NewReader("r3")); !errors.Is(err, store.ErrFull) {
		t.Errorf("a third revision: %v", err)
	}
	put(t, s, "other", "r3", "r3")
	if gone, err := s.Retain(t.Context(), "asn", 1, 0); err != nil || len(gone) != 1 {
		t.Fatal(gone, err)
	}
	put(t, s, "asn", "r3", "r3")
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestContentIsFetchedOnce(t *testing.T) {
	dir := t.TempDir()
	s := open(t, store.Options{Dir: dir})
	r := put(t, s, "asn", "r1", large(1))
	put(t, s, "other", "r1", large(1))
	empty := put(t, s, "asn", "empty", "")
	file := filepath.Join(dir, "content", r.SHA256)
	for what, damage := range map[string]func() error{
		"it is gone":      func() error { return os.Remove(file) },
		"it is truncated": func() error { return os.Truncate(file, 100) },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.Content(ctx, "asn", r.SHA256); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("%s: a caller that gave up: %v", what, err)
		}
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() { wantContent(t, s, "asn", r, large(1)) })
		}
		all.Wait()
	}
	wantContent(t, s, "asn", empty, "")
	for _, digest := range []string{strings.Repeat("0", 64), "", "../lock", r.SHA256 + "/"} {
		if _, err := s.Content(t.Context(), "asn", digest); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("content %q: %v", digest, err)
		}
	}
	if _, err := s.Content(t.Context(), "third", r.SHA256); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("content of another name: %v", err)
	}
}

func TestVerifyRepairs(t *testing.T) {
	o := store.Options{Dir: t.TempDir()}
	s := open(t, o)
	r := publish(t, s, "asn", "r1", large(1)).Revisions["r1"]
	file := filepath.Join(o.Dir, "content", r.SHA256)
	flip := func() {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text[len(text)/2] ^= 1
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	verify := func(want int) (damaged []string) {
		t.Helper()
		checked, damaged, err := s.Verify(t.Context(), "asn")
		if err != nil || checked != 1 || len(damaged) != want {
			t.Errorf("Verify checked %d and found %q, %v", checked, damaged, err)
		}
		return damaged
	}
	verify(0)
	flip()
	verify(0)
	wantContent(t, s, "asn", r, large(1))

	if err := s.DropMessage(t.Context(), "content"); err != nil { // a chunk
		t.Fatal(err)
	}
	verify(0)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	wantContent(t, s, "asn", r, large(1))
	wantNothing(t, s, o.Dir, 4, 1)

	flip()
	if err := s.DropMessage(t.Context(), "content"); err != nil {
		t.Fatal(err)
	}
	if damaged := verify(1); !strings.HasPrefix(damaged[0], "r1: ") || !strings.Contains(damaged[0], "3 are stored; and this node has no good file: the file has 800000 bytes") {
		t.Errorf("damaged is %q", damaged)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Content(t.Context(), "asn", r.SHA256); err == nil || !strings.Contains(err.Error(), `asn: the content of revision "r1": chunk 4 of 4 cannot be read, and 3 are stored`) {
		t.Errorf("Content of a damaged revision: %v", err)
	}
}

// Other content of the same size is no content of the revision.
func TestContentIsChecked(t *testing.T) {
	dir := t.TempDir()
	s := open(t, store.Options{Dir: dir})
	r := put(t, s, "asn", "r1", "one")
	if err := errors.Join(s.Spoil(t.Context(), "asn", "r1", "two"), os.Remove(filepath.Join(dir, "content", r.SHA256))); err != nil {
		t.Fatal(err)
	}
	if text, err := content(t.Context(), s, "asn", r); err == nil || !strings.Contains(err.Error(), "3 bytes with the SHA-256 3fc4ccfe") {
		t.Errorf("the content is %q, %v", text, err)
	}
	put(t, s, "asn", "r2", "one")
	wantContent(t, s, "asn", r, "one") // by the chunks of the other one
	if checked, damaged, err := s.Verify(t.Context(), "asn"); err != nil || checked != 2 || len(damaged) > 0 {
		t.Errorf("Verify checked %d and found %q, %v", checked, damaged, err)
	}
}

// Bits flip on the disk, below JetStream.
func TestVerifyRepairsTheFilesOfJetStream(t *testing.T) {
	o := store.Options{Dir: t.TempDir()}
	s := open(t, o)
	r := publish(t, s, "asn", "r1", large(1)).Revisions["r1"]
	s.Close()
	flipped := 0
	err := filepath.WalkDir(filepath.Join(o.Dir, "jetstream", "$G", "streams", "content"), func(path string, d os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".blk") {
			return err
		}
		text, err := os.ReadFile(path)
		if at := bytes.Index(text, []byte(large(1)[:1000])); err == nil && at >= 0 {
			text[at+500] ^= 1
			flipped++
			err = os.WriteFile(path, text, 0o600)
		}
		return err
	})
	if err != nil || flipped == 0 {
		t.Fatalf("%d files were damaged, %v", flipped, err)
	}
	s = open(t, o)
	checked, damaged, err := s.Verify(t.Context(), "asn")
	if err != nil || checked != 1 || len(damaged) != 0 {
		t.Errorf("Verify checked %d and found %q, %v", checked, damaged, err)
	}
	if err := os.Remove(filepath.Join(o.Dir, "content", r.SHA256)); err != nil {
		t.Fatal(err)
	}
	wantContent(t, s, "asn", r, large(1))
}

func TestLeftoversAreSwept(t *testing.T) {
	o := store.Options{Dir: t.TempDir()}
	s := open(t, o)
	put(t, s, "asn", "r1", "one")
	for _, chunks := range []string{"mine", "mine"} {
		if err := s.Inject(t.Context(), "half", "chunk", "single", chunks); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Inject(t.Context(), "half", "chunk", "another", "young"); err != nil {
		t.Fatal(err)
	}
	s.Close()
	for _, file := range []string{".part-1", strings.Repeat("0", 64)} {
		if err := os.WriteFile(filepath.Join(o.Dir, "content", file), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s = open(t, o)
	wantNothing(t, s, o.Dir, 2, 1) // another node may be storing it
}

// An upload that is under way is no leftover.
func TestSweepLeavesUploadsAlone(t *testing.T) {
	dir := t.TempDir()
	s := open(t, store.Options{Dir: dir})
	swept := false
	reader := io.MultiReader(strings.NewReader(large(1)), readerFunc(func([]byte) (int, error) {
		if !swept {
			eventually(t, "chunks are there", func() bool { n, err := s.Messages(t.Context(), "content"); return err == nil && n > 0 })
			if err := s.Sweep(t.Context()); err != nil {
				t.Error(err)
			}
			swept = true
		}
		return 0, io.EOF
	}))
	if _, err := s.Put(t.Context(), "asn", fleet.Revision{ID: "r1", Created: time.Now()}, -1, reader); err != nil {
		t.Fatal(err)
	}
	wantNothing(t, s, dir, 4, 1)
}
