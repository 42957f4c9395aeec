package reload_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

func TestFallbackWait(t *testing.T) {
	t.Run("hints come from the source that serves", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, c, _, other := mirrored(reload.Options{Every: time.Hour})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			push(other.Fake, "one")
			go r.Run(ctx)
			time.Sleep(time.Minute)
			is(t, c, "one")
			push(other.Fake, "two")
			time.Sleep(time.Second)
			synctest.Wait()
			is(t, c, "two")
			if s := r.Status(); s.Attempts > 4 { // hints of before the first one, too
				t.Errorf("%d attempts", s.Attempts)
			}
			cancel()
			synctest.Wait()
		})
	})
	t.Run("content without a revision is no reason to ask at once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c, _ := newTexts()
			origin := &mirror{Fake: new(reloadtest.Fake)}
			push(origin.Fake, "content")
			origin.Fail(errDown) // its Wait returns at once
			r := reload.New(c, reload.Fallback(origin, given("", -1, "content")), load, reload.Options{Every: time.Hour, Logger: quiet})
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
			defer cancel()
			r.Run(ctx)
			if s := r.Status(); s.Attempts > 3 {
				t.Errorf("%d attempts in half of Every", s.Attempts)
			}
		})
	})
	t.Run("while nothing is loaded, any source gives hints", func(t *testing.T) {
		origin, other := new(reloadtest.Fake), new(reloadtest.Fake)
		push(other, "content")
		if err := reload.Fallback(origin, other).(reload.Waiter).Wait(t.Context(), ""); err != nil {
			t.Error(err)
		}
	})
}

func TestFallbackOfCaches(t *testing.T) {
	t.Parallel()
	dirs := []string{t.TempDir(), t.TempDir()}
	start := func(origin, other reload.Source) (*reload.Reloader, *texts) {
		c, _ := newTexts()
		return reload.New(c, reload.Fallback(reload.Cache(origin, dirs[0]), reload.Cache(other, dirs[1]), embedded()), load, reload.Options{Logger: quiet}), c
	}
	fakes := func() (origin, other *mirror) {
		origin, other = &mirror{Fake: new(reloadtest.Fake), name: "origin"}, &mirror{Fake: new(reloadtest.Fake), name: "mirror"}
		origin.modified, other.modified = release(1), release(2)
		return origin, other
	}
	origin, other := fakes()
	push(origin.Fake, "of the origin")
	r, c := start(origin, other)
	succeeds(t, r, c, "of the origin")

	origin, other = fakes() // both are down
	r, c = start(origin, other)
	succeeds(t, r, c, "of the origin")
	if s := r.Status(); s.ServedBy != "origin" || s.State() != reload.Stale {
		t.Errorf("the status is %+v", s)
	}
	if page := pageOf(t, r); !strings.Contains(page, "The content is from the cache") {
		t.Errorf("the page is %s", page)
	}
	failsWith(t, r, reload.Fetching) // the embedded file is not newer
	is(t, c, "of the origin")
	push(other.Fake, "of the mirror")
	succeeds(t, r, c, "of the mirror")

	for i, want := range []string{"of the mirror", "of the origin"} {
		for j, dir := range dirs {
			if at := release((i + j) % 2); os.Chtimes(filepath.Join(dir, "kept.json"), at, at) != nil {
				t.Fatal("no time")
			}
		}
		origin, other = fakes()
		r, c = start(origin, other)
		succeeds(t, r, c, want) // the newest that was kept
		if age := time.Since(release(1)) - r.Status().Age(); age.Abs() > time.Hour/2 {
			t.Errorf("the age is off by %v", age)
		}
	}

	write(t, filepath.Join(dirs[1], "kept.json"), "{")
	r, c = start(origin, other)
	succeeds(t, r, c, "of the origin")
	write(t, filepath.Join(dirs[0], "kept.json"), "{")
	r, c = start(origin, other)
	succeeds(t, r, c, "embedded")
}

