package reload_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// pausesOf returns the shortest and the longest pause of n failures.
func pausesOf(r *reload.Reloader, n int) (shortest, longest time.Duration) {
	for range n {
		nextPause(r)
		pause := time.Until(r.Status().Next)
		if shortest == 0 || pause < shortest {
			shortest = pause
		}
		longest = max(longest, pause)
	}
	return shortest, longest
}

func TestNoPauseIsLongerThanMaxBackoff(t *testing.T) {
	for name, options := range map[string]reload.Options{
		"no power of two times Every": {Every: time.Minute, MaxBackoff: 5 * time.Minute},
		"the default":                 {Every: 30 * time.Second},
		"less than Every":             {Every: time.Hour, MaxBackoff: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			most := options.MaxBackoff
			if most == 0 {
				most = 10 * options.Every
			}
			inBubble(t, false, options, func(t *testing.T, r *reload.Reloader, c *texts, fake *reloadtest.Fake) {
				fake.Push([]byte("one"))
				nextPause(r)
				is(t, c, "one")
				fake.Fail(errors.New("down"))
				if shortest, longest := pausesOf(r, 200); longest > most || longest < most*9/10 || shortest > most/4 {
					t.Errorf("the pauses are of %v to %v, want random ones up to %v", shortest, longest, most)
				}
			})
		})
	}
}

// A service that cannot answer is in a hurry, even if what there is was refused.
func TestRefusedContentIsAskedForSoonWhileNothingIsLoaded(t *testing.T) {
	inBubble(t, false, reload.Options{Every: 24 * time.Hour}, func(t *testing.T, r *reload.Reloader, c *texts, fake *reloadtest.Fake) {
		fake.Push([]byte("bad"))
		nextPause(r)
		s := r.Status()
		if pause := time.Until(s.Next); s.Refused != "1" || pause > 2*time.Second {
			t.Fatalf("%q is refused, and the next attempt in %v", s.Refused, pause)
		}
		fake.Push([]byte("good"))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		is(t, c, "good")
	})
}

func TestRefusedContentIsAskedForAfterEveryWhileSomethingIsLoaded(t *testing.T) {
	inBubble(t, false, reload.Options{Every: time.Hour}, func(t *testing.T, r *reload.Reloader, c *texts, fake *reloadtest.Fake) {
		fake.Push([]byte("good"))
		nextPause(r)
		is(t, c, "good")
		fake.Push([]byte("bad"))
		if shortest, longest := pausesOf(r, 20); shortest < 54*time.Minute || longest > 66*time.Minute {
			t.Errorf("the pauses are of %v to %v, want about an hour", shortest, longest)
		}
	})
}

func TestRetryAfterHoldsForADayAtMost(t *testing.T) {
	inBubble(t, false, reload.Options{Every: time.Minute}, func(t *testing.T, r *reload.Reloader, _ *texts, fake *reloadtest.Fake) {
		fake.Fail(later{1000 * time.Hour})
		nextPause(r)
		if pause := time.Until(r.Status().Next); pause < 24*time.Hour-1 || pause > 24*time.Hour {
			t.Errorf("the next attempt is in %v, want a day", pause)
		}
	})
}
