package reload_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// nextPause sleeps until Run has made its next attempt.
func nextPause(r *reload.Reloader) {
	time.Sleep(time.Until(r.Status().Next) + 1)
	synctest.Wait()
}

// Refused content does not make Run forget what the source asks for.
func TestRetryAfterHoldsWhileContentIsRefused(t *testing.T) {
	inBubble(t, false, reload.Options{Every: time.Minute}, func(t *testing.T, r *reload.Reloader, c *texts, fake *reloadtest.Fake) {
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
		if pause := time.Until(r.Status().Next); pause < time.Hour-1 || pause > time.Hour {
			t.Errorf("the next attempt is in %v, and the source asked for an hour", pause)
		}
		fake.Fail(reload.ErrNotModified) // it has what was refused
		nextPause(r)
		if pause := time.Until(r.Status().Next); pause > 66*time.Second {
			t.Errorf("after the hour the next attempt is in %v, want Every", pause)
		}
	})
}
