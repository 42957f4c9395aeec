package reload_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

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

// Hints of a Waiter that never waits become rare while they lead to failures.
func TestHintsThatLeadToFailuresBecomeRare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := eager{new(reloadtest.Fake)}
		fake.Fail(errors.New("down"))
		if n := recordedAttempts(t, fake); n < 6 || n > 60 {
			t.Errorf("%d attempts in an hour", n)
		}
	})
}

// A Waiter is asked for what is newer than what was refused.
func TestARefusedRevisionGivesNoHints(t *testing.T) {
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

// A source that asks to be left alone is, whatever the hints say.
func TestAHintDoesNotEndWhatTheSourceAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := newTexts()
		fake := eager{new(reloadtest.Fake)}
		fake.Fail(askLater{errDown}) // for five hours
		r := reload.New(c, fake, load, reload.Options{Every: time.Minute, Logger: quiet})
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

// An attempt of another caller that succeeds ends what the source asked for.
func TestASuccessEndsWhatTheSourceAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := newTexts()
		fake := new(reloadtest.Fake)
		fake.Fail(askLater{errDown}) // for five hours
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
func TestAHintAfterTheFirstSuccessIsFollowedAtOnce(t *testing.T) {
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
