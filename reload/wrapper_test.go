package reload_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// limits is a Restorer that notes the limits that it was given.
type limits struct {
	reload.Source
	seen []int64
}

func (l *limits) Fetch(ctx context.Context, have string) (*reload.Content, error) {
	l.seen = append(l.seen, reload.MaxBytes(ctx))
	return l.Source.Fetch(ctx, have)
}

func (l *limits) Restore(ctx context.Context) (*reload.Content, time.Time, error) {
	l.seen = append(l.seen, reload.MaxBytes(ctx))
	return nil, time.Time{}, nil
}

// uncomparable is a ctx that panics when it is compared.
type uncomparable struct {
	context.Context
	_ []int
}

// TestMaxBytesOfSharedSource gives a Source to Reloaders with other limits, whose
// attempts take turns.
func TestMaxBytesOfSharedSource(t *testing.T) {
	t.Parallel()
	shared := &limits{Source: given("1", -1, "more than ten")}
	source := reload.Wrapper{Source: reload.Join(reload.Wrapper{Source: shared})}
	c, _ := newTexts()
	small := reload.New(c, source, load, reload.Options{Logger: quiet, MaxBytes: 10})
	large := reload.New(c, source, load, reload.Options{Logger: quiet, MaxBytes: 100})
	for _, ctx := range []context.Context{t.Context(), t.Context(), uncomparable{Context: t.Context()}, uncomparable{Context: t.Context()}} {
		if err := small.Reload(ctx); err == nil || !strings.Contains(err.Error(), "larger than Options.MaxBytes (10)") {
			t.Errorf("Reload of the one with a limit of 10 returned %v", err)
		}
		if err := large.Reload(ctx); err != nil {
			t.Error(err)
		}
	}
	if _, err := shared.Fetch(t.Context(), ""); err != nil {
		t.Error(err)
	}
	want := append([]int64{10, 10, 100, 100}, 10, 100, 10, 100, 10, 100, reload.DefaultMaxBytes)
	if !slices.Equal(shared.seen, want) {
		t.Errorf("the limits are %d, want %d", shared.seen, want)
	}
}

// Run restores kept content before its first attempt, under the same limit.
func TestMaxBytesOfRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &limits{Source: given("1", -1, "content")}
		c, _ := newTexts()
		r := reload.New(c, source, load, reload.Options{Logger: quiet, MaxBytes: 100, Every: time.Minute})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := r.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if slices.Min(source.seen) != 100 || slices.Max(source.seen) != 100 {
			t.Errorf("the limits are %d, want 100", source.seen)
		}
	})
}

// A Cache that Reloaders share keeps to the limit of each.
func TestMaxBytesOfSharedCache(t *testing.T) {
	t.Parallel()
	read := int64(0)
	cache := reload.Cache(sourceFunc(func(context.Context, string) (*reload.Content, error) {
		body := reading(func(p []byte) (int, error) {
			n := min(1000-read, int64(len(p)), 10)
			if read += n; n == 0 {
				return 0, io.EOF
			}
			return int(n), nil
		})
		return &reload.Content{Revision: "1", Size: -1, Body: io.NopCloser(body)}, nil
	}), t.TempDir())
	c, _ := newTexts()
	large := reload.New(c, cache, load, reload.Options{Logger: quiet, MaxBytes: 1000})
	small := reload.New(c, cache, load, reload.Options{Logger: quiet, MaxBytes: 100})
	failsWith(t, small, reload.Reading)
	if read > 110 {
		t.Errorf("the Cache read %d bytes for a limit of 100", read)
	}
	read = 0
	if err := large.Reload(t.Context()); err != nil {
		t.Error(err)
	}
}

// changing is a Fake whose content changes after it was read.
type changing struct {
	*reloadtest.Fake
	changed func() error
}

func (s changing) Fetch(ctx context.Context, have string) (*reload.Content, error) {
	content, err := s.Fake.Fetch(ctx, have)
	if err == nil {
		content.Changed = s.changed
	}
	return content, err
}

// upper is a Source of a user's own with another Body.
type upper struct{ reload.Source }

func (u upper) Fetch(ctx context.Context, have string) (*reload.Content, error) {
	content, err := u.Source.Fetch(ctx, have)
	if err == nil {
		text, _ := io.ReadAll(content.Body)
		content.Body = struct {
			io.Reader
			io.Closer
		}{strings.NewReader(strings.ToUpper(string(text))), content.Body}
	}
	return content, err
}

func TestContentChanged(t *testing.T) {
	t.Parallel()
	for name, wrap := range map[string]func(reload.Source) reload.Source{
		"a Source":                    func(source reload.Source) reload.Source { return source },
		"a wrapper with its own Body": func(source reload.Source) reload.Source { return upper{source} },
		"a Join":                      func(source reload.Source) reload.Source { return reload.Join(source, given("1", 0, "")) },
		"a Cache":                     func(source reload.Source) reload.Source { return reload.Cache(source, t.TempDir()) },
	} {
		t.Run(name, func(t *testing.T) {
			changes := 2
			fake := new(reloadtest.Fake)
			push(fake, "CONTENT")
			c, _ := newTexts()
			r := reload.New(c, wrap(changing{fake, func() error {
				if changes--; changes >= 0 {
					return reload.ErrChanged
				}
				return nil
			}}), load, reload.Options{Logger: quiet})
			succeeds(t, r, c, "CONTENT")
			if n := fake.Fetches(); n != 3 {
				t.Errorf("%d fetches, want one more for each change", n)
			}
			push(fake, "OTHER")
			changes = 100
			if err := r.Reload(t.Context()); !errors.Is(err, reload.ErrChanged) {
				t.Errorf("content that goes on changing ends with %v", err)
			}
			is(t, c, "CONTENT")
			if n := fake.Open(); n != 0 {
				t.Errorf("%d bodies are open", n)
			}
		})
	}
	t.Run("a panic is an error of the attempt", func(t *testing.T) {
		fake := new(reloadtest.Fake)
		push(fake, "content")
		source := changing{fake, func() error { panic("no such file") }}
		for _, source := range []reload.Source{source, reload.Cache(source, t.TempDir())} {
			c, _ := newTexts()
			err := reload.New(c, source, load, reload.Options{Logger: quiet}).Reload(t.Context())
			if err == nil || !strings.Contains(err.Error(), "no such file") {
				t.Errorf("Reload returned %v", err)
			}
		}
	})
}
