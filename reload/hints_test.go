package reload_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

func TestHints(t *testing.T) {
	inBubble(t, true, reload.Options{Every: 24 * time.Hour}, func(t *testing.T, _ *reload.Reloader, c *texts, fake *reloadtest.Fake) {
		for i := range 10 {
			push(fake, "content %d", i)
			time.Sleep(time.Second)
			synctest.Wait()
			is(t, c, "content "+string(rune('0'+i)))
		}
	})
}

func TestHintsWithoutPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := newTexts()
		fake := eager{new(reloadtest.Fake)}
		fake.Push([]byte("one"))
		r := reload.New(c, fake, load, reload.Options{Logger: quiet})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := r.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if n := fake.Fetches(); n < 300 || n > 602 { // one at the start, one at the first hint
			t.Errorf("%d fetches in a minute, want one in 100 ms", n)
		}
	})
}

// recordedAttempts returns how many attempts an hour of Run makes.
func recordedAttempts(t *testing.T, source reload.Source) uint64 {
	t.Helper()
	c, _ := newTexts()
	r := reload.New(c, source, load, reload.Options{Every: 10 * time.Minute, Logger: quiet})
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	if err := r.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	return r.Status().Attempts
}

// plan is a Waiter whose content changes while it is loaded.
type plan struct {
	mu      sync.Mutex
	now     string
	changed chan struct{} // closed by the next change
}

func (p *plan) become(now string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = now
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *plan) state() (now string, changed <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now, p.changed
}

func (p *plan) Fetch(_ context.Context, have string) (*reload.Content, error) {
	now, _ := p.state()
	if have == now {
		return nil, reload.ErrNotModified
	}
	return &reload.Content{Revision: now, Size: -1, Body: io.NopCloser(strings.NewReader(now))}, nil
}

func (p *plan) Wait(ctx context.Context, have string) error {
	for {
		now, changed := p.state()
		if now != have {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// TestHintsWhileLoading goes back to the loaded revision, or to a refused one,
// while another is being loaded.
func TestHintsWhileLoading(t *testing.T) {
	for name, wrap := range map[string]func(reload.Source) reload.Source{
		"a Waiter":  func(source reload.Source) reload.Source { return source },
		"a Cache":   func(source reload.Source) reload.Source { return reload.Cache(source, t.TempDir()) },
		"a Join":    func(source reload.Source) reload.Source { return reload.Join(source) },
		"a checked": func(source reload.Source) reload.Source { return reload.VerifySHA256(source, anySum{source}) },
	} {
		for _, back := range []string{"good", "bad"} {
			t.Run(name+" goes back to "+back+" content", func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := &plan{now: back, changed: make(chan struct{})}
					c, _ := newTexts()
					r := reload.New(c, wrap(p), func(ctx context.Context, next, current *text, content *reload.Content) error {
						time.Sleep(10 * time.Second)
						return load(ctx, next, current, content)
					}, reload.Options{Every: time.Hour, Logger: quiet})
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					go r.Run(ctx)
					time.Sleep(time.Minute)
					p.become("other")
					time.Sleep(10 * time.Millisecond)
					p.become(back) // while other is being loaded, and before the next Wait
					time.Sleep(time.Minute)
					if s := r.Status(); !strings.HasPrefix(cmp.Or(s.Refused, s.Revision), back) {
						t.Errorf("the source went back to %s content, and a minute later the status is %+v", back, s)
					}
					cancel()
					synctest.Wait()
				})
			})
		}
	}
}

// anySum has the digest of a plan's content.
type anySum struct{ reload.Source }

func (s anySum) Fetch(ctx context.Context, _ string) (*reload.Content, error) {
	content, err := s.Source.Fetch(ctx, "")
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(content.Body)
	sum := fmt.Sprintf("%x", sha256.Sum256(text))
	return &reload.Content{Size: -1, Body: io.NopCloser(strings.NewReader(sum))}, err
}

// Hints of a Waiter that never waits become rare while they lead to failures.
func TestHintsOfFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := eager{new(reloadtest.Fake)}
		fake.Fail(errors.New("down"))
		if n := recordedAttempts(t, fake); n < 6 || n > 60 {
			t.Errorf("%d attempts in an hour", n)
		}
	})
}

// A Waiter is asked for something newer than the refused revision.
func TestHintsDuringRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := newTexts()
		fake := new(reloadtest.Fake)
		r := reload.New(c, fake, load, reload.Options{Every: 24 * time.Hour, Logger: quiet})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		push(fake, "good")
		go func() { ended <- r.Run(ctx) }()
		time.Sleep(time.Minute)
		synctest.Wait()
		is(t, c, "good")
		push(fake, "bad")
		time.Sleep(time.Hour)
		synctest.Wait()
		if s := r.Status(); s.Refused != "2" || s.Attempts > 4 { // the second, and a hint from before each
			t.Errorf("the status is %+v", s)
		}
		cancel()
		<-ended
	})
}

// A hint does not end a Retry-After.
func TestHintsDuringRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := newTexts()
		fake := eager{new(reloadtest.Fake)}
		fake.Fail(later{5 * time.Hour})
		r := reload.New(c, fake, load, reload.Options{Every: time.Minute, MaxRetryAfter: 6 * time.Hour, MaxBackoff: 6 * time.Hour, Logger: quiet})
		ctx, cancel := context.WithTimeout(t.Context(), 6*time.Hour)
		defer cancel()
		go func() {
			time.Sleep(4 * time.Hour)
			if n := fake.Fetches(); n != 1 {
				t.Errorf("%d fetches in four hours, want 1", n)
			}
			push(fake.Fake, "content")
		}()
		if err := r.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		is(t, c, "content")
	})
}

