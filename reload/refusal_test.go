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

// askLater is an error of a source that wants to be left alone.
type askLater struct{ error }

func (askLater) RetryAfter() time.Duration { return 5 * time.Hour }

// A refusal is no reason for another pause than Every. What fails after it is.
func TestAFailureAfterARefusalIsBackedOff(t *testing.T) {
	options := reload.Options{Every: time.Minute}
	inBubble(t, false, options, func(t *testing.T, r *reload.Reloader, _ *texts, fake *reloadtest.Fake) {
		until := func() time.Duration {
			time.Sleep(time.Until(r.Status().Next) + 1)
			synctest.Wait()
			return time.Until(r.Status().Next)
		}
		push(fake, "one")
		until()
		push(fake, "bad")
		for range 3 { // refused, and still refused
			if pause := until(); pause < 54*time.Second || pause > 66*time.Second {
				t.Errorf("after a refusal the next attempt is in %v", pause)
			}
		}
		fake.Fail(askLater{errDown})
		if pause := until(); pause < 5*time.Hour-time.Second {
			t.Errorf("the source asked for 5h, and the next attempt is in %v", pause)
		}
		if s := r.Status(); s.Refused != "2" || s.Failures != 2 {
			t.Errorf("the status is %+v", s)
		}
	})
}

// refusing returns a Reloader that has loaded "good" and refused "bad", its
// container, and its source.
func refusing(t *testing.T) (*reload.Reloader, *texts, *reloadtest.Fake) {
	t.Helper()
	r, c, fake := faked(reload.Options{})
	push(fake, "good")
	succeeds(t, r, c, "good")
	push(fake, "bad")
	failsWith(t, r, reload.Loading)
	return r, c, fake
}

func TestWhatFailsAfterARefusalIsNotRefused(t *testing.T) {
	t.Parallel()
	r, _, fake := refusing(t)
	push(fake, "newer content")
	fake.Truncate(3, nil)
	failsWith(t, r, reload.Reading)
	if s := r.Status(); s.Refused != "" || s.State() != "stale" || s.Failures != 2 {
		t.Errorf("the status is %+v", s)
	}
}

func TestEachAttemptTellsThatWhatIsNewestIsRefused(t *testing.T) {
	t.Parallel()
	var events []reload.Event
	r, c, fake := faked(reload.Options{Observe: func(e reload.Event) { events = append(events, e) }})
	push(fake, "good")
	succeeds(t, r, c, "good")
	push(fake, "bad")
	for range 3 {
		failsWith(t, r, reload.Loading)
	}
	for i, want := range []reload.Outcome{reload.Loaded, reload.Failed, reload.StillRefused, reload.StillRefused} {
		if e := events[i]; e.Outcome != want || errors.Is(e.Err, errBad) != (i > 0) {
			t.Errorf("event %d is %+v, want it %s", i, e, want)
		}
	}
	if s := r.Status(); s.State() != "refused" || s.Failures != 1 || s.TotalFailures != 1 {
		t.Errorf("the status is %+v", s)
	}
}

func TestATemporaryErrorOfLoadRefusesNothing(t *testing.T) {
	t.Parallel()
	_, _, fake := faked(reload.Options{})
	c, _ := newTexts()
	loads := 0
	r := reload.New(c, fake, func(ctx context.Context, next, current *text, content *reload.Content) error {
		if loads++; loads < 3 {
			return reload.Temporary(errDown)
		}
		return load(ctx, next, current, content)
	}, reload.Options{Logger: quiet})
	push(fake, "content")
	for range 2 {
		if failure := failsWith(t, r, reload.Loading); failure.Refused || !errors.Is(failure, errDown) {
			t.Errorf("the error is %v", failure)
		}
	}
	succeeds(t, r, c, "content")
	if reload.Temporary(nil) != nil {
		t.Error("Temporary(nil) is an error")
	}
}

func TestTheDefaultOfMaxBackoff(t *testing.T) {
	for every, most := range map[time.Duration]time.Duration{
		time.Second:      10 * time.Second,
		time.Minute:      10 * time.Minute,
		5 * time.Minute:  10 * time.Minute,
		time.Hour:        time.Hour,
		240 * time.Hour:  240 * time.Hour,
		20 * time.Minute: 20 * time.Minute,
	} {
		inBubble(t, false, reload.Options{Every: every}, func(t *testing.T, r *reload.Reloader, _ *texts, fake *reloadtest.Fake) {
			fake.Fail(errDown)
			longest := time.Duration(0)
			for r.Status().Failures < 200 {
				pause := time.Until(r.Status().Next)
				longest = max(longest, pause)
				time.Sleep(pause + 1)
				synctest.Wait()
			}
			if longest > most || longest < most*3/4 {
				t.Errorf("with Every %v the longest pause of 200 is %v, want nearly %v", every, longest, most)
			}
		})
	}
}
