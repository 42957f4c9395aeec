package reload_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

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

func TestRunEndsWithContainer(t *testing.T) {
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

func TestRunTwicePanics(t *testing.T) {
	inBubble(t, false, reload.Options{}, func(t *testing.T, r *reload.Reloader, _ *texts, _ *reloadtest.Fake) {
		defer func() {
			if value := recover(); value != "reload: Run of a Reloader that runs already" {
				t.Errorf("the panic is %v", value)
			}
		}()
		r.Run(t.Context())
	})
}

// Calls that share an attempt share its result, a refusal that lasts as well.
func TestReloadSharesAttempt(t *testing.T) {
	for next, want := range map[string]error{"two": nil, "bad": errBad} {
		synctest.Test(t, func(t *testing.T) {
			r, c, fake := faked(reload.Options{})
			push(fake, "one")
			fake.Delay(time.Second)
			if want != nil {
				push(fake, "%s", next)
				failsWith(t, r, reload.Loading)
			}
			before, results := fake.Fetches(), make(chan error, 11)
			go func() { results <- r.Reload(t.Context()) }()
			synctest.Wait() // it has begun
			if want == nil {
				push(fake, "%s", next)
			}
			for range 10 {
				go func() { results <- r.Reload(t.Context()) }()
			}
			for range 11 {
				if err := <-results; !errors.Is(err, want) {
					t.Errorf("Reload returned %v, want %v", err, want)
				}
			}
			if n := fake.Fetches() - before; n != 2 {
				t.Errorf("%d attempts, want the one that had begun and one for the ten", n)
			}
			if want == nil {
				is(t, c, next)
			}
		})
	}
}

// A source that is told of changes need not ask in scheduled attempts, so Reload does not
// take the outcome of one for its own.
func TestScheduled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := new(reloadtest.Fake)
		push(fake, "one")
		fake.Delay(time.Second)
		var scheduled []bool
		c, _ := newTexts()
		r := reload.New(c, waited{sourceFunc(func(ctx context.Context, have string) (*reload.Content, error) {
			scheduled = append(scheduled, reload.Scheduled(ctx))
			return fake.Fetch(ctx, have)
		}), fake}, load, reload.Options{Every: time.Minute, Logger: quiet})
		if reload.Scheduled(t.Context()) {
			t.Error("a context without a Reloader is one of a scheduled attempt")
		}
		go r.Run(t.Context())
		time.Sleep(2 * time.Second)
		push(fake, "two")
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if len(scheduled) < 2 || slices.Contains(scheduled, true) {
			t.Errorf("the first attempt and those by hints: %v are scheduled", scheduled)
		}
		scheduled = nil
		time.Sleep(time.Until(r.Status().Next) - time.Second/2)
		results := make(chan error, 2)
		reloads := func() { results <- r.Reload(t.Context()) }
		go reloads()
		time.Sleep(3 * time.Second / 4)
		go reloads() // behind the scheduled one
		for range cap(results) {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
		if want := []bool{false, true, false}; !slices.Equal(scheduled, want) {
			t.Errorf("scheduled attempts: %v, want %v", scheduled, want)
		}
	})
}

// waited is a source that has the hints of another.
type waited struct {
	reload.Source
	reload.Waiter
}

// A container that is closed ends Run in the middle of an attempt.
func TestRunEndsWithContainerDuringFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := newTexts()
		r := reload.New(c, sourceFunc(func(ctx context.Context, _ string) (*reload.Content, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}), load, reload.Options{Logger: quiet})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		synctest.Wait()
		if err := c.Close(ctx); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		select {
		case err := <-ended:
			if !errors.Is(err, poolswap.ErrClosed) {
				t.Errorf("Run returned %v", err)
			}
		default:
			t.Error("Run goes on")
		}
	})
}

// An attempt whose caller gives up says nothing to those that wait with it.
func TestReloadCancelledServesNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, c, fake := faked(reload.Options{})
		push(fake, "one")
		fake.Delay(time.Second)
		impatient, cancel := context.WithCancel(t.Context())
		defer cancel()
		results := make(chan error, 2)
		go func() { results <- r.Reload(t.Context()) }() // both others wait for it
		synctest.Wait()
		second := make(chan error, 1)
		go func() { second <- r.Reload(impatient) }()
		synctest.Wait()
		go func() { results <- r.Reload(t.Context()) }()
		time.Sleep(1500 * time.Millisecond)
		cancel()
		if err := <-second; !errors.Is(err, context.Canceled) {
			t.Errorf("the second returned %v", err)
		}
		for range cap(results) {
			if err := <-results; err != nil {
				t.Errorf("another returned %v", err)
			}
		}
		is(t, c, "one")
		if s := r.Status(); s.Failures != 0 || s.Err != nil {
			t.Errorf("the status is %+v", s)
		}
	})
}
