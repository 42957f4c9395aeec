package reload_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap/internal/test/pooltest"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// joinFake is a fake with a name that notes the revisions it is asked with.
type joinFake struct {
	*reloadtest.Fake
	name  string
	asked []string
}

func (f *joinFake) String() string { return f.name }

func (f *joinFake) Fetch(ctx context.Context, have string) (*reload.Content, error) {
	f.asked = append(f.asked, have)
	return f.Fake.Fetch(ctx, have)
}

func joinFakes(contents ...string) (all []*joinFake, source reload.Source) {
	var sources []reload.Source
	for i, content := range contents {
		one := &joinFake{Fake: new(reloadtest.Fake), name: string(rune('a' + i))}
		push(one.Fake, "%s", content)
		all, sources = append(all, one), append(sources, one)
	}
	return all, reload.Join(sources...)
}

// loadJoined keeps the parts, with their sources.
func loadJoined(_ context.Context, next, _ *text, content *reload.Content) error {
	next.value = next.value[:0]
	for _, part := range content.Parts {
		all, err := io.ReadAll(part.Body)
		if err != nil {
			return err
		}
		next.value = fmt.Appendf(next.value, "%s=%s ", part.Source, all)
	}
	return nil
}

func joinReloader(source reload.Source, load func(context.Context, *text, *text, *reload.Content) error) (*reload.Reloader, *texts) {
	c, _ := newTexts()
	return reload.New(c, source, load, reload.Options{Logger: quiet, MaxBytes: 100}), c
}