// TestFallbackAfterRestart has a mirror that lags, but was asked after the origin was.
func TestFallbackAfterRestart(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		origin time.Time
		want   string
	}{
		{"a mirror that lags does not undo an update", release(2), "of the origin"},
		{"content without a time is not replaced", time.Time{}, "of the origin"},
		{"newer content of a mirror is loaded", release(0), "of the mirror"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dirs := []string{t.TempDir(), t.TempDir()}
			origin, other := &mirror{Fake: new(reloadtest.Fake), modified: test.origin}, &mirror{Fake: new(reloadtest.Fake), modified: release(1)}
			start := func() (*reload.Reloader, *texts) {
				c, _ := newTexts()
				return reload.New(c, reload.Fallback(reload.Cache(origin, dirs[0]), reload.Cache(other, dirs[1])), load, reload.Options{Logger: quiet}), c
			}
			r, c := start()
			push(other.Fake, "of the mirror")
			succeeds(t, r, c, "of the mirror")
			push(origin.Fake, "of the origin")
			succeeds(t, r, c, "of the origin")
			for i, dir := range dirs { // as after an outage of an hour
				if at := release(3 + i); os.Chtimes(filepath.Join(dir, "kept.json"), at, at) != nil {
					t.Fatal("no time")
				}
			}
			origin.Fail(errDown)
			other.Fail(errDown)
			r, c = start()
			succeeds(t, r, c, test.want)
		})
	}
}

func TestFallbackIdentity(t *testing.T) {
	t.Parallel()
	a, b := named{new(reloadtest.Fake), "a"}, named{new(reloadtest.Fake), "b"}
	var all []string
	for _, source := range []reload.Source{reload.Fallback(a), reload.Fallback(b), reload.Fallback(a, b), reload.Fallback(b, a), reload.Join(a, b), reload.Fallback(named{a, "a\" \"b"})} {
		all = append(all, source.(reload.Identifier).Identity())
	}
	if unique := slices.Compact(slices.Sorted(slices.Values(all))); len(unique) != len(all) {
		t.Errorf("some of %q are the same", all)
	}
}

// TestFallbackInsideChecks has one checksum for a Fallback, and a Cache around both.
func TestFallbackInsideChecks(t *testing.T) {
	t.Parallel()
	origin, other, sums, dir := new(reloadtest.Fake), new(reloadtest.Fake), new(reloadtest.Fake), t.TempDir()
	source := func() reload.Source {
		return reload.VerifySHA256(reload.Fallback(origin, named{other, "mirror"}), sums)
	}
	push(other, "content")
	push(sums, "%x", sumOf("content"))
	r, c := start(source(), dir, reload.Options{})
	succeeds(t, r, c, "content")
	if s := r.Status(); s.ServedBy != "mirror" || s.State() != reload.Stale {
		t.Errorf("the status is %+v", s)
	}
	other.Fail(errDown)
	r, c = start(source(), dir, reload.Options{})
	succeeds(t, r, c, "content")
	push(other, "evil")
	failsWith(t, r, reload.Verifying)
	push(origin, "evil")
	failsWith(t, r, reload.Verifying)
	is(t, c, "content")
}

func TestFallbackMisuse(t *testing.T) {
	t.Parallel()
	for want, misuse := range map[string]func(){
		"reload: Fallback without a Source":  func() { reload.Fallback() },
		"reload: Fallback with a nil Source": func() { reload.Fallback(embedded(), nil) },
		"reload: Cache of a Fallback":        func() { reload.Cache(reload.Fallback(embedded()), "dir") },
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.HasPrefix(got, want) {
					t.Errorf("the panic is %s, want %s", got, want)
				}
			}()
			misuse()
		}()
	}
}

func TestFallbackOfForeignRevisions(t *testing.T) {
	t.Parallel()
	source := reload.Fallback(given("1", -1, "content"))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, have := range []string{"1", "1 1", "9 1", "-1 1", "+0 1", "00 1", "0 ", " 1"} {
		content, err := source.Fetch(t.Context(), have)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(content.Body); string(text) != "content" || content.Revision != "0 1" {
			t.Errorf("%q: %q, %v, revision %q", have, text, err, content.Revision)
		}
		if err := source.(reload.Waiter).Wait(ended, have); !errors.Is(err, context.Canceled) {
			t.Errorf("%q: Wait returned %v", have, err)
		}
	}
}

// TestFallbackInFallback has the status of the inner one show in that of the outer one.
func TestFallbackInFallback(t *testing.T) {
	t.Parallel()
	first, second, other := new(reloadtest.Fake), new(reloadtest.Fake), new(reloadtest.Fake)
	first.Fail(errDown)
	push(other, "content")
	c, _ := newTexts()
	r := reload.New(c, reload.Fallback(first, reload.Fallback(second, named{other, "mirror"})), load, reload.Options{Logger: quiet})
	for i := range 2 { // it is loaded, and then not modified
		succeeds(t, r, c, "content")
		if s := r.Status(); s.State() != reload.Stale || !errors.Is(s.Stale, errDown) || !errors.Is(s.Stale, reloadtest.ErrEmpty) || s.ServedBy != "mirror" {
			t.Errorf("after attempt %d the status is %+v", i+1, s)
		}
	}
}

