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

func TestMaxBackoff(t *testing.T) {
	for _, test := range []struct{ every, maxBackoff, most time.Duration }{
		{time.Minute, 5 * time.Minute, 5 * time.Minute}, // no power of two times Every
		{time.Hour, time.Minute, time.Minute},
		{time.Second, 0, 10 * time.Second},
		{time.Minute, 0, 10 * time.Minute},
		{5 * time.Minute, 0, 10 * time.Minute},
		{20 * time.Minute, 0, 20 * time.Minute},
		{240 * time.Hour, 0, 240 * time.Hour},
	} {
		for _, loaded := range []bool{false, true} {
			inBubble(t, false, reload.Options{Every: test.every, MaxBackoff: test.maxBackoff}, func(t *testing.T, r *reload.Reloader, _ *texts, fake *reloadtest.Fake) {
				if loaded {
					push(fake, "one")
					nextPause(r)
				}
				fake.Fail(errDown)
				if shortest, longest := pausesOf(r, 200); longest > test.most || longest < test.most*9/10 || shortest > test.most/4 {
					t.Errorf("%+v, loaded %t: the pauses are of %v to %v, want random ones up to %v", test, loaded, shortest, longest, test.most)
				}
			})
		}
	}
}

// A service that cannot answer is in a hurry, even if the content was refused.
func TestRefusalPauseWithoutContent(t *testing.T) {
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

func TestRefusalPause(t *testing.T) {
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

func TestRetryAfterLimit(t *testing.T) {
	for name, test := range map[string]struct {
		options reload.Options
		loaded  bool
		want    time.Duration
	}{
		"by ten times Every":                     {reload.Options{Every: time.Minute}, true, 10 * time.Minute},
		"by an hour":                             {reload.Options{Every: time.Hour}, true, time.Hour},
		"by MaxRetryAfter":                       {reload.Options{Every: time.Minute, MaxRetryAfter: 24 * time.Hour}, true, 24 * time.Hour},
		"by MaxBackoff while nothing is loaded":  {reload.Options{Every: time.Minute, MaxBackoff: time.Minute, MaxRetryAfter: 24 * time.Hour}, false, time.Minute},
		"by less than a MaxBackoff that is more": {reload.Options{Every: time.Minute, MaxBackoff: time.Hour}, false, 10 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, false, test.options, func(t *testing.T, r *reload.Reloader, _ *texts, fake *reloadtest.Fake) {
				if test.loaded {
					fake.Push([]byte("one"))
					nextPause(r)
				}
				fake.Fail(later{1000 * time.Hour})
				nextPause(r)
				pauses := make(map[time.Duration]bool)
				for range 20 {
					pause := time.Until(r.Status().Next)
					most := test.want + max(test.options.Every, test.want/10)
					if pause < test.want-1 || pause > max(most, test.options.MaxBackoff) {
						t.Errorf("the next attempt is in %v, want %v to %v", pause, test.want, most)
					}
					pauses[pause] = true
					nextPause(r)
				}
				if len(pauses) < 15 { // replicas that were sent away together do not come back together
					t.Errorf("20 pauses were %d different ones", len(pauses))
				}
			})
		})
	}
}

// A Retry-After is over once the source has answered, even if it has only the
// refused revision, and nothing is loaded yet.
func TestRetryAfterEndsWithAnswer(t *testing.T) {
	inBubble(t, true, reload.Options{Every: time.Minute}, func(t *testing.T, r *reload.Reloader, c *texts, fake *reloadtest.Fake) {
		push(fake, "bad")
		nextPause(r)
		fake.Fail(later{time.Hour})
		nextPause(r)
		fake.Fail(reload.ErrNotModified)
		nextPause(r)
		if pause := time.Until(r.Status().Next); pause > time.Minute {
			t.Errorf("the source has answered, and the next attempt is in %v", pause)
		}
		push(fake, "good")
		time.Sleep(time.Minute)
		synctest.Wait()
		is(t, c, "good")
	})
}

