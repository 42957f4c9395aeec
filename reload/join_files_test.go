package reload_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// joinFiles returns a Join of files with these texts, and their names.
func joinFiles(t *testing.T, texts ...string) (names []string, source reload.Source) {
	t.Helper()
	dir := t.TempDir()
	var sources []reload.Source
	for i, text := range texts {
		name := filepath.Join(dir, string(rune('a'+i)))
		write(t, name, text)
		names, sources = append(names, name), append(sources, reload.File(name))
	}
	return names, reload.Join(sources...)
}

func TestJoinFileChangesDuringRead(t *testing.T) {
	t.Parallel()
	for i := range 2 {
		names, source := joinFiles(t, "users", "roles")
		loads := 0
		r, c := joinReloader(source, func(ctx context.Context, next, current *text, content *reload.Content) error {
			if loads++; loads == 1 {
				write(t, names[i], "NEWER")
				return errBad // of torn content, perhaps
			}
			if content.File != nil || content.Parts[i].File.Name() != names[i] || !content.Modified.Equal(content.Parts[i].Modified) {
				t.Errorf("content is %+v", content)
			}
			return load(ctx, next, current, content)
		})
		succeeds(t, r, c, []string{"NEWERroles", "usersNEWER"}[i])
		if s := r.Status(); loads != 2 || s.TotalFailures != 0 || !s.Modified.Equal(modified(t, names[i])) {
			t.Errorf("%d loads, and the status is %+v", loads, s)
		}
	}
}

func modified(t *testing.T, name string) time.Time {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return info.ModTime()
}

// joinWaiter is a source whose Wait ends as it is told, or with its ctx.
type joinWaiter struct {
	reload.Source
	wait    func(have string) error // nil: until ctx ends
	running *atomic.Int32
}

func (w joinWaiter) Wait(ctx context.Context, have string) error {
	w.running.Add(1)
	defer w.running.Add(-1)
	if w.wait != nil {
		return w.wait(have)
	}
	<-ctx.Done()
	time.Sleep(time.Millisecond) // a Waiter may take its time to end
	return ctx.Err()
}

func TestJoinWait(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		wait func(have string) error
		want string
	}{
		"a hint":   {func(string) error { return nil }, "<nil>"},
		"an error": {func(string) error { return errDown }, "given: the origin is down"},
		"a panic":  {func(string) error { panic("nil map") }, "given: panic: nil map"},
		"the revision of its part": {func(have string) error {
			if have != "part 2" {
				return errBad
			}
			return nil
		}, "<nil>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { // which fails if a goroutine is left
				var running atomic.Int32
				waits := joinWaiter{given("7", -1, ""), nil, &running}
				last := namedWaiter{joinWaiter{given("8", -1, ""), test.wait, &running}}
				err := reload.Join(given("6", -1, ""), waits, last).(reload.Waiter).Wait(t.Context(), "part%201 7 part%202")
				text, _, _ := strings.Cut(fmt.Sprint(err), "\n")
				if text != test.want {
					t.Errorf("Wait returned %s, want %s", text, test.want)
				}
				if n := running.Load(); n != 0 {
					t.Errorf("%d Waits run on", n)
				}
			})
		})
	}
}

type namedWaiter struct{ joinWaiter }

func (namedWaiter) String() string { return "given" }

func TestJoinHints(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fakes, fetched := joinFakes("users", "roles")
		c, _ := newTexts()
		r := reload.New(c, reload.Join(given("7", -1, "x "), fetched), load, reload.Options{Every: time.Hour, Logger: quiet})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		time.Sleep(time.Second) // one hint may come before the first content
		is(t, c, "x usersroles")
		before := r.Status().Attempts
		for i, fake := range fakes {
			push(fake.Fake, "new %d ", i)
			time.Sleep(time.Second)
		}
		is(t, c, "x new 0 new 1 ")
		if n := r.Status().Attempts - before; n != 2 {
			t.Errorf("%d attempts for 2 hints", n)
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Run returned %v", err)
		}
	})
}

// joinSummed is content with a Verify that wants the digest of want.
func joinSummed(name, content, want string, published func() error) reload.Source {
	return named{sourceFunc(func(context.Context, string) (*reload.Content, error) {
		return &reload.Content{Revision: "7", Size: -1, Body: io.NopCloser(strings.NewReader(content)), Published: published, Verify: func(sum [sha256.Size]byte) error {
			if sum != sha256.Sum256([]byte(want)) {
				return errors.New("wrong sum")
			}
			return nil
		}}, nil
	}), name}
}

func TestJoinVerifiesParts(t *testing.T) {
	t.Parallel()
	var published []string
	publish := func(name string) func() error {
		return func() error { published = append(published, name); return nil }
	}
	good := reload.Join(joinSummed("a", "users", "users", publish("a")), given("7", -1, "x"), joinSummed("b", "roles", "roles", publish("b")))
	r, c := joinReloader(good, loadJoined)
	succeeds(t, r, c, "a=users given=x b=roles ")
	if strings.Join(published, " ") != "a b" {
		t.Errorf("Published was called for %q", published)
	}
	r, c = joinReloader(reload.Join(joinSummed("a", "users", "users", publish("a")), joinSummed("b", "roles", "users", publish("b"))), loadJoined)
	for range 2 {
		if failure := failsWith(t, r, reload.Verifying); failure.Err.Error() != "b: wrong sum" || failure.Refused {
			t.Errorf("the error is %v", failure)
		}
	}
	is(t, c, "")
	if len(published) != 2 {
		t.Errorf("Published was called for %q", published)
	}
}

