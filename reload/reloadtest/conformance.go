// Package reloadtest tests implementations of reload.Source, and programs that
// use one: [TestSource] is a suite that every Source should pass, and [Fake] is a
// Source whose content, failures and delays a test sets.
package reloadtest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"testing"

	"github.com/poolswap/poolswap/reload"
)

// Origin is where the Source under test reads from.
type Origin interface {
	// Put gives the Source this content. Each call counts as a change, even
	// if the content is the same.
	Put(t testing.TB, content []byte)
	// Remove takes the content away, so that Fetch fails until the next Put.
	Remove(t testing.TB)
}

// Expecter is the Origin of a Source that changes the content: it decodes it, say, or
// puts a header before it.
type Expecter interface {
	Origin
	// Expect returns the Source's Body after Put(content).
	Expect(content []byte) []byte
}

// TestSource tests a Source. open returns a new one, with its own Origin, and is
// called for each subtest.
func TestSource(t *testing.T, open func(t *testing.T) (reload.Source, Origin)) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, reload.Source, Origin)
	}{
		{"Fetch returns the content", fetchReturnsTheContent},
		{"Fetch with the newest revision says ErrNotModified", fetchSaysNotModified},
		{"each change shows", eachChangeShows},
		{"old content that is restored is fetched", restoredContentIsFetched},
		{"Fetch with a foreign revision returns the content", foreignRevision},
		{"a body that is not read can be closed", unreadBody},
		{"the Parts make up the Body", partsMakeUpTheBody},
		{"a Fetch fails while there is no content, and recovers", missingContent},
		{"a Fetch with a ctx that has ended fails", endedContext},
		{"Fetches run side by side", concurrentFetches},
		{"Wait ends with its ctx", waitEnds},
	} {
		t.Run(test.name, func(t *testing.T) {
			source, origin := open(t)
			test.run(t, source, origin)
		})
	}
}

// fetch fetches and reads content, which the source must have.
func fetch(t testing.TB, source reload.Source, have string) (revision string, text []byte) {
	t.Helper()
	content, err := source.Fetch(t.Context(), have)
	if err != nil {
		t.Fatalf("Fetch(%q): %v", have, err)
	}
	defer func() {
		if err := content.Body.Close(); err != nil {
			t.Errorf("Close of the Body: %v", err)
		}
	}()
	text, err = io.ReadAll(content.Body)
	if err != nil {
		t.Fatalf("reading revision %q: %v", content.Revision, err)
	}
	if content.Size != -1 && content.Size != int64(len(text)) {
		t.Errorf("Size is %d, and the Body has %d bytes", content.Size, len(text))
	}
	if content.File != nil {
		mapped := bytes.NewBuffer(nil)
		if _, err := mapped.ReadFrom(io.NewSectionReader(content.File, 0, 1<<40)); err != nil || !bytes.Equal(mapped.Bytes(), text) {
			t.Errorf("File has %d bytes (%v), not the %d of the Body", mapped.Len(), err, len(text))
		}
	}
	return content.Revision, text
}

// expect fails unless Fetch returns content, and returns its revision.
func expect(t testing.TB, source reload.Source, origin Origin, have string, content []byte) (revision string) {
	t.Helper()
	want := bodyOf(origin, content)
	revision, text := fetch(t, source, have)
	if !bytes.Equal(text, want) {
		t.Fatalf("Fetch(%q) returned %d bytes, %.40q, want %d, %.40q", have, len(text), text, len(want), want)
	}
	return revision
}

// bodyOf returns the Body that the Source has when content was put.
func bodyOf(origin Origin, content []byte) []byte {
	if expecter, ok := origin.(Expecter); ok {
		return expecter.Expect(content)
	}
	return content
}

func fetchReturnsTheContent(t *testing.T, source reload.Source, origin Origin) {
	for _, content := range [][]byte{[]byte("first"), {}, bytes.Repeat([]byte("0123456789abcdef"), 1<<16), {0, 255, '\r', '\n', 26}} {
		origin.Put(t, content)
		expect(t, source, origin, "", content)
	}
}

func fetchSaysNotModified(t *testing.T, source reload.Source, origin Origin) {
	origin.Put(t, []byte("content"))
	revision := expect(t, source, origin, "", []byte("content"))
	if revision == "" {
		t.Skip("the source gives no revisions")
	}
	for range 3 {
		if content, err := source.Fetch(t.Context(), revision); !errors.Is(err, reload.ErrNotModified) || content != nil {
			t.Fatalf("Fetch(%q) again returned %v and %v, want nil and ErrNotModified", revision, content, err)
		}
	}
	if again := expect(t, source, origin, "", []byte("content")); again != revision {
		t.Errorf("the revision of the same content is %q, and then %q", revision, again)
	}
}