// An attempt of another caller that succeeds ends the Retry-After.
func TestRetryAfterEndsWithSuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := newTexts()
		fake := new(reloadtest.Fake)
		fake.Fail(later{5 * time.Hour})
		r := reload.New(c, fake, load, reload.Options{Every: time.Hour, Logger: quiet})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		time.Sleep(time.Minute)
		push(fake, "by hand")
		succeeds(t, r, c, "by hand")
		synctest.Wait()
		if next := time.Until(r.Status().Next); next > 66*time.Minute {
			t.Errorf("the next attempt is in %v", next)
		}
		push(fake, "by a hint")
		time.Sleep(time.Minute)
		synctest.Wait()
		is(t, c, "by a hint")
		cancel()
		<-ended
	})
}

// The first success ends that hints are rare.
func TestHintsAfterFirstSuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := newTexts()
		fake := new(reloadtest.Fake)
		fake.Fail(errors.New("nothing there yet"))
		r := reload.New(c, fake, load, reload.Options{Every: time.Hour, Logger: quiet})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		time.Sleep(5 * time.Minute)
		if n := r.Status().Failures; n < 7 {
			t.Fatalf("%d failures are too few for a long rest", n)
		}
		for _, text := range []string{"one", "two", "three"} {
			push(fake, "%s", text)
			time.Sleep(time.Second)
			synctest.Wait()
			is(t, c, text)
		}
		cancel()
		<-ended
	})
}

// plantedDeaf is a Waiter that cannot tell.
type plantedDeaf struct{ *reloadtest.Fake }

func (plantedDeaf) Wait(context.Context, string) error { return errDown }

// A Waiter that gives no hints is asked again after Every, and warned of once.
func TestHintsWaiterFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := newTexts()
		source := plantedDeaf{new(reloadtest.Fake)}
		push(source.Fake, "content")
		var lines logs
		r := reload.New(c, source, load, reload.Options{Every: 10 * time.Minute, Logger: lines.logger(slog.LevelDebug)})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		r.Run(ctx)
		all := strings.Join(lines.all(), "\n")
		if n := strings.Count(all, "no hints from the source"); n < 5 || n > 7 {
			t.Errorf("%d lines in six times Every: %.500q", n, all)
		}
		if n := strings.Count(all, "level=WARN"); n != 1 {
			t.Errorf("%d warnings of one fault: %.500q", n, all)
		}
	})
}

// plantedBusy is a Waiter that asks to be left alone for a day.
type plantedBusy struct{ *reloadtest.Fake }

func (plantedBusy) Wait(context.Context, string) error { return later{24 * time.Hour} }

// A Waiter is asked again after MaxRetryAfter, whatever it says.
func TestHintsWaiterIsBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := newTexts()
		source := plantedBusy{new(reloadtest.Fake)}
		push(source.Fake, "content")
		var lines logs
		r := reload.New(c, source, load, reload.Options{Every: 10 * time.Minute, Logger: lines.logger(slog.LevelDebug)})
		ctx, cancel := context.WithTimeout(t.Context(), 210*time.Minute)
		defer cancel()
		r.Run(ctx)
		if n := strings.Count(strings.Join(lines.all(), "\n"), "no hints from the source"); n < 3 || n > 4 {
			t.Errorf("it was asked %d times in three hours and a half", n)
		}
	})
}

// Sources that wrap a Waiter hand it its own revision: another one would be a
// hint at once, and then again and again.
func TestHintsOfWrappedSources(t *testing.T) {
	dir := t.TempDir()
	for name, wrap := range map[string]func(fake, sums reload.Source) reload.Source{
		"a check": reload.VerifySHA256,
		"a cache": func(fake, _ reload.Source) reload.Source { return reload.Cache(fake, dir+"/1") },
		"a cache around checks": func(fake, sums reload.Source) reload.Source {
			return reload.Cache(reload.VerifySHA256(fake, sums), dir+"/2")
		},
		"a join": func(fake, sums reload.Source) reload.Source {
			empty := reload.FS(fstest.MapFS{"empty": new(fstest.MapFile)}, "empty")
			return reload.Join(empty, reload.VerifySHA256(fake, sums))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fake, sums := new(reloadtest.Fake), new(reloadtest.Fake)
				push(fake, "content")
				push(sums, "%x", sumOf("content"))
				c, _ := newTexts()
				r := reload.New(c, wrap(fake, sums), load, reload.Options{Every: 24 * time.Hour, Logger: quiet})
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- r.Run(ctx) }()
				time.Sleep(time.Hour)
				is(t, c, "content")
				if attempts := r.Status().Attempts; attempts > 2 { // the first, and a hint from before it
					t.Errorf("%d attempts in an hour without a change", attempts)
				}
				push(sums, "%x", sumOf("newer"))
				push(fake, "newer")
				time.Sleep(time.Second)
				is(t, c, "newer")
				cancel()
				if err := <-ended; !errors.Is(err, context.Canceled) {
					t.Errorf("Run returned %v", err)
				}
			})
		})
	}
}
