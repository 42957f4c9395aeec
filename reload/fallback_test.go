package reload_test

import (
	"context"
	"errors"
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
	t.Run("content that comes when ctx has ended is closed", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		fake := new(reloadtest.Fake)
		push(fake, "content")
		source := reload.Fallback(sourceFunc(func(_ context.Context, have string) (*reload.Content, error) {
			cancel()
			return fake.Fetch(t.Context(), have)
		}))
		if content, err := source.Fetch(ctx, ""); content != nil || !errors.Is(err, context.Canceled) || fake.Open() != 0 {
			t.Errorf("Fetch returned %v and %v, %d bodies are open", content, err, fake.Open())
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