// joinCaches returns a Join of caches of the fakes.
func joinCaches(dir string, fakes ...*joinFake) reload.Source {
	var sources []reload.Source
	for _, fake := range fakes {
		sources = append(sources, reload.Cache(fake, filepath.Join(dir, fake.name)))
	}
	return reload.Join(sources...)
}

func TestJoinOfCaches(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fakes, _ := joinFakes("users", "roles")
	r, c := joinReloader(joinCaches(dir, fakes...), loadJoined)
	succeeds(t, r, c, "a=users b=roles ")
	for _, fake := range fakes {
		fake.Fail(errDown)
	}
	longAgo := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "b", "kept.json"), longAgo, longAgo); err != nil {
		t.Fatal(err)
	}
	r, c = joinReloader(joinCaches(dir, fakes...), loadJoined)
	succeeds(t, r, c, "a=users b=roles ")
	if s := r.Status(); s.Stale == nil || s.Revision != "1 1" || s.Age() < time.Hour {
		t.Errorf("the status is %+v", s)
	}
	push(fakes[0].Fake, "users 2")
	push(fakes[1].Fake, "roles 2")
	succeeds(t, r, c, "a=users 2 b=roles 2 ")

	for name, spoil := range map[string]func(dir string) error{
		"has nothing": os.RemoveAll,
		"is damaged":  func(dir string) error { return os.WriteFile(filepath.Join(dir, "kept.json"), []byte("{"), 0o644) },
	} {
		if err := spoil(filepath.Join(dir, "b")); err != nil {
			t.Fatal(err)
		}
		source := joinCaches(dir, fakes...)
		content, checked, err := source.(reload.Restorer).Restore(t.Context())
		if content != nil || !checked.IsZero() || (err != nil) != (name == "is damaged") || err != nil && !strings.HasPrefix(err.Error(), "b: the cache in ") {
			t.Errorf("one %s: %v, %v, %v", name, content, checked, err)
		}
		if left := openBelow(dir); len(left) > 0 {
			t.Errorf("one %s: open files %q", name, left)
		}
		r, c = joinReloader(source, loadJoined)
		succeeds(t, r, c, "a=users 2 b=roles 2 ")
	}
}

func TestJoinIsNoRestorer(t *testing.T) {
	t.Parallel()
	if _, ok := reload.Join(reload.Cache(new(reloadtest.Fake), t.TempDir()), new(reloadtest.Fake)).(reload.Restorer); ok {
		t.Error("it is one")
	}
}

func TestJoinMaxBytesOfCache(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fakes, _ := joinFakes("users", strings.Repeat("x", 101))
	r, _ := joinReloader(joinCaches(dir, fakes...), loadJoined)
	if failure := failsWith(t, r, reload.Reading); !failure.Refused {
		t.Errorf("the error is %v", failure)
	}
	if _, err := os.Stat(filepath.Join(dir, "b")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its cache has a directory: %v", err)
	}
}

func TestPartsOfOwnSource(t *testing.T) {
	t.Parallel()
	closed := ""
	part := func(text string) *reload.Content {
		return &reload.Content{Source: text, Size: -1, Body: struct {
			io.Reader
			closing
		}{strings.NewReader(text), func() error { closed += text + " "; return nil }}}
	}
	r, c := joinReloader(joinOwn(func() []*reload.Content { return []*reload.Content{part("users"), part("roles")} }), loadJoined)
	succeeds(t, r, c, "users=users roles=roles ")
	if closed != "users roles " {
		t.Errorf("closed are %q", closed)
	}
	const toPart = "the Source returned content with Parts and a Verify or Changed: give it to a part"
	for bad, want := range map[*reload.Content]string{
		{Parts: []*reload.Content{part("a"), {}}, Body: http.NoBody}:                                          "the Source returned content without a Body",
		{Parts: []*reload.Content{nil}, Body: http.NoBody}:                                                    "the Source returned neither content nor an error",
		{Parts: []*reload.Content{part("a")}, Body: http.NoBody, Verify: func([32]byte) error { return nil }}: toPart,
		{Parts: []*reload.Content{part("a")}, Body: http.NoBody, Changed: func() error { return nil }}:        toPart,
	} {
		r, c := joinReloader(joinOwn(func() []*reload.Content { return []*reload.Content{bad} }), loadJoined)
		if failure := failsWith(t, r, reload.Fetching); failure.Err.Error() != want || failure.Refused {
			t.Errorf("the error is %v, want %s", failure, want)
		}
		is(t, c, "")
	}
}

// joinOwn is a Source of one's own that has parts.
func joinOwn(parts func() []*reload.Content) reload.Source {
	return named{sourceFunc(func(context.Context, string) (*reload.Content, error) {
		content := &reload.Content{Revision: "7", Size: -1, Parts: parts()}
		content.Body = struct {
			io.Reader
			closing
		}{http.NoBody, func() (err error) {
			for _, part := range content.Parts {
				err = errors.Join(err, part.Body.Close())
			}
			return err
		}}
		return content, nil
	}), "own"}
}