// A mirror sends no content again that was not newer than the kept one.
func TestFallbackBehindKeptContent(t *testing.T) {
	t.Parallel()
	origin, other, sums, dir := new(reloadtest.Fake), &mirror{Fake: new(reloadtest.Fake)}, new(reloadtest.Fake), t.TempDir()
	source := func() reload.Source { return reload.VerifySHA256(reload.Fallback(origin, other), sums) }
	push(origin, "content")
	push(sums, "%x", sumOf("content"))
	cacheRestarts(t, source(), dir, "content")
	origin.Fail(errDown)
	push(other.Fake, "older")
	r, c := cacheRestarts(t, source(), dir, "content")
	for range 3 {
		failsWith(t, r, reload.Fetching)
		is(t, c, "content")
	}
	if other.bodies != 1 {
		t.Errorf("the mirror sent its content %d times", other.bodies)
	}
}

// keeper is a Restorer of what its Fake has.
type keeper struct {
	*reloadtest.Fake
	checked time.Time
}

func (k keeper) Restore(ctx context.Context) (*reload.Content, time.Time, error) {
	content, err := k.Fetch(ctx, "")
	if err == nil {
		content.Modified = k.checked
	}
	return content, k.checked, err
}

func TestFallbackRestore(t *testing.T) {
	t.Parallel()
	var all []reload.Source
	var fakes []*reloadtest.Fake
	for _, hours := range []int{1, 3, 2, 4} {
		fakes = append(fakes, new(reloadtest.Fake))
		push(fakes[len(fakes)-1], "content %d", hours)
		all = append(all, keeper{fakes[len(fakes)-1], release(hours)})
	}
	restorer := reload.Fallback(all...).(reload.Restorer)
	fakes[3].Fail(errDown)
	content, checked, err := restorer.Restore(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(content.Body); string(text) != "content 3" || err != nil || !checked.Equal(release(3)) || !errors.Is(content.Stale, errDown) {
		t.Errorf("%q, %v, of %v, stale by %v", text, err, checked, content.Stale)
	}
	if err := content.Body.Close(); err != nil {
		t.Error(err)
	}
	for i, fake := range fakes {
		if n := fake.Open(); n != 0 {
			t.Errorf("%d bodies of source %d are open", n, i)
		}
		fake.Fail(errDown)
	}
	if content, _, err := restorer.Restore(t.Context()); content != nil || !errors.Is(err, errDown) {
		t.Errorf("Restore of nothing but errors returned %v, %v", content, err)
	}
}

// TestFallbackOfSourcesThatVerify has an origin whose content is not that of its
// checksum. A Cache knows before the content is loaded.
func TestFallbackOfSourcesThatVerify(t *testing.T) {
	t.Parallel()
	for name, wrap := range map[string]func(reload.Source) reload.Source{
		"a Cache":          func(source reload.Source) reload.Source { return source },
		"a Join of Caches": func(source reload.Source) reload.Source { return reload.Join(source) },
	} {
		origin, sums, other := new(reloadtest.Fake), new(reloadtest.Fake), &mirror{Fake: new(reloadtest.Fake), name: "mirror"}
		checked := reload.Cache(reload.VerifySHA256(origin, sums), t.TempDir())
		c, _ := newTexts()
		r := reload.New(c, reload.Fallback(wrap(checked), other), load, reload.Options{Logger: quiet})
		push(origin, "evil")
		push(sums, "%x", sumOf("good"))
		push(other.Fake, "of the mirror")
		succeeds(t, r, c, "of the mirror")
		if s := r.Status(); s.ServedBy != "mirror" || s.State() != reload.Stale || !strings.Contains(fmt.Sprint(s.Stale), "its SHA-256 is") {
			t.Errorf("%s: the status is %+v", name, s)
		}
		push(origin, "good")
		succeeds(t, r, c, "good")
		if s := r.Status(); s.State() != reload.Fresh {
			t.Errorf("%s: the status is %+v", name, s)
		}
	}
}