func TestJoin(t *testing.T) {
	t.Parallel()
	fakes, source := joinFakes("users", "roles", "groups")
	r, c := joinReloader(source, loadJoined)
	succeeds(t, r, c, "a=users b=roles c=groups ")
	for i, fake := range fakes {
		push(fake.Fake, "new %d", i)
		if err := r.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	is(t, c, "a=new 0 b=new 1 c=new 2 ")
	succeeds(t, r, c, "a=new 0 b=new 1 c=new 2 ")
	if s := r.Status(); s.Revision != "2 2 2" || s.Version != 4 || s.Attempts != 5 || s.Size != 15 || s.Source != "a, b, c" {
		t.Errorf("the status is %+v", s)
	}
	// A source without anything newer is asked again without a revision if it comes
	// before the newer one, and is asked only so if it comes behind.
	for i, want := range []string{`["" "1" "2" "" "2" "" "2"]`, `["" "" "1" "2" "" "2"]`, `["" "" "" "1" "2"]`} {
		if asked := fmt.Sprintf("%q", fakes[i].asked); asked != want {
			t.Errorf("%s is asked for %s, want %s", fakes[i].name, asked, want)
		}
	}
	for _, fake := range fakes {
		if open := fake.Open(); open != 0 {
			t.Errorf("%d bodies of %s are open", open, fake.name)
		}
	}
}

func TestJoinRevision(t *testing.T) {
	t.Parallel()
	for _, revisions := range [][]string{
		{"1", "2"},
		{" ", "  "},
		{"a b", "c"},
		{"a", "b c"},
		{`"a" "b"`, `W/"c"`},
		{"%20", "%"},
		{"\x00\n\xff", "é | 世"},
		{"+", "a+b"},
	} {
		var asked []string
		var sources []reload.Source
		for _, revision := range revisions {
			sources = append(sources, sourceFunc(func(_ context.Context, have string) (*reload.Content, error) {
				asked = append(asked, have)
				if have == revision {
					return nil, reload.ErrNotModified
				}
				return &reload.Content{Revision: revision, Body: http.NoBody}, nil
			}))
		}
		content, err := reload.Join(sources...).Fetch(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		asked = nil
		later := reload.Join(sources...) // of the next process
		if _, err := later.Fetch(t.Context(), content.Revision); !errors.Is(err, reload.ErrNotModified) || !slices.Equal(asked, revisions) {
			t.Errorf("Fetch(%q) asks for %q and not %q: %v", content.Revision, asked, revisions, err)
		}
		for _, foreign := range []string{"of another source", "%zz 2", "x"} {
			asked = nil
			if _, err := later.Fetch(t.Context(), foreign); err != nil || !slices.Equal(asked, []string{"", ""}) {
				t.Errorf("Fetch(%q) asks for %q: %v", foreign, asked, err)
			}
		}
	}
}

func TestJoinWithoutRevision(t *testing.T) {
	t.Parallel()
	fake := &joinFake{Fake: new(reloadtest.Fake), name: "fake"}
	push(fake.Fake, "content")
	source := reload.Join(fake, given("", -1, "x"))
	for range 2 {
		content, err := source.Fetch(t.Context(), "")
		if err != nil || content.Revision != "" || content.Size != -1 {
			t.Fatalf("content %+v, %v", content, err)
		}
		content.Body.Close()
	}
	// The part that has a revision hints when it is new, and not before.
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := source.(reload.Waiter).Wait(ctx, ""); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Wait returned %v without anything new", err)
	}
	push(fake.Fake, "newer")
	if err := source.(reload.Waiter).Wait(t.Context(), ""); err != nil {
		t.Errorf("Wait returned %v", err)
	}
}

func TestJoinClosesAfterFailure(t *testing.T) {
	t.Parallel()
	for want, fails := range map[string]func() (*reload.Content, error){
		"last: the origin is down":                                 func() (*reload.Content, error) { return nil, errDown },
		"last: the Source returned neither content nor an error":   func() (*reload.Content, error) { return nil, nil },
		"last: the Source returned content without a Body":         func() (*reload.Content, error) { return new(reload.Content), nil },
		"last: the Source returned ErrNotModified for no revision": func() (*reload.Content, error) { return nil, reload.ErrNotModified },
		"panic: nil map": func() (*reload.Content, error) { panic("nil map") },
	} {
		fakes, first := joinFakes("users", "roles")
		last := named{sourceFunc(func(context.Context, string) (*reload.Content, error) { return fails() }), "last"}
		r, c := joinReloader(reload.Join(first, last), loadJoined)
		failure := failsWith(t, r, reload.Fetching)
		if text := textOf(failure); !strings.Contains(text, "fetch: "+want+" (nothing") || errors.Is(failure, reload.ErrNotModified) {
			t.Errorf("the error is %s, want %s", text, want)
		}
		is(t, c, "")
		for _, fake := range fakes {
			if fake.Open() != 0 || fake.Fetches() != 1 {
				t.Errorf("%s: %d bodies of %d are open", want, fake.Open(), fake.Fetches())
			}
		}
	}
}

func TestJoinClosesNewerContent(t *testing.T) {
	t.Parallel()
	fakes, last := joinFakes("users")
	fetches := 0
	first := named{sourceFunc(func(_ context.Context, have string) (*reload.Content, error) {
		if fetches++; have == "7" {
			return nil, reload.ErrNotModified
		}
		if fetches > 1 {
			return nil, errDown
		}
		return &reload.Content{Revision: "7", Body: http.NoBody}, nil
	}), "first"}
	r, c := joinReloader(reload.Join(first, last), load)
	succeeds(t, r, c, "users")
	fakes[0].Fail(errBad)
	if failure := failsWith(t, r, reload.Fetching); failure.Err.Error() != "a: a: bad row 3" || fetches != 2 {
		t.Errorf("after %d fetches of the first, which is not needed, the error is %v", fetches, failure)
	}
	push(fakes[0].Fake, "newer")
	if failure := failsWith(t, r, reload.Fetching); failure.Err.Error() != "first: the origin is down" {
		t.Errorf("the error is %v", failure)
	}
	if open := fakes[0].Open(); open != 0 {
		t.Errorf("%d bodies are open", open)
	}
	is(t, c, "users")
}

func TestJoinReadsToTheEnd(t *testing.T) {
	t.Parallel()
	for name, left := range map[string]int{"the first": 0, "the second": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fakes, source := joinFakes("users", "roles")
			var kept *reload.Content
			r, c := joinReloader(source, func(_ context.Context, next, _ *text, content *reload.Content) error {
				kept = content
				_, err := io.ReadAll(content.Parts[1-left].Body)
				next.value = []byte("done")
				return err
			})
			fakes[left].Truncate(3, nil)
			failure := failsWith(t, r, reload.Reading)
			if want := fakes[left].name + ": the body ends after 3 of 5 bytes: unexpected EOF"; failure.Err.Error() != want || failure.Refused {
				t.Errorf("the error is %v, want %s", failure, want)
			}
			is(t, c, "")
			push(fakes[left].Fake, "again")
			succeeds(t, r, c, "done")
			for _, part := range append(kept.Parts, kept) {
				if _, err := part.Body.Read(make([]byte, 1)); err == nil || !strings.Contains(err.Error(), "after load had returned") {
					t.Errorf("after load, Read returns %v", err)
				}
			}
			for _, fake := range fakes {
				if fake.Open() != 0 {
					t.Errorf("%d bodies are open", fake.Open())
				}
			}
		})
	}
}

func TestJoinBody(t *testing.T) {
	t.Parallel()
	fakes, source := joinFakes("first ", "second")
	r, c := joinReloader(reload.Join(source), load)
	succeeds(t, r, c, "first second")
	push(fakes[0].Fake, "first sec") // the same bytes, but other parts
	push(fakes[1].Fake, "ond")
	succeeds(t, r, c, "first second")
	if r.Status().Version != 2 {
		t.Error("parts that share their bytes in another way are taken for the same")
	}
	push(fakes[0].Fake, "first sec")
	succeeds(t, r, c, "first second")
	if s := r.Status(); s.Version != 2 || s.Revision != "3%202" {
		t.Errorf("a new revision of the same bytes: %+v", s)
	}
}