// Run hurries after a refusal while nothing is loaded, but not for ever.
func TestRefusalPauseGrows(t *testing.T) {
	inBubble(t, false, reload.Options{Every: time.Minute}, func(t *testing.T, r *reload.Reloader, _ *texts, fake *reloadtest.Fake) {
		push(fake, "bad")
		nextPause(r)
		before := fake.Fetches()
		time.Sleep(time.Hour)
		synctest.Wait()
		if polls := fake.Fetches() - before; polls < 60 || polls > 200 {
			t.Errorf("%d polls in an hour, want at least one in each Every and not many more than two", polls)
		}
	})
}

// Run keeps to a Retry-After although content was refused before.
func TestRetryAfterDuringRefusal(t *testing.T) {
	inBubble(t, false, reload.Options{Every: time.Minute, MaxRetryAfter: time.Hour}, func(t *testing.T, r *reload.Reloader, c *texts, fake *reloadtest.Fake) {
		fake.Push([]byte("one"))
		nextPause(r)
		is(t, c, "one")
		fake.Push([]byte("bad"))
		nextPause(r)
		if s := r.Status(); s.Refused != "2" {
			t.Fatalf("the status is %+v", s)
		}
		fake.Fail(later{time.Hour})
		nextPause(r)
		if pause := time.Until(r.Status().Next); pause < time.Hour-1 || pause > time.Hour+6*time.Minute {
			t.Errorf("the next attempt is in %v, and the source asked for an hour", pause)
		}
		if s := r.Status(); s.Refused != "2" || s.Failures != 2 {
			t.Errorf("the status is %+v", s)
		}
		fake.Fail(reload.ErrNotModified) // it has the refused revision
		nextPause(r)
		if pause := time.Until(r.Status().Next); pause > 66*time.Second {
			t.Errorf("after the hour the next attempt is in %v, want Every", pause)
		}
	})
}

// TestRetryAfterOfNilError has a Source return a nil pointer as an error.
func TestRetryAfterOfNilError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, _ := newTexts()
		r := reload.New(c, sourceFunc(func(context.Context, string) (*reload.Content, error) {
			return nil, (*reload.HTTPError)(nil)
		}), load, reload.Options{Logger: quiet})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := r.Run(ctx); !errors.Is(err, context.DeadlineExceeded) || r.Status().Failures < 2 {
			t.Errorf("%v after %d failures", err, r.Status().Failures)
		}
		everything(r)
	})
}

// keeping is a Source that has kept content.
type keeping struct {
	reload.Source
	content string
}

func (k keeping) Restore(ctx context.Context) (*reload.Content, time.Time, error) {
	if k.content == "" {
		return nil, time.Time{}, nil
	}
	content, err := given("0", -1, k.content).Fetch(ctx, "")
	return content, time.Now(), err
}

// TestStartsAreSpread starts 200 services at once. Those with kept content serve it, and
// ask at different times; those without ask at once.
func TestStartsAreSpread(t *testing.T) {
	for name, test := range map[string]struct {
		kept          string
		every, within time.Duration
	}{
		"a minute":     {"kept", time.Minute, 6 * time.Second},
		"an hour":      {"kept", time.Hour, 10 * time.Second},
		"nothing kept": {"", time.Minute, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				asked := make(chan time.Duration, 1000)
				source := sourceFunc(func(context.Context, string) (*reload.Content, error) {
					asked <- time.Since(began)
					return nil, errDown
				})
				ctx, cancel := context.WithCancel(t.Context())
				const n = 200
				var all [n]*texts
				for i := range all {
					all[i], _ = newTexts()
					r := reload.New(all[i], keeping{source, test.kept}, load, reload.Options{Every: test.every, Logger: quiet})
					go r.Run(ctx)
				}
				synctest.Wait()
				for _, c := range all {
					is(t, c, test.kept)
				}
				atOnce, latest := len(asked), time.Duration(0)
				for range n {
					latest = max(latest, <-asked)
				}
				if atOnce > n/10 && test.within > 0 || latest > test.within || latest < test.within/2 {
					t.Errorf("%d of %d asked at once, and the last after %v", atOnce, n, latest)
				}
				cancel()
				synctest.Wait()
			})
		})
	}
}
