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
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// mirror is a Fake with a name, whose content has a time.
type mirror struct {
	*reloadtest.Fake
	name     string
	modified time.Time
	bodies   int // that it returned
}

func (m *mirror) String() string { return m.name }

func (m *mirror) Fetch(ctx context.Context, have string) (*reload.Content, error) {
	content, err := m.Fake.Fetch(ctx, have)
	if err == nil {
		content.Modified = m.modified
		m.bodies++
	}
	return content, err
}

// release is when the content of mirrors was made, so many hours after the first.
func release(hours int) time.Time {
	return time.Unix(1_700_000_000, 0).Add(time.Duration(hours) * time.Hour)
}

// mirrored returns a Reloader of an origin, a mirror and an embedded file.
func mirrored(options reload.Options) (r *reload.Reloader, c *texts, origin, other *mirror) {
	origin, other = &mirror{Fake: new(reloadtest.Fake), name: "origin"}, &mirror{Fake: new(reloadtest.Fake), name: "mirror"}
	c, _ = newTexts()
	options.Logger = quiet
	return reload.New(c, reload.Fallback(origin, other, embedded()), load, options), c, origin, other
}

func embedded() reload.Source {
	return reload.FS(fstest.MapFS{"embedded": {Data: []byte("embedded")}}, "embedded")
}