func TestJoinMaxBytes(t *testing.T) {
	t.Parallel()
	half := strings.Repeat("x", 50)
	r, c := joinReloader(reload.Join(given("1", -1, half), given("2", 50, half)), load)
	succeeds(t, r, c, half+half)
	for want, source := range map[string]reload.Source{
		"larger than Options.MaxBytes (100)":                                                      reload.Join(given("1", -1, half), given("2", 50, half), given("3", -1, "x")),
		"larger than Options.MaxBytes (100): 101 bytes are announced":                             reload.Join(given("1", 51, half), given("2", -1, half), given("3", 50, half)),
		fmt.Sprintf("larger than Options.MaxBytes (100): %d bytes are announced", int64(1<<63-1)): reload.Join(given("1", 1<<62, half), given("2", 1<<62, half), given("3", 50, half)),
	} {
		r, _ := joinReloader(source, load)
		if failure := failsWith(t, r, reload.Reading); failure.Err.Error() != want || !failure.Refused {
			t.Errorf("the error is %v, want %s", failure, want)
		}
	}
}

func TestJoinReadSideBySide(t *testing.T) {
	t.Parallel()
	_, source := joinFakes("users", "roles")
	r, c := joinReloader(source, func(_ context.Context, next, _ *text, content *reload.Content) error {
		read := make(chan error, 2)
		values := make([][]byte, 2)
		for i, part := range content.Parts {
			go func() {
				var err error
				values[i], err = io.ReadAll(part.Body)
				read <- err
			}()
		}
		err := errors.Join(<-read, <-read)
		next.value = slices.Concat(values...)
		return err
	})
	succeeds(t, r, c, "usersroles")
}

func TestJoinAccept(t *testing.T) {
	t.Parallel()
	_, source := joinFakes("users", "roles")
	r, c := joinReloader(reload.Join(source), func(ctx context.Context, next, current *text, content *reload.Content) error {
		for _, part := range content.Parts[0].Parts {
			if !part.Accepted {
				return errBad
			}
		}
		return load(ctx, next, current, content)
	})
	if failure := failsWith(t, r, reload.Loading); !failure.Refused {
		t.Errorf("the error is %v", failure)
	}
	if err := r.Accept(t.Context(), r.Status().Refused); err != nil {
		t.Fatal(err)
	}
	is(t, c, "usersroles")
}

func TestJoinPanics(t *testing.T) {
	t.Parallel()
	_, plainJoin := joinFakes("users", "roles")
	dir := t.TempDir()
	public, _ := key('a')
	caches := reload.Join(reload.Cache(new(reloadtest.Fake), dir))
	for _, source := range []reload.Source{plainJoin, caches} {
		pooltest.WantPanic(t, "reload: Cache of a Join: put it around the sources of the Join, as in Join(Cache(a, dirA), Cache(b, dirB))", func() { reload.Cache(source, dir) })
		pooltest.WantPanic(t, "reload: VerifySHA256 of a Join: put it around the sources of the Join, as in Join(VerifySHA256(a, sums), b)", func() { reload.VerifySHA256(source, source) })
		pooltest.WantPanic(t, "reload: VerifyEd25519 of a Join: put it around the sources of the Join, as in Join(VerifyEd25519(a, signatures, keys...), b)", func() { reload.VerifyEd25519(source, source, public) })
	}
	pooltest.WantPanic(t, "reload: Join without a Source", func() { reload.Join() })
	pooltest.WantPanic(t, "reload: Join with a nil Source", func() { reload.Join(new(reloadtest.Fake), nil) })
}

// A part whose Close panics does not keep the others open.
func TestJoinClosesEachPart(t *testing.T) {
	t.Parallel()
	closed := 0
	part := func(fails bool) reload.Source {
		return sourceFunc(func(context.Context, string) (*reload.Content, error) {
			return &reload.Content{Revision: "1", Size: -1, Body: struct {
				io.Reader
				io.Closer
			}{strings.NewReader("part"), closing(func() error {
				if closed++; fails {
					panic("Close")
				}
				return nil
			})}}, nil
		})
	}
	r, c := joinReloader(reload.Join(part(true), part(false)), loadJoined)
	succeeds(t, r, c, "reload_test.sourceFunc=part reload_test.sourceFunc=part ")
	if closed != 2 {
		t.Errorf("%d of 2 parts were closed", closed)
	}
}
