package reload_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// A Retry-After is over once the source has answered, even if it has nothing but
// what was refused, and nothing is loaded yet.
func TestARetryAfterIsObeyedOnceWhileNothingIsLoaded(t *testing.T) {
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
func TestRefusedContentIsAskedForLessAndLessWhileNothingIsLoaded(t *testing.T) {
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