func TestFallback(t *testing.T) {
	t.Parallel()
	t.Run("the first source that answers serves", func(t *testing.T) {
		r, c, origin, other := mirrored(reload.Options{})
		succeeds(t, r, c, "embedded")
		push(other.Fake, "of the mirror")
		succeeds(t, r, c, "of the mirror")
		push(origin.Fake, "of the origin")
		succeeds(t, r, c, "of the origin")
		if s := r.Status(); s.State() != reload.Fresh || s.ServedBy != "origin" || s.Stale != nil {
			t.Errorf("the status is %+v", s)
		}
	})
	t.Run("an earlier source wins when it is back, with older content, too", func(t *testing.T) {
		r, c, origin, other := mirrored(reload.Options{})
		other.modified = release(2)
		push(other.Fake, "of the mirror")
		succeeds(t, r, c, "of the mirror")
		origin.modified = release(1)
		push(origin.Fake, "of the origin") // its revision is that of the mirror, 1
		succeeds(t, r, c, "of the origin")
	})
	t.Run("the same content of an earlier source makes it fresh", func(t *testing.T) {
		r, c, origin, other := mirrored(reload.Options{})
		push(other.Fake, "content")
		succeeds(t, r, c, "content")
		push(origin.Fake, "content")
		succeeds(t, r, c, "content")
		if s := r.Status(); s.State() != reload.Fresh || s.ServedBy != "origin" || s.Swaps != 1 {
			t.Errorf("the status is %+v", s)
		}
	})
	t.Run("content that is not known to be newer keeps out", func(t *testing.T) {
		for name, modified := range map[string]time.Time{"without a time": {}, "older": release(1), "as old": release(2)} {
			t.Run(name, func(t *testing.T) {
				r, c, origin, other := mirrored(reload.Options{})
				origin.modified, other.modified = release(2), modified
				push(origin.Fake, "of the origin")
				push(other.Fake, "of the mirror")
				succeeds(t, r, c, "of the origin")
				origin.Fail(errDown)
				for range 3 {
					if err := r.Reload(t.Context()); !errors.Is(err, errDown) || !strings.Contains(err.Error(), "mirror: its content is not known to be newer") {
						t.Errorf("Reload returned %v", err)
					}
					is(t, c, "of the origin")
				}
				if n := other.bodies; n != 1 {
					t.Errorf("the mirror sent its content %d times", n)
				}
				if s := r.Status(); s.State() != reload.Stale || s.ServedBy != "origin" {
					t.Errorf("the status is %+v", s)
				}
				other.modified = release(3)
				push(other.Fake, "newer")
				succeeds(t, r, c, "newer")
				other.Fail(errDown)
				r.Reload(t.Context())
				is(t, c, "newer")
			})
		}
	})
	t.Run("newer content of origins without a time keeps out", func(t *testing.T) {
		r, c, origin, other := mirrored(reload.Options{})
		push(origin.Fake, "of the origin")
		succeeds(t, r, c, "of the origin")
		origin.Fail(errDown)
		other.modified = release(1)
		push(other.Fake, "of the mirror")
		failsWith(t, r, reload.Fetching)
		is(t, c, "of the origin")
	})
	t.Run("Accept brings no older content", func(t *testing.T) {
		r, c, origin, _ := mirrored(reload.Options{})
		push(origin.Fake, "of the origin")
		succeeds(t, r, c, "of the origin")
		origin.Fail(errDown)
		if err := r.Accept(t.Context(), "2 8--62135596800000000000"); !errors.Is(err, errDown) {
			t.Errorf("Accept returned %v", err)
		}
		is(t, c, "of the origin")
	})
	t.Run("refused content stays refused while the origin is down", func(t *testing.T) {
		r, c, origin, other := mirrored(reload.Options{})
		origin.modified, other.modified = release(1), release(2)
		push(origin.Fake, "of the origin")
		succeeds(t, r, c, "of the origin")
		origin.Fail(errDown)
		push(other.Fake, "bad")
		if failure := failsWith(t, r, reload.Loading); failure.Source != "mirror" {
			t.Errorf("the failure is of %s", failure.Source)
		}
		failsWith(t, r, reload.Loading)
		if s := r.Status(); s.State() != reload.Refused || other.bodies != 1 {
			t.Errorf("%d bodies, the status is %+v", other.bodies, s)
		}
		push(origin.Fake, "of the origin")
		succeeds(t, r, c, "of the origin")
		if s := r.Status(); s.State() != reload.Fresh {
			t.Errorf("the status is %+v", s)
		}
	})
	t.Run("a mistake or a panic of a source is no answer", func(t *testing.T) {
		for name, source := range map[string]reload.Source{
			"a panic":    sourceFunc(func(context.Context, string) (*reload.Content, error) { panic("down") }),
			"nothing":    sourceFunc(func(context.Context, string) (*reload.Content, error) { return nil, nil }),
			"no Body":    sourceFunc(func(context.Context, string) (*reload.Content, error) { return new(reload.Content), nil }),
			"no content": sourceFunc(func(context.Context, string) (*reload.Content, error) { return nil, reload.ErrNotModified }),
		} {
			c, _ := newTexts()
			r := reload.New(c, reload.Fallback(source, embedded()), load, reload.Options{Logger: quiet})
			if err := r.Reload(t.Context()); err != nil || current(c) != "embedded" {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
	t.Run("a ctx that ended asks no further source", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		source := reload.Fallback(sourceFunc(func(context.Context, string) (*reload.Content, error) {
			cancel()
			return nil, errDown
		}), embedded())
		if content, err := source.Fetch(ctx, ""); content != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("Fetch returned %v and %v", content, err)
		}
	})
	t.Run("all bodies are closed", func(t *testing.T) {
		r, c, origin, other := mirrored(reload.Options{})
		for range 3 {
			push(origin.Fake, "of the origin")
			push(other.Fake, "of the mirror")
			succeeds(t, r, c, "of the origin")
			origin.Fail(errDown)
			r.Reload(t.Context())
		}
		if origin.Open() != 0 || other.Open() != 0 {
			t.Errorf("%d and %d bodies are open", origin.Open(), other.Open())
		}
	})
}

// Content of a server without ETag and date has no revision.
func TestFallbackWithoutRevisions(t *testing.T) {
	t.Parallel()
	down := false
	c, _ := newTexts()
	r := reload.New(c, reload.Fallback(sourceFunc(func(ctx context.Context, have string) (*reload.Content, error) {
		if down {
			return nil, errDown
		}
		return given("", -1, "of the origin").Fetch(ctx, have)
	}), embedded()), load, reload.Options{Logger: quiet})
	succeeds(t, r, c, "of the origin")
	down = true
	failsWith(t, r, reload.Fetching)
	is(t, c, "of the origin")
}

// A Join fetches all of its sources when one has something newer.
func TestFallbackInJoin(t *testing.T) {
	t.Parallel()
	origin, beside := new(reloadtest.Fake), new(reloadtest.Fake)
	push(beside, "one ")
	r, c := joinReloader(reload.Join(beside, reload.Fallback(origin, embedded())), loadJoined)
	succeeds(t, r, c, "fake=one  embedded=embedded ")
	if s := r.Status(); s.State() != reload.Stale || s.ServedBy != "fake, embedded" {
		t.Errorf("the status is %+v", s)
	}
	succeeds(t, r, c, "fake=one  embedded=embedded ")
	if s := r.Status(); s.State() != reload.Stale || !errors.Is(s.Stale, reloadtest.ErrEmpty) {
		t.Errorf("nothing is newer, and the status is %+v", s)
	}
	push(origin, "origin")
	succeeds(t, r, c, "fake=one  fake=origin ")
	origin.Fail(errDown)
	push(beside, "two ")
	failsWith(t, r, reload.Fetching)
	is(t, c, "fake=one  fake=origin ")
	push(origin, "origin")
	succeeds(t, r, c, "fake=two  fake=origin ")
	if s := r.Status(); s.State() != reload.Fresh {
		t.Errorf("the status is %+v", s)
	}
}

func TestFallbackStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var events []reload.Event
		r, c, origin, other := mirrored(reload.Options{Observe: func(e reload.Event) { events = append(events, e) }})
		push(other.Fake, "of the mirror")
		succeeds(t, r, c, "of the mirror")
		time.Sleep(time.Hour)
		succeeds(t, r, c, "of the mirror")
		s := r.Status()
		if s.State() != reload.Stale || s.ServedBy != "mirror" || s.Failures != 0 || !errors.Is(s.Stale, reloadtest.ErrEmpty) {
			t.Errorf("the status is %+v", s)
		}
		if s.Age() != time.Hour {
			t.Errorf("the mirror confirmed its content, and the age is %v", s.Age())
		}
		for i, want := range []reload.Outcome{reload.Loaded, reload.NotModified} {
			if e := events[i]; e.Outcome != want || e.Stale == nil {
				t.Errorf("event %d is %+v", i, e)
			}
		}
		if events[0].ServedBy != "mirror" {
			t.Errorf("the event is %+v", events[0])
		}
		page, json := pageOf(t, r), ask(r, "GET", "/", "application/json").Body.String()
		for _, want := range []string{"The content is from mirror: an earlier source did not answer.", "<dt>Served by</dt><dd>mirror</dd>", "From a later source, because", "by mirror"} {
			if !strings.Contains(page, want) {
				t.Errorf("the page does not say %q:\n%s", want, page)
			}
		}
		if !strings.Contains(json, `"served_by": "mirror"`) || !strings.Contains(json, `"stale": "origin: `) {
			t.Errorf("the JSON is %s", json)
		}
		push(origin.Fake, "of the origin")
		succeeds(t, r, c, "of the origin")
		if s := r.Status(); s.Age() != 0 || s.State() != reload.Fresh {
			t.Errorf("the origin is back, and the status is %+v", s)
		}
	})
}

func TestFallbackRetryAfter(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		origin, mirror error
		want           time.Duration
	}{
		{later{time.Hour}, later{time.Minute}, time.Minute},
		{later{time.Hour}, errDown, 0},
		{errDown, later{time.Hour}, 0},
	} {
		origin, other := new(reloadtest.Fake), new(reloadtest.Fake)
		origin.Fail(test.origin)
		other.Fail(test.mirror)
		_, err := reload.Fallback(origin, other).Fetch(t.Context(), "")
		var asks interface{ RetryAfter() time.Duration }
		if !errors.As(err, &asks) || asks.RetryAfter() != test.want {
			t.Errorf("%v and %v: the error is %v, with another Retry-After than %v", test.origin, test.mirror, err, test.want)
		}
	}
}

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
	for _, have := range []string{"1", "9 1", "-1 1", "+0 1", "00 1", "0 ", " 1"} {
		content, err := source.Fetch(t.Context(), have)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(content.Body); string(text) != "content" || content.Revision != "0 1" {
			t.Errorf("%q: %q, %v, revision %q", have, text, err, content.Revision)
		}
	}
}
