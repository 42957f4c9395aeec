package reload_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// plain is a fake that gives no hints.
type plain struct{ fake *reloadtest.Fake }

func (p plain) Fetch(ctx context.Context, have string) (*reload.Content, error) {
	return p.fake.Fetch(ctx, have)
}

// inBubble runs fn with a Reloader that runs, and a function that stops it and
// returns what Run returned.
func inBubble(t *testing.T, hints bool, options reload.Options, fn func(t *testing.T, r *reload.Reloader, c *texts, fake *reloadtest.Fake)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c, _ := newTexts()
		fake := new(reloadtest.Fake)
		options.Logger = quiet
		var source reload.Source = fake
		if !hints {
			source = plain{fake}
		}
		r := reload.New(c, source, load, options)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		synctest.Wait()
		fn(t, r, c, fake)
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) && !errors.Is(err, poolswap.ErrClosed) {
			t.Errorf("Run returned %v", err)
		}
	})
}

func TestRunPollsEvery(t *testing.T) {
	inBubble(t, false, reload.Options{Every: time.Minute}, func(t *testing.T, r *reload.Reloader, c *texts, fake *reloadtest.Fake) {
		fake.Push([]byte("one"))
		time.Sleep(2 * time.Second) // the first attempt failed: nothing had been pushed
		synctest.Wait()
		is(t, c, "one")
		before := fake.Fetches()
		time.Sleep(100 * time.Minute)
		synctest.Wait()
		if polls := fake.Fetches() - before; polls < 90 || polls > 112 {
			t.Errorf("%d polls in 100 times Every", polls)
		}
		fake.Push([]byte("two"))
		next := r.Status().Next
		time.Sleep(time.Until(next) + 1)
		synctest.Wait()
		is(t, c, "two")
	})
}

func TestRunFollowsHints(t *testing.T) {
	inBubble(t, true, reload.Options{Every: 24 * time.Hour}, func(t *testing.T, _ *reload.Reloader, c *texts, fake *reloadtest.Fake) {
		for i := range 10 {
			push(fake, "content %d", i)
			time.Sleep(time.Second)
			synctest.Wait()
			is(t, c, "content "+string(rune('0'+i)))
		}
	})
}

// eager is a Waiter that always says that there is something newer.
type eager struct{ *reloadtest.Fake }

func (eager) Wait(context.Context, string) error { return nil }

func TestAWaiterThatNeverWaitsDoesNotMakeRunSpin(t *testing.T) {
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

func TestRunBacksOff(t *testing.T) {
	inBubble(t, false, reload.Options{Every: time.Minute, MaxBackoff: 8 * time.Minute}, func(t *testing.T, r *reload.Reloader, c *texts, fake *reloadtest.Fake) {
		fake.Push([]byte("one"))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		is(t, c, "one")
		fake.Fail(errors.New("down"))
		time.Sleep(2 * time.Minute)
		for r.Status().Failures < 20 { // each pause is random below a ceiling
			s := r.Status()
			ceiling := min(time.Minute<<(s.Failures-1), 8*time.Minute)
			if pause := time.Until(s.Next); pause <= 0 || pause > ceiling {
				t.Errorf("after %d failures the next attempt is in %v, want at most %v", s.Failures, pause, ceiling)
			}
			time.Sleep(time.Until(s.Next) + 1)
			synctest.Wait()
			if r.Status().Failures != s.Failures+1 {
				t.Fatalf("%d failures became %d", s.Failures, r.Status().Failures)
			}
		}
		fake.Push([]byte("two"))
		time.Sleep(8*time.Minute + 1)
		synctest.Wait()
		is(t, c, "two")
	})
}

// later is an error with a Retry-After.
type later struct{ time.Duration }

func (later) Error() string               { return "busy" }
func (l later) RetryAfter() time.Duration { return l.Duration }

func TestRunHonoursRetryAfter(t *testing.T) {
	inBubble(t, false, reload.Options{Every: time.Minute}, func(t *testing.T, r *reload.Reloader, c *texts, fake *reloadtest.Fake) {
		fake.Fail(later{time.Hour})
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if wait := time.Until(r.Status().Next); wait < 59*time.Minute || wait > time.Hour {
			t.Errorf("the next attempt is in %v, and the source asked for an hour", wait)
		}
		push(fake, "one")
		time.Sleep(time.Hour)
		synctest.Wait()
		is(t, c, "one")
	})
}

func TestRunEndsWhenTheContainerCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := newTexts()
		fake := new(reloadtest.Fake)
		fake.Push([]byte("one"))
		r := reload.New(c, fake, load, reload.Options{Logger: quiet})
		ended := make(chan error, 1)
		go func() { ended <- r.Run(context.Background()) }()
		synctest.Wait()
		if _, err := c.Publish(t.Context(), func(*text, *text) error { return nil }); err != nil { // wakes Run, which goes on
			t.Fatal(err)
		}
		synctest.Wait()
		if err := c.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; !errors.Is(err, poolswap.ErrClosed) {
			t.Errorf("Run returned %v", err)
		}
		if !r.Status().Next.IsZero() {
			t.Error("the status still announces an attempt")
		}
	})
}

func TestRunOfAReloaderThatRunsPanics(t *testing.T) {
	inBubble(t, false, reload.Options{}, func(t *testing.T, r *reload.Reloader, _ *texts, _ *reloadtest.Fake) {
		defer func() {
			if value := recover(); value != "reload: Run of a Reloader that runs already" {
				t.Errorf("the panic is %v", value)
			}
		}()
		r.Run(t.Context())
	})
}

func TestReloadsThatWaitTogetherShareAnAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, c, fake := faked(reload.Options{})
		fake.Push([]byte("one"))
		fake.Delay(time.Second)
		results := make(chan error, 11)
		go func() { results <- r.Reload(t.Context()) }()
		synctest.Wait() // it has begun
		fake.Push([]byte("two"))
		for range 10 {
			go func() { results <- r.Reload(t.Context()) }()
		}
		for range 11 {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
		if fake.Fetches() != 2 {
			t.Errorf("%d attempts, want the one that had begun and one for the ten", fake.Fetches())
		}
		is(t, c, "two")
	})
}

func TestAnAttemptThatItsCallerCancelsServesNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, c, fake := faked(reload.Options{})
		fake.Push([]byte("one"))
		fake.Delay(time.Second)
		impatient, cancel := context.WithCancel(t.Context())
		first, second := make(chan error, 1), make(chan error, 1)
		go func() { first <- r.Reload(impatient) }()
		synctest.Wait()
		go func() { second <- r.Reload(t.Context()) }()
		synctest.Wait()
		cancel()
		if err := <-first; !errors.Is(err, context.Canceled) {
			t.Errorf("the first returned %v", err)
		}
		if err := <-second; err != nil {
			t.Errorf("the second returned %v", err)
		}
		is(t, c, "one")
		if s := r.Status(); s.Failures != 0 || s.Err != nil {
			t.Errorf("the status is %+v", s)
		}
	})
}