func eachChangeShows(t *testing.T, source reload.Source, origin Origin) {
	have := ""
	for i := range 20 {
		content := []byte{'a' + byte(i)} // as long as the one before
		origin.Put(t, content)
		have = expect(t, source, origin, have, content)
	}
}

func restoredContentIsFetched(t *testing.T, source reload.Source, origin Origin) {
	origin.Put(t, []byte("good"))
	expect(t, source, origin, "", []byte("good"))
	origin.Put(t, []byte("evil"))
	have := expect(t, source, origin, "", []byte("evil"))
	origin.Put(t, []byte("good"))
	expect(t, source, origin, have, []byte("good"))
}

func foreignRevision(t *testing.T, source reload.Source, origin Origin) {
	origin.Put(t, []byte("content"))
	for _, have := range []string{"of another source", "0", "\x00\n\xff", string(bytes.Repeat([]byte("long"), 1000))} {
		expect(t, source, origin, have, []byte("content"))
	}
}

func unreadBody(t *testing.T, source reload.Source, origin Origin) {
	content := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	origin.Put(t, content)
	for range 3 {
		fetched, err := source.Fetch(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		if err := fetched.Body.Close(); err != nil {
			t.Errorf("Close of a Body that was not read: %v", err)
		}
	}
	expect(t, source, origin, "", content)
}

func partsMakeUpTheBody(t *testing.T, source reload.Source, origin Origin) {
	content := bytes.Repeat([]byte("0123456789abcdef"), 1<<10)
	origin.Put(t, content)
	fetched, err := source.Fetch(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer fetched.Body.Close()
	if len(fetched.Parts) == 0 {
		t.Skip("the content has no Parts")
	}
	if fetched.File != nil || fetched.Verify != nil {
		t.Error("content with Parts has a File or a Verify: those belong to the parts")
	}
	var all []byte
	for i, part := range fetched.Parts {
		text, err := io.ReadAll(part.Body)
		if err != nil {
			t.Errorf("part %d: %v", i, err)
		}
		if part.Size != -1 && part.Size != int64(len(text)) {
			t.Errorf("part %d: Size is %d, and the Body has %d bytes", i, part.Size, len(text))
		}
		all = append(all, text...)
	}
	if want := bodyOf(origin, content); !bytes.Equal(all, want) {
		t.Errorf("the Parts have %d bytes, %.40q, and the Body is to have %d, %.40q", len(all), all, len(want), want)
	}
}

func missingContent(t *testing.T, source reload.Source, origin Origin) {
	origin.Put(t, []byte("before"))
	have := expect(t, source, origin, "", []byte("before"))
	origin.Remove(t)
	for _, have := range []string{"", have} {
		if content, err := source.Fetch(t.Context(), have); err == nil || errors.Is(err, reload.ErrNotModified) {
			t.Errorf("Fetch(%q) without content returned %v and %v, want an error", have, content, err)
		}
	}
	origin.Put(t, []byte("after"))
	expect(t, source, origin, have, []byte("after"))
}

func endedContext(t *testing.T, source reload.Source, origin Origin) {
	origin.Put(t, []byte("content"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	content, err := source.Fetch(ctx, "")
	if err == nil { // a source that does not wait need not look at ctx
		err = content.Body.Close()
	} else if !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v, want ctx's", err)
		return
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func concurrentFetches(t *testing.T, source reload.Source, origin Origin) {
	content := bytes.Repeat([]byte("0123456789abcdef"), 1<<10)
	origin.Put(t, content)
	want := bodyOf(origin, content)
	var fetches sync.WaitGroup
	for range 8 {
		fetches.Go(func() {
			for range 10 {
				fetched, err := source.Fetch(t.Context(), "")
				if err != nil {
					t.Error(err)
					return
				}
				text, err := io.ReadAll(fetched.Body)
				if err != nil || !bytes.Equal(text, want) {
					t.Errorf("a Fetch beside others read %d bytes (%v), want %d", len(text), err, len(want))
				}
				if err := fetched.Body.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	fetches.Wait()
}

func waitEnds(t *testing.T, source reload.Source, origin Origin) {
	waiter, ok := source.(reload.Waiter)
	if !ok {
		t.Skip("the source is no Waiter")
	}
	origin.Put(t, []byte("content"))
	have := expect(t, source, origin, "", []byte("content"))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		for {
			if err := waiter.Wait(ctx, have); err != nil { // hints may come meanwhile
				ended <- err
				return
			}
		}
	}()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Wait ended with %v, want ctx's error", err)
	}
}
